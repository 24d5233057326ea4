//! Walks a kernel once, in the order of its operations, and notes what it does with
//! memory.

use super::groups::{Groups, Misgrouped};
use super::index::{IndexValue, Knowledge};
use super::kernel::KernelBody;
use super::not_understood::{NotUnderstood, Unread};
use super::operations::{Kind, Known, ViewKind};
use super::refs::{BodyRefId, BodyView, RefRoot, Refs};
use super::scalars::Scalars;
use super::uses::{BodyAccess, BodyAllocation, BodyScope};
use crate::bytecode::{Attribute, Bytecode, DenseIntegers, Operation, Region, Type, Value};

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
    fn branches(&mut self, operation: Operation<'m, 'a>, first: usize, dead: &mut [bool]) {
        let condition = operation.operand(0).map(|condition| self.scalars.get(condition));
        let Some(Knowledge::Constant(taken)) = condition.map(IndexValue::knowledge) else { return };
        self.kernel.taken.insert(operation.index(), taken != 0);
        let never = usize::from(taken != 0);
        let region = operation.regions().nth(never);
        for own in region.into_iter().flat_map(Region::blocks) {
            for own in own.operations() {
                let from = own.index().saturating_sub(first);
                let to = own.end().saturating_sub(first);
                if let Some(all) = dead.get_mut(from..to) {
                    all.fill(true);
                }
            }
        }
    }

    /// How often a loop runs, where its bounds are known.
    fn trips(&self, operation: Operation<'m, 'a>) -> Option<u64> {
        let constant = |number| match self.scalars.get(operation.operand(number)?).knowledge() {
            Knowledge::Constant(value) => Some(value),
            Knowledge::Multiple(_) | Knowledge::Unknown => None,
        };
        let (from, to, step) = (constant(0)?, constant(1)?, constant(2)?);
        let length = u64::try_from(to.checked_sub(from)?).unwrap_or(0);
        Some(length.div_ceil(u64::try_from(step).ok().filter(|step| *step > 0)?))
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
                if let Some(trips) = self.trips(operation) {
                    self.kernel.trips.insert(operation.index(), trips);
                }
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

    /// The groups that `operandSegmentSizes` says, if it says any.
    pub(super) fn groups(
        &self,
        operation: Operation<'m, 'a>,
    ) -> Result<Option<Groups>, Misgrouped> {
        match self.integers(operation, "operandSegmentSizes") {
            Some(sizes) => Groups::new(operation, sizes).map(Some).ok_or(Misgrouped),
            None => Ok(None),
        }
    }

    pub(super) fn integers(
        &self,
        operation: Operation<'m, 'a>,
        name: &str,
    ) -> Option<DenseIntegers<'a>> {
        self.file.dense_integers(operation.attribute(name)?)
    }

    pub(super) fn flag(operation: Operation<'m, 'a>, name: &str) -> bool {
        operation.attribute(name).and_then(Attribute::as_integer).is_some_and(|value| value != 0)
    }

    fn indices(&self, values: impl IntoIterator<Item = Value<'m, 'a>>) -> Box<[IndexValue]> {
        values.into_iter().map(|value| self.scalars.get(value)).collect()
    }

    pub(super) fn ref_of(&self, value: Option<Value<'m, 'a>>) -> Option<BodyRefId> {
        self.refs.of(value?)
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
        let groups = self.groups(operation).ok()?;
        let of_ref = usize::from(!loads);
        let r#ref = self.refs.of(operation.operand(of_ref)?)?;
        let value = if loads { operation.result(0)? } else { operation.operand(0)? };
        let after = of_ref.saturating_add(1);
        let (indices, is_masked) = if let Some(groups) = groups {
            let (_, end) = groups.at(after);
            (self.indices(groups.of(operation, after)), operation.operands().len() > end)
        } else {
            let operands = || operation.operands().skip(after);
            let indices = operands().filter(|value| !self.is_vector(*value));
            (self.indices(indices), operands().any(|value| self.is_vector(value)))
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

    fn view(
        &mut self,
        operation: Operation<'m, 'a>,
        name: &'static str,
        kind: ViewKind,
    ) -> Option<()> {
        let of = self.ref_of(operation.operand(0))?;
        // What annotates a ref without making another is no view.
        let Some(result) = operation.result(0) else { return Some(()) };
        let groups = self.groups(operation).ok()?;
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
