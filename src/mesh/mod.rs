//! Cores in a row, and the spaces they own.

mod fault;

pub use fault::{
    CoresOf, MemorySpaceNotSupportedByMesh, MeshConflict, MeshConflictReason, MeshFault,
};

use crate::chip::{ChipFacts, SparseCoreFacts};
use crate::core_type::CoreType;
use crate::memory_space::{CoreMemorySpace, MemorySpace};
use crate::resolve::CallSite;
use crate::word::{List, same};
use std::fmt;

/// Cores of one type that run a kernel together, along one named axis or two
/// (JAX: `TensorCoreMesh`, `ScalarSubcoreMesh`, `VectorSubcoreMesh`).
///
/// ```
/// use mosaic_memspace::{Chip, CoreMemorySpace, CoreType, Mesh, MeshFault, MemorySpace};
///
/// const MESH: Result<Mesh<'static>, MeshFault> =
///     Mesh::vector_subcore("core", "subcore", Some(1), None, Chip::Tpu7x.facts());
/// let mesh = MESH?;
/// assert_eq!(mesh.core_type(), CoreType::ScVectorSubcore);
/// assert_eq!(mesh.size(), 16);
/// assert_eq!(mesh.to_string(), "sc_vector_subcore mesh (core=1, subcore=16)");
/// assert_eq!(mesh.tag(MemorySpace::VMEM), Ok(CoreMemorySpace::VmemOfScVectorSubcore));
/// # Ok::<(), MeshFault>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mesh<'a>(Kind<'a>);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind<'a> {
    TensorCore { cores: MeshAxis<'a> },
    ScalarSubcore { cores: MeshAxis<'a> },
    VectorSubcore { cores: MeshAxis<'a>, subcores: MeshAxis<'a> },
}

impl<'a> Mesh<'a> {
    /// A mesh of TensorCores; without a number, of those that make one logical
    /// device of the chip. Like JAX it takes more than the chip has.
    ///
    /// # Errors
    /// [`MeshFault::WithoutCores`] for a number of zero or less, which JAX takes.
    ///
    /// ```
    /// use mosaic_memspace::{Chip, Mesh, MeshFault};
    /// const MESH: Result<Mesh<'static>, MeshFault> =
    ///     Mesh::tensor_core("x", None, Chip::V5e.facts());
    /// assert_eq!(MESH?.size(), 1);
    /// assert!(Mesh::tensor_core("x", Some(0), Chip::V5e.facts()).is_err());
    /// # Ok::<(), MeshFault>(())
    /// ```
    pub const fn tensor_core(
        axis: &'a str,
        num_cores: Option<i64>,
        chip: &ChipFacts,
    ) -> Result<Self, MeshFault> {
        let num_cores = match num_cores {
            Some(num_cores) => num_cores,
            None => chip.num_cores.get() as i64,
        };
        match at_least_one(num_cores, CoresOf::TensorCores) {
            Ok(extent) => Ok(Self(Kind::TensorCore { cores: MeshAxis { name: axis, extent } })),
            Err(error) => Err(error),
        }
    }

    /// A mesh of SparseCores' scalar subcores, one for each SparseCore; without a
    /// number, of all that the chip has.
    ///
    /// # Errors
    /// [`MeshFault::NoSparseCores`], then [`MeshFault::TooManyCores`], then
    /// [`MeshFault::WithoutCores`] for a number of zero or less, which JAX takes.
    ///
    /// ```
    /// use mosaic_memspace::{Chip, Mesh, MeshFault};
    /// const MESH: Result<Mesh<'static>, MeshFault> =
    ///     Mesh::scalar_subcore("core", None, Chip::V5p.facts());
    /// assert_eq!(MESH?.size(), 4);
    /// assert!(Mesh::scalar_subcore("core", Some(5), Chip::V5p.facts()).is_err());
    /// assert!(Mesh::scalar_subcore("core", None, Chip::V5e.facts()).is_err());
    /// # Ok::<(), MeshFault>(())
    /// ```
    pub const fn scalar_subcore(
        axis: &'a str,
        num_cores: Option<i64>,
        chip: &ChipFacts,
    ) -> Result<Self, MeshFault> {
        let num_cores = match sparse_cores(num_cores, chip) {
            Ok((num_cores, _)) => num_cores,
            Err(error) => return Err(error),
        };
        match at_least_one(num_cores, CoresOf::SparseCores) {
            Ok(extent) => Ok(Self(Kind::ScalarSubcore { cores: MeshAxis { name: axis, extent } })),
            Err(error) => Err(error),
        }
    }

    /// A mesh of SparseCores' vector subcores; without a number, of all that the
    /// chip has. The axes may have one name, which makes a strange
    /// [`jax_shape`](Self::jax_shape).
    ///
    /// # Errors
    /// Those of [`scalar_subcore`](Self::scalar_subcore), of either axis.
    ///
    /// ```
    /// use mosaic_memspace::{Chip, Mesh, MeshFault};
    /// const MESH: Result<Mesh<'static>, MeshFault> =
    ///     Mesh::vector_subcore("core", "subcore", None, Some(4), Chip::V6e.facts());
    /// assert_eq!(MESH?.size(), 8);
    /// # Ok::<(), MeshFault>(())
    /// ```
    pub const fn vector_subcore(
        core_axis: &'a str,
        subcore_axis: &'a str,
        num_cores: Option<i64>,
        num_subcores: Option<i64>,
        chip: &ChipFacts,
    ) -> Result<Self, MeshFault> {
        let (num_cores, sparse_core) = match sparse_cores(num_cores, chip) {
            Ok(found) => found,
            Err(error) => return Err(error),
        };
        let has = sparse_core.num_subcores.get();
        let num_subcores = match at_most(num_subcores, has, CoresOf::VectorSubcores, chip) {
            Ok(num_subcores) => num_subcores,
            Err(error) => return Err(error),
        };
        let cores = match at_least_one(num_cores, CoresOf::SparseCores) {
            Ok(extent) => MeshAxis { name: core_axis, extent },
            Err(error) => return Err(error),
        };
        match at_least_one(num_subcores, CoresOf::VectorSubcores) {
            Ok(extent) => {
                let subcores = MeshAxis { name: subcore_axis, extent };
                Ok(Self(Kind::VectorSubcore { cores, subcores }))
            }
            Err(error) => Err(error),
        }
    }

    /// The type of its cores.
    ///
    /// ```
    /// use mosaic_memspace::{Chip, CoreType, Mesh};
    /// let mesh = Mesh::tensor_core("x", None, Chip::V5e.facts())?;
    /// assert_eq!(mesh.core_type(), CoreType::Tc);
    /// # Ok::<(), mosaic_memspace::MeshFault>(())
    /// ```
    pub const fn core_type(&self) -> CoreType {
        match self.0 {
            Kind::TensorCore { .. } => CoreType::Tc,
            Kind::ScalarSubcore { .. } => CoreType::ScScalarSubcore,
            Kind::VectorSubcore { .. } => CoreType::ScVectorSubcore,
        }
    }

    /// Its axes.
    ///
    /// ```
    /// use mosaic_memspace::{Chip, Mesh, MeshAxis, MeshShape};
    /// let mesh = Mesh::vector_subcore("core", "subcore", None, None, Chip::V6e.facts())?;
    /// let core = MeshAxis { name: "core", extent: 2 };
    /// let subcore = MeshAxis { name: "subcore", extent: 16 };
    /// assert_eq!(mesh.shape(), MeshShape { core, subcore: Some(subcore) });
    /// # Ok::<(), mosaic_memspace::MeshFault>(())
    /// ```
    pub const fn shape(&self) -> MeshShape<'a> {
        match self.0 {
            Kind::TensorCore { cores } | Kind::ScalarSubcore { cores } => {
                MeshShape { core: cores, subcore: None }
            }
            Kind::VectorSubcore { cores, subcores } => {
                MeshShape { core: cores, subcore: Some(subcores) }
            }
        }
    }

    /// What JAX answers for [`shape`](Self::shape): a dictionary, in which two
    /// axes of one name become one with the extent of the second.
    ///
    /// ```
    /// use mosaic_memspace::{Chip, Mesh, MeshAxis, MeshShape};
    /// let mesh = Mesh::vector_subcore("x", "x", None, None, Chip::V6e.facts())?;
    /// let core = MeshAxis { name: "x", extent: 16 };
    /// assert_eq!(mesh.jax_shape(), MeshShape { core, subcore: None });
    /// # Ok::<(), mosaic_memspace::MeshFault>(())
    /// ```
    pub const fn jax_shape(&self) -> MeshShape<'a> {
        let shape = self.shape();
        match shape.subcore {
            Some(subcore) if same(shape.core.name, subcore.name) => {
                MeshShape { core: subcore, subcore: None }
            }
            Some(_) | None => shape,
        }
    }

    /// How many cores it has, over all axes.
    ///
    /// ```
    /// use mosaic_memspace::{Chip, Mesh};
    /// let mesh = Mesh::vector_subcore("x", "x", None, None, Chip::V6e.facts())?;
    /// assert_eq!(mesh.size(), 32);
    /// # Ok::<(), mosaic_memspace::MeshFault>(())
    /// ```
    pub const fn size(&self) -> u64 {
        let shape = self.shape();
        match shape.subcore {
            Some(subcore) => shape.core.extent.saturating_mul(subcore.extent), // both below 2³²
            None => shape.core.extent,
        }
    }

    /// Where a ref without a memory space lies.
    ///
    /// ```
    /// use mosaic_memspace::{Chip, MemorySpace, Mesh};
    /// let mesh = Mesh::scalar_subcore("core", None, Chip::V6e.facts())?;
    /// assert_eq!(mesh.default_memory_space(), MemorySpace::HBM);
    /// # Ok::<(), mosaic_memspace::MeshFault>(())
    /// ```
    pub const fn default_memory_space(&self) -> MemorySpace {
        CallSite::Other.default_space(self.core_type())
    }

    /// The spaces that it owns (JAX: `supported_memory_spaces`). An iterator, so
    /// not `const`; [`tag`](Self::tag) is.
    ///
    /// ```
    /// use mosaic_memspace::{Chip, Mesh};
    /// let mesh = Mesh::scalar_subcore("core", None, Chip::V6e.facts())?;
    /// let spaces: Vec<_> = mesh.owned_spaces().map(|tagged| tagged.space().as_str()).collect();
    /// assert_eq!(spaces, ["vmem_shared", "smem", "semaphore_mem"]);
    /// # Ok::<(), mosaic_memspace::MeshFault>(())
    /// ```
    pub fn owned_spaces(&self) -> impl Iterator<Item = CoreMemorySpace> + use<> {
        owned_spaces(self.core_type())
    }

    /// `space`, tagged as owned by this mesh (JAX: `space @ mesh`).
    ///
    /// # Errors
    /// [`MemorySpaceNotSupportedByMesh`] for anything but a TPU space that such a
    /// mesh owns.
    ///
    /// ```
    /// use mosaic_memspace::{Chip, CoreMemorySpace, MemorySpace, Mesh};
    /// let mesh = Mesh::tensor_core("x", None, Chip::V5e.facts())?;
    /// assert_eq!(mesh.tag(MemorySpace::CMEM), Ok(CoreMemorySpace::CmemOfTc));
    /// assert!(mesh.tag(MemorySpace::HBM).is_err());
    /// # Ok::<(), mosaic_memspace::MeshFault>(())
    /// ```
    pub const fn tag(
        &self,
        space: MemorySpace,
    ) -> Result<CoreMemorySpace, MemorySpaceNotSupportedByMesh> {
        let core_type = self.core_type();
        let tagged = match space {
            MemorySpace::Tpu(space) => CoreMemorySpace::new(space, core_type),
            MemorySpace::ANY
            | MemorySpace::DEFAULT
            | MemorySpace::ERROR
            | MemorySpace::INDEX
            | MemorySpace::KEY
            | MemorySpace::HOST
            | MemorySpace::Core(_)
            | MemorySpace::Acc(_) => None,
        };
        match tagged {
            Some(tagged) => Ok(tagged),
            None => Err(MemorySpaceNotSupportedByMesh { space, core_type }),
        }
    }

    /// Whether this mesh, named first, and `other` can be used in one kernel as
    /// JAX has it (`check_is_compatible_with`), which is not symmetric: a
    /// TensorCore mesh refuses every SparseCore mesh, and not the reverse.
    ///
    /// # Errors
    /// A [`MeshConflict`] for two meshes of one kind, equal ones too; for
    /// SparseCore meshes that differ in core axis or cores; for a TensorCore mesh
    /// before any SparseCore mesh, and after one with an axis of the same name.
    ///
    /// ```
    /// use mosaic_memspace::{Chip, Mesh};
    /// let chip = Chip::Tpu7x.facts();
    /// let tensor_core = Mesh::tensor_core("x", None, chip)?;
    /// let vector = Mesh::vector_subcore("core", "subcore", None, None, chip)?;
    /// assert!(vector.check_is_compatible_with(&tensor_core).is_ok());
    /// assert!(tensor_core.check_is_compatible_with(&vector).is_err());
    /// # Ok::<(), mosaic_memspace::MeshFault>(())
    /// ```
    pub const fn check_is_compatible_with(&self, other: &Self) -> Result<(), MeshConflict<'a>> {
        match self.conflict(other) {
            Some(reason) => Err(MeshConflict { first: *self, second: *other, reason }),
            None => Ok(()),
        }
    }

    /// Whether the two can be used in one kernel, named in one order or the
    /// other: the same answer both ways.
    ///
    /// # Errors
    /// Those of [`check_is_compatible_with`](Self::check_is_compatible_with), with
    /// the TensorCore mesh taken as the second.
    ///
    /// ```
    /// use mosaic_memspace::{Chip, Mesh};
    /// let chip = Chip::Tpu7x.facts();
    /// let tensor_core = Mesh::tensor_core("x", None, chip)?;
    /// let scalar = Mesh::scalar_subcore("core", None, chip)?;
    /// assert!(tensor_core.can_share_a_kernel_with(&scalar).is_ok());
    /// assert!(scalar.can_share_a_kernel_with(&tensor_core).is_ok());
    /// # Ok::<(), mosaic_memspace::MeshFault>(())
    /// ```
    pub const fn can_share_a_kernel_with(&self, other: &Self) -> Result<(), MeshConflict<'a>> {
        match self.0 {
            Kind::TensorCore { .. } => other.check_is_compatible_with(self),
            Kind::ScalarSubcore { .. } | Kind::VectorSubcore { .. } => {
                self.check_is_compatible_with(other)
            }
        }
    }

    const fn conflict(&self, other: &Self) -> Option<MeshConflictReason> {
        match self.0 {
            Kind::TensorCore { cores } => match other.0 {
                Kind::TensorCore { cores: others } if cores.is(others) => {
                    Some(MeshConflictReason::Incompatible)
                }
                Kind::TensorCore { .. } => Some(MeshConflictReason::TwoTensorCore),
                Kind::ScalarSubcore { .. } | Kind::VectorSubcore { .. } => {
                    Some(MeshConflictReason::Incompatible)
                }
            },
            Kind::ScalarSubcore { cores } => match other.0 {
                Kind::TensorCore { cores: others } => clash(same(cores.name, others.name)),
                Kind::ScalarSubcore { .. } => Some(MeshConflictReason::TwoScalarSubcore),
                Kind::VectorSubcore { cores: others, .. } => mismatch(cores.is(others)),
            },
            Kind::VectorSubcore { cores, subcores } => match other.0 {
                Kind::TensorCore { cores: others } => {
                    clash(same(cores.name, others.name) || same(subcores.name, others.name))
                }
                Kind::ScalarSubcore { cores: others } => mismatch(cores.is(others)),
                Kind::VectorSubcore { .. } => Some(MeshConflictReason::TwoVectorSubcore),
            },
        }
    }
}

