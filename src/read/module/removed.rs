//! Scratch that the compiler takes away: what is never read, and what is read back from
//! registers only.
//!
//! A store of whole registers is remembered until something may change the same place or
//! the control flow parts; a load that finds all of its elements remembered needs no
//! memory. Where it is in doubt scratch counts as taken away, so that what is left is
//! never more than the compiler takes.

use super::index::Knowledge;
use super::kernel::{ArgumentKind, KernelBody};
use super::operations::{Arithmetic, Kind, Known, Scalar, known};
use super::overlap::{Place, Stored, are_apart, is_whole, overlap, volume};
use super::refs::{BodyRefId, RefRoot};
use super::uses::{BodyAccess, BodyCopy};
use crate::bytecode::{BasicBlock, Bytecode, Operation, Type, TypeId, Value};
use std::collections::HashMap;

/// The scratch of a kernel that memory is kept for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeptScratch {
    arguments: Vec<bool>,
    allocations: Vec<bool>,
}

impl KeptScratch {
    /// Whether memory is kept for what this ref is a part of. Arguments that are no
    /// scratch always are.
    pub fn keeps(&self, root: RefRoot) -> bool {
        let kept = match root {
            RefRoot::Argument(number) => self.arguments.get(number),
            RefRoot::Allocation(number) => self.allocations.get(number),
            RefRoot::Unknown => None,
        };
        kept.copied().unwrap_or(true)
    }
}

impl KernelBody<'_, '_> {
    /// The scratch that the compiler keeps memory for: what a copy begins or ends at, and
    /// what is read other than from registers. The rest costs nothing: scratch that is
    /// only written to, and scratch whose every load follows, in the same straight line of
    /// code, a store of the same whole registers.
    pub fn kept_scratch(&self) -> KeptScratch {
        let is_scratch = |kind| kind == ArgumentKind::Scratch;
        let kept = KeptScratch {
            arguments: self.arguments.iter().map(|own| !is_scratch(own.kind)).collect(),
            allocations: vec![false; self.allocations.len()],
        };
        let file = self.function.file();
        let names = file.operation_names().map(|(dialect, name)| known(dialect, name));
        let names: Vec<_> = names.collect();
        let live = live(self.function, &names, file.value_count());
        let mut analysis = Analysis {
            body: self,
            file,
            names,
            live,
            kept,
            stored: HashMap::new(),
            numbers: vec![0; file.value_count()],
            interned: HashMap::new(),
            next_number: 1,
        };
        for region in self.function.regions() {
            region.blocks().for_each(|block| analysis.block(block));
        }
        analysis.kept
    }
}

/// How many stores to one ref are told apart. Beyond, its loads count as served.
const TOLD_APART: usize = 64;

#[derive(Clone, Debug, Default)]
struct Line {
    stores: Vec<Stored>,
    is_full: bool,
}

type Stores = HashMap<RefRoot, Line>;

/// What makes two values the same: operation, operands, type, constant.
type Computed = (usize, Vec<u32>, TypeId, Option<i64>);

struct Analysis<'k, 'm, 'a> {
    body: &'k KernelBody<'m, 'a>,
    file: &'m Bytecode<'a>,
    names: Vec<Option<Known>>,
    /// Of each value, whether what the kernel does depends on it.
    live: Vec<bool>,
    kept: KeptScratch,
    stored: Stores,
    /// Of each value, a number that those computed alike share; 0 before it has one.
    numbers: Vec<u32>,
    interned: HashMap<Computed, u32>,
    next_number: u32,
}

