//! How a core reaches a memory: the one place where that is decided.

use crate::chip::{ChipFacts, NoSparseCores};
use crate::core_type::CoreType;
use crate::error::{Code, Fault, faults};
use crate::memory_space::{MemrefSpace, Resolved, TpuSpace};
use crate::word::OneOf;
use std::fmt;

/// How a core reaches the refs that lie in a memory space.
///
#[doc = include_str!("../docs/access.md")]
///
/// ```
/// use mosaic_memspace::{Afar, Chip, CoreType, Held, Reach, Resolved, Unreached, reach};
///
/// let chip = Some(Chip::V4.facts());
/// const VMEM: Reach = reach(Resolved::VMEM, CoreType::Tc, None);
/// assert_eq!(VMEM, Reach::Local(Held::VectorsAndScalarLoads));
/// assert_eq!(reach(Resolved::ANY, CoreType::Tc, chip), Reach::ByCopies(Afar::Hbm));
/// assert_eq!(reach(Resolved::CMEM, CoreType::Tc, chip), Reach::Not(Unreached::Cmem));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// The core loads from them and stores to them; copies reach them too.
    Local(Held),
    /// Only copies reach them.
    ByCopies(Afar),
    /// Neither loads and stores nor copies reach them.
    Not(Unreached),
}

/// What a core loads from a memory of its own, and stores to it.
///
/// ```
/// use mosaic_memspace::{CoreType, Held, Reach, Resolved, reach};
/// let subcore = reach(Resolved::VMEM, CoreType::ScVectorSubcore, None);
/// assert_eq!(subcore, Reach::Local(Held::Vectors));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// `smem`: single elements.
    Scalars,
    /// A vector subcore's `vmem`: whole vectors.
    Vectors,
    /// A TensorCore's `vmem`: whole vectors, and loads of single elements.
    VectorsAndScalarLoads,
}

/// A memory that copies alone reach.
///
/// ```
/// use mosaic_memspace::{Afar, CoreType, Reach, Resolved, reach};
/// assert_eq!(reach(Resolved::HOST, CoreType::Tc, None), Reach::ByCopies(Afar::Host));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Afar {
    /// `hbm`, or a TensorCore's `any`, which the compiler puts there.
    Hbm,
    /// `host`, for a value that is there.
    Host,
    /// `vmem_shared` of the subcore's own SparseCore.
    Shared,
}

/// How a core of this type reaches refs in `space`. Without a chip, as on one that
/// has every core and memory.
///
/// ```
/// use mosaic_memspace::{Chip, CoreType, Reach, Resolved, Unreached, reach};
///
/// let scalar = CoreType::ScScalarSubcore;
/// let Reach::Not(why) = reach(Resolved::VMEM, scalar, None) else { unreachable!() };
/// assert_eq!(why.to_string(), "sc_scalar_subcore has no vmem");
/// let Reach::Not(why) = reach(Resolved::SMEM, scalar, Some(Chip::V5e.facts())) else {
///     unreachable!()
/// };
/// assert_eq!(why.to_string(), "v5e has no SparseCores");
/// ```
pub const fn reach(space: Resolved, core_type: CoreType, chip: Option<&ChipFacts>) -> Reach {
    if let Some(chip) = chip
        && let Err(absent) = chip.require_core(core_type)
    {
        return Reach::Not(Unreached::NoSparseCores(absent));
    }
    match space {
        Resolved::Acc(_) => Reach::Not(Unreached::Accumulator),
        Resolved::Memref(MemrefSpace::Core(_)) => Reach::Not(Unreached::OtherCore),
        Resolved::Memref(MemrefSpace::Host) => Reach::ByCopies(Afar::Host),
        Resolved::Memref(MemrefSpace::Any) if core_type.is_sparse_core() => {
            Reach::Not(Unreached::AnyOnSparseCore)
        }
        Resolved::Memref(MemrefSpace::Any) => Reach::ByCopies(Afar::Hbm),
        Resolved::Memref(MemrefSpace::Tpu(space)) => own(space, core_type, chip),
    }
}