const fn clash(same_name: bool) -> Option<MeshConflictReason> {
    if same_name { Some(MeshConflictReason::AxisNameClash) } else { None }
}

const fn mismatch(same_axis: bool) -> Option<MeshConflictReason> {
    if same_axis { None } else { Some(MeshConflictReason::SparseCoreMismatch) }
}

fn owned_spaces(core_type: CoreType) -> impl Iterator<Item = CoreMemorySpace> {
    CoreMemorySpace::ALL.iter().copied().filter(move |tagged| tagged.core_type() == core_type)
}

/// The number of SparseCores asked for, or of all there are, and what each is.
const fn sparse_cores(
    asked: Option<i64>,
    chip: &ChipFacts,
) -> Result<(i64, &SparseCoreFacts), MeshFault> {
    let sparse_core = match chip.require_sparse_core() {
        Ok(sparse_core) => sparse_core,
        Err(absent) => return Err(MeshFault::NoSparseCores(absent)),
    };
    match at_most(asked, sparse_core.num_cores.get(), CoresOf::SparseCores, chip) {
        Ok(num_cores) => Ok((num_cores, sparse_core)),
        Err(error) => Err(error),
    }
}

/// The number asked for, or all there are, if the chip has so many.
const fn at_most(
    asked: Option<i64>,
    has: u32,
    of: CoresOf,
    chip: &ChipFacts,
) -> Result<i64, MeshFault> {
    match asked {
        Some(asked) if asked > has as i64 => {
            Err(MeshFault::TooManyCores { chip: chip.name, of, asked, has })
        }
        Some(asked) => Ok(asked),
        None => Ok(has as i64),
    }
}

