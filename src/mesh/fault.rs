//! Why a mesh cannot be, and why two do not go together.

use super::{Mesh, owned_spaces};
use crate::chip::NoSparseCores;
use crate::core_type::CoreType;
use crate::error::{Code, Fault, faults};
use crate::memory_space::{CoreMemorySpace, MemorySpace};
use crate::word::List;
use std::fmt;

/// What an axis of a mesh counts.
///
/// ```
/// assert_eq!(mosaic_memspace::CoresOf::VectorSubcores.to_string(), "vector subcores");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CoresOf {
    /// TensorCores.
    TensorCores,
    /// SparseCores.
    SparseCores,
    /// Vector subcores of one SparseCore.
    VectorSubcores,
}

impl fmt::Display for CoresOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::TensorCores => "TensorCores",
            Self::SparseCores => "SparseCores",
            Self::VectorSubcores => "vector subcores",
        })
    }
}

faults! {
    /// Why there is no such mesh on a chip.
    ///
    /// ```
    /// use mosaic_memspace::error::Fault;
    /// use mosaic_memspace::{Chip, Mesh};
    ///
    /// let error = Mesh::scalar_subcore("core", Some(3), Chip::V6e.facts()).unwrap_err();
    /// assert_eq!(error.to_string(), "a mesh of 3 SparseCores on v6e, which has 2");
    /// assert_eq!(error.help(), "ask for 2 or fewer");
    ///
    /// let error = Mesh::tensor_core("x", Some(-1), Chip::V6e.facts()).unwrap_err();
    /// assert_eq!(error.to_string(), "a mesh of -1 TensorCores");
    /// ```
    #[derive(Clone, Copy)]
    pub enum MeshFault {
        /// A SparseCore mesh on a chip without SparseCores.
        NoSparseCores(absent: NoSparseCores) from ("a SparseCore mesh: {0}");
        /// More cores than the chip has.
        TooManyCores {
        /// The chip's name.
        chip: &'static str,
        /// Of what there are too many.
        of: CoresOf,
        /// How many were asked for.
        asked: i64,
        /// How many there are.
        has: u32,
    } => TooManyCores ("a mesh of {asked} {of} on {chip}, which has {has}")
          help "ask for {has} or fewer";
        /// Zero cores or fewer.
        WithoutCores {
        /// Of what there are too few.
        of: CoresOf,
        /// How many were asked for.
        asked: i64,
    } => MeshWithoutCores ("a mesh of {asked} {of}");
    }
}

/// A memory space that a mesh does not own.
///
/// ```
/// use mosaic_memspace::error::Fault;
/// use mosaic_memspace::{Chip, MemorySpace, Mesh};
///
/// let mesh = Mesh::tensor_core("x", None, Chip::V5e.facts())?;
/// let error = mesh.tag(MemorySpace::HBM).unwrap_err();
/// assert_eq!(error.to_string(), "a tc mesh does not own hbm");
/// assert_eq!(error.help(), "tag one that it owns: vmem, smem, cmem, semaphore_mem");
/// # Ok::<(), mosaic_memspace::MeshFault>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a {core_type} mesh does not own {space}")]
pub struct MemorySpaceNotSupportedByMesh {
    pub(super) space: MemorySpace,
    pub(super) core_type: CoreType,
}

impl Fault for MemorySpaceNotSupportedByMesh {
    fn code(&self) -> Code {
        Code::MemorySpaceNotSupportedByMesh
    }

    fn help(&self) -> String {
        let owned = owned_spaces(self.core_type).map(CoreMemorySpace::space);
        format!("tag one that it owns: {}", List(owned.collect::<Vec<_>>()))
    }
}

/// Two meshes that cannot be used in one kernel.
///
/// ```
/// use mosaic_memspace::error::Fault;
/// use mosaic_memspace::{Chip, Mesh};
///
/// let chip = Chip::V6e.facts();
/// let scalar = Mesh::scalar_subcore("core", Some(1), chip)?;
/// let vector = Mesh::vector_subcore("core", "subcore", None, None, chip)?;
/// let error = scalar.check_is_compatible_with(&vector).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "sc_scalar_subcore mesh (core=1) does not go with sc_vector_subcore mesh \
///      (core=2, subcore=16): their core axes differ"
/// );
/// assert_eq!(error.help(), "give both the same core axis and cores, as core=1 or core=2");
/// # Ok::<(), mosaic_memspace::MeshFault>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{first} does not go with {second}: {reason}")]
pub struct MeshConflict<'a> {
    pub(super) first: Mesh<'a>,
    pub(super) second: Mesh<'a>,
    pub(super) reason: MeshConflictReason,
}

