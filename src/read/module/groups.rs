//! The operands of an operation, in groups.

use crate::bytecode::{DenseIntegers, Operation, Value};

/// Operands in groups are more than so many only where something is wrong.
const GROUPS: usize = 16;

/// How the operands of an operation are grouped: where each group begins and ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Groups {
    bounds: [(usize, usize); GROUPS],
    pub(super) count: usize,
}

/// Operands that are not grouped as their number says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Misgrouped;

impl Groups {
    /// Groups of these sizes; `None` where those do not fit.
    pub(super) fn new(operation: Operation<'_, '_>, sizes: DenseIntegers<'_>) -> Option<Self> {
        let mut groups = Self { bounds: [(0, 0); GROUPS], count: sizes.len() };
        let mut end = 0_usize;
        for (place, size) in sizes.iter().enumerate() {
            let start = end;
            end = end.checked_add(usize::try_from(size).ok()?)?;
            *groups.bounds.get_mut(place)? = (start, end);
        }
        (end == operation.operands().len()).then_some(groups)
    }

    /// The numbers of the first operand of a group and of the one after its last.
    pub(super) fn at(&self, group: usize) -> (usize, usize) {
        self.bounds.get(group).copied().unwrap_or_default()
    }

    pub(super) fn is_empty(&self, group: usize) -> bool {
        let (start, end) = self.at(group);
        start == end
    }

    /// The operands of a group.
    pub(super) fn of<'m, 'a>(
        &self,
        operation: Operation<'m, 'a>,
        group: usize,
    ) -> impl Iterator<Item = Value<'m, 'a>> + use<'m, 'a> {
        let (start, end) = self.at(group);
        operation.operands().take(end).skip(start)
    }
}