impl<'m, 'a> Analysis<'_, 'm, 'a> {
    fn block(&mut self, block: BasicBlock<'m, 'a>) {
        for operation in block.operations() {
            self.operation(operation);
        }
    }

    fn regions(&mut self, operation: Operation<'m, 'a>) {
        for region in operation.regions() {
            region.blocks().for_each(|block| self.block(block));
        }
    }

    fn operation(&mut self, operation: Operation<'m, 'a>) {
        let known = self.names.get(operation.name_index()).copied().flatten();
        let Some(known) = known else {
            // What is not understood may read all that it is given.
            operation.operands().for_each(|operand| self.keep_value(operand));
            if operation.name().name().as_bytes().ends_with(b"tpu.log") {
                self.stored.clear();
            }
            return self.regions(operation);
        };
        match known.kind {
            Kind::Load | Kind::Store | Kind::FetchAndAdd => self.access(operation),
            Kind::Copy | Kind::IndirectCopy => self.copy(operation),
            Kind::View(_) => self.same(operation, None),
            Kind::Scalar(scalar) => self.scalar(operation, scalar),
            Kind::If => self.branch(operation),
            Kind::For => match self.body.trips.get(&operation.index()) {
                Some(0) => {}
                Some(1) => self.regions(operation),
                Some(_) | None => self.apart(operation),
            },
            Kind::While => self.apart(operation),
            Kind::Yield | Kind::Condition | Kind::Call | Kind::Return => {
                operation.operands().for_each(|operand| self.keep_value(operand));
            }
            Kind::Function
            | Kind::Scope
            | Kind::WaitCopy
            | Kind::WaitThree
            | Kind::Semaphore(_)
            | Kind::Allocation(_) => self.regions(operation),
        }
    }

    /// A loop, or a branch that may be taken: what was stored before is not found in it,
    /// nor what it stores behind it.
    fn apart(&mut self, operation: Operation<'m, 'a>) {
        operation.operands().for_each(|operand| self.keep_value(operand));
        for region in operation.regions() {
            self.stored.clear();
            region.blocks().for_each(|block| self.block(block));
        }
        self.stored.clear();
    }

    fn branch(&mut self, operation: Operation<'m, 'a>) {
        if let Some(taken) = self.body.taken.get(&operation.index()) {
            let region = operation.regions().nth(usize::from(!*taken));
            for block in region.into_iter().flat_map(|region| region.blocks()) {
                self.block(block);
            }
            return;
        }
        if self.touches_vectors(operation) {
            return self.apart(operation);
        }
        let before = self.stored.clone();
        self.regions(operation);
        self.stored = before;
    }

    /// Whether a branch loads, stores or yields more than scalars.
    fn touches_vectors(&self, operation: Operation<'m, 'a>) -> bool {
        let (from, to) = (operation.index(), operation.end());
        let accesses = &self.body.accesses;
        let first = accesses.partition_point(|access| access.operation.index() < from);
        let within = accesses.iter().skip(first).take_while(|it| it.operation.index() < to);
        within.into_iter().any(|access| access.stores || self.shape(access).is_some())
            || operation.results().any(|result| {
                !matches!(
                    self.file.r#type(result.type_id()),
                    Ok(Type::Integer { .. } | Type::Index | Type::Float(_))
                )
            })
    }

    fn access(&mut self, operation: Operation<'m, 'a>) {
        let accesses = &self.body.accesses;
        let found = accesses.binary_search_by_key(&operation.index(), |it| it.operation.index());
        let Some(access) = found.ok().and_then(|index| accesses.get(index)) else {
            return operation.operands().for_each(|operand| self.keep_value(operand));
        };
        let Some(of) = self.body.get(access.r#ref) else { return };
        let root = of.root;
        if self.kept.keeps(root) {
            return;
        }
        let part = self.part(access);
        let is_live = access
            .operation
            .results()
            .any(|result| self.live.get(result.index()).copied().unwrap_or(true));
        if access.loads && is_live {
            let served = part.as_ref().is_some_and(|part| self.is_served(root, part));
            if !served {
                self.keep(root);
            }
        }
        if access.stores {
            let whole = part.filter(|part| is_whole(part) && !access.is_masked && !access.adds);
            self.store(root, whole);
        }
    }

    /// The part of a ref that is loaded or stored; `None` where its place or its shape is
    /// not told, or its elements lie apart.
    fn part(&mut self, access: &BodyAccess<'m, 'a>) -> Option<Stored> {
        let shape = self.shape(access)?;
        let strides = access.strides.into_iter().flat_map(|strides| strides.iter());
        if strides.into_iter().any(|stride| stride != 1) || access.name.ends_with("_idx") {
            return None;
        }
        let of_ref = usize::from(!access.loads);
        let view = access.operation.operand(of_ref)?;
        let indices = access.operation.operands().skip(of_ref.saturating_add(1));
        let places =
            access.indices.iter().zip(indices).map(|(index, value)| match index.knowledge() {
                Knowledge::Constant(at) => Place::Known(at),
                Knowledge::Multiple(_) | Knowledge::Unknown => Place::Number(self.number(value)),
            });
        let places: Vec<_> = places.collect();
        Some(Stored { view: self.number(view), places, shape })
    }

    /// The shape of the vector that is loaded or stored; `None` for a scalar.
    fn shape(&self, access: &BodyAccess<'m, 'a>) -> Option<Vec<i64>> {
        let (shape, _) = match self.file.r#type(access.value_type) {
            Ok(of @ Type::Vector { .. }) => of.as_shaped()?,
            _ => return None,
        };
        Some(shape.to_vec())
    }

    fn is_served(&self, root: RefRoot, part: &Stored) -> bool {
        let Some(line) = self.stored.get(&root) else { return false };
        if line.is_full {
            return true;
        }
        // Stores that do not overlap: what they cover of the part adds up.
        let covered: i128 = line.stores.iter().filter_map(|stored| overlap(stored, part)).sum();
        covered >= volume(&part.shape)
    }

    fn store(&mut self, root: RefRoot, part: Option<Stored>) {
        let line = self.stored.entry(root).or_default();
        let Some(part) = part else {
            *line = Line::default();
            return;
        };
        line.stores.retain(|stored| stored.view == part.view && are_apart(stored, &part));
        if line.stores.len() >= TOLD_APART {
            line.is_full = true;
        } else {
            line.stores.push(part);
        }
    }

    fn copy(&mut self, operation: Operation<'m, 'a>) {
        let copies = &self.body.copies;
        let found = copies.binary_search_by_key(&operation.index(), |it| it.operation.index());
        if let Some(BodyCopy { source, target, .. }) =
            found.ok().and_then(|index| copies.get(index))
        {
            self.keep_ref(*source);
            self.keep_ref(*target);
        }
        // Offsets in a ref are read, too.
        operation.operands().for_each(|operand| self.keep_value(operand));
    }

    fn keep_ref(&mut self, id: BodyRefId) {
        if let Some(of) = self.body.get(id) {
            let root = of.root;
            self.keep(root);
        }
    }

    fn keep_value(&mut self, value: Value<'m, 'a>) {
        if let Some(id) = self.body.ref_of(value) {
            self.keep_ref(id);
        }
    }

    fn keep(&mut self, root: RefRoot) {
        let kept = match root {
            RefRoot::Argument(number) => self.kept.arguments.get_mut(number),
            RefRoot::Allocation(number) => self.kept.allocations.get_mut(number),
            RefRoot::Unknown => None,
        };
        if let Some(kept) = kept {
            *kept = true;
        }
    }

    fn number(&mut self, value: Value<'m, 'a>) -> u32 {
        let next = self.next_number;
        let Some(number) = self.numbers.get_mut(value.index()) else { return 0 };
        if *number == 0 {
            *number = next;
            self.next_number = next.saturating_add(1);
        }
        *number
    }

    fn scalar(&mut self, operation: Operation<'m, 'a>, scalar: Scalar) {
        match scalar {
            Scalar::Constant => {
                let value = operation.attribute("value").and_then(|value| value.as_integer());
                if value.is_some() {
                    self.same(operation, value);
                }
            }
            Scalar::Same | Scalar::ZeroExtend | Scalar::AssumeMultiple => {
                if let (Some(from), Some(to)) = (operation.operand(0), operation.result(0)) {
                    let number = self.number(from);
                    if let Some(own) = self.numbers.get_mut(to.index()) {
                        *own = number;
                    }
                }
            }
            Scalar::Binary(
                Arithmetic::Add
                | Arithmetic::Sub
                | Arithmetic::Mul
                | Arithmetic::DivSigned
                | Arithmetic::DivUnsigned
                | Arithmetic::FloorDiv
                | Arithmetic::CeilDivSigned
                | Arithmetic::CeilDivUnsigned
                | Arithmetic::RemSigned
                | Arithmetic::RemUnsigned
                | Arithmetic::And
                | Arithmetic::Or
                | Arithmetic::Xor
                | Arithmetic::ShiftLeft
                | Arithmetic::ShiftRightSigned
                | Arithmetic::ShiftRightUnsigned
                | Arithmetic::MinSigned
                | Arithmetic::MinUnsigned
                | Arithmetic::MaxSigned
                | Arithmetic::MaxUnsigned,
            )
            | Scalar::Select => self.same(operation, None),
            // A comparison's attribute says which: two are not taken for the same.
            Scalar::Compare => {}
        }
    }

    /// Gives the result the number of others that are computed alike.
    fn same(&mut self, operation: Operation<'m, 'a>, constant: Option<i64>) {
        let Some(result) = operation.result(0) else { return };
        let operands: Vec<_> = operation.operands().map(|operand| self.number(operand)).collect();
        let r#type = result.type_id();
        let key = (operation.name_index(), operands, r#type, constant);
        let own = self.number(result);
        let number = *self.interned.entry(key).or_insert(own);
        if let Some(of_result) = self.numbers.get_mut(result.index()) {
            *of_result = number;
        }
    }
}

