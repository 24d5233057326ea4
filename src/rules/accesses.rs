//! Loads and stores: what a core may do to a ref, by its memory space.

use crate::chip::ChipFacts;
use crate::core_type::CoreType;
use crate::error::{Code, Fault, faults, words};
use crate::memory_space::{Resolved, TpuSpace};
use crate::reach::{Held, Reach, Unreached, reach};

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

/// A load or a store; [`Reach`] has the table.
///
/// ```
/// use mosaic_memspace::rules::Access;
/// use mosaic_memspace::{CoreType, Resolved};
///
/// // A TensorCore loads a scalar from vmem, and cannot store one there.
/// assert!(Access::LOAD_SCALAR.check(Resolved::VMEM, CoreType::Tc, None).is_ok());
/// let refused = Access::STORE_SCALAR.check(Resolved::VMEM, CoreType::Tc, None).unwrap_err();
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

    /// Whether a core of this type can do so to a ref in `space`: JAX lowers it and
    /// libtpu compiles it. Without a chip, on every one that has the core.
    ///
    /// # Errors
    /// [`AccessFault`], with the reason and a way out.
    ///
    /// ```
    /// use mosaic_memspace::rules::{Access, AccessRefusal};
    /// use mosaic_memspace::{CoreType, Resolved};
    ///
    /// let core = CoreType::ScVectorSubcore;
    /// assert_eq!(Access::STORE_VECTOR.check(Resolved::VMEM, core, None), Ok(()));
    /// let refused = Access::LOAD_VECTOR.check(Resolved::HBM, core, None).unwrap_err();
    /// assert!(matches!(refused.reason, AccessRefusal::OffCore { .. }));
    /// ```
    pub const fn check(
        self,
        space: Resolved,
        core_type: CoreType,
        chip: Option<&ChipFacts>,
    ) -> Result<(), AccessFault> {
        match self.refusal(reach(space, core_type, chip), core_type) {
            None => Ok(()),
            Some(reason) => Err(AccessFault { access: self, space, core_type, reason }),
        }
    }

    /// Whether JAX lowers it; the compiler may still refuse it.
    ///
    /// JAX asks only for vectors in anything that isn't smem on a SparseCore's
    /// scalar subcore, which has no vmem.
    ///
    /// ```
    /// use mosaic_memspace::rules::Access;
    /// use mosaic_memspace::{CoreType, Resolved};
    ///
    /// let core = CoreType::ScScalarSubcore;
    /// assert!(Access::LOAD_VECTOR.jax_lowers(Resolved::VMEM, core, None));
    /// assert!(Access::LOAD_VECTOR.check(Resolved::VMEM, core, None).is_err());
    /// ```
    pub const fn jax_lowers(
        self,
        space: Resolved,
        core_type: CoreType,
        chip: Option<&ChipFacts>,
    ) -> bool {
        match self.refusal(reach(space, core_type, chip), core_type) {
            None => true,
            Some(AccessRefusal::Unreached(Unreached::NotOnCore { space, .. })) => {
                matches!(space, TpuSpace::Vmem) && matches!(self.shape, AccessShape::Vector)
            }
            Some(_) => false,
        }
    }

    /// Only a core's own memories are loaded from and stored to.
    const fn refusal(self, reach: Reach, core_type: CoreType) -> Option<AccessRefusal> {
        let (op, vectors) = (self.op, vectors_lie_in(core_type));
        let held = match reach {
            Reach::Local(held) => held,
            Reach::ByCopies(_) => {
                let local = match (self.shape, vectors) {
                    (AccessShape::Vector, Some(space)) => space,
                    (AccessShape::Vector, None) | (AccessShape::Scalar, _) => TpuSpace::Smem,
                };
                return Some(AccessRefusal::OffCore { op, local });
            }
            Reach::Not(why) => return Some(AccessRefusal::Unreached(why)),
        };
        match (held, self.shape, self.op) {
            (Held::Scalars, AccessShape::Vector, _) => {
                Some(AccessRefusal::ScalarsOnly { op, vectors })
            }
            (Held::Scalars, AccessShape::Scalar, _) => None,
            (Held::Vectors | Held::VectorsAndScalarLoads, AccessShape::Vector, _) => None,
            (Held::VectorsAndScalarLoads, AccessShape::Scalar, AccessOp::Load) => None,
            (Held::Vectors, AccessShape::Scalar, AccessOp::Load) => {
                Some(AccessRefusal::NoScalarLoad)
            }
            (Held::Vectors | Held::VectorsAndScalarLoads, AccessShape::Scalar, AccessOp::Store) => {
                Some(AccessRefusal::NoScalarStore)
            }
        }
    }
}