pub(crate) const fn at_least_one(asked: i64, of: CoresOf) -> Result<u64, MeshFault> {
    if asked > 0 { Ok(asked.unsigned_abs()) } else { Err(MeshFault::WithoutCores { of, asked }) }
}

impl fmt::Display for Mesh<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} mesh ({})", self.core_type(), List(self.shape().iter()))
    }
}

/// The axes of a mesh: of cores, and of the subcores of each.
///
/// ```
/// use mosaic_memspace::{MeshAxis, MeshShape};
/// let core = MeshAxis { name: "core", extent: 2 };
/// let shape = MeshShape { core, subcore: None };
/// assert_eq!(shape.iter().collect::<Vec<_>>(), [core]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MeshShape<'a> {
    /// TensorCores or SparseCores.
    pub core: MeshAxis<'a>,
    /// Vector subcores of each SparseCore.
    pub subcore: Option<MeshAxis<'a>>,
}

impl<'a> MeshShape<'a> {
    /// The axes in order. An iterator, so not `const`.
    ///
    /// ```
    /// use mosaic_memspace::{Chip, Mesh};
    /// let mesh = Mesh::vector_subcore("core", "subcore", None, None, Chip::V6e.facts())?;
    /// let axes: Vec<_> = mesh.shape().iter().map(|axis| (axis.name, axis.extent)).collect();
    /// assert_eq!(axes, [("core", 2), ("subcore", 16)]);
    /// # Ok::<(), mosaic_memspace::MeshFault>(())
    /// ```
    pub fn iter(&self) -> impl Iterator<Item = MeshAxis<'a>> + Clone + use<'a> {
        std::iter::once(self.core).chain(self.subcore)
    }
}

/// An axis of a mesh.
///
/// ```
/// let axis = mosaic_memspace::MeshAxis { name: "core", extent: 2 };
/// assert_eq!(axis.to_string(), "core=2");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MeshAxis<'a> {
    /// Its name.
    pub name: &'a str,
    /// Cores along it, at least one.
    pub extent: u64,
}

impl MeshAxis<'_> {
    /// `==`, known at compile time.
    const fn is(self, other: Self) -> bool {
        same(self.name, other.name) && self.extent == other.extent
    }
}

impl fmt::Display for MeshAxis<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.name.escape_debug(), self.extent)
    }
}
