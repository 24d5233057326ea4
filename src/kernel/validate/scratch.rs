//! Scratch: memory, semaphores, accumulators.

use super::Pass;
use super::operands::named;
use super::refs::{Described, Entered};
use crate::dtype::Dtype;
use crate::kernel::place::Place;
use crate::kernel::report::{ScratchReport, attribute};
use crate::memory_space::{MemrefSpace, Resolved};
use crate::operand::{Holds, Scratch};
use crate::rules::{AccumulatorAllocator, Holding, check_scratch};

impl<'k> Pass<'k> {
    pub(super) fn scratch(&mut self) {
        let mut accumulators = self.target.chip.map(AccumulatorAllocator::new);
        for (index, scratch) in self.kernel.scratch.iter().enumerate() {
            self.one_scratch(index, scratch, accumulators.as_mut());
        }
    }

    fn one_scratch(
        &mut self,
        index: usize,
        scratch: &'k Scratch,
        accumulators: Option<&mut AccumulatorAllocator<'_>>,
    ) {
        let name = named(scratch.name.as_ref(), "scratch", index);
        let place = Place::list("scratch").named(index, &name);
        let semaphore = match &scratch.holds {
            Holds::Semaphores(kind) => Some(*kind),
            Holds::Elements { .. } => None,
        };
        let (dtype, resolved) = match &scratch.holds {
            Holds::Semaphores(_) => (None, self.target.core_type.map(|_| Resolved::SEMAPHORE_MEM)),
            Holds::Elements { dtype, space } => {
                let dtype = self.known(dtype, &place, "dtype");
                (dtype, self.resolved(space.as_ref(), &place))
            }
        };
        let is_of_another_core = self.kernel.from_body.is_some()
            && matches!(resolved, Some(Resolved::Memref(MemrefSpace::Core(_))));
        let sound = match (resolved, self.target.core_type) {
            (Some(_), Some(_)) if self.target.lacks_core => false,
            // The kernel of the core that owns it counts it.
            (Some(_), Some(_)) if is_of_another_core => false,
            (Some(space), Some(core_type)) => {
                let holding =
                    if semaphore.is_some() { Holding::Semaphores } else { Holding::Elements };
                match check_scratch(space, holding, core_type, self.target.chip) {
                    Ok(()) => match (space, dtype, accumulators) {
                        (Resolved::Acc(mxu_id), Some(dtype), Some(accumulators)) => {
                            self.accumulator(mxu_id, scratch, dtype, accumulators, &place);
                            true
                        }
                        (Resolved::Acc(_) | Resolved::Memref(_), _, _) => true,
                    },
                    Err(fault) => {
                        self.push(fault, place.clone().field("space"));
                        false
                    }
                }
            }
            (None, _) | (_, None) => false,
        };
        let rank = scratch.shape.len();
        let described = Described::Scratch(scratch);
        self.enter(Entered { described, name: name.clone(), place, rank, dtype, resolved, sound });
        let attribute = resolved.and_then(attribute);
        self.report.scratch.push(ScratchReport {
            name,
            semaphore,
            resolved,
            attribute,
            bytes: None,
        });
    }

    fn accumulator(
        &mut self,
        mxu_id: u8,
        scratch: &Scratch,
        dtype: Dtype,
        accumulators: &mut AccumulatorAllocator<'_>,
        place: &Place,
    ) {
        if let Err(fault) = accumulators.allocate(&scratch.shape, dtype, mxu_id) {
            self.push_in(fault, place);
        }
    }
}