impl std::fmt::Display for Access {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} a {}", self.op, self.shape)
    }
}

faults! {
    /// Why a core cannot make a load or a store.
    ///
    /// ```
    /// use mosaic_memspace::rules::AccessRefusal;
    /// let refusal = AccessRefusal::NoScalarStore;
    /// assert_eq!(refusal.to_string(), "no core stores single elements there");
    /// ```
    #[derive(Clone, Copy)]
    pub enum AccessRefusal {
        /// Neither loads and stores nor copies reach it.
        Unreached[why: Unreached];
        /// `hbm`, `any`, `host`, `vmem_shared`: only copies reach it.
        OffCore {
            /// Load or store.
            op: AccessOp,
            /// The memory of the core to copy from or to.
            local: TpuSpace,
        } => IllegalAccess ("only copies reach it") help {
            match op {
                AccessOp::Load => format!(
                    "copy the part in use into {local} scratch with pltpu.async_copy and load it \
                     there"
                ),
                AccessOp::Store => {
                    format!("store to {local} scratch and copy it out with pltpu.async_copy")
                }
            }
        };
        /// A vector in `smem`.
        ScalarsOnly {
            /// Load or store.
            op: AccessOp,
            /// The memory of the core that holds vectors, if one does.
            vectors: Option<TpuSpace>,
        } => IllegalAccess ("smem holds scalars only") help {
            match vectors {
                Some(space) => format!("{op} one element at a time, or put the ref in {space}"),
                None => format!("{op} one element at a time"),
            }
        };
        /// A scalar from a vector subcore's `vmem`.
        NoScalarLoad => IllegalAccess ("a vector subcore loads whole vectors only")
            help "load a vector and take the element: v = ref[pl.ds(i, lanes)]; v[0]";
        /// A scalar to `vmem`.
        NoScalarStore => IllegalAccess ("no core stores single elements there")
            help "store a vector that holds the element, or put the ref in smem";
    }
}

/// A load or store that a core cannot make.
///
/// ```
/// use mosaic_memspace::rules::Access;
/// use mosaic_memspace::error::{Code, Fault};
/// use mosaic_memspace::{CoreType, Resolved};
///
/// let refused = Access::LOAD_VECTOR.check(Resolved::SMEM, CoreType::Tc, None).unwrap_err();
/// assert_eq!(refused.to_string(), "tc cannot load a vector from smem: smem holds scalars only");
/// assert_eq!(refused.code(), Code::IllegalAccess);
/// assert_eq!(refused.help(), "load one element at a time, or put the ref in vmem");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{core_type} cannot {access} {} {space}: {reason}", preposition(.access.op))]
#[non_exhaustive]
pub struct AccessFault {
    /// What was to be done.
    pub access: Access,
    /// The space of the ref.
    pub space: Resolved,
    /// The core that was to do it.
    pub core_type: CoreType,
    /// Why it cannot.
    pub reason: AccessRefusal,
}

impl Fault for AccessFault {
    fn code(&self) -> Code {
        self.reason.code()
    }

    fn help(&self) -> String {
        self.reason.help()
    }
}

/// The memory of the core that holds vectors, if one does.
pub(super) const fn vectors_lie_in(core_type: CoreType) -> Option<TpuSpace> {
    match reach(Resolved::VMEM, core_type, None) {
        Reach::Local(Held::Vectors | Held::VectorsAndScalarLoads) => Some(TpuSpace::Vmem),
        Reach::Local(Held::Scalars) | Reach::ByCopies(_) | Reach::Not(_) => None,
    }
}

const fn preposition(op: AccessOp) -> &'static str {
    match op {
        AccessOp::Load => "from",
        AccessOp::Store => "in",
    }
}

