//! Where a ref may lie at all, and scratch in particular.

use crate::attribute::MemorySpaceAttr;
use crate::chip::ChipFacts;
use crate::core_type::CoreType;
use crate::error::faults;
use crate::memory_space::{CoreMemorySpace, MemrefSpace, Resolved, TpuSpace};
use crate::reach::{Afar, Reach, Unreached, reach};
use crate::word::OneOf;

/// Whether a core of this type, on this chip, has the memory that a ref is to
/// lie in. Without a chip, only the core's own lacks count.
///
/// # Errors
/// [`Unreached::NoSparseCores`], then [`Unreached::NotOnCore`] for `vmem`
/// on the scalar subcore, and for `cmem` on a SparseCore or a chip without any.
///
/// ```
/// use mosaic_memspace::rules::check_place;
/// use mosaic_memspace::{Chip, CoreType, Resolved};
///
/// let core = CoreType::ScScalarSubcore;
/// let fault = check_place(Resolved::VMEM, core, Some(Chip::Tpu7x.facts())).unwrap_err();
/// assert_eq!(fault.to_string(), "sc_scalar_subcore has no vmem");
/// assert!(check_place(Resolved::CMEM, CoreType::Tc, Some(Chip::V4.facts())).is_ok());
/// assert!(check_place(Resolved::CMEM, CoreType::Tc, Some(Chip::V5e.facts())).is_err());
/// ```
pub const fn check_place(
    space: Resolved,
    core_type: CoreType,
    chip: Option<&ChipFacts>,
) -> Result<(), Unreached> {
    match reach(space, core_type, chip) {
        Reach::Not(why @ (Unreached::NoSparseCores(_) | Unreached::NotOnCore { .. })) => Err(why),
        Reach::Not(
            Unreached::VmemShared
            | Unreached::Cmem
            | Unreached::AnyOnSparseCore
            | Unreached::OtherCore
            | Unreached::Semaphores
            | Unreached::Accumulator,
        )
        | Reach::Local(_)
        | Reach::ByCopies(_) => Ok(()),
    }
}

/// What scratch holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Holding {
    /// Elements of a dtype.
    Elements,
    /// Semaphores.
    Semaphores,
}

/// Whether scratch may lie there: what [`check_place`] asks, and that the
/// compiler allocates scratch in the space.
///
/// # Errors
/// Those of [`check_place`], then [`PlaceFault::Scratch`].
///
/// ```
/// use mosaic_memspace::rules::{Holding, check_scratch};
/// use mosaic_memspace::error::Fault;
/// use mosaic_memspace::{CoreType, Resolved};
///
/// let check = |core| check_scratch(Resolved::HBM, Holding::Elements, core, None);
/// assert!(check(CoreType::ScVectorSubcore).is_ok());
/// let fault = check(CoreType::Tc).unwrap_err();
/// assert_eq!(fault.to_string(), "tc takes no scratch in hbm");
/// assert_eq!(fault.help(), "put scratch in vmem, smem or an accumulator");
/// ```
pub const fn check_scratch(
    space: Resolved,
    holding: Holding,
    core_type: CoreType,
    chip: Option<&ChipFacts>,
) -> Result<(), PlaceFault> {
    if let Err(why) = check_place(space, core_type, chip) {
        return Err(PlaceFault::Unreached(why));
    }
    let on_sparse_core = core_type.is_sparse_core();
    let taken = match (holding, reach(space, core_type, chip)) {
        (Holding::Semaphores, Reach::Not(Unreached::Semaphores)) => true,
        (Holding::Semaphores, Reach::Local(_) | Reach::ByCopies(_) | Reach::Not(_)) => false,
        (Holding::Elements, Reach::Local(_)) => true,
        (Holding::Elements, Reach::ByCopies(Afar::Hbm | Afar::Host | Afar::Shared)) => {
            on_sparse_core
        }
        (Holding::Elements, Reach::Not(Unreached::Semaphores)) => on_sparse_core,
        (Holding::Elements, Reach::Not(Unreached::Accumulator)) => !on_sparse_core,
        (Holding::Elements, Reach::Not(Unreached::OtherCore)) => is_lent(space, core_type),
        (Holding::Elements, Reach::Not(_)) => false,
    };
    if taken { Ok(()) } else { Err(PlaceFault::Scratch { space, holding, core_type }) }
}

/// Whether the compiler takes elements in this space of another core: one that Mosaic
/// can write, but on a TensorCore no semaphores, and on a SparseCore nothing of a
/// TensorCore's smem and cmem. They are in its owner's kernel's count.
const fn is_lent(space: Resolved, core_type: CoreType) -> bool {
    let Resolved::Memref(space @ MemrefSpace::Core(tagged)) = space else { return false };
    let of_tensor_core = matches!(tagged, CoreMemorySpace::SmemOfTc | CoreMemorySpace::CmemOfTc);
    let semaphores = matches!(tagged.space(), TpuSpace::SemaphoreMem);
    let refused = if core_type.is_sparse_core() { of_tensor_core } else { semaphores };
    !refused && MemorySpaceAttr::new(space).is_ok()
}

