//! Walks a kernel once, in the order of its operations, and notes what it does with
//! memory.

use super::index::{IndexValue, Knowledge};
use super::kernel::KernelBody;
use super::not_understood::{NotUnderstood, Unread};
use super::operations::{Kind, Known, SemaphoreAction, ViewKind};
use super::refs::{BodyRefId, BodyView, RefRoot, Refs};
use super::scalars::Scalars;
use super::uses::{
    BodyAccess, BodyAllocation, BodyCopy, BodyScope, BodySemaphoreUse, CopyOffsets, IndirectCopy,
};
use crate::bytecode::{Attribute, Bytecode, DenseIntegers, Operation, Type, Value};
use crate::memory_space::MemrefSpace;

/// Operands in groups are more than so many only where something is wrong.
const GROUPS: usize = 16;

/// What the walk needs of the module.
pub(super) struct Walk<'w, 'm, 'a> {
    pub(super) file: &'m Bytecode<'a>,
    /// What the operations of each name do.
    pub(super) names: &'w [Option<Known>],
    /// Whether each value is used.
    pub(super) used: &'w [bool],
    pub(super) scalars: &'w mut Scalars<'m, 'a>,
    pub(super) refs: &'w mut Refs<'m>,
    pub(super) unread: &'w mut Unread,
    pub(super) kernel: &'w mut KernelBody<'m, 'a>,
}

/// How the operands of an operation are grouped: where each group begins and ends.
#[derive(Clone, Copy, Debug)]
struct Groups {
    bounds: [(usize, usize); GROUPS],
    count: usize,
}

impl Groups {
    /// The numbers of the first operand of a group and of the one after its last.
    fn at(&self, group: usize) -> (usize, usize) {
        self.bounds.get(group).copied().unwrap_or_default()
    }

    fn is_empty(&self, group: usize) -> bool {
        let (start, end) = self.at(group);
        start == end
    }

    /// The operands of a group.
    fn of<'m, 'a>(
        &self,
        operation: Operation<'m, 'a>,
        group: usize,
    ) -> impl Iterator<Item = Value<'m, 'a>> + use<'m, 'a> {
        let (start, end) = self.at(group);
        operation.operands().take(end).skip(start)
    }
}

