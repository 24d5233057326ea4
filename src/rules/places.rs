//! Where a ref may lie at all, and scratch in particular.

use crate::chip::{ChipFacts, NoSparseCores};
use crate::core_type::CoreType;
use crate::error::{Code, Fault};
use crate::memory_space::{MemrefSpace, Resolved, TpuSpace};

/// Whether a core of this type, on this chip, has the memory that a ref is to
/// lie in. Without a chip, only the core's own lacks count.
///
/// # Errors
/// [`PlaceFault::NoSparseCores`], then [`PlaceFault::SpaceNotOnCore`] for `vmem`
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
) -> Result<(), PlaceFault> {
    if let Some(chip) = chip
        && let Err(absent) = chip.require_core(core_type)
    {
        return Err(PlaceFault::NoSparseCores(absent));
    }
    let there = match space {
        Resolved::Acc(_) => true,
        Resolved::Memref(space) => match space {
            MemrefSpace::Any | MemrefSpace::Host | MemrefSpace::Core(_) => true,
            MemrefSpace::Tpu(space) => match space {
                TpuSpace::Hbm | TpuSpace::Smem | TpuSpace::SemaphoreMem => true,
                TpuSpace::VmemShared => true, // a TensorCore's is refused by what uses it
                TpuSpace::Vmem => match core_type {
                    CoreType::Tc | CoreType::ScVectorSubcore => true,
                    CoreType::ScScalarSubcore => false,
                },
                TpuSpace::Cmem => match core_type {
                    CoreType::Tc => match chip {
                        Some(chip) => chip.cmem_capacity_bytes.is_some(),
                        None => true,
                    },
                    CoreType::ScScalarSubcore | CoreType::ScVectorSubcore => false,
                },
            },
        },
    };
    if there {
        return Ok(());
    }
    let chip = match core_type {
        CoreType::Tc => match chip {
            Some(chip) => Some(chip.name),
            None => None,
        },
        CoreType::ScScalarSubcore | CoreType::ScVectorSubcore => None,
    };
    Err(PlaceFault::SpaceNotOnCore { space, core_type, chip })
}

/// Whether scratch may lie there: what [`check_place`] asks, and that the
/// compiler allocates scratch in the space.
///
/// # Errors
/// Those of [`check_place`], then [`PlaceFault::ScratchSpaceUnsupported`].
///
/// ```
/// use mosaic_memspace::rules::check_scratch;
/// use mosaic_memspace::error::Fault;
/// use mosaic_memspace::{CoreType, Resolved};
///
/// assert!(check_scratch(Resolved::HBM, CoreType::ScVectorSubcore, None).is_ok());
/// let fault = check_scratch(Resolved::HBM, CoreType::Tc, None).unwrap_err();
/// assert_eq!(fault.to_string(), "tc takes no scratch in hbm");
/// assert_eq!(fault.help(), "put scratch in vmem, smem, semaphore_mem or an accumulator");
/// ```
pub const fn check_scratch(
    space: Resolved,
    core_type: CoreType,
    chip: Option<&ChipFacts>,
) -> Result<(), PlaceFault> {
    if let Err(fault) = check_place(space, core_type, chip) {
        return Err(fault);
    }
    if holds_scratch(space, core_type) {
        Ok(())
    } else {
        Err(PlaceFault::ScratchSpaceUnsupported { space, core_type })
    }
}

/// The rule. A space of another core type is refused although libtpu compiles
/// some: it does not say in whose memory they end.
const fn holds_scratch(space: Resolved, core_type: CoreType) -> bool {
    match core_type {
        CoreType::Tc => match space {
            Resolved::Acc(_) => true,
            Resolved::Memref(space) => match space {
                MemrefSpace::Any | MemrefSpace::Host | MemrefSpace::Core(_) => false,
                MemrefSpace::Tpu(space) => match space {
                    TpuSpace::Vmem | TpuSpace::Smem | TpuSpace::SemaphoreMem => true,
                    TpuSpace::VmemShared | TpuSpace::Cmem | TpuSpace::Hbm => false,
                },
            },
        },
        CoreType::ScScalarSubcore | CoreType::ScVectorSubcore => match space {
            Resolved::Acc(_) => false,
            Resolved::Memref(space) => match space {
                MemrefSpace::Any | MemrefSpace::Host | MemrefSpace::Core(_) => false,
                MemrefSpace::Tpu(space) => match space {
                    TpuSpace::Vmem | TpuSpace::VmemShared | TpuSpace::Smem => true,
                    TpuSpace::SemaphoreMem | TpuSpace::Hbm => true,
                    TpuSpace::Cmem => false,
                },
            },
        },
    }
}

