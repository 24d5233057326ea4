//! The inverse question: which memory spaces serve all that a kernel does to a ref.

use super::accesses::Access;
use super::copies::Dma;
use super::places::{Holding, check_place, check_scratch};
use super::windows::check_window_space;
use crate::chip::ChipFacts;
use crate::core_type::CoreType;
use crate::memory_space::{Resolved, TpuSpace};
use crate::operand::{Form, Role};

/// One thing that a kernel does to a ref, or has it for.
///
/// ```
/// use mosaic_memspace::rules::{Access, Use};
/// use mosaic_memspace::{CoreType, Resolved};
///
/// const LOAD: Use = Use::Access(Access::LOAD_VECTOR);
/// assert!(LOAD.is_served_by(Resolved::VMEM, CoreType::Tc, None));
/// assert!(!LOAD.is_served_by(Resolved::SMEM, CoreType::Tc, None));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Use {
    /// It loads from the ref, or stores to it.
    Access(Access),
    /// It copies from the ref to another, which lies in `dst`.
    CopyTo {
        /// How.
        dma: Dma,
        /// The other's space.
        dst: Resolved,
    },
    /// It copies to the ref from another, which lies in `src`.
    CopyFrom {
        /// How.
        dma: Dma,
        /// The other's space.
        src: Resolved,
    },
    /// It gathers or scatters by the indices that the ref holds.
    Indices,
    /// It steps through an operand, a block at a time.
    Window(Role),
    /// It allocates the ref as scratch.
    Scratch,
}

impl Use {
    /// Whether a ref in this space may be used so.
    ///
    /// ```
    /// use mosaic_memspace::rules::{Dma, Use};
    /// use mosaic_memspace::{CoreType, Resolved};
    ///
    /// let fetched = Use::CopyFrom { dma: Dma::GATHER, src: Resolved::HBM };
    /// assert!(fetched.is_served_by(Resolved::VMEM, CoreType::ScVectorSubcore, None));
    /// assert!(!fetched.is_served_by(Resolved::VMEM, CoreType::Tc, None));
    /// ```
    pub const fn is_served_by(
        self,
        space: Resolved,
        core_type: CoreType,
        chip: Option<&ChipFacts>,
    ) -> bool {
        let served = match self {
            Self::Access(access) => access.check(space, core_type, chip).is_ok(),
            Self::CopyTo { dma, dst } => dma.check(space, dst, core_type, chip).is_ok(),
            Self::CopyFrom { dma, src } => dma.check(src, space, core_type, chip).is_ok(),
            Self::Indices => space.is(TpuSpace::Vmem),
            Self::Window(role) => {
                let windowed = Form::Pipelined.has_window(space, core_type);
                windowed && check_window_space(space, role, core_type).is_ok()
            }
            Self::Scratch => check_scratch(space, Holding::Elements, core_type, chip).is_ok(),
        };
        served && check_place(space, core_type, chip).is_ok()
    }
}

/// The TPU's memories that serve every one of these uses, on a core of this type.
///
/// ```
/// use mosaic_memspace::rules::{Access, Dma, Use, serving_spaces};
/// use mosaic_memspace::{Chip, CoreType, Resolved, TpuSpace};
///
/// // Scratch that is filled from hbm and read a scalar at a time.
/// let uses = [
///     Use::Scratch,
///     Use::CopyFrom { dma: Dma::COPY, src: Resolved::HBM },
///     Use::Access(Access::LOAD_SCALAR),
/// ];
/// let on = |core_type| serving_spaces(core_type, Some(Chip::Tpu7x.facts()), &uses).collect::<Vec<_>>();
/// assert_eq!(on(CoreType::Tc), [TpuSpace::Vmem, TpuSpace::Smem]);
/// assert_eq!(on(CoreType::ScScalarSubcore), [TpuSpace::Smem]);
/// assert_eq!(on(CoreType::ScVectorSubcore), []);
/// ```
pub fn serving_spaces<'a>(
    core_type: CoreType,
    chip: Option<&'a ChipFacts>,
    uses: &'a [Use],
) -> impl Iterator<Item = TpuSpace> + 'a {
    TpuSpace::ALL.iter().copied().filter(move |space| {
        let space = Resolved::tpu(*space);
        uses.iter().all(|it| it.is_served_by(space, core_type, chip))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chip::Chip;

    fn serving(core_type: CoreType, uses: &[Use]) -> Vec<TpuSpace> {
        serving_spaces(core_type, Some(Chip::Tpu7x.facts()), uses).collect()
    }

    #[test]
    fn a_window_lies_where_the_compiler_takes_it() {
        assert_eq!(
            serving(CoreType::Tc, &[Use::Window(Role::Output)]),
            [TpuSpace::Vmem, TpuSpace::Smem]
        );
    }

    #[test]
    fn what_every_subcore_reads_is_shared() {
        let exchange = [
            Use::Scratch,
            Use::CopyFrom { dma: Dma::SCATTER.adding(), src: Resolved::VMEM },
            Use::CopyTo { dma: Dma::COPY, dst: Resolved::HBM },
        ];
        assert_eq!(serving(CoreType::ScVectorSubcore, &exchange), [TpuSpace::VmemShared]);
        let indices = [Use::Indices, Use::CopyFrom { dma: Dma::COPY, src: Resolved::HBM }];
        assert_eq!(serving(CoreType::ScVectorSubcore, &indices), [TpuSpace::Vmem]);
    }

    #[test]
    fn nothing_serves_on_a_core_that_the_chip_lacks() {
        let core_type = CoreType::ScVectorSubcore;
        let none = serving_spaces(core_type, Some(Chip::V5e.facts()), &[Use::Scratch]);
        assert_eq!(none.count(), 0);
    }
}