#[cfg(test)]
#[allow(clippy::panic, clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;
    use crate::chip::Chip;
    use crate::memory_space::{CoreMemorySpace, MemrefSpace};

    /// Every refusal there is, with what an author reads.
    #[allow(clippy::too_many_lines, reason = "a row a refusal")]
    #[test]
    fn each_refusal_says_why_and_what_instead() {
        let [tc, scalar, vector] =
            [CoreType::Tc, CoreType::ScScalarSubcore, CoreType::ScVectorSubcore];
        let other = Resolved::Memref(MemrefSpace::Core(CoreMemorySpace::VmemOfScVectorSubcore));
        let refused = [
            (
                Access::LOAD_VECTOR,
                Resolved::HBM,
                tc,
                "only copies reach it",
                Code::IllegalAccess,
                "copy the part in use into vmem scratch with pltpu.async_copy and load it there",
            ),
            (
                Access::STORE_SCALAR,
                Resolved::VMEM_SHARED,
                scalar,
                "only copies reach it",
                Code::IllegalAccess,
                "store to smem scratch and copy it out with pltpu.async_copy",
            ),
            (
                Access::LOAD_SCALAR,
                Resolved::CMEM,
                tc,
                "no ref lies in cmem",
                Code::IllegalAccess,
                "use hbm",
            ),
            (
                Access::STORE_VECTOR,
                other,
                tc,
                "it belongs to another core",
                Code::IllegalAccess,
                "let the core that owns it copy it, by way of hbm or vmem_shared",
            ),
            (
                Access::LOAD_VECTOR,
                Resolved::CMEM,
                vector,
                "sc_vector_subcore has no cmem",
                Code::SpaceNotOnCore,
                "use vmem, vmem_shared, smem or hbm",
            ),
            (
                Access::LOAD_VECTOR,
                Resolved::VMEM,
                scalar,
                "sc_scalar_subcore has no vmem",
                Code::SpaceNotOnCore,
                "use vmem_shared, smem or hbm",
            ),
            (
                Access::STORE_VECTOR,
                Resolved::SMEM,
                vector,
                "smem holds scalars only",
                Code::IllegalAccess,
                "store one element at a time, or put the ref in vmem",
            ),
            (
                Access::LOAD_VECTOR,
                Resolved::SMEM,
                scalar,
                "smem holds scalars only",
                Code::IllegalAccess,
                "load one element at a time",
            ),
            (
                Access::LOAD_SCALAR,
                Resolved::VMEM,
                vector,
                "a vector subcore loads whole vectors only",
                Code::IllegalAccess,
                "load a vector and take the element: v = ref[pl.ds(i, lanes)]; v[0]",
            ),
            (
                Access::STORE_SCALAR,
                Resolved::VMEM,
                tc,
                "no core stores single elements there",
                Code::IllegalAccess,
                "store a vector that holds the element, or put the ref in smem",
            ),
            (
                Access::LOAD_SCALAR,
                Resolved::SEMAPHORE_MEM,
                tc,
                "only semaphore operations use it",
                Code::IllegalAccess,
                "signal and wait with pltpu.semaphore_signal and pltpu.semaphore_wait",
            ),
            (
                Access::STORE_VECTOR,
                Resolved::Acc(0),
                tc,
                "only the matmul operations use accumulators",
                Code::IllegalAccess,
                "take the result with pltpu.matmul_pop, or accumulate in vmem",
            ),
        ];
        for (access, space, core_type, reason, code, help) in refused {
            let said = access.check(space, core_type, None);
            let said = said.map_err(|fault| (fault.reason.to_string(), fault.code(), fault.help()));
            let expected = (reason.to_owned(), code, help.to_owned());
            assert_eq!(said, Err(expected), "{core_type}: {access}");
        }
    }

    #[test]
    fn a_refusal_says_where_it_would_have_loaded_from_or_stored() {
        let said = |access: Access| access.check(Resolved::HBM, CoreType::Tc, None).unwrap_err();
        assert_eq!(
            [Access::LOAD_VECTOR, Access::STORE_SCALAR].map(|access| said(access).to_string()),
            [
                "tc cannot load a vector from hbm: only copies reach it",
                "tc cannot store a scalar in hbm: only copies reach it"
            ]
        );
    }

    fn cores_and_chips() -> impl Iterator<Item = (CoreType, Option<&'static ChipFacts>)> {
        let chips = || Chip::ALL.iter().map(|chip| Some(chip.facts())).chain([None]);
        CoreType::ALL.iter().flat_map(move |core_type| chips().map(|chip| (*core_type, chip)))
    }

    #[test]
    fn what_is_legal_also_lowers() {
        for access in Access::ALL {
            for space in MemrefSpace::ALL.iter().map(|space| Resolved::Memref(*space)) {
                for (core_type, chip) in cores_and_chips() {
                    let legal = access.check(space, core_type, chip).is_ok();
                    assert!(
                        !legal || access.jax_lowers(space, core_type, chip),
                        "{access} {space} {core_type}"
                    );
                }
            }
        }
    }
}
