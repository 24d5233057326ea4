//! The integers of a function, evaluated in the order of its operations.

use super::arithmetic::{Entry, NONE, binary, holds, wrap};
use super::index::{Axes, IndexValue, Knowledge, gcd, multiple_of};
use super::operations::{Arithmetic, Kind, Known, Scalar};
use crate::bytecode::{Attribute, Bytecode, Definition, Operation, Type, Value};

/// What each value of a file is, as far as it is an integer.
pub(super) struct Scalars<'m, 'a> {
    file: &'m Bytecode<'a>,
    values: Vec<Entry>,
}

impl<'m, 'a> Scalars<'m, 'a> {
    pub(super) fn new(file: &'m Bytecode<'a>) -> Self {
        Self { file, values: vec![Entry::UNSET; file.value_count()] }
    }

    /// Says what a value is: an argument of a function.
    pub(super) fn set(&mut self, value: Value<'_, '_>, index: IndexValue) {
        let own = u32::try_from(value.index()).unwrap_or(NONE);
        let entry = match index.knowledge() {
            Knowledge::Constant(constant) => Entry::constant(constant),
            Knowledge::Multiple(_) | Knowledge::Unknown => {
                Entry { index, base: own, more: 0, is_set: true }
            }
        };
        self.put(value, entry);
    }

    pub(super) fn get(&self, value: Value<'_, '_>) -> IndexValue {
        self.entry(value).index
    }

    fn entry(&self, value: Value<'_, '_>) -> Entry {
        let entry = self.values.get(value.index()).copied().unwrap_or(Entry::UNSET);
        // A value that nothing was said of is itself, and no other.
        let base =
            if entry.is_set { entry.base } else { u32::try_from(value.index()).unwrap_or(NONE) };
        Entry { base, ..entry }
    }

    fn put(&mut self, value: Value<'_, '_>, entry: Entry) {
        if let Some(place) = self.values.get_mut(value.index()) {
            *place = Entry { is_set: true, ..entry };
        }
    }

