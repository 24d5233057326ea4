//! A file: its sections, and what may be asked of it.

use super::attribute::Attribute;
use super::cursor::{Cursor, Read};
use super::fault::{BytecodeFault, BytecodeProblem};
use super::ir::{self, Ir};
use super::operation::{Operation, Value};
use super::resource::{self, Resource};
use super::tables::{AttributeId, MOST_BYTES, TableSections, Tables, TypeId, short, since};
use super::text::Text;
use super::types::Type;
use std::cell::OnceCell;

/// The first bytes of every file.
const MAGIC: &[u8] = b"ML\xefR";

/// A module in MLIR's bytecode, read: its operations stand in flat tables, its attributes
/// and types are decoded when they are asked for, and all text is the file's own.
///
/// ```no_run
/// use mosaic_memspace::bytecode::Bytecode;
/// let bytes = std::fs::read("module.mlirbc")?;
/// let file = Bytecode::parse(&bytes)?;
/// for operation in file.operations() {
///     println!("{}", operation.name());
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Bytecode<'a> {
    version: u8,
    producer: Text<'a>,
    pub(super) tables: Tables<'a>,
    pub(super) ir: Ir,
    /// Where each entry of the section of properties lies.
    properties: Vec<(u32, u32)>,
    file: &'a [u8],
    resource_data: Option<Cursor<'a>>,
    resource_offsets: Option<Cursor<'a>>,
    /// The resources, once they were asked for.
    resources: OnceCell<Read<Vec<Resource<'a>>>>,
}

/// The numbers of the sections, and what they hold.
const SECTIONS: [&str; 9] = [
    "strings",
    "dialects and operation names",
    "attributes and types",
    "the lengths of attributes and types",
    "operations",
    "resources",
    "the offsets of resources",
    "a dialect's version",
    "properties",
];

impl<'a> Bytecode<'a> {
    /// Whether these bytes begin as bytecode does.
    ///
    /// ```
    /// use mosaic_memspace::bytecode::Bytecode;
    /// assert!(Bytecode::is_bytecode(b"ML\xefR\x01"));
    /// assert!(!Bytecode::is_bytecode(b"module {}"));
    /// ```
    pub fn is_bytecode(bytes: &[u8]) -> bool {
        bytes.starts_with(MAGIC)
    }

