//! Operations, regions, blocks and values, as one walks them.

use super::dictionary::Dictionary;
use super::fault::{BytecodeFault, BytecodeProblem};
use super::file::Bytecode;
use super::ir::{BlockEntry, NONE, OperationEntry, RegionEntry, ValueEntry};
use super::tables::{AttributeId, TypeId};
use super::text::Text;
use super::{Attribute, cursor::Read};
use std::fmt;

/// An operation of a file.
#[derive(Clone, Copy)]
pub struct Operation<'m, 'a> {
    file: &'m Bytecode<'a>,
    index: u32,
}

/// A region of an operation.
#[derive(Clone, Copy)]
pub struct Region<'m, 'a> {
    file: &'m Bytecode<'a>,
    index: u32,
}

/// A block of a region.
#[derive(Clone, Copy)]
pub struct BasicBlock<'m, 'a> {
    file: &'m Bytecode<'a>,
    index: u32,
}

/// A block argument or a result of an operation.
#[derive(Clone, Copy)]
pub struct Value<'m, 'a> {
    file: &'m Bytecode<'a>,
    index: u32,
}

/// What defines a value.
#[derive(Clone, Copy, Debug)]
pub enum Definition<'m, 'a> {
    /// The operation's result with this number.
    Result(Operation<'m, 'a>, u32),
    /// The block's argument with this number.
    Argument(BasicBlock<'m, 'a>, u32),
}

/// The name of an operation: its dialect's and its own.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct OperationName<'a> {
    dialect: Text<'a>,
    name: Text<'a>,
}

impl<'a> OperationName<'a> {
    /// The dialect, e.g. `arith`.
    pub const fn dialect(self) -> Text<'a> {
        self.dialect
    }

    /// The name in the dialect, e.g. `addi`.
    pub const fn name(self) -> Text<'a> {
        self.name
    }
}

impl fmt::Display for OperationName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.dialect, self.name)
    }
}

impl fmt::Debug for OperationName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<'m, 'a> Operation<'m, 'a> {
    pub(super) const fn new(file: &'m Bytecode<'a>, index: u32) -> Self {
        Self { file, index }
    }

    fn entry(self) -> OperationEntry {
        // The numbers of operations that are handed out are those that there are.
        self.file.ir.operations.get(self.index as usize).copied().unwrap_or(OperationEntry {
            name: NONE,
            location: NONE,
            attributes: NONE,
            properties: NONE,
            operands: 0,
            results: 0,
            result_count: 0,
            region: NONE,
            end: NONE,
            block: NONE,
            offset: 0,
        })
    }

    /// Its number: operations are numbered from 0, each before those in its regions.
    pub const fn index(self) -> usize {
        self.index as usize
    }

    /// Where it stands in the file, in bytes.
    pub fn offset(self) -> usize {
        self.entry().offset as usize
    }