    /// Bits of an integer value; an index has 64.
    fn width(&self, value: Value<'_, '_>) -> u32 {
        match self.file.r#type(value.type_id()) {
            Ok(Type::Integer { width, .. }) => (*width).clamp(1, u64::BITS),
            _ => u64::BITS,
        }
    }

    /// Says what the results of an operation are, and the arguments of its regions.
    pub(super) fn visit(&mut self, operation: Operation<'m, 'a>, known: Option<Known>) {
        match known.map(|known| known.kind) {
            Some(Kind::Scalar(scalar)) => {
                if let Some(result) = operation.result(0) {
                    let entry = self.scalar(operation, scalar, result);
                    self.put(result, entry);
                }
            }
            Some(Kind::Yield) => self.hand_on(operation),
            Some(Kind::If | Kind::Scope) => {}
            Some(Kind::For) => self.counter(operation),
            Some(Kind::Load) => self.depend(operation, IndexValue::of_memory),
            Some(Kind::While | Kind::Condition) => {}
            _ if operation.operands().len() == 0 => {}
            _ => self.depend(operation, |index| index),
        }
    }

    /// The results depend on all operands.
    fn depend(&mut self, operation: Operation<'m, 'a>, more: impl Fn(IndexValue) -> IndexValue) {
        if operation.results().len() == 0 {
            return;
        }
        // A ref among them is no integer, and says nothing.
        let operands = operation
            .operands()
            .filter(|operand| !matches!(self.file.r#type(operand.type_id()), Ok(Type::Memref(_))));
        let index = more(IndexValue::of_all(operands.map(|operand| self.get(operand))));
        for result in operation.results() {
            self.set(result, index);
        }
    }

    fn scalar(&self, operation: Operation<'m, 'a>, scalar: Scalar, result: Value<'m, 'a>) -> Entry {
        let own = Entry {
            base: u32::try_from(result.index()).unwrap_or(NONE),
            is_set: true,
            ..Entry::UNSET
        };
        let mut operands = operation.operands().map(|operand| self.entry(operand));
        let width = self.width(result);
        match scalar {
            Scalar::Constant => {
                let value = operation.attribute("value").and_then(Attribute::as_integer);
                value.map_or(own, Entry::constant)
            }
            Scalar::Same => {
                let Some(entry) = operands.next() else { return own };
                entry.as_constant().map_or(entry, |value| Entry::constant(wrap(value, width)))
            }
            Scalar::ZeroExtend => {
                let Some(entry) = operands.next() else { return own };
                let from = operation.operand(0).map_or(u64::BITS, |operand| self.width(operand));
                let unused = u64::BITS.saturating_sub(from);
                let zeros = |value: i64| (value.cast_unsigned() << unused >> unused).cast_signed();
                entry.as_constant().map_or(entry, |value| Entry::constant(zeros(value)))
            }
            Scalar::Select => {
                let (Some(condition), Some(yes), Some(no)) =
                    (operands.next(), operands.next(), operands.next())
                else {
                    return own;
                };
                match condition.as_constant() {
                    Some(0) => no,
                    Some(_) => yes,
                    None => Self::either(&own, &yes, &no, condition.index),
                }
            }
            Scalar::Compare => {
                let (Some(a), Some(b)) = (operands.next(), operands.next()) else { return own };
                let predicate = operation.attribute("predicate").and_then(Attribute::as_integer);
                let bits = operation.operand(0).map_or(u64::BITS, |operand| self.width(operand));
                let holds = match (a.as_constant(), b.as_constant()) {
                    (Some(a), Some(b)) => {
                        predicate.and_then(|predicate| holds(predicate, a, b, bits))
                    }
                    _ if a.is(&b) => predicate.and_then(|predicate| holds(predicate, 0, 0, bits)),
                    _ => None,
                };
                let unknown = Entry { index: IndexValue::of_all([a.index, b.index]), ..own };
                holds.map_or(unknown, |holds| Entry::constant(i64::from(holds).wrapping_neg()))
            }
            Scalar::AssumeMultiple => {
                let Some(entry) = operands.next() else { return own };
                let said = operation.attribute("multiple").and_then(Attribute::as_integer);
                let said = said.map_or(1, i64::unsigned_abs);
                let multiple = multiple_of(entry.index.multiple().max(said));
                match entry.as_constant() {
                    Some(_) => entry,
                    None => Entry { index: entry.index.knowing(multiple), ..entry },
                }
            }
            Scalar::Binary(arithmetic) => {
                let (Some(a), Some(b)) = (operands.next(), operands.next()) else { return own };
                self.undone(operation, arithmetic)
                    .unwrap_or_else(|| binary(arithmetic, &own, &a, &b, width))
            }
        }
    }

    /// `(x - y) + y` and `(x + y) - y` are `x`.
    fn undone(&self, operation: Operation<'m, 'a>, arithmetic: Arithmetic) -> Option<Entry> {
        let (a, b) = (operation.operand(0)?, operation.operand(1)?);
        let made_by = |value: Value<'m, 'a>, name: &str| {
            let Definition::Result(made, _) = value.definition() else { return None };
            // Both forms of the name end so.
            let is_it = made.name().name().as_str()?.rsplit('.').next() == Some(name);
            is_it.then_some((self.entry(made.operand(0)?), self.entry(made.operand(1)?)))
        };
        let is = |entry: &Entry, value| entry.is(&self.entry(value));
        if arithmetic == Arithmetic::Add {
            let (one, other) = (made_by(a, "subi"), made_by(b, "subi"));
            let one = one.filter(|(_, taken)| is(taken, b));
            return one.or_else(|| other.filter(|(_, taken)| is(taken, a))).map(|(left, _)| left);
        }
        if arithmetic != Arithmetic::Sub {
            return None;
        }
        let (x, y) = made_by(a, "addi")?;
        if is(&y, b) { Some(x) } else { is(&x, b).then_some(y) }
    }

    /// One of two values, and which of them depends on `condition`.
    fn either(own: &Entry, yes: &Entry, no: &Entry, condition: IndexValue) -> Entry {
        if yes.is(no) {
            return *yes;
        }
        let index = IndexValue::of_all([yes.index, no.index, condition]);
        let multiple = multiple_of(gcd(yes.index.multiple(), no.index.multiple()));
        Entry { index: index.knowing(multiple), ..*own }
    }

    /// Hands the operands of a block's last operation to what it ends.
    fn hand_on(&mut self, operation: Operation<'m, 'a>) {
        let Some(parent) = operation.parent() else { return };
        let is_if = parent.regions().take(3).count() == 2;
        let condition = if is_if { parent.operand(0).map(|value| self.entry(value)) } else { None };
        let taken = condition.and_then(|condition| condition.as_constant());
        let first = parent.regions().next().and_then(|region| region.blocks().next());
        let in_first = match (first, operation.block()) {
            (Some(first), Some(own)) => first.is(own),
            _ => false,
        };
        if taken.is_some_and(|taken| (taken != 0) != in_first) {
            return;
        }
        for (result, operand) in parent.results().zip(operation.operands()) {
            let handed = self.entry(operand);
            let before = self.values.get(result.index()).copied().unwrap_or(Entry::UNSET);
            let own = Entry {
                base: u32::try_from(result.index()).unwrap_or(NONE),
                is_set: true,
                ..Entry::UNSET
            };
            let entry = if before.is_set {
                let condition = condition.map_or(IndexValue::UNKNOWN, |condition| condition.index);
                Self::either(&own, &before, &handed, condition)
            } else {
                handed
            };
            self.put(result, entry);
        }
    }

    /// The counter of a loop: a multiple of its begin and its step, or the begin where
    /// the loop goes round once.
    fn counter(&mut self, operation: Operation<'m, 'a>) {
        let bounds: Vec<_> = operation.operands().take(3).map(|value| self.entry(value)).collect();
        let [begin, end, step] = bounds.as_slice() else { return };
        let block = operation.regions().next().and_then(|region| region.blocks().next());
        let Some(counter) = block.and_then(|block| block.arguments().next()) else { return };
        let once = match (begin.as_constant(), end.as_constant(), step.as_constant()) {
            (Some(begin), Some(end), Some(step)) => {
                end.checked_sub(begin).is_some_and(|length| length > 0 && length <= step)
            }
            _ => false,
        };
        if once {
            return self.put(counter, *begin);
        }
        let multiple = multiple_of(gcd(begin.index.multiple(), step.index.multiple()));
        let all = [begin.index, end.index, step.index, IndexValue::UNKNOWN];
        self.set(counter, IndexValue::of_all(all).knowing(multiple));
    }

    /// Says that an index map's loops may depend on all axes: they are not followed.
    pub(super) fn forget_loop(&mut self, operation: Operation<'m, 'a>) {
        let anything = IndexValue::anything();
        for result in operation.results() {
            self.set(result, anything);
        }
        for region in operation.regions() {
            for block in region.blocks() {
                for argument in block.arguments() {
                    self.set(argument, anything);
                }
            }
        }
    }
}

impl IndexValue {
    /// Something that may depend on everything.
    fn anything() -> Self {
        Self::of_all([Self::UNKNOWN]).of_memory().on(Axes::ALL)
    }
}