/// The TPU's memories, as a core of each type reaches them.
const fn own(space: TpuSpace, core_type: CoreType, chip: Option<&ChipFacts>) -> Reach {
    use CoreType::{ScScalarSubcore, ScVectorSubcore, Tc};
    match (space, core_type) {
        (TpuSpace::Vmem, Tc) => Reach::Local(Held::VectorsAndScalarLoads),
        (TpuSpace::Vmem, ScVectorSubcore) => Reach::Local(Held::Vectors),
        (TpuSpace::Vmem, ScScalarSubcore) => Reach::lacks(space, core_type, None),
        (TpuSpace::VmemShared, ScScalarSubcore | ScVectorSubcore) => Reach::ByCopies(Afar::Shared),
        (TpuSpace::VmemShared, Tc) => Reach::Not(Unreached::VmemShared),
        (TpuSpace::Smem, Tc | ScScalarSubcore | ScVectorSubcore) => Reach::Local(Held::Scalars),
        (TpuSpace::Cmem, ScScalarSubcore | ScVectorSubcore) => Reach::lacks(space, core_type, None),
        (TpuSpace::Cmem, Tc) => match chip {
            Some(ChipFacts { cmem_capacity_bytes: None, name, .. }) => {
                Reach::lacks(space, core_type, Some(*name))
            }
            Some(_) | None => Reach::Not(Unreached::Cmem),
        },
        (TpuSpace::SemaphoreMem, Tc | ScScalarSubcore | ScVectorSubcore) => {
            Reach::Not(Unreached::Semaphores)
        }
        (TpuSpace::Hbm, Tc | ScScalarSubcore | ScVectorSubcore) => Reach::ByCopies(Afar::Hbm),
    }
}

impl Reach {
    const fn lacks(space: TpuSpace, core_type: CoreType, chip: Option<&'static str>) -> Self {
        Self::Not(Unreached::NotOnCore { space, core_type, chip })
    }
}

/// The TPU's memories that a core of this type reaches, on some chip.
pub(crate) fn reached(core_type: CoreType) -> impl Iterator<Item = TpuSpace> + Clone {
    let reaches = move |space: &TpuSpace| match own(*space, core_type, None) {
        Reach::Local(_) | Reach::ByCopies(_) => true,
        Reach::Not(_) => false,
    };
    TpuSpace::ALL.iter().copied().filter(reaches)
}

faults! {
    /// Why a core reaches no ref in a memory space.
    ///
    /// Its code is a load's or a store's; a copy, a window or scratch there has its own.
    ///
    /// ```
    /// use mosaic_memspace::Unreached;
    /// use mosaic_memspace::error::Fault;
    /// assert_eq!(Unreached::VmemShared.to_string(), "vmem_shared belongs to a SparseCore");
    /// assert_eq!(Unreached::VmemShared.help(), "use vmem");
    /// ```
    #[derive(Clone, Copy)]
    pub enum Unreached {
        /// The chip lacks the core.
        NoSparseCores[absent: NoSparseCores];
        /// The core lacks the memory: `vmem` on the scalar subcore, `cmem` on a
        /// SparseCore or a chip without it.
        NotOnCore {
            /// The memory.
            space: TpuSpace,
            /// The core.
            core_type: CoreType,
            /// The chip, where the core's type alone does not tell.
            chip: Option<&'static str>,
        } => SpaceNotOnCore at "space" ("{core_type}{} has no {space}", Of(*chip))
             help { format!("use {}", OneOf(reached(*core_type))) };
        /// `vmem_shared` on a TensorCore.
        VmemShared => IllegalAccess ("vmem_shared belongs to a SparseCore") help "use vmem";
        /// `cmem` on a TensorCore that has it: the compiler puts no ref there.
        Cmem => IllegalAccess ("no ref lies in cmem") help "use hbm";
        /// `any` on a SparseCore, which its compiler never resolves.
        AnyOnSparseCore => IllegalAccess ("a SparseCore's compiler does not take any")
                           help "write hbm instead of any";
        /// A memory of another core type's mesh.
        OtherCore => IllegalAccess ("it belongs to another core")
                     help "let the core that owns it copy it, by way of hbm or vmem_shared";
        /// `semaphore_mem`.
        Semaphores => IllegalAccess ("only semaphore operations use it")
                      help "signal and wait with pltpu.semaphore_signal and pltpu.semaphore_wait";
        /// `acc(n)`, which is never a memref.
        Accumulator => IllegalAccess ("only the matmul operations use accumulators")
                       help "take the result with pltpu.matmul_pop, or accumulate in vmem";
    }
}