faults! {
    /// Why scratch cannot lie where it is to lie.
    ///
    /// ```
    /// use mosaic_memspace::rules::{Holding, check_scratch};
    /// use mosaic_memspace::error::{Code, Fault};
    /// use mosaic_memspace::{Chip, CoreType, Resolved};
    ///
    /// let chip = Some(Chip::V6e.facts());
    /// let fault = check_scratch(Resolved::CMEM, Holding::Elements, CoreType::Tc, chip);
    /// let fault = fault.unwrap_err();
    /// assert_eq!(fault.code(), Code::SpaceNotOnCore);
    /// assert_eq!(fault.to_string(), "tc of v6e has no cmem");
    /// ```
    #[derive(Clone, Copy)]
    pub enum PlaceFault {
        /// The chip lacks the core, or the core the memory.
        Unreached[why: Unreached];
        /// The compiler allocates no scratch there.
        Scratch {
            /// The memory.
            space: Resolved,
            /// What is to lie there.
            holding: Holding,
            /// The core.
            core_type: CoreType,
        } => ScratchSpaceUnsupported at "space" ("{core_type} takes no {} in {space}", of(*holding))
             help {
                 let taken = |space| check_scratch(space, *holding, *core_type, None).is_ok();
                 let spaces = TpuSpace::ALL.iter().filter(|space| taken(Resolved::tpu(**space)));
                 let accumulator = taken(Resolved::Acc(0)).then_some("an accumulator");
                 let all = spaces.map(|space| space.as_str()).chain(accumulator);
                 format!("put {} in {}", of(*holding), OneOf(all))
             };
    }
}

const fn of(holding: Holding) -> &'static str {
    match holding {
        Holding::Elements => "scratch",
        Holding::Semaphores => "semaphores",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chip::Chip;
    use crate::error::Fault;

    #[test]
    fn each_fault_says_what_would_be_right() {
        let [tc, scalar, vector] =
            [CoreType::Tc, CoreType::ScScalarSubcore, CoreType::ScVectorSubcore];
        let no_sparse_cores = "run it on the TensorCore, or on a chip with SparseCores: \
                               v5p, v6e, 7, 7x, 8i, 8t";
        let wrong = [
            (Resolved::SMEM, scalar, Chip::V5e, "v5e has no SparseCores", no_sparse_cores),
            (Resolved::CMEM, tc, Chip::V5e, "tc of v5e has no cmem", "use vmem, smem or hbm"),
            (
                Resolved::VMEM,
                scalar,
                Chip::V5p,
                "sc_scalar_subcore has no vmem",
                "use vmem_shared, smem or hbm",
            ),
            (
                Resolved::CMEM,
                vector,
                Chip::V5p,
                "sc_vector_subcore has no cmem",
                "use vmem, vmem_shared, smem or hbm",
            ),
            (
                Resolved::CMEM,
                tc,
                Chip::V4,
                "tc takes no scratch in cmem",
                "put scratch in vmem, smem or an accumulator",
            ),
            (
                Resolved::ANY,
                scalar,
                Chip::V6e,
                "sc_scalar_subcore takes no scratch in any",
                "put scratch in vmem_shared, smem, semaphore_mem or hbm",
            ),
            (
                Resolved::Acc(0),
                vector,
                Chip::V6e,
                "sc_vector_subcore takes no scratch in acc(0)",
                "put scratch in vmem, vmem_shared, smem, semaphore_mem or hbm",
            ),
        ];
        for (space, core_type, chip, message, help) in wrong {
            let said = check_scratch(space, Holding::Elements, core_type, Some(chip.facts()));
            let said = said.map_err(|fault| (fault.to_string(), fault.help()));
            assert_eq!(said, Err((message.to_owned(), help.to_owned())));
        }
    }

    #[test]
    fn scratch_lies_where_libtpu_allocates_it() {
        let takes = |core_type| {
            let spaces = TpuSpace::ALL.iter().filter(|space| {
                check_scratch(
                    Resolved::tpu(**space),
                    Holding::Elements,
                    core_type,
                    Some(Chip::Tpu7x.facts()),
                )
                .is_ok()
            });
            spaces.map(|space| space.as_str()).collect::<Vec<_>>()
        };
        assert_eq!(takes(CoreType::Tc), ["vmem", "smem"]);
        assert_eq!(
            takes(CoreType::ScScalarSubcore),
            ["vmem_shared", "smem", "semaphore_mem", "hbm"]
        );
        assert_eq!(
            takes(CoreType::ScVectorSubcore),
            ["vmem", "vmem_shared", "smem", "semaphore_mem", "hbm"]
        );
    }
}