    /// Reads a file: its sections, its tables and its operations.
    ///
    /// # Errors
    /// [`BytecodeFault`]: where the bytes are not what the format says. What only an
    /// attribute or a type says is looked at when it is asked for.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, BytecodeFault> {
        if bytes.len() > MOST_BYTES {
            let problem = BytecodeProblem::FileTooLong { length: bytes.len(), most: MOST_BYTES };
            return Err(BytecodeFault::new(MOST_BYTES, problem));
        }
        let mut data = Cursor::new(bytes);
        if !Self::is_bytecode(bytes) {
            return Err(data.fault(BytecodeProblem::Magic));
        }
        data.bytes("the magic number", MAGIC.len() as u64)?;
        let version = version(&mut data)?;
        let producer = Text::new(data.terminated("the producer")?);
        let sections = Sections::read(data)?;
        let table_sections = TableSections {
            strings: sections.needed(0)?,
            dialects: sections.needed(1)?,
            data: sections.needed(2)?,
            offsets: sections.needed(3)?,
        };
        let tables = Tables::read(bytes, table_sections, version)?;
        let properties = match sections.get(8) {
            Some(data) => properties(data)?,
            None => Vec::new(),
        };
        let operations = sections.needed(ir::SECTION)?;
        let ir = Ir::read(&tables, operations, version, properties.len())?;
        let file = Self {
            version,
            producer,
            tables,
            ir,
            properties,
            file: bytes,
            resource_data: sections.get(5),
            resource_offsets: sections.get(6),
            resources: OnceCell::new(),
        };
        file.is_module(operations)?;
        Ok(file)
    }

    /// That the outermost operation is a module.
    fn is_module(&self, operations: Cursor<'_>) -> Read<()> {
        let name = self.module().name();
        if name.dialect() == "builtin" && name.name() == "module" {
            return Ok(());
        }
        Err(operations.fault(BytecodeProblem::NotAModule { name: name.to_string() }))
    }

    /// The version of the format, which is not that of any dialect.
    pub const fn version(&self) -> u8 {
        self.version
    }

    /// Who wrote it, e.g. `MLIR24.0.0git`.
    pub const fn producer(&self) -> Text<'a> {
        self.producer
    }

    /// The outermost operation, `builtin.module`.
    pub const fn module(&self) -> Operation<'_, 'a> {
        Operation::new(self, 0)
    }

    /// How many operations there are, the module among them.
    pub fn operation_count(&self) -> usize {
        self.ir.operations.len()
    }

    /// How many values there are: block arguments and results.
    pub fn value_count(&self) -> usize {
        self.ir.values.len()
    }

    /// Every operation, each before those in its regions.
    pub fn operations(&self) -> impl DoubleEndedIterator<Item = Operation<'_, 'a>> {
        (0..short(self.operation_count())).map(|index| Operation::new(self, index))
    }

    /// Every block argument and result, in the order of their numbers.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = Value<'_, 'a>> {
        (0..short(self.value_count())).map(|index| Value::new(self, index))
    }

    /// The dialects that the file names.
    pub fn dialects(&self) -> impl Iterator<Item = Text<'a>> {
        (0..short(self.tables.dialect_count())).map(|index| self.tables.dialect(index))
    }

    /// The names of operations that the file has, dialect and name, by their numbers.
    pub fn operation_names(&self) -> impl Iterator<Item = (Text<'a>, Text<'a>)> {
        (0..short(self.tables.names.len())).map(|index| {
            let (dialect, name, _) = self.tables.name(index);
            (dialect, name)
        })
    }

    /// The attributes that there are, by number.
    pub fn attributes(&self) -> impl Iterator<Item = AttributeId> + use<> {
        (0..short(self.tables.attribute_count())).map(AttributeId)
    }

    /// The names that some attribute of the file refers to as symbols.
    pub fn symbols(&self) -> impl Iterator<Item = Text<'a>> {
        self.attributes().filter_map(|id| self.tables.symbol_root(id))
    }

    /// The types that there are, by number.
    pub fn types(&self) -> impl Iterator<Item = TypeId> + use<> {
        (0..short(self.tables.type_count())).map(TypeId)
    }

    /// The attribute with this number; decoded now, once.
    ///
    /// # Errors
    /// What is wrong with this one entry, such as a code that is not known.
    pub fn attribute(&self, id: AttributeId) -> Result<&Attribute<'a>, &BytecodeFault> {
        self.tables.attribute(id)
    }

    /// The type with this number; decoded now, once.
    ///
    /// # Errors
    /// What is wrong with this one entry, such as a code that is not known.
    pub fn r#type(&self, id: TypeId) -> Result<&Type<'a>, &BytecodeFault> {
        self.tables.r#type(id)
    }

    /// The resources that come with the module.
    ///
    /// # Errors
    /// [`BytecodeFault`]: their sections are not what the format says.
    pub fn resources(&self) -> Result<&[Resource<'a>], &BytecodeFault> {
        let read = || match self.resource_offsets {
            Some(offsets) => resource::read(&self.tables, offsets, self.resource_data),
            None => Ok(Vec::new()),
        };
        self.resources.get_or_init(read).as_deref()
    }

    /// The bytes of an entry of the section of properties.
    pub(super) fn properties_at(&self, index: u32) -> Cursor<'a> {
        let (start, end) = self.properties.get(index as usize).copied().unwrap_or_default();
        Cursor::between(self.file, start as usize, end as usize)
    }
}

fn version(data: &mut Cursor<'_>) -> Read<u8> {
    let at = *data;
    let found = data.varint("the version")?;
    match u8::try_from(found) {
        Ok(version) if version <= since::NEWEST => Ok(version),
        _ => {
            let newest = u64::from(since::NEWEST);
            Err(at.fault(BytecodeProblem::Version { found, newest }))
        }
    }
}

/// Where the data of each section are.
struct Sections<'a> {
    data: [Option<Cursor<'a>>; SECTIONS.len()],
    end: usize,
}

impl<'a> Sections<'a> {
    fn read(mut rest: Cursor<'a>) -> Read<Self> {
        let mut sections =
            Self { data: [None; SECTIONS.len()], end: rest.offset().saturating_add(rest.left()) };
        while !rest.is_empty() {
            let at = rest;
            let (id, data) = rest.section()?;
            match sections.data.get_mut(usize::from(id)) {
                Some(Some(_)) => return Err(at.fault(BytecodeProblem::RepeatedSection { id })),
                Some(section) => *section = Some(data),
                None => {
                    let (found, expected) = (id, "0 to 8");
                    return Err(at.fault(BytecodeProblem::Section { found, expected }));
                }
            }
        }
        Ok(sections)
    }

    fn get(&self, id: u8) -> Option<Cursor<'a>> {
        self.data.get(usize::from(id)).copied().flatten()
    }

    fn needed(&self, id: u8) -> Read<Cursor<'a>> {
        self.get(id).ok_or_else(|| {
            let what = SECTIONS.get(usize::from(id)).copied().unwrap_or_default();
            BytecodeFault::new(self.end, BytecodeProblem::MissingSection { id, what })
        })
    }
}

/// Where each entry of properties begins and ends.
fn properties(mut data: Cursor<'_>) -> Read<Vec<(u32, u32)>> {
    let count = data.count("properties", 1)?;
    let entry = |_| {
        let size = data.varint("a size of properties")?;
        let start = data.offset();
        data.bytes("properties", size)?;
        Ok((short(start), short(data.offset())))
    };
    let entries = (0..count).map(entry).collect::<Read<_>>()?;
    data.finish("the properties")?;
    Ok(entries)
}
