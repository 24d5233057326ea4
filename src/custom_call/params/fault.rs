//! What is wrong with compiler parameters, and which fault JAX stops at.

use super::functions::ActiveCoresFault;
use super::words::{OptLevel, TcTilingFlagOnTensorCore, Tiling};
use crate::custom_call::config::flags::FlagFault;
use crate::custom_call::ids::collective_id::CollectiveIdFault;
use crate::error::{Faults, faults};

faults! {
    /// A compiler parameter that a kernel cannot have.
    ///
    /// ```
    /// use mosaic_memspace::custom_call::{ParamFault, Tiling};
    /// use mosaic_memspace::error::{Code, Fault};
    ///
    /// let error = ParamFault::TilingOnlyForSparseCore { tiling: Tiling::Compact };
    /// assert_eq!(error.code(), Code::TilingOnlyForSparseCore);
    /// assert_eq!(error.field(), Some("tiling"));
    /// assert!(error.is_jax());
    /// ```
    #[derive(Clone)]
    pub enum ParamFault {
        /// Dimension semantics given to a kernel on a mesh.
        SemanticsOnMesh {
        /// How many were given.
        semantics: usize,
    } => SemanticsOnMesh at "dimension_semantics" ("dimension_semantics has {semantics} entries, but the kernel runs on a mesh, which has \
         its own");
        /// Dimension semantics that do not go with the grid.
        Semantics(fault: ActiveCoresFault) from at "dimension_semantics" ("dimension_semantics: {0}");
        /// `use_tc_tiling_on_sc` given to a TensorCore kernel.
        TcTilingFlag[fault: TcTilingFlagOnTensorCore];
        /// A collective id that the kernel cannot have, or lacks.
        CollectiveId[fault: CollectiveIdFault];
        /// A limit of no bytes.
        VmemLimitNotPositive {
        /// The limit.
        bytes: i64,
    } => VmemLimitNotPositive at "vmem_limit_bytes" ("vmem_limit_bytes is {bytes}; it has to be a positive number of bytes");
        /// A tiling chosen for a TensorCore kernel.
        TilingOnlyForSparseCore {
        /// The tiling.
        tiling: Tiling,
    } => TilingOnlyForSparseCore at "tiling" ("explicit tiling is only supported for SparseCore kernels.")
          help "leave out {tiling}: a TensorCore kernel has one tiling";
        /// An opt level given to a TensorCore kernel.
        OptLevelOnlyForSparseCore {
        /// The opt level.
        opt_level: OptLevel,
    } => OptLevelOnlyForSparseCore at "opt_level" ("explicit opt_level is only supported for SparseCore kernels.")
          help "leave out opt_level={opt_level}: the TensorCore compiler has no levels";
        /// A flag that cannot be written.
        Flag[fault: FlagFault];
    }
}

impl ParamFault {
    /// Whether JAX refuses it too, or is content, so that the compiler fails or
    /// the JSON is broken.
    ///
    /// ```
    /// use mosaic_memspace::custom_call::VmemLimitBytes;
    /// assert!(!VmemLimitBytes::new(0).unwrap_err().is_jax());
    /// ```
    pub const fn is_jax(&self) -> bool {
        self.jax_place().is_some()
    }

    /// The place of the check among JAX's, where JAX has it.
    const fn jax_place(&self) -> Option<u8> {
        match self {
            Self::SemanticsOnMesh { .. } => Some(0),
            Self::Semantics(error) => match error {
                ActiveCoresFault::SemanticsLength { .. } => Some(0),
                ActiveCoresFault::DynamicBound { .. }
                | ActiveCoresFault::Several { .. }
                | ActiveCoresFault::BoundsDiffer { .. } => Some(2),
            },
            Self::TcTilingFlag(_) => Some(1),
            Self::CollectiveId(error) => match error {
                CollectiveIdFault::IdAndTag { .. }
                | CollectiveIdFault::TooMany { .. }
                | CollectiveIdFault::Conflict { .. } => Some(3),
                CollectiveIdFault::Missing | CollectiveIdFault::Unexpected { .. } => Some(4),
                CollectiveIdFault::OutOfRange { .. } => None,
            },
            Self::VmemLimitNotPositive { .. } => None,
            Self::TilingOnlyForSparseCore { .. } => Some(5),
            Self::OptLevelOnlyForSparseCore { .. } => Some(6),
            Self::Flag(error) => match error {
                FlagFault::InvalidValue { .. } => Some(7),
                FlagFault::NameUnsafe { .. } | FlagFault::NonFinite { .. } => None,
            },
        }
    }
}

/// The faults in the order of JAX's checks, those that JAX does not see last: JAX stops at
/// the first that [`is_jax`](ParamFault::is_jax).
pub(super) fn in_jax_order(mut faults: Vec<ParamFault>) -> Faults<ParamFault> {
    faults.sort_by_key(|fault| fault.jax_place().unwrap_or(u8::MAX));
    faults.into_iter().collect()
}
