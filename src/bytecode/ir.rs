//! The operations of a file, read in one pass into flat tables: an operation's own
//! operands, results and regions stand in the tables from its numbers on, in the order
//! in which the file has them.

use super::cursor::{Cursor, Read};
use super::fault::{BytecodeFault, BytecodeProblem};
use super::tables::{Tables, short, since};

/// No number.
pub(super) const NONE: u32 = u32::MAX;

/// Everything in the section of operations.
#[derive(Debug, Default)]
pub(super) struct Ir {
    /// Operations, each before those in its regions.
    pub(super) operations: Vec<OperationEntry>,
    pub(super) operands: Vec<u32>,
    pub(super) values: Vec<ValueEntry>,
    pub(super) regions: Vec<RegionEntry>,
    pub(super) blocks: Vec<BlockEntry>,
    /// The numbers of blocks that operations lead to, and whose they are.
    pub(super) successors: Vec<(u32, u32)>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct OperationEntry {
    pub(super) name: u32,
    pub(super) location: u32,
    /// An attribute, or [`NONE`].
    pub(super) attributes: u32,
    /// An entry of the section of properties, or [`NONE`].
    pub(super) properties: u32,
    /// Its first operand; the last is before the next operation's first.
    pub(super) operands: u32,
    pub(super) results: u32,
    pub(super) result_count: u32,
    /// Its first region, or [`NONE`].
    pub(super) region: u32,
    /// The operation after those in its regions.
    pub(super) end: u32,
    pub(super) block: u32,
    /// Where it stands in the file.
    pub(super) offset: u32,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct ValueEntry {
    pub(super) r#type: u32,
    /// The operation or block that defines it.
    pub(super) definer: u32,
    /// An argument's location: an attribute, or [`NONE`].
    pub(super) location: u32,
    pub(super) is_argument: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct RegionEntry {
    pub(super) operation: u32,
    /// Its first block, or [`NONE`].
    pub(super) block: u32,
    pub(super) block_count: u32,
    /// The operation's next region, or [`NONE`].
    pub(super) next: u32,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct BlockEntry {
    pub(super) region: u32,
    pub(super) arguments: u32,
    pub(super) argument_count: u32,
    /// Its first operation.
    pub(super) operations: u32,
    /// The operation after its last and those in its regions.
    pub(super) end: u32,
    /// The region's next block, or [`NONE`].
    pub(super) next: u32,
}

/// An operation whose regions are being read.
struct Open<'a> {
    operation: u32,
    region: u32,
    regions_left: u64,
    block: u32,
    blocks_left: u64,
    operations_left: u64,
    /// The next value that the region defines, and the one after its last.
    next_value: u32,
    values_end: u32,
    /// How many numbers there were before the region.
    numbers: usize,
    /// Where the numbers of the space around begin, if the operation has its own.
    outer_space: Option<usize>,
    /// What follows the operation, if its regions lie in a section of their own.
    outer: Option<Cursor<'a>>,
}

mod mask {
    pub(super) const ATTRIBUTES: u8 = 1;
    pub(super) const RESULTS: u8 = 1 << 1;
    pub(super) const OPERANDS: u8 = 1 << 2;
    pub(super) const SUCCESSORS: u8 = 1 << 3;
    pub(super) const REGIONS: u8 = 1 << 4;
    pub(super) const USE_LISTS: u8 = 1 << 5;
    pub(super) const PROPERTIES: u8 = 1 << 6;
}

/// What an operation takes at least: name, mask, location.
const OPERATION_BYTES: usize = 3;
/// The section that operations lie in.
pub(super) const SECTION: u8 = 4;

struct Reader<'t, 'a> {
    tables: &'t Tables<'a>,
    version: u8,
    properties: usize,
    ir: Ir,
    data: Cursor<'a>,
    /// The end of the whole section.
    end: usize,
    /// The values by number, of all spaces that are open.
    numbers: Vec<u32>,
    /// Where the numbers of this space begin.
    space: usize,
    /// Values that open regions say they define, and have not yet.
    owed: usize,
}

impl Ir {
    pub(super) fn read<'a>(
        tables: &Tables<'a>,
        data: Cursor<'a>,
        version: u8,
        properties: usize,
    ) -> Read<Self> {
        let end = data.offset().saturating_add(data.left());
        let mut reader = Reader {
            tables,
            version,
            properties,
            ir: Self::sized(data.left()),
            data,
            end,
            numbers: Vec::new(),
            space: 0,
            owed: 0,
        };
        reader.read()?;
        Ok(reader.ir)
    }

    /// With room for about what so many bytes hold.
    fn sized(bytes: usize) -> Self {
        Self {
            operations: Vec::with_capacity(bytes >> 3),
            operands: Vec::with_capacity(bytes >> 3),
            values: Vec::with_capacity(bytes >> 3),
            ..Self::default()
        }
    }
}

impl<'a> Reader<'_, 'a> {
    fn read(&mut self) -> Read<()> {
        let at = self.data;
        let (count, arguments) = self.data.flagged("a block")?;
        if count != 1 || arguments {
            let (found, expected) = ("a block of another shape", "one operation, no arguments");
            return Err(at.fault(BytecodeProblem::Kind { found, expected }));
        }
        let mut open = Vec::new();
        self.operation(NONE, &mut open)?;
        while let Some(top) = open.last_mut() {
            if top.operations_left > 0 {
                top.operations_left = top.operations_left.saturating_sub(1);
                let block = top.block;
                self.operation(block, &mut open)?;
            } else {
                self.close(&mut open)?;
            }
        }
        self.data.finish("the operations")
    }

    /// Closes the innermost block, and opens what follows it, or closes what it ends.
    fn close(&mut self, open: &mut Vec<Open<'a>>) -> Read<()> {
        let Some(top) = open.last_mut() else { return Ok(()) };
        let end = short(self.ir.operations.len());
        if let Some(block) = self.ir.blocks.get_mut(top.block as usize) {
            block.end = end;
        }
        if top.blocks_left > 0 {
            return self.block(top);
        }
        if top.next_value != top.values_end {
            let said = u64::from(top.values_end);
            let missing = said.saturating_sub(u64::from(top.next_value));
            let said = self.numbers.len().saturating_sub(top.numbers) as u64;
            let found = said.saturating_sub(missing);
            return Err(self.data.fault(BytecodeProblem::Values { found, said }));
        }
        self.numbers.truncate(top.numbers);
        if top.regions_left > 0 {
            return self.region(top);
        }
        if let Some(operation) = self.ir.operations.get_mut(top.operation as usize) {
            operation.end = end;
        }
        if let Some(outer) = top.outer {
            self.data.finish("the regions of an isolated operation")?;
            self.data = outer;
        }
        if let Some(space) = top.outer_space {
            self.space = space;
        }
        open.pop();
        Ok(())
    }

    /// Opens the next region of an operation.
    fn region(&mut self, open: &mut Open<'a>) -> Read<()> {
        open.regions_left = open.regions_left.saturating_sub(1);
        let index = short(self.ir.regions.len());
        if let Some(region) = self.ir.regions.get_mut(open.region as usize) {
            region.next = index;
        } else if let Some(operation) = self.ir.operations.get_mut(open.operation as usize) {
            operation.region = index;
        }
        open.region = index;
        let block_count = self.data.count("blocks", 1)?;
        self.ir.regions.push(RegionEntry {
            operation: open.operation,
            block: NONE,
            block_count: short(block_count),
            next: NONE,
        });
        (open.block, open.blocks_left) = (NONE, block_count as u64);
        open.numbers = self.numbers.len();
        let values = if block_count == 0 {
            0
        } else {
            let at = self.data;
            let count = self.data.varint("values of a region")?;
            // Each of them takes a byte, as do those that are owed already.
            let left = self.end.saturating_sub(self.data.offset());
            let most = left.saturating_sub(self.owed);
            match usize::try_from(count) {
                Ok(count) if count <= most => count,
                _ => {
                    let what = "values of a region";
                    return Err(at.fault(BytecodeProblem::Count { what, count, most }));
                }
            }
        };
        self.owed = self.owed.saturating_add(values);
        let first = short(self.ir.values.len());
        let end = first.saturating_add(short(values));
        self.numbers.extend(first..end);
        let undefined =
            ValueEntry { r#type: NONE, definer: NONE, location: NONE, is_argument: false };
        self.ir.values.resize(end as usize, undefined);
        (open.next_value, open.values_end) = (first, end);
        if open.blocks_left > 0 { self.block(open) } else { Ok(()) }
    }

    /// Opens the next block of a region.
    fn block(&mut self, open: &mut Open<'a>) -> Read<()> {
        open.blocks_left = open.blocks_left.saturating_sub(1);
        let index = short(self.ir.blocks.len());
        if let Some(block) = self.ir.blocks.get_mut(open.block as usize) {
            block.next = index;
        } else if let Some(region) = self.ir.regions.get_mut(open.region as usize) {
            region.block = index;
        }
        open.block = index;
        let at = self.data.offset();
        let (count, has_arguments) = self.data.flagged("a block")?;
        let count = self.data.checked(at, "operations of a block", count, OPERATION_BYTES)?;
        open.operations_left = count as u64;
        let arguments = open.next_value;
        let argument_count = if has_arguments { self.arguments(open)? } else { 0 };
        let operations = short(self.ir.operations.len());
        self.ir.blocks.push(BlockEntry {
            region: open.region,
            arguments,
            argument_count,
            operations,
            end: operations,
            next: NONE,
        });
        Ok(())
    }

    fn arguments(&mut self, open: &mut Open<'a>) -> Read<u32> {
        let elided = self.version >= since::ELIDED_LOCATIONS;
        let count = self.data.count("arguments of a block", if elided { 1 } else { 2 })?;
        let types = self.tables.type_count();
        for _ in 0..count {
            let at = self.data.offset();
            let (r#type, located) = if elided {
                self.data.flagged("a type")?
            } else {
                (self.data.varint("a type")?, true)
            };
            let r#type = super::cursor::indexed(at, "type", r#type, types)?;
            let location = if located {
                self.data.index("attribute", self.tables.attribute_count())?
            } else {
                NONE
            };
            let entry = ValueEntry { r#type, definer: open.block, location, is_argument: true };
            self.define(open, at, entry)?;
        }
        if self.version >= since::USE_LISTS && self.data.byte("whether use lists follow")? != 0 {
            self.use_lists(count as u64)?;
        }
        Ok(short(count))
    }

    /// The next value of the open region is this one.
    fn define(&mut self, open: &mut Open<'a>, at: usize, entry: ValueEntry) -> Read<()> {
        let value = self.ir.values.get_mut(open.next_value as usize);
        let Some(value) = value.filter(|_| open.next_value < open.values_end) else {
            let said = self.numbers.len().saturating_sub(open.numbers) as u64;
            let found = said.saturating_add(1);
            return Err(BytecodeFault::new(at, BytecodeProblem::Values { found, said }));
        };
        *value = entry;
        open.next_value = open.next_value.saturating_add(1);
        self.owed = self.owed.saturating_sub(1);
        Ok(())
    }

    /// Reads an operation up to its regions, and opens the first of these.
    fn operation(&mut self, block: u32, open: &mut Vec<Open<'a>>) -> Read<()> {
        let index = short(self.ir.operations.len());
        let at = self.data.offset();
        let name = self.data.index("operation name", self.tables.names.len())?;
        let mask = self.mask()?;
        let attributes = self.tables.attribute_count();
        let location = self.data.index("attribute", attributes)?;
        let has = |bit: u8| mask & bit != 0;
        let mut entry = OperationEntry {
            name,
            location,
            attributes: NONE,
            properties: NONE,
            operands: short(self.ir.operands.len()),
            results: 0,
            result_count: 0,
            region: NONE,
            end: index.saturating_add(1),
            block,
            offset: short(at),
        };
        if has(mask::ATTRIBUTES) {
            entry.attributes = self.data.index("attribute", attributes)?;
        }
        if has(mask::PROPERTIES) {
            entry.properties = self.data.index("properties", self.properties)?;
        }
        if has(mask::RESULTS) {
            let count = self.data.count("results", 1)?;
            entry.result_count = short(count);
            match open.last_mut() {
                Some(top) => {
                    entry.results = top.next_value;
                    for _ in 0..count {
                        let at = self.data.offset();
                        let r#type = self.data.index("type", self.tables.type_count())?;
                        let (definer, location) = (index, NONE);
                        let entry = ValueEntry { r#type, definer, location, is_argument: false };
                        self.define(top, at, entry)?;
                    }
                }
                None if count == 0 => {}
                None => {
                    let (found, expected) = ("results of the outermost operation", "none");
                    return Err(self.data.fault(BytecodeProblem::Kind { found, expected }));
                }
            }
        }
        if has(mask::OPERANDS) {
            let count = self.data.count("operands", 1)?;
            let numbers = self.numbers.get(self.space..).unwrap_or_default();
            self.ir.operands.reserve(count);
            for _ in 0..count {
                let number = self.data.index("value", numbers.len())?;
                self.ir.operands.push(numbers.get(number as usize).copied().unwrap_or(NONE));
            }
        }
        if has(mask::SUCCESSORS) {
            self.successors(index, open.last())?;
        }
        if has(mask::USE_LISTS) {
            self.use_lists(u64::from(entry.result_count))?;
        }
        self.ir.operations.push(entry);
        if has(mask::REGIONS) { self.regions(index, open) } else { Ok(()) }
    }

    fn mask(&mut self) -> Read<u8> {
        let at = self.data;
        let mask = self.data.byte("an operation's mask")?;
        let mut known =
            mask::ATTRIBUTES | mask::RESULTS | mask::OPERANDS | mask::SUCCESSORS | mask::REGIONS;
        if self.version >= since::USE_LISTS {
            known |= mask::USE_LISTS;
        }
        if self.version >= since::PROPERTIES {
            known |= mask::PROPERTIES;
        }
        if mask & !known == 0 {
            Ok(mask)
        } else {
            Err(at.fault(BytecodeProblem::Mask { mask, known }))
        }
    }

    fn successors(&mut self, operation: u32, open: Option<&Open<'a>>) -> Read<()> {
        let region = open.and_then(|open| self.ir.regions.get(open.region as usize));
        let blocks = region.map_or(0, |region| region.block_count);
        for _ in 0..self.data.count("successors", 1)? {
            let block = self.data.index("block", blocks as usize)?;
            self.ir.successors.push((operation, block));
        }
        Ok(())
    }

    fn regions(&mut self, operation: u32, open: &mut Vec<Open<'a>>) -> Read<()> {
        let at = self.data.offset();
        let (count, isolated) = self.data.flagged("regions")?;
        // A region without blocks is a byte.
        let count = self.data.checked(at, "regions", count, 1)?;
        let mut outer = None;
        if isolated && self.version >= since::ISOLATED_SECTIONS && count > 0 {
            let at = self.data;
            let (found, data) = self.data.section()?;
            if found != SECTION {
                let expected = "4, the regions of an isolated operation";
                return Err(at.fault(BytecodeProblem::Section { found, expected }));
            }
            outer = Some(std::mem::replace(&mut self.data, data));
        }
        if count == 0 {
            return Ok(());
        }
        let outer_space = isolated.then_some(self.space);
        if isolated {
            self.space = self.numbers.len();
        }
        open.push(Open {
            operation,
            region: NONE,
            regions_left: count as u64,
            block: NONE,
            blocks_left: 0,
            operations_left: 0,
            next_value: 0,
            values_end: 0,
            numbers: self.numbers.len(),
            outer_space,
            outer,
        });
        match open.last_mut() {
            Some(top) => self.region(top),
            None => Ok(()),
        }
    }

    /// Skips the orders of the use lists of so many values.
    fn use_lists(&mut self, values: u64) -> Read<()> {
        let count = if values <= 1 { 1 } else { self.data.count("use lists", 2)? };
        for _ in 0..count {
            if values > 1 {
                self.data.varint("a value of a use list")?;
            }
            let (count, _) = self.data.flagged("a use list")?;
            let count = self.data.checked(self.data.offset(), "uses", count, 1)?;
            for _ in 0..count {
                self.data.varint("a use")?;
            }
        }
        Ok(())
    }
}