impl<'m, 'a> Walk<'_, 'm, 'a> {
    pub(super) fn run(&mut self) {
        let function = self.kernel.function;
        self.kernel.scopes.push(BodyScope { operation: function, parent: None });
        // The scopes that are open, and the operation at which each ends.
        let mut open = vec![(0_usize, function.end())];
        let first = function.index();
        // Of each operation, whether it is in a branch that is never taken.
        let mut dead = vec![false; function.end().saturating_sub(first)];
        for operation in function.descendants() {
            while open.len() > 1 && open.last().is_some_and(|(_, end)| operation.index() >= *end) {
                open.pop();
            }
            let known = self.names.get(operation.name_index()).copied().flatten();
            let at = operation.index().saturating_sub(first);
            let is_dead = dead.get(at).copied().unwrap_or(false);
            match known {
                Some(known) => {
                    let scope = open.last().map_or(0, |(scope, _)| *scope);
                    if known.kind == Kind::Scope {
                        let parent = Some(scope);
                        open.push((self.kernel.scopes.len(), operation.end()));
                        self.kernel.scopes.push(BodyScope { operation, parent });
                    }
                    self.known(operation, known, scope, is_dead);
                }
                None => self.unknown(operation),
            }
            self.scalars.visit(operation, known);
            if known.is_some_and(|known| known.kind == Kind::If) && !is_dead {
                self.branches(operation, first, &mut dead);
            }
        }
    }

    /// Marks the operations of the branch that is never taken.
    fn branches(&self, operation: Operation<'m, 'a>, first: usize, dead: &mut [bool]) {
        let condition = operation.operand(0).map(|condition| self.scalars.get(condition));
        let Some(Knowledge::Constant(taken)) = condition.map(IndexValue::knowledge) else { return };
        let never = usize::from(taken != 0);
        let region = operation.regions().nth(never);
        for own in region.into_iter().flat_map(|region| region.blocks()) {
            for own in own.operations() {
                let from = own.index().saturating_sub(first);
                let to = own.end().saturating_sub(first);
                if let Some(all) = dead.get_mut(from..to) {
                    all.fill(true);
                }
            }
        }
    }

    fn is_ref(&self, value: Value<'m, 'a>) -> bool {
        matches!(
            self.file.r#type(value.type_id()),
            Ok(Type::Memref(_) | Type::UnrankedMemref { .. })
        )
    }

    /// An operation that is not known is of no interest, unless it is given a ref.
    fn unknown(&mut self, operation: Operation<'m, 'a>) {
        if operation.operands().any(|operand| self.is_ref(operand)) {
            let name = mosaic_name(operation);
            self.unread.add(NotUnderstood::Operation(name), operation.offset());
        }
    }

    fn known(&mut self, operation: Operation<'m, 'a>, known: Known, scope: usize, is_dead: bool) {
        let name = known.name;
        let understood = match known.kind {
            Kind::Load => self.access(operation, name, (true, false), is_dead),
            Kind::Store => self.access(operation, name, (false, true), is_dead),
            Kind::FetchAndAdd => self.access(operation, name, (true, true), is_dead),
            Kind::Copy => self.copy(operation, name, is_dead),
            Kind::IndirectCopy => self.indirect_copy(operation, name, is_dead),
            Kind::WaitCopy => self.wait(operation, name),
            Kind::WaitThree => self.wait_three(operation, name),
            Kind::Semaphore(action) => self.semaphore(operation, name, action),
            Kind::Allocation(kind) => {
                let root = RefRoot::Allocation(self.kernel.allocations.len());
                operation.result(0).and_then(|result| {
                    let r#ref = self.refs.add(self.file, result, root, None)?;
                    let allocation = BodyAllocation { operation, name, kind, r#ref, scope };
                    self.kernel.allocations.push(allocation);
                    Some(())
                })
            }
            Kind::View(kind) => self.view(operation, name, kind),
            Kind::For => {
                self.carry_loop(operation, 3, 1);
                Some(())
            }
            Kind::While => {
                self.carry_loop(operation, 0, 0);
                Some(())
            }
            Kind::Condition => {
                self.carry_condition(operation);
                Some(())
            }
            Kind::Yield => {
                self.carry_results(operation);
                Some(())
            }
            Kind::Function
            | Kind::Return
            | Kind::Call
            | Kind::If
            | Kind::Scope
            | Kind::Scalar(_) => Some(()),
        };
        if understood.is_none() {
            let name = mosaic_name(operation);
            self.unread.add(NotUnderstood::Operands(name), operation.offset());
        }
    }

    fn carry(&mut self, from: Option<Value<'m, 'a>>, to: Option<Value<'m, 'a>>) {
        if let (Some(from), Some(to)) = (from, to) {
            let _ = self.refs.carry(self.file, from, to);
        }
    }

    /// A loop hands its operands, after so many, to the arguments of its first region,
    /// after so many, and to its results.
    fn carry_loop(&mut self, operation: Operation<'m, 'a>, operands: usize, arguments: usize) {
        let block = operation.regions().next().and_then(|region| region.blocks().next());
        let own = block.map(|block| block.arguments().skip(arguments).collect::<Vec<_>>());
        let own = own.unwrap_or_default();
        let is_for = operands > 0;
        let mut results = operation.results();
        for (place, operand) in operation.operands().skip(operands).enumerate() {
            self.carry(Some(operand), own.get(place).copied());
            let result = results.next();
            if is_for {
                self.carry(Some(operand), result);
            }
        }
    }

    /// What stands after the flag goes to the loop's second region and to its results.
    fn carry_condition(&mut self, operation: Operation<'m, 'a>) {
        let Some(parent) = operation.parent() else { return };
        let block = parent.regions().nth(1).and_then(|region| region.blocks().next());
        let own = block.map(|block| block.arguments().collect::<Vec<_>>()).unwrap_or_default();
        let mut results = parent.results();
        for (place, operand) in operation.operands().skip(1).enumerate() {
            self.carry(Some(operand), own.get(place).copied());
            self.carry(Some(operand), results.next());
        }
    }

    fn carry_results(&mut self, operation: Operation<'m, 'a>) {
        let Some(parent) = operation.parent() else { return };
        for (operand, result) in operation.operands().zip(parent.results()) {
            self.carry(Some(operand), Some(result));
        }
    }

    /// The groups that `operandSegmentSizes` says; `None` where those do not fit.
    fn groups(&self, operation: Operation<'m, 'a>) -> Option<Option<Groups>> {
        let Some(sizes) = self.integers(operation, "operandSegmentSizes") else {
            return Some(None);
        };
        let mut groups = Groups { bounds: [(0, 0); GROUPS], count: sizes.len() };
        let mut end = 0_usize;
        for (place, size) in sizes.iter().enumerate() {
            let start = end;
            end = end.checked_add(usize::try_from(size).ok()?)?;
            *groups.bounds.get_mut(place)? = (start, end);
        }
        (end == operation.operands().len()).then_some(Some(groups))
    }

    fn integers(&self, operation: Operation<'m, 'a>, name: &str) -> Option<DenseIntegers<'a>> {
        self.file.dense_integers(operation.attribute(name)?)
    }

    fn flag(operation: Operation<'m, 'a>, name: &str) -> bool {
        operation.attribute(name).and_then(Attribute::as_integer).is_some_and(|value| value != 0)
    }

    fn indices(&self, values: impl IntoIterator<Item = Value<'m, 'a>>) -> Box<[IndexValue]> {
        values.into_iter().map(|value| self.scalars.get(value)).collect()
    }

    fn is_vector(&self, value: Value<'m, 'a>) -> bool {
        matches!(self.file.r#type(value.type_id()), Ok(Type::Vector { .. }))
    }

    /// A load has the ref first, a store the value before it; the indices follow, then
    /// perhaps a mask.
    fn access(
        &mut self,
        operation: Operation<'m, 'a>,
        name: &'static str,
        (loads, stores): (bool, bool),
        is_dead: bool,
    ) -> Option<()> {
        let groups = self.groups(operation)?;
        let of_ref = usize::from(!loads);
        let r#ref = self.refs.of(operation.operand(of_ref)?)?;
        let value = if loads { operation.result(0)? } else { operation.operand(0)? };
        let after = of_ref.saturating_add(1);
        let (indices, is_masked) = match groups {
            Some(groups) => {
                let (_, end) = groups.at(after);
                let indices = self.indices(groups.of(operation, after));
                (indices, operation.operands().len() > end)
            }
            None => {
                let operands = || operation.operands().skip(after);
                let indices = operands().filter(|value| !self.is_vector(*value));
                (self.indices(indices), operands().any(|value| self.is_vector(value)))
            }
        };
        let is_used = !loads
            || operation
                .results()
                .any(|result| self.used.get(result.index()).copied().unwrap_or(true));
        self.kernel.accesses.push(BodyAccess {
            operation,
            name,
            loads,
            stores,
            r#ref,
            value_type: value.type_id(),
            indices,
            strides: self.integers(operation, "strides"),
            is_masked,
            adds: Self::flag(operation, "add"),
            is_used,
            is_dead,
        });
        Some(())
    }

    /// Source, its semaphore, target, its semaphore, device, core, subcore.
    fn copy_operands(&self, operation: Operation<'m, 'a>) -> Option<[Option<Value<'m, 'a>>; 7]> {
        let mut operands = [None; 7];
        if let Some(groups) = self.groups(operation)? {
            if groups.count > operands.len() {
                return None;
            }
            for (group, place) in operands.iter_mut().enumerate() {
                let mut own = groups.of(operation, group);
                *place = own.next();
                if own.next().is_some() {
                    return None;
                }
            }
            return Some(operands);
        }
        let all: Vec<_> = operation.operands().take(8).map(Some).collect();
        match *all.as_slice() {
            [source, target, semaphore] => {
                Some([source, None, target, semaphore, None, None, None])
            }
            [source, source_semaphore, target, semaphore, device] => {
                Some([source, source_semaphore, target, semaphore, device, None, None])
            }
            _ => None,
        }
    }

    fn ref_of(&self, value: Option<Value<'m, 'a>>) -> Option<BodyRefId> {
        self.refs.of(value?)
    }

    fn copy(
        &mut self,
        operation: Operation<'m, 'a>,
        name: &'static str,
        is_dead: bool,
    ) -> Option<()> {
        let [source, source_semaphore, target, target_semaphore, device, core, subcore] =
            self.copy_operands(operation)?;
        let scalar = |value: Option<Value<'m, 'a>>| value.map(|value| self.scalars.get(value));
        let copy = BodyCopy {
            operation,
            name,
            source: self.ref_of(source)?,
            target: self.ref_of(target)?,
            indirect: None,
            source_semaphore: self.ref_of(source_semaphore),
            target_semaphore: self.ref_of(target_semaphore),
            device: scalar(device),
            core: scalar(core),
            subcore: scalar(subcore),
            priority: operation.attribute("priority").and_then(Attribute::as_integer),
            segments: self.integers(operation, "operandSegmentSizes"),
            is_dead,
        };
        self.kernel.copies.push(copy);
        Some(())
    }

    /// Source, target, offsets, semaphore, perhaps a filter.
    fn indirect_copy(
        &mut self,
        operation: Operation<'m, 'a>,
        name: &'static str,
        is_dead: bool,
    ) -> Option<()> {
        let [source, target, offsets, semaphore] =
            [0, 1, 2, 3].map(|place| operation.operand(place));
        let (source, target) = (self.ref_of(source)?, self.ref_of(target)?);
        let offsets = offsets?;
        let offsets = match self.refs.of(offsets) {
            Some(offsets) => CopyOffsets::Ref(offsets),
            None => CopyOffsets::Vector(offsets.type_id()),
        };
        let is_vmem = |id: BodyRefId| {
            self.refs.get(id).and_then(|of| of.space.known()) == Some(MemrefSpace::VMEM)
        };
        let indirect = IndirectCopy {
            gathers: is_vmem(target),
            offsets,
            adds: Self::flag(operation, "add"),
            has_filter: operation.operands().len() > 4,
        };
        let copy = BodyCopy {
            operation,
            name,
            source,
            target,
            indirect: Some(indirect),
            source_semaphore: None,
            target_semaphore: self.ref_of(semaphore),
            device: None,
            core: None,
            subcore: None,
            priority: None,
            segments: None,
            is_dead,
        };
        self.kernel.copies.push(copy);
        Some(())
    }

    fn semaphore_use(
        &mut self,
        operation: Operation<'m, 'a>,
        name: &'static str,
        action: SemaphoreAction,
        (semaphore, copy, is_remote): (BodyRefId, [Option<BodyRefId>; 2], bool),
    ) {
        self.kernel.semaphore_uses.push(BodySemaphoreUse {
            operation,
            name,
            action,
            semaphore,
            copy,
            is_remote,
        });
    }

    /// As the copy has them; in old modules, without groups, semaphore and ref.
    fn wait(&mut self, operation: Operation<'m, 'a>, name: &'static str) -> Option<()> {
        let action = SemaphoreAction::WaitCopy;
        if self.integers(operation, "operandSegmentSizes").is_none() {
            let semaphore = self.ref_of(operation.operand(0))?;
            let target = self.ref_of(operation.operand(1));
            self.semaphore_use(operation, name, action, (semaphore, [None, target], false));
            return Some(());
        }
        let [source, source_semaphore, target, target_semaphore, device, ..] =
            self.copy_operands(operation)?;
        let copy = [self.ref_of(source), self.ref_of(target)];
        let waits_for_target = Self::flag(operation, "wait_target");
        let semaphore = if waits_for_target { target_semaphore } else { source_semaphore };
        // Without a semaphore there is nothing to wait for.
        if let Some(semaphore) = self.ref_of(semaphore) {
            self.semaphore_use(operation, name, action, (semaphore, copy, device.is_some()));
        }
        Some(())
    }

    /// Semaphore, source, target, and perhaps a device and a core.
    fn wait_three(&mut self, operation: Operation<'m, 'a>, name: &'static str) -> Option<()> {
        let groups = self.groups(operation)?;
        let is_remote = groups.is_some_and(|groups| !groups.is_empty(3));
        let semaphore = self.ref_of(operation.operand(0))?;
        let copy = [self.ref_of(operation.operand(1)), self.ref_of(operation.operand(2))];
        let action = SemaphoreAction::WaitCopy;
        self.semaphore_use(operation, name, action, (semaphore, copy, is_remote));
        Some(())
    }

    fn semaphore(
        &mut self,
        operation: Operation<'m, 'a>,
        name: &'static str,
        action: SemaphoreAction,
    ) -> Option<()> {
        let groups = self.groups(operation)?;
        let is_remote = groups.is_some_and(|groups| !groups.is_empty(2));
        if operation.operands().len() == 0 {
            return Some(());
        }
        let semaphore = self.ref_of(operation.operand(0))?;
        self.semaphore_use(operation, name, action, (semaphore, [None; 2], is_remote));
        Some(())
    }

    fn view(
        &mut self,
        operation: Operation<'m, 'a>,
        name: &'static str,
        kind: ViewKind,
    ) -> Option<()> {
        let of = self.ref_of(operation.operand(0))?;
        // What annotates a ref without making another is no view.
        let Some(result) = operation.result(0) else { return Some(()) };
        let groups = self.groups(operation)?;
        let (offsets, dynamic_sizes) = match (kind, groups) {
            (ViewKind::Slice, Some(groups)) => {
                (self.indices(groups.of(operation, 1)), self.indices(groups.of(operation, 2)))
            }
            (ViewKind::Slice, None) => {
                // Offsets, one a dimension, and perhaps sizes.
                let rank = self.refs.get(of)?.shape.len();
                let offsets = self.indices(operation.operands().skip(1).take(rank));
                let sizes = operation.operands().skip(1).skip(rank);
                (offsets, self.indices(sizes))
            }
            (
                ViewKind::Squeeze
                | ViewKind::Reshape
                | ViewKind::Bitcast
                | ViewKind::Cast
                | ViewKind::SharedSlice,
                _,
            ) => (Box::default(), Box::default()),
        };
        let offsets = match self.integers(operation, "static_offsets") {
            Some(fixed) if name == "memref.subview" => merged(fixed, &offsets),
            _ => offsets,
        };
        let view = BodyView { of, kind, offsets, dynamic_sizes };
        self.refs.add(self.file, result, RefRoot::Unknown, Some(view)).map(|_| ())
    }
}

/// The offsets that stand in the operation, and the others where it says so.
fn merged(fixed: DenseIntegers<'_>, computed: &[IndexValue]) -> Box<[IndexValue]> {
    let mut computed = computed.iter();
    let one = |offset: i64| {
        if offset == crate::bytecode::DYNAMIC {
            computed.next().copied().unwrap_or(IndexValue::UNKNOWN)
        } else {
            IndexValue::constant(offset)
        }
    };
    fixed.iter().map(one).collect()
}

/// An operation's name without `stable_mosaic`.
pub(super) fn mosaic_name(operation: Operation<'_, '_>) -> String {
    let name = operation.name();
    if name.dialect() == "stable_mosaic" { name.name().to_string() } else { name.to_string() }
}
