//! Loads and stores: what a core may do to a ref, by its memory space.

use crate::core_type::CoreType;
use crate::error::{Code, Fault, words};
use crate::memory_space::{MemorySpace, MemrefSpace, Resolved, TpuSpace};
use strum::VariantArray;

words! {
    /// One of the two directions between a ref and a core's registers.
    ///
    /// ```
    /// use mosaic_memspace::rules::AccessOp;
    /// assert_eq!("store".parse(), Ok(AccessOp::Store));
    /// assert_eq!(AccessOp::Load.as_str(), "load");
    /// ```
    pub enum AccessOp {
        /// From the ref (`ref[...]`, JAX's `get`).
        Load,
        /// To the ref (`ref[...] = x`, JAX's `swap`).
        Store,
    }
    path: "rules::AccessOp",
    all: 2 "Both",
    as_str: Store "store" "The word",
    expecting: "load or store",
    unknown: UnknownAccess "unknown access",
}

words! {
    /// What is loaded or stored at once.
    ///
    /// ```
    /// use mosaic_memspace::rules::AccessShape;
    /// assert_eq!("scalar".parse(), Ok(AccessShape::Scalar));
    /// assert_eq!(AccessShape::Vector.as_str(), "vector");
    /// ```
    pub enum AccessShape {
        /// One element: every dimension indexed away.
        Scalar,
        /// An array of rank 1 or more.
        Vector,
    }
    path: "rules::AccessShape",
    all: 2 "Both",
    as_str: Scalar "scalar" "The word",
    expecting: "scalar or vector",
    unknown: UnknownAccess "unknown access",
}

/// A load or a store.
///
#[doc = include_str!("../../docs/access.md")]
///
/// ```
/// use mosaic_memspace::rules::Access;
/// use mosaic_memspace::{CoreType, Resolved};
///
/// // A TensorCore loads a scalar from vmem, and cannot store one there.
/// assert!(Access::LOAD_SCALAR.check(Resolved::VMEM, CoreType::Tc).is_ok());
/// let refused = Access::STORE_SCALAR.check(Resolved::VMEM, CoreType::Tc).unwrap_err();
/// assert_eq!(
///     refused.to_string(),
///     "tc cannot store a scalar in vmem: no core stores single elements there"
/// );
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Access {
    /// The direction.
    pub op: AccessOp,
    /// How much at once.
    pub shape: AccessShape,
}

impl Access {
    /// A load of one element.
    pub const LOAD_SCALAR: Self = Self { op: AccessOp::Load, shape: AccessShape::Scalar };
    /// A load of an array.
    pub const LOAD_VECTOR: Self = Self { op: AccessOp::Load, shape: AccessShape::Vector };
    /// A store of one element.
    pub const STORE_SCALAR: Self = Self { op: AccessOp::Store, shape: AccessShape::Scalar };
    /// A store of an array.
    pub const STORE_VECTOR: Self = Self { op: AccessOp::Store, shape: AccessShape::Vector };

    /// Every access.
    ///
    /// ```
    /// assert_eq!(mosaic_memspace::rules::Access::ALL.len(), 4);
    /// ```
    pub const ALL: &'static [Self] =
        &[Self::LOAD_SCALAR, Self::LOAD_VECTOR, Self::STORE_SCALAR, Self::STORE_VECTOR];

    /// Whether a core of this type can do so to a ref in `space`: JAX lowers it
    /// and libtpu compiles it, on every chip that has the core.
    ///
    /// # Errors
    /// [`IllegalAccess`], with the reason and a way out.
    ///
    /// ```
    /// use mosaic_memspace::rules::{Access, AccessRefusal};
    /// use mosaic_memspace::{CoreType, Resolved};
    ///
    /// let core = CoreType::ScVectorSubcore;
    /// assert_eq!(Access::STORE_VECTOR.check(Resolved::VMEM, core), Ok(()));
    /// let refused = Access::LOAD_VECTOR.check(Resolved::HBM, core).unwrap_err();
    /// assert_eq!(refused.reason(), AccessRefusal::OffCore);
    /// ```
    pub const fn check(self, space: Resolved, core_type: CoreType) -> Result<(), IllegalAccess> {
        match self.refusal(space, core_type) {
            None => Ok(()),
            Some(reason) => Err(IllegalAccess { access: self, space, core_type, reason }),
        }
    }

