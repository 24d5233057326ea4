//! What is wrong with compiler parameters, and which fault JAX stops at.

use super::functions::ActiveCoresFault;
use super::words::{OptLevel, TcTilingFlagOnTensorCore, Tiling};
use crate::custom_call::config::flags::FlagFault;
use crate::custom_call::ids::collective_id::CollectiveIdFault;
use crate::error::{Code, Fault};
use crate::word::Joined;

/// A compiler parameter that a kernel cannot have.
///
/// ```
/// use mosaic_memspace::custom_call::{ParamFault, Tiling};
/// use mosaic_memspace::error::{Code, Fault};
///
/// let error = ParamFault::TilingOnlyForSparseCore { tiling: Tiling::Compact };
/// assert_eq!(error.code(), Code::TilingOnlyForSparseCore);
/// assert_eq!(error.parameter(), "tiling");
/// assert!(error.is_jax());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParamFault {
    /// Dimension semantics given to a kernel on a mesh.
    #[error(
        "dimension_semantics has {semantics} entries, but the kernel runs on a mesh, which has \
         its own"
    )]
    SemanticsOnMesh {
        /// How many were given.
        semantics: usize,
    },
    /// Dimension semantics that do not go with the grid.
    #[error("dimension_semantics: {0}")]
    Semantics(#[from] ActiveCoresFault),
    /// `use_tc_tiling_on_sc` given to a TensorCore kernel.
    #[error(transparent)]
    TcTilingFlag(#[from] TcTilingFlagOnTensorCore),
    /// A collective id that the kernel cannot have, or lacks.
    #[error(transparent)]
    CollectiveId(#[from] CollectiveIdFault),
    /// A limit of no bytes.
    #[error("vmem_limit_bytes is {bytes}; it has to be a positive number of bytes")]
    VmemLimitNotPositive {
        /// The limit.
        bytes: i64,
    },
    /// A tiling chosen for a TensorCore kernel.
    #[error("explicit tiling is only supported for SparseCore kernels.")]
    TilingOnlyForSparseCore {
        /// The tiling.
        tiling: Tiling,
    },
    /// An opt level given to a TensorCore kernel.
    #[error("explicit opt_level is only supported for SparseCore kernels.")]
    OptLevelOnlyForSparseCore {
        /// The opt level.
        opt_level: OptLevel,
    },
    /// A flag that cannot be written.
    #[error(transparent)]
    Flag(#[from] FlagFault),
}

impl ParamFault {
    /// The parameter that it is about.
    ///
    /// ```
    /// use mosaic_memspace::custom_call::VmemLimitBytes;
    /// let error = VmemLimitBytes::new(-1).unwrap_err();
    /// assert_eq!(error.parameter(), "vmem_limit_bytes");
    /// ```
    pub const fn parameter(&self) -> &'static str {
        match self {
            Self::SemanticsOnMesh { .. } | Self::Semantics(_) => "dimension_semantics",
            Self::TcTilingFlag(_) => "use_tc_tiling_on_sc",
            Self::CollectiveId(_) => "collective_id",
            Self::VmemLimitNotPositive { .. } => "vmem_limit_bytes",
            Self::TilingOnlyForSparseCore { .. } => "tiling",
            Self::OptLevelOnlyForSparseCore { .. } => "opt_level",
            Self::Flag(_) => "flags",
        }
    }

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

impl Fault for ParamFault {
    fn code(&self) -> Code {
        match self {
            Self::SemanticsOnMesh { .. } => Code::SemanticsOnMesh,
            Self::Semantics(error) => error.code(),
            Self::TcTilingFlag(error) => error.code(),
            Self::CollectiveId(error) => error.code(),
            Self::VmemLimitNotPositive { .. } => Code::VmemLimitNotPositive,
            Self::TilingOnlyForSparseCore { .. } => Code::TilingOnlyForSparseCore,
            Self::OptLevelOnlyForSparseCore { .. } => Code::OptLevelOnlyForSparseCore,
            Self::Flag(error) => error.code(),
        }
    }

    fn help(&self) -> String {
        match self {
            Self::Semantics(error) => error.help(),
            Self::TcTilingFlag(error) => error.help(),
            Self::CollectiveId(error) => error.help(),
            Self::Flag(error) => error.help(),
            Self::TilingOnlyForSparseCore { tiling } => {
                format!("leave out {tiling}: a TensorCore kernel has one tiling")
            }
            Self::OptLevelOnlyForSparseCore { opt_level } => {
                format!("leave out opt_level={opt_level}: the TensorCore compiler has no levels")
            }
            Self::SemanticsOnMesh { .. } | Self::VmemLimitNotPositive { .. } => {
                self.code().mend().to_owned()
            }
        }
    }
}

/// All that is wrong with a kernel's parameters.
///
/// ```
/// use mosaic_memspace::custom_call::{CallChecks, OptLevel, ParamFaults, Tiling, VmemLimitBytes};
/// use mosaic_memspace::error::{Code, Fault};
///
/// let mut faults: ParamFaults = VmemLimitBytes::new(0).unwrap_err().into();
/// let opt_level = Some(OptLevel::O3);
/// let checks = CallChecks { opt_level, tiling: Some(Tiling::Compact), ..CallChecks::default() };
/// faults.extend(checks.check().unwrap_err());
///
/// assert_eq!(faults.all().len(), 3);
/// let first = faults.jax_first().map(Fault::code);
/// assert_eq!(first, Some(Code::TilingOnlyForSparseCore));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", Joined(errors))]
pub struct ParamFaults {
    errors: Vec<ParamFault>,
}

impl ParamFaults {
    /// The errors in the order of JAX's checks, those that JAX does not see last.
    pub(super) fn unless_empty(mut errors: Vec<ParamFault>) -> Result<(), Self> {
        errors.sort_by_key(|error| error.jax_place().unwrap_or(u8::MAX));
        if errors.is_empty() { Ok(()) } else { Err(Self { errors }) }
    }

    /// All of them; at least one.
    ///
    /// ```
    /// use mosaic_memspace::custom_call::{ParamFaults, VmemLimitBytes};
    /// let faults: ParamFaults = VmemLimitBytes::new(0).unwrap_err().into();
    /// assert_eq!(faults.all().len(), 1);
    /// ```
    pub fn all(&self) -> &[ParamFault] {
        &self.errors
    }

    /// The one that JAX stops at; `None` when JAX is content.
    ///
    /// ```
    /// use mosaic_memspace::custom_call::{ParamFaults, VmemLimitBytes};
    /// let faults: ParamFaults = VmemLimitBytes::new(0).unwrap_err().into();
    /// assert_eq!(faults.jax_first(), None);
    /// ```
    pub fn jax_first(&self) -> Option<&ParamFault> {
        let placed = self.errors.iter().filter_map(|error| Some((error.jax_place()?, error)));
        placed.min_by_key(|(place, _)| *place).map(|(_, error)| error)
    }
}

impl From<ParamFault> for ParamFaults {
    fn from(error: ParamFault) -> Self {
        Self { errors: vec![error] }
    }
}

impl Extend<ParamFault> for ParamFaults {
    fn extend<I: IntoIterator<Item = ParamFault>>(&mut self, errors: I) {
        self.errors.extend(errors);
    }
}

impl IntoIterator for ParamFaults {
    type Item = ParamFault;
    type IntoIter = std::vec::IntoIter<ParamFault>;

    fn into_iter(self) -> Self::IntoIter {
        self.errors.into_iter()
    }
}