    /// Its name.
    pub fn name(self) -> OperationName<'a> {
        let (dialect, name, _) = self.file.tables.name(self.entry().name);
        OperationName { dialect, name }
    }

    /// The number of its name, of those of
    /// [`operation_names`](Bytecode::operation_names).
    pub fn name_index(self) -> usize {
        self.entry().name as usize
    }

    /// Where it comes from, an attribute that is a location.
    pub fn location(self) -> AttributeId {
        AttributeId(self.entry().location)
    }

    /// Its operands.
    pub fn operands(self) -> impl ExactSizeIterator<Item = Value<'m, 'a>> + DoubleEndedIterator {
        let Self { file, .. } = self;
        self.operand_indices().iter().map(move |index| Value::new(file, *index))
    }

    fn operand_indices(self) -> &'m [u32] {
        let ir = &self.file.ir;
        let start = self.entry().operands as usize;
        let next = ir.operations.get((self.index as usize).saturating_add(1));
        let end = next.map_or(ir.operands.len(), |next| next.operands as usize);
        ir.operands.get(start..end).unwrap_or_default()
    }

    /// The operand with this number.
    pub fn operand(self, number: usize) -> Option<Value<'m, 'a>> {
        self.operand_indices().get(number).map(|index| Value::new(self.file, *index))
    }

    /// Its results.
    pub fn results(self) -> impl ExactSizeIterator<Item = Value<'m, 'a>> + DoubleEndedIterator {
        let Self { file, .. } = self;
        let OperationEntry { results, result_count, .. } = self.entry();
        (results..results.saturating_add(result_count)).map(move |index| Value::new(file, index))
    }

    /// The result with this number.
    pub fn result(self, number: usize) -> Option<Value<'m, 'a>> {
        self.results().nth(number)
    }

    /// Its regions.
    pub fn regions(self) -> impl Iterator<Item = Region<'m, 'a>> {
        let Self { file, .. } = self;
        let region = move |index: u32| (index != NONE).then_some(Region { file, index });
        std::iter::successors(region(self.entry().region), move |last| region(last.entry().next))
    }

    /// The operations in its regions, at any depth, each before those in its own.
    pub fn descendants(self) -> impl DoubleEndedIterator<Item = Self> {
        let Self { file, .. } = self;
        let first = self.index.saturating_add(1);
        (first..self.entry().end.max(first)).map(move |index| Self::new(file, index))
    }

    /// The number after the last of its descendants, its own and one if it has none.
    pub fn end(self) -> usize {
        self.entry().end as usize
    }

    /// The block that it stands in; the module stands in none.
    pub fn block(self) -> Option<BasicBlock<'m, 'a>> {
        let block = self.entry().block;
        (block != NONE).then_some(BasicBlock { file: self.file, index: block })
    }

    /// The operation that it stands in; the module stands in none.
    pub fn parent(self) -> Option<Self> {
        self.block().map(|block| block.region().operation())
    }

    /// The numbers, in its region, of the blocks that it leads to.
    pub fn successors(self) -> impl Iterator<Item = usize> {
        let all = &self.file.ir.successors;
        let from = all.partition_point(|(operation, _)| *operation < self.index);
        let index = self.index;
        let own = all.iter().skip(from).take_while(move |(operation, _)| *operation == index);
        own.map(|(_, block)| *block as usize)
    }

    /// Its attributes and properties.
    ///
    /// # Errors
    /// What is wrong with the entry of one of the two.
    pub fn attributes(self) -> Result<OperationAttributes<'m, 'a>, BytecodeFault> {
        let entry = self.entry();
        let mut attributes = OperationAttributes::default();
        if entry.attributes != NONE {
            attributes.attributes = Some(self.dictionary(AttributeId(entry.attributes))?);
        }
        if entry.properties != NONE {
            let mut data = self.file.properties_at(entry.properties);
            let (dialect, name, registered) = self.file.tables.name(entry.name);
            if !registered {
                let id = self.file.tables.attribute_id(&mut data)?;
                data.finish("properties")?;
                attributes.properties = Some(self.dictionary(id)?);
            } else if dialect == "builtin" && name == "module" {
                for name in ["sym_name", "sym_visibility"] {
                    if let Some(id) = self.optional(&mut data)? {
                        attributes.own.push((name, id));
                    }
                }
                data.finish("properties")?;
            } else {
                attributes.unread = true;
            }
        }
        Ok(attributes)
    }

    /// An optional attribute among properties: its number and a flag, or 0.
    fn optional(self, data: &mut super::cursor::Cursor<'a>) -> Read<Option<AttributeId>> {
        let at = data.offset();
        let (index, is_there) = data.flagged("an optional attribute")?;
        if !is_there {
            return Ok(None);
        }
        let count = self.file.tables.attribute_count();
        super::cursor::indexed(at, "attribute", index, count).map(|id| Some(AttributeId(id)))
    }

    fn dictionary(self, id: AttributeId) -> Read<&'m Dictionary<'a>> {
        let attribute = self.file.attribute(id).map_err(Clone::clone)?;
        attribute.as_dictionary().ok_or_else(|| {
            let found = "attributes of an operation that are none";
            let problem = BytecodeProblem::Kind { found, expected: "a dictionary" };
            BytecodeFault::new(self.offset(), problem)
        })
    }

    /// What a name stands for among its attributes and properties; `None` as well where
    /// those cannot be read, which [`attributes`](Self::attributes) tells.
    pub fn attribute(self, name: &str) -> Option<&'m Attribute<'a>> {
        let id = self.attributes().ok()?.get(name)?;
        self.file.attribute(id).ok()
    }

    /// The file that it stands in.
    pub const fn file(self) -> &'m Bytecode<'a> {
        self.file
    }
}

impl fmt::Debug for Operation<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.name(), self.offset())
    }
}

/// The attributes and properties of an operation.
#[derive(Clone, Debug, Default)]
pub struct OperationAttributes<'m, 'a> {
    attributes: Option<&'m Dictionary<'a>>,
    properties: Option<&'m Dictionary<'a>>,
    own: Vec<(&'static str, AttributeId)>,
    unread: bool,
}

impl<'a> OperationAttributes<'_, 'a> {
    /// What a name stands for.
    pub fn get(&self, name: &str) -> Option<AttributeId> {
        let own = self.own.iter().find(|(own, _)| *own == name).map(|(_, id)| *id);
        let of = |dictionary: Option<&Dictionary<'a>>| dictionary?.get(name);
        own.or_else(|| of(self.properties)).or_else(|| of(self.attributes))
    }