    /// Whether JAX lowers it, on a chip that has the core; the compiler may
    /// still refuse it.
    ///
    /// JAX asks only for vectors in anything that isn't smem on a SparseCore's
    /// scalar subcore, which has no vmem.
    ///
    /// ```
    /// use mosaic_memspace::rules::Access;
    /// use mosaic_memspace::{CoreType, Resolved};
    ///
    /// let core = CoreType::ScScalarSubcore;
    /// assert!(Access::LOAD_VECTOR.jax_lowers(Resolved::VMEM, core));
    /// assert!(Access::LOAD_VECTOR.check(Resolved::VMEM, core).is_err());
    /// ```
    pub const fn jax_lowers(self, space: Resolved, core_type: CoreType) -> bool {
        match self.refusal(space, core_type) {
            None => true,
            Some(AccessRefusal::NoVmem) => match self.shape {
                AccessShape::Scalar => false,
                AccessShape::Vector => true,
            },
            Some(
                AccessRefusal::OffCore
                | AccessRefusal::OtherCore
                | AccessRefusal::NotOnSparseCore
                | AccessRefusal::ScalarsOnly
                | AccessRefusal::NoScalarLoad
                | AccessRefusal::NoScalarStore
                | AccessRefusal::SemaphoresOnly
                | AccessRefusal::Accumulator,
            ) => false,
        }
    }

    /// The rule: only vmem and smem are loaded from and stored to, and smem
    /// holds scalars only.
    const fn refusal(self, space: Resolved, core_type: CoreType) -> Option<AccessRefusal> {
        match space {
            Resolved::Acc(_) => Some(AccessRefusal::Accumulator),
            Resolved::Memref(space) => match space {
                MemrefSpace::Any | MemrefSpace::Host => Some(AccessRefusal::OffCore),
                MemrefSpace::Core(_) => Some(AccessRefusal::OtherCore),
                MemrefSpace::Tpu(space) => match space {
                    TpuSpace::Hbm | TpuSpace::VmemShared => Some(AccessRefusal::OffCore),
                    TpuSpace::SemaphoreMem => Some(AccessRefusal::SemaphoresOnly),
                    TpuSpace::Cmem => match core_type {
                        CoreType::Tc => Some(AccessRefusal::OffCore),
                        CoreType::ScScalarSubcore | CoreType::ScVectorSubcore => {
                            Some(AccessRefusal::NotOnSparseCore)
                        }
                    },
                    TpuSpace::Smem => match self.shape {
                        AccessShape::Scalar => None,
                        AccessShape::Vector => Some(AccessRefusal::ScalarsOnly),
                    },
                    TpuSpace::Vmem => self.refusal_in_vmem(core_type),
                },
            },
        }
    }

    const fn refusal_in_vmem(self, core_type: CoreType) -> Option<AccessRefusal> {
        match core_type {
            CoreType::ScScalarSubcore => Some(AccessRefusal::NoVmem),
            CoreType::Tc => match self.shape {
                AccessShape::Vector => None,
                AccessShape::Scalar => match self.op {
                    AccessOp::Load => None,
                    AccessOp::Store => Some(AccessRefusal::NoScalarStore),
                },
            },
            CoreType::ScVectorSubcore => match self.shape {
                AccessShape::Vector => None,
                AccessShape::Scalar => match self.op {
                    AccessOp::Load => Some(AccessRefusal::NoScalarLoad),
                    AccessOp::Store => Some(AccessRefusal::NoScalarStore),
                },
            },
        }
    }
}

impl std::fmt::Display for Access {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} a {}", self.op, self.shape)
    }
}

/// Why a core cannot make a load or a store.
///
/// ```
/// use mosaic_memspace::rules::AccessRefusal;
/// assert_eq!(AccessRefusal::ScalarsOnly.to_string(), "smem holds scalars only");
/// ```
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, VariantArray, thiserror::Error,
)]
pub enum AccessRefusal {
    /// `any`, `hbm`, `host`, `vmem_shared`, a TensorCore's `cmem`: only copies reach it.
    #[error("only copies reach it")]
    OffCore,
    /// A memory of another core type's mesh.
    #[error("it belongs to another core")]
    OtherCore,
    /// `cmem` on a SparseCore.
    #[error("a SparseCore has none")]
    NotOnSparseCore,
    /// `vmem` on the scalar subcore, which JAX lowers.
    #[error("the scalar subcore has none")]
    NoVmem,
    /// A vector in `smem`.
    #[error("smem holds scalars only")]
    ScalarsOnly,
    /// A scalar from a vector subcore's `vmem`.
    #[error("a vector subcore loads whole vectors only")]
    NoScalarLoad,
    /// A scalar to `vmem`.
    #[error("no core stores single elements there")]
    NoScalarStore,
    /// `semaphore_mem`.
    #[error("only semaphore operations use it")]
    SemaphoresOnly,
    /// `acc(n)`.
    #[error("only the matmul operations use accumulators")]
    Accumulator,
}