/// Why a ref cannot lie where it is to lie.
///
/// ```
/// use mosaic_memspace::rules::check_place;
/// use mosaic_memspace::error::{Code, Fault};
/// use mosaic_memspace::{Chip, CoreType, Resolved};
///
/// let fault = check_place(Resolved::CMEM, CoreType::Tc, Some(Chip::V6e.facts())).unwrap_err();
/// assert_eq!(fault.code(), Code::SpaceNotOnCore);
/// assert_eq!(fault.to_string(), "tc of v6e has no cmem");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlaceFault {
    /// The chip lacks the core.
    #[error(transparent)]
    NoSparseCores(#[from] NoSparseCores),
    /// The core lacks the memory.
    #[error("{core_type}{} has no {space}", Of(*chip))]
    SpaceNotOnCore {
        /// The memory.
        space: Resolved,
        /// The core.
        core_type: CoreType,
        /// The chip, where the core's type alone does not tell.
        chip: Option<&'static str>,
    },
    /// The compiler allocates no scratch there.
    #[error("{core_type} takes no scratch in {space}")]
    ScratchSpaceUnsupported {
        /// The memory.
        space: Resolved,
        /// The core.
        core_type: CoreType,
    },
}

impl Fault for PlaceFault {
    fn code(&self) -> Code {
        match self {
            Self::NoSparseCores(absent) => absent.code(),
            Self::SpaceNotOnCore { .. } => Code::SpaceNotOnCore,
            Self::ScratchSpaceUnsupported { .. } => Code::ScratchSpaceUnsupported,
        }
    }

    fn help(&self) -> String {
        match self {
            Self::NoSparseCores(absent) => absent.help(),
            Self::SpaceNotOnCore { core_type, .. } => match core_type {
                CoreType::Tc => "use vmem or hbm",
                CoreType::ScScalarSubcore => "use smem, vmem_shared or hbm",
                CoreType::ScVectorSubcore => "use vmem, vmem_shared or hbm",
            }
            .to_owned(),
            Self::ScratchSpaceUnsupported { core_type, .. } => match core_type {
                CoreType::Tc => "put scratch in vmem, smem, semaphore_mem or an accumulator",
                CoreType::ScScalarSubcore => {
                    "put scratch in smem, vmem_shared, semaphore_mem or hbm"
                }
                CoreType::ScVectorSubcore => {
                    "put scratch in vmem, vmem_shared, smem, semaphore_mem or hbm"
                }
            }
            .to_owned(),
        }
    }
}

/// The chip, where the core's type alone would not tell.
struct Of(Option<&'static str>);

impl std::fmt::Display for Of {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Some(chip) => write!(f, " of {chip}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chip::Chip;

    #[test]
    fn each_fault_says_what_would_be_right() {
        let [tc, scalar, vector] =
            [CoreType::Tc, CoreType::ScScalarSubcore, CoreType::ScVectorSubcore];
        let no_sparse_cores = "run it on the TensorCore, or on a chip with SparseCores: \
                               v5p, v6e, 7, 7x, 8i, 8t";
        let wrong = [
            (Resolved::SMEM, scalar, Chip::V5e, "v5e has no SparseCores", no_sparse_cores),
            (Resolved::CMEM, tc, Chip::V5e, "tc of v5e has no cmem", "use vmem or hbm"),
            (
                Resolved::VMEM,
                scalar,
                Chip::V5p,
                "sc_scalar_subcore has no vmem",
                "use smem, vmem_shared or hbm",
            ),
            (
                Resolved::CMEM,
                vector,
                Chip::V5p,
                "sc_vector_subcore has no cmem",
                "use vmem, vmem_shared or hbm",
            ),
            (
                Resolved::CMEM,
                tc,
                Chip::V4,
                "tc takes no scratch in cmem",
                "put scratch in vmem, smem, semaphore_mem or an accumulator",
            ),
            (
                Resolved::ANY,
                scalar,
                Chip::V6e,
                "sc_scalar_subcore takes no scratch in any",
                "put scratch in smem, vmem_shared, semaphore_mem or hbm",
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
            let said = check_scratch(space, core_type, Some(chip.facts()));
            let said = said.map_err(|fault| (fault.to_string(), fault.help()));
            assert_eq!(said, Err((message.to_owned(), help.to_owned())));
        }
    }

    #[test]
    fn scratch_lies_where_libtpu_allocates_it() {
        let takes = |core_type| {
            let spaces = TpuSpace::ALL.iter().filter(|space| {
                let space = Resolved::Memref(MemrefSpace::Tpu(**space));
                check_scratch(space, core_type, Some(Chip::Tpu7x.facts())).is_ok()
            });
            spaces.map(|space| space.as_str()).collect::<Vec<_>>()
        };
        assert_eq!(takes(CoreType::Tc), ["vmem", "smem", "semaphore_mem"]);
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