    /// All of them, properties first.
    pub fn iter(&self) -> impl Iterator<Item = (Text<'a>, AttributeId)> {
        let own = self.own.iter().map(|(name, id)| (Text::new(name.as_bytes()), *id));
        let both = [self.properties, self.attributes].into_iter().flatten();
        own.chain(both.flat_map(Dictionary::iter))
    }

    /// Whether there are properties in a layout of the operation's own that is not known.
    pub const fn has_unread_properties(&self) -> bool {
        self.unread
    }
}

impl<'m, 'a> Region<'m, 'a> {
    fn entry(self) -> RegionEntry {
        let none = RegionEntry { operation: 0, block: NONE, block_count: 0, next: NONE };
        self.file.ir.regions.get(self.index as usize).copied().unwrap_or(none)
    }

    /// The operation whose region it is.
    pub fn operation(self) -> Operation<'m, 'a> {
        Operation::new(self.file, self.entry().operation)
    }

    /// Its blocks.
    pub fn blocks(self) -> impl Iterator<Item = BasicBlock<'m, 'a>> {
        let Self { file, .. } = self;
        let block = move |index: u32| (index != NONE).then_some(BasicBlock { file, index });
        std::iter::successors(block(self.entry().block), move |last| block(last.entry().next))
    }
}

impl fmt::Debug for Region<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "region of {:?}", self.operation())
    }
}

impl<'m, 'a> BasicBlock<'m, 'a> {
    fn entry(self) -> BlockEntry {
        let none = BlockEntry {
            region: NONE,
            arguments: 0,
            argument_count: 0,
            operations: 0,
            end: 0,
            next: NONE,
        };
        self.file.ir.blocks.get(self.index as usize).copied().unwrap_or(none)
    }

    /// Whether both are the same block.
    pub fn is(self, other: Self) -> bool {
        std::ptr::eq(self.file, other.file) && self.index == other.index
    }

    /// The region that it stands in.
    pub fn region(self) -> Region<'m, 'a> {
        Region { file: self.file, index: self.entry().region }
    }

    /// Its arguments.
    pub fn arguments(self) -> impl ExactSizeIterator<Item = Value<'m, 'a>> + DoubleEndedIterator {
        let Self { file, .. } = self;
        let BlockEntry { arguments, argument_count, .. } = self.entry();
        (arguments..arguments.saturating_add(argument_count))
            .map(move |index| Value::new(file, index))
    }

    /// Its operations, without those in their regions.
    pub fn operations(self) -> impl Iterator<Item = Operation<'m, 'a>> {
        let Self { file, .. } = self;
        let BlockEntry { operations, end, .. } = self.entry();
        let operation = move |index: u32| (index < end).then_some(Operation::new(file, index));
        std::iter::successors(operation(operations), move |last| operation(last.entry().end))
    }
}

impl fmt::Debug for BasicBlock<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "block of {:?}", self.region().operation())
    }
}

impl<'m, 'a> Value<'m, 'a> {
    pub(super) const fn new(file: &'m Bytecode<'a>, index: u32) -> Self {
        Self { file, index }
    }

    fn entry(self) -> ValueEntry {
        let none = ValueEntry { r#type: NONE, definer: NONE, location: NONE, is_argument: false };
        self.file.ir.values.get(self.index as usize).copied().unwrap_or(none)
    }

    /// The file that it stands in.
    pub const fn file(self) -> &'m Bytecode<'a> {
        self.file
    }

    /// Its number: values are numbered from 0 through the whole file.
    pub const fn index(self) -> usize {
        self.index as usize
    }

    /// Its type.
    pub fn type_id(self) -> TypeId {
        TypeId(self.entry().r#type)
    }

    /// What defines it.
    pub fn definition(self) -> Definition<'m, 'a> {
        let ValueEntry { definer, is_argument, .. } = self.entry();
        if is_argument {
            let block = BasicBlock { file: self.file, index: definer };
            Definition::Argument(block, self.index.saturating_sub(block.entry().arguments))
        } else {
            let operation = Operation::new(self.file, definer);
            Definition::Result(operation, self.index.saturating_sub(operation.entry().results))
        }
    }

    /// A block argument's location, if it says one. A result has its operation's.
    pub fn location(self) -> Option<AttributeId> {
        let location = self.entry().location;
        (location != NONE).then_some(AttributeId(location))
    }
}

impl PartialEq for Value<'_, '_> {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.file, other.file) && self.index == other.index
    }
}

impl fmt::Debug for Value<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "value {} of type {}", self.index, self.file.show_type(self.type_id()))
    }
}