/// A load or store that a core cannot make.
///
/// ```
/// use mosaic_memspace::rules::Access;
/// use mosaic_memspace::error::{Code, Fault};
/// use mosaic_memspace::{CoreType, Resolved};
///
/// let refused = Access::LOAD_VECTOR.check(Resolved::SMEM, CoreType::Tc).unwrap_err();
/// assert_eq!(refused.to_string(), "tc cannot load a vector from smem: smem holds scalars only");
/// assert_eq!(refused.code(), Code::IllegalAccess);
/// assert_eq!(refused.help(), "load one element at a time, or put the ref in vmem");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{core_type} cannot {access} {} {space}: {reason}", preposition(.access.op))]
pub struct IllegalAccess {
    access: Access,
    space: Resolved,
    core_type: CoreType,
    reason: AccessRefusal,
}

impl IllegalAccess {
    /// Why not.
    pub const fn reason(self) -> AccessRefusal {
        self.reason
    }

    /// What was to be done.
    pub const fn access(self) -> Access {
        self.access
    }

    /// The space of the ref.
    pub const fn space(self) -> Resolved {
        self.space
    }

    /// The core that was to do it.
    pub const fn core_type(self) -> CoreType {
        self.core_type
    }
}

impl Fault for IllegalAccess {
    /// [`SpaceNotOnCore`](Code::SpaceNotOnCore) when the core lacks the space,
    /// else [`IllegalAccess`](Code::IllegalAccess).
    fn code(&self) -> Code {
        match self.reason {
            AccessRefusal::NoVmem | AccessRefusal::NotOnSparseCore => Code::SpaceNotOnCore,
            AccessRefusal::OffCore
            | AccessRefusal::OtherCore
            | AccessRefusal::ScalarsOnly
            | AccessRefusal::NoScalarLoad
            | AccessRefusal::NoScalarStore
            | AccessRefusal::SemaphoresOnly
            | AccessRefusal::Accumulator => Code::IllegalAccess,
        }
    }

    fn help(&self) -> String {
        let op = self.access.op;
        let local = local(self.access.shape, self.core_type);
        match self.reason {
            AccessRefusal::OffCore | AccessRefusal::OtherCore => match op {
                AccessOp::Load => format!(
                    "copy the part in use into {local} scratch with pltpu.async_copy and load it there"
                ),
                AccessOp::Store => {
                    format!("store to {local} scratch and copy it out with pltpu.async_copy")
                }
            },
            AccessRefusal::NotOnSparseCore => {
                format!("keep the data in hbm and copy the part in use into {local}")
            }
            AccessRefusal::NoVmem => {
                "put scalars in smem, or use a vector subcore for vectors".to_owned()
            }
            AccessRefusal::ScalarsOnly => match self.core_type {
                CoreType::Tc | CoreType::ScVectorSubcore => {
                    format!("{op} one element at a time, or put the ref in vmem")
                }
                CoreType::ScScalarSubcore => format!("{op} one element at a time"),
            },
            AccessRefusal::NoScalarLoad => {
                "load a vector and take the element: v = ref[pl.ds(i, lanes)]; v[0]".to_owned()
            }
            AccessRefusal::NoScalarStore => {
                "store a vector that holds the element, or put the ref in smem".to_owned()
            }
            AccessRefusal::SemaphoresOnly => {
                "signal and wait with pltpu.semaphore_signal and pltpu.semaphore_wait".to_owned()
            }
            AccessRefusal::Accumulator => {
                format!("{op} through the matmul operations, or accumulate in vmem")
            }
        }
    }
}

/// The memory next to the core that holds such a value.
const fn local(shape: AccessShape, core_type: CoreType) -> MemorySpace {
    match core_type {
        CoreType::ScScalarSubcore => MemorySpace::SMEM,
        CoreType::Tc | CoreType::ScVectorSubcore => match shape {
            AccessShape::Scalar => MemorySpace::SMEM,
            AccessShape::Vector => MemorySpace::VMEM,
        },
    }
}

const fn preposition(op: AccessOp) -> &'static str {
    match op {
        AccessOp::Load => "from",
        AccessOp::Store => "in",
    }
}
