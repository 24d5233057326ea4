//! A kernel function: what its attributes say, its arguments, and what its body does.

use super::not_understood::{NotUnderstood, Unread};
use super::refs::{BodyRef, BodyRefId};
use super::uses::{BodyAccess, BodyAllocation, BodyCopy, BodyScope, BodySemaphoreUse};
use super::window::{BodyWindow, WindowTransform};
use crate::bytecode::{Operation, Text, Value};
use crate::core_type::CoreType;
use crate::custom_call::{Bound, DimensionSemantics};
use std::collections::HashMap;

/// A kernel of a module: a function that no attribute names.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct KernelBody<'m, 'a> {
    /// The function.
    pub function: Operation<'m, 'a>,
    /// Its name: `main`, or the Python function's.
    pub name: Option<Text<'a>>,
    /// The core type that it says, or that it says none, which means `tc`, or that what
    /// it says is no core type.
    pub core_type: SaidCoreType,
    /// The extents of the grid; `None` without one.
    pub iteration_bounds: Option<Vec<Bound>>,
    /// How the axes are spread, `None` where it does not say; an axis whose word is not
    /// known is `None`.
    pub dimension_semantics: Option<Vec<Option<DimensionSemantics>>>,
    /// How many arguments are scalar prefetch, where it says so.
    pub scalar_prefetch: Option<i64>,
    /// How many arguments are scratch, where it says so.
    pub scratch_operands: Option<i64>,
    /// Its arguments, in order.
    pub arguments: Vec<BodyArgument<'m, 'a>>,
    /// The refs of the kernel: arguments first, then as they are made.
    pub(super) refs: Vec<BodyRef<'m>>,
    /// The ref of each value of the file that is one of this kernel's.
    pub(super) ref_of_value: HashMap<usize, BodyRefId>,
    /// Of branches whose condition is known, by their operation: whether it holds.
    pub(super) taken: HashMap<usize, bool>,
    /// Of loops whose bounds are known, by their operation: how often they run.
    pub(super) trips: HashMap<usize, u64>,
    /// What it allocates, in the order of its operations.
    pub allocations: Vec<BodyAllocation<'m, 'a>>,
    /// Within what allocations live: the kernel itself first, each before those within.
    pub scopes: Vec<BodyScope<'m, 'a>>,
    /// Its loads and stores, in the order of its operations.
    pub accesses: Vec<BodyAccess<'m, 'a>>,
    /// The copies that it starts, in the order of its operations.
    pub copies: Vec<BodyCopy<'m, 'a>>,
    /// What it does with semaphores, in the order of its operations.
    pub semaphore_uses: Vec<BodySemaphoreUse<'m, 'a>>,
}

/// What a function says of its core type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SaidCoreType {
    /// This one.
    Known(CoreType),
    /// Nothing, which means `tc`.
    Absent,
    /// Something that is no core type; [`ModuleBody::not_understood`] has its text.
    ///
    /// [`ModuleBody::not_understood`]: super::ModuleBody::not_understood
    Other,
}

impl SaidCoreType {
    /// The core type, `tc` where it is not said; `None` for one that is not known.
    pub const fn core_type(self) -> Option<CoreType> {
        match self {
            Self::Known(core_type) => Some(core_type),
            Self::Absent => Some(CoreType::Tc),
            Self::Other => None,
        }
    }
}

/// An argument of a kernel.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BodyArgument<'m, 'a> {
    /// The argument.
    pub value: Value<'m, 'a>,
    /// What it is for.
    pub kind: ArgumentKind,
    /// The ref that it is, if its type is a memref.
    pub r#ref: Option<BodyRefId>,
    /// An operand's window, where the function has windows.
    pub window: Option<BodyWindow<'m, 'a>>,
    /// Whether it keeps what it holds from one call to the next (`sc.persistent`).
    pub is_persistent: bool,
}

pub use crate::kernel::ArgumentKind;

impl<'m, 'a> KernelBody<'m, 'a> {
    /// The refs of the kernel, by number: arguments first, then as they are made.
    pub fn refs(&self) -> impl ExactSizeIterator<Item = (BodyRefId, &BodyRef<'m>)> {
        self.refs.iter().enumerate().map(|(index, of)| (BodyRefId(index), of))
    }

    /// The ref with this number; `None` for a number of another kernel.
    pub fn get(&self, id: BodyRefId) -> Option<&BodyRef<'m>> {
        self.refs.get(id.0)
    }

    /// The ref that a value of the kernel is.
    pub fn ref_of(&self, value: Value<'m, 'a>) -> Option<BodyRefId> {
        self.ref_of_value.get(&value.index()).copied()
    }

    /// How many axes the grid has.
    pub fn axes(&self) -> usize {
        self.iteration_bounds.as_ref().map_or(0, Vec::len)
    }

    /// Whether an axis has, or may have, another extent than 1.
    pub fn is_long(&self, axis: usize) -> bool {
        let bound = self.iteration_bounds.as_ref().and_then(|bounds| bounds.get(axis));
        bound.is_some_and(|bound| *bound != Bound::Static(1))
    }

    /// Whether a window's block moves from one step of the grid to another. The compiler
    /// gives one that does not a single buffer, whatever was asked.
    pub fn moves(&self, transform: &WindowTransform<'_>, rank: usize) -> bool {
        let axes = self.axes();
        transform.indices(rank).any(|index| index.moves(|axis| self.is_long(axis), axes))
    }

    /// The most that the allocations of a kind take at a time: those of a scope, and the
    /// most that any of the scopes within takes.
    pub fn peak(&self, mut bytes: impl FnMut(&BodyAllocation<'m, 'a>) -> u64) -> u64 {
        let mut own = vec![0_u64; self.scopes.len()];
        for allocation in &self.allocations {
            if let Some(sum) = own.get_mut(allocation.scope) {
                *sum = sum.saturating_add(bytes(allocation));
            }
        }
        // A scope stands before those within.
        let mut within = vec![0_u64; self.scopes.len()];
        for (index, scope) in self.scopes.iter().enumerate().rev() {
            let all = |sums: &[u64]| sums.get(index).copied().unwrap_or(0);
            let peak = all(&own).saturating_add(all(&within));
            match scope.parent.and_then(|parent| within.get_mut(parent)) {
                Some(most) => *most = (*most).max(peak),
                None => return peak,
            }
        }
        0
    }
}

/// The kind of each argument of a function, by how many of each there are.
pub(super) fn kinds(
    count: usize,
    axes: usize,
    prefetch: usize,
    scratch: usize,
) -> impl Iterator<Item = ArgumentKind> {
    let scratch_from = count.saturating_sub(scratch);
    let prefetch_from = axes;
    let operands_from = axes.saturating_add(prefetch);
    (0..count).map(move |place| {
        if place < prefetch_from {
            ArgumentKind::Grid
        } else if place < operands_from {
            ArgumentKind::Prefetch
        } else if place < scratch_from {
            ArgumentKind::Operand
        } else {
            ArgumentKind::Scratch
        }
    })
}

/// A count that an attribute says, as a number of arguments.
pub(super) fn as_count(said: Option<i64>, unread: &mut Unread, name: &str, offset: usize) -> usize {
    let said = said.unwrap_or(0);
    usize::try_from(said).unwrap_or_else(|_| {
        let value = said.to_string();
        unread.add(NotUnderstood::Value { attribute: name.to_owned(), value }, offset);
        0
    })
}