impl Unreached {
    /// The code of what fails for this reason, where `illegal` is its own.
    pub(crate) fn code_of(&self, illegal: Code) -> Code {
        let code = self.code();
        if code == Code::IllegalAccess { illegal } else { code }
    }
}

/// The chip, where the core's type alone would not tell.
struct Of(Option<&'static str>);

impl fmt::Display for Of {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(chip) => write!(f, " of {chip}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
#[allow(clippy::panic, clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;
    use crate::chip::Chip;
    use crate::memory_space::CoreMemorySpace;

    const TC: CoreType = CoreType::Tc;
    const SCALAR: CoreType = CoreType::ScScalarSubcore;
    const VECTOR: CoreType = CoreType::ScVectorSubcore;

    #[test]
    fn each_reason_says_why_and_what_instead() {
        let other = MemrefSpace::Core(CoreMemorySpace::SmemOfScScalarSubcore);
        let said = [
            (Resolved::SMEM, SCALAR, Chip::V5e, Code::NoSparseCores, "v5e has no SparseCores"),
            (
                Resolved::VMEM,
                SCALAR,
                Chip::V5p,
                Code::SpaceNotOnCore,
                "sc_scalar_subcore has no vmem",
            ),
            (
                Resolved::CMEM,
                VECTOR,
                Chip::V5p,
                Code::SpaceNotOnCore,
                "sc_vector_subcore has no cmem",
            ),
            (Resolved::CMEM, TC, Chip::V5e, Code::SpaceNotOnCore, "tc of v5e has no cmem"),
            (Resolved::CMEM, TC, Chip::V4, Code::IllegalAccess, "no ref lies in cmem"),
            (
                Resolved::VMEM_SHARED,
                TC,
                Chip::V6e,
                Code::IllegalAccess,
                "vmem_shared belongs to a SparseCore",
            ),
            (
                Resolved::ANY,
                VECTOR,
                Chip::V6e,
                Code::IllegalAccess,
                "a SparseCore's compiler does not take any",
            ),
            (
                Resolved::Memref(other),
                VECTOR,
                Chip::V6e,
                Code::IllegalAccess,
                "it belongs to another core",
            ),
            (
                Resolved::SEMAPHORE_MEM,
                TC,
                Chip::V6e,
                Code::IllegalAccess,
                "only semaphore operations use it",
            ),
            (
                Resolved::Acc(1),
                VECTOR,
                Chip::V6e,
                Code::IllegalAccess,
                "only the matmul operations use accumulators",
            ),
        ];
        for (space, core_type, chip, code, message) in said {
            let reached = reach(space, core_type, Some(chip.facts()));
            let Reach::Not(why) = reached else { panic!("{core_type} of {chip} reaches {space}") };
            assert_eq!((why.code(), why.to_string().as_str()), (code, message));
        }
    }

    /// The help for the one is never a memory that is told the same.
    #[test]
    fn the_memories_offered_instead_are_reached() {
        let offered = |core_type| {
            let why = Unreached::NotOnCore { space: TpuSpace::Cmem, core_type, chip: None };
            why.help()
        };
        assert_eq!(
            [TC, SCALAR, VECTOR].map(offered),
            [
                "use vmem, smem or hbm",
                "use vmem_shared, smem or hbm",
                "use vmem, vmem_shared, smem or hbm"
            ]
        );
    }

    /// A memory that a core reaches is one that it has, on every chip.
    #[test]
    fn a_core_has_what_it_reaches() {
        for chip in Chip::ALL {
            for core_type in CoreType::ALL {
                for space in TpuSpace::ALL {
                    let has = chip.facts().capacity(*space, *core_type).is_present();
                    let lacks = match reach(Resolved::tpu(*space), *core_type, Some(chip.facts())) {
                        Reach::Not(
                            Unreached::NoSparseCores(_)
                            | Unreached::NotOnCore { .. }
                            | Unreached::VmemShared,
                        ) => true,
                        Reach::Not(_) | Reach::Local(_) | Reach::ByCopies(_) => false,
                    };
                    assert_eq!(has, !lacks, "{core_type} of {chip}: {space}");
                }
            }
        }
    }
}