impl<'a> MeshConflict<'a> {
    /// The mesh that was asked, then the one that it was asked about.
    ///
    /// ```
    /// use mosaic_memspace::{Chip, Mesh};
    /// let mesh = Mesh::tensor_core("x", None, Chip::V5e.facts())?;
    /// let conflict = mesh.check_is_compatible_with(&mesh).unwrap_err();
    /// assert_eq!(conflict.meshes(), [mesh, mesh]);
    /// # Ok::<(), mosaic_memspace::MeshFault>(())
    /// ```
    pub const fn meshes(&self) -> [Mesh<'a>; 2] {
        [self.first, self.second]
    }

    /// Why they cannot be used together.
    ///
    /// ```
    /// use mosaic_memspace::{Chip, Mesh, MeshConflictReason};
    /// let mesh = Mesh::tensor_core("x", None, Chip::V5e.facts())?;
    /// let conflict = mesh.check_is_compatible_with(&mesh).unwrap_err();
    /// assert_eq!(conflict.reason(), MeshConflictReason::Incompatible);
    /// # Ok::<(), mosaic_memspace::MeshFault>(())
    /// ```
    pub const fn reason(&self) -> MeshConflictReason {
        self.reason
    }
}

/// Why two meshes cannot be used in one kernel.
///
/// ```
/// use mosaic_memspace::MeshConflictReason;
/// let reason = MeshConflictReason::TwoVectorSubcore;
/// assert_eq!(reason.to_string(), "a kernel has one vector subcore mesh at most");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MeshConflictReason {
    /// Two TensorCore meshes that differ.
    TwoTensorCore,
    /// Two scalar subcore meshes, equal ones too.
    TwoScalarSubcore,
    /// Two vector subcore meshes, equal ones too.
    TwoVectorSubcore,
    /// SparseCore meshes of two kinds that differ in core axis or cores.
    SparseCoreMismatch,
    /// A SparseCore mesh and a TensorCore mesh with an axis of one name.
    AxisNameClash,
    /// Two equal TensorCore meshes, or a TensorCore mesh before a SparseCore mesh.
    Incompatible,
}

impl fmt::Display for MeshConflictReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::TwoTensorCore => "a kernel has one TensorCore mesh at most",
            Self::TwoScalarSubcore => "a kernel has one scalar subcore mesh at most",
            Self::TwoVectorSubcore => "a kernel has one vector subcore mesh at most",
            Self::SparseCoreMismatch => "their core axes differ",
            Self::AxisNameClash => "both have an axis of the same name",
            Self::Incompatible => "nothing may follow a TensorCore mesh",
        })
    }
}

impl Fault for MeshConflict<'_> {
    fn code(&self) -> Code {
        match self.reason {
            MeshConflictReason::TwoTensorCore => Code::TwoTensorCoreMeshes,
            MeshConflictReason::TwoScalarSubcore => Code::TwoScalarSubcoreMeshes,
            MeshConflictReason::TwoVectorSubcore => Code::TwoVectorSubcoreMeshes,
            MeshConflictReason::SparseCoreMismatch => Code::SparseCoreMeshMismatch,
            MeshConflictReason::AxisNameClash => Code::MeshAxisNameClash,
            MeshConflictReason::Incompatible => Code::IncompatibleMeshes,
        }
    }

    fn help(&self) -> String {
        let Self { first, second, .. } = self;
        match self.reason {
            MeshConflictReason::TwoTensorCore
            | MeshConflictReason::TwoScalarSubcore
            | MeshConflictReason::TwoVectorSubcore => self.code().mend().to_owned(),
            MeshConflictReason::SparseCoreMismatch => {
                let [one, other] = [first, second].map(|mesh| mesh.shape().core);
                format!("give both the same core axis and cores, as {one} or {other}")
            }
            MeshConflictReason::AxisNameClash => {
                format!("rename the axis of the {second}")
            }
            MeshConflictReason::Incompatible if second.core_type().is_sparse_core() => {
                format!("put the {second} first")
            }
            MeshConflictReason::Incompatible => "use the TensorCore mesh once".to_owned(),
        }
    }
}