/// Of each value, whether what a function does depends on it: whether an operation that
/// does more than to compute its results has it, or one whose results are live.
fn live(function: Operation<'_, '_>, names: &[Option<Known>], values: usize) -> Vec<bool> {
    let mut live = vec![false; values];
    for operation in function.descendants().rev() {
        let known = names.get(operation.name_index()).copied().flatten();
        let is_needed = !only_computes(operation, known)
            || operation.results().any(|result| live.get(result.index()) == Some(&true));
        if is_needed {
            for operand in operation.operands() {
                if let Some(live) = live.get_mut(operand.index()) {
                    *live = true;
                }
            }
        }
    }
    live
}

/// Whether an operation does nothing when its results are not used.
fn only_computes(operation: Operation<'_, '_>, known: Option<Known>) -> bool {
    if operation.results().len() == 0 || operation.regions().next().is_some() {
        return false;
    }
    match known.map(|known| known.kind) {
        Some(Kind::Load | Kind::View(_) | Kind::Scalar(_)) => true,
        Some(
            Kind::Function
            | Kind::Yield
            | Kind::Return
            | Kind::Call
            | Kind::If
            | Kind::For
            | Kind::While
            | Kind::Condition
            | Kind::Scope
            | Kind::Store
            | Kind::FetchAndAdd
            | Kind::Copy
            | Kind::IndirectCopy
            | Kind::WaitCopy
            | Kind::WaitThree
            | Kind::Semaphore(_)
            | Kind::Allocation(_),
        ) => false,
        None => {
            let name = operation.name();
            let (dialect, name) = (name.dialect(), name.name());
            let path = name.as_str().unwrap_or_default();
            let computing = ["arith.", "math.", "vector."];
            dialect == "arith"
                || dialect == "math"
                || dialect == "vector"
                || computing.iter().any(|prefix| path.starts_with(prefix))
        }
    }
}
