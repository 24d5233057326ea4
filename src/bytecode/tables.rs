//! The tables of a file: strings, dialects, operation names, and where each attribute
//! and type lies. Attributes and types are decoded when they are asked for, once each.

use super::attribute::Attribute;
use super::cursor::{Cursor, Read, indexed};
use super::fault::{BytecodeFault, BytecodeProblem};
use super::text::Text;
use super::types::Type;
use std::cell::OnceCell;

/// The number of an attribute in its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AttributeId(pub(super) u32);

/// The number of a type in its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TypeId(pub(super) u32);

/// The dialect that has encodings of its own here.
const BUILTIN: &[u8] = b"builtin";

/// The versions of the format, by what they added.
pub(super) mod since {
    /// A dialect may have a version.
    pub(in super::super) const DIALECT_VERSIONS: u8 = 1;
    /// The regions of an isolated operation lie in a section of their own.
    pub(in super::super) const ISOLATED_SECTIONS: u8 = 2;
    /// Orders of use lists.
    pub(in super::super) const USE_LISTS: u8 = 3;
    /// A count of operation names; block arguments without locations.
    pub(in super::super) const ELIDED_LOCATIONS: u8 = 4;
    /// Properties; whether an operation's name was registered.
    pub(in super::super) const PROPERTIES: u8 = 5;
    /// The newest version known.
    pub(in super::super) const NEWEST: u8 = 6;
}

#[derive(Debug)]
pub(super) struct Tables<'a> {
    file: &'a [u8],
    /// Where each string begins, and where the one after the last would.
    strings: Vec<u32>,
    /// The name of each dialect, a string.
    dialects: Vec<u32>,
    pub(super) names: Vec<NameEntry>,
    attributes: Entries<Attribute<'a>>,
    types: Entries<Type<'a>>,
    /// The answer to a number of another file.
    foreign: BytecodeFault,
}

/// A name of operations.
#[derive(Clone, Copy, Debug)]
pub(super) struct NameEntry {
    dialect: u32,
    name: u32,
    /// Whether the writer knew the operation, so that its properties have a layout of
    /// their own. False before version 5.
    pub(super) registered: bool,
}

/// Where entries lie, and what they are once they were asked for.
#[derive(Debug)]
struct Entries<T> {
    places: Vec<Place>,
    /// Where the last one ends.
    end: u32,
    decoded: Vec<OnceCell<Result<T, Box<BytecodeFault>>>>,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    start: u32,
    dialect: u32,
    own_encoding: bool,
}

/// The data of the sections that the tables are read from.
#[derive(Clone, Copy)]
pub(super) struct TableSections<'a> {
    pub(super) strings: Cursor<'a>,
    pub(super) dialects: Cursor<'a>,
    pub(super) data: Cursor<'a>,
    pub(super) offsets: Cursor<'a>,
}

impl<'a> Tables<'a> {
    pub(super) fn read(file: &'a [u8], sections: TableSections<'a>, version: u8) -> Read<Self> {
        let strings = strings(sections.strings)?;
        let (dialects, names) = dialects(sections.dialects, count(&strings), version)?;
        let (attributes, types) = entries(sections.offsets, sections.data, dialects.len())?;
        let foreign = BytecodeFault::new(
            file.len(),
            BytecodeProblem::Kind { found: "a number of another file", expected: "one of this" },
        );
        Ok(Self { file, strings, dialects, names, attributes, types, foreign })
    }

    pub(super) fn string_count(&self) -> usize {
        count(&self.strings)
    }

    /// The string of a number that was checked.
    pub(super) fn string(&self, index: u32) -> Text<'a> {
        let index = index as usize;
        let bounds = (self.strings.get(index), self.strings.get(index.saturating_add(1)));
        let (Some(start), Some(end)) = bounds else { return Text::new(b"") };
        // The last byte is the NUL.
        let end = (*end as usize).saturating_sub(1);
        Text::new(self.file.get(*start as usize..end).unwrap_or_default())
    }

    pub(super) fn dialect(&self, index: u32) -> Text<'a> {
        self.dialects.get(index as usize).map_or(Text::new(b""), |name| self.string(*name))
    }

    pub(super) fn dialect_count(&self) -> usize {
        self.dialects.len()
    }

    /// Dialect and name of the operation name with a number that was checked.
    pub(super) fn name(&self, index: u32) -> (Text<'a>, Text<'a>, bool) {
        self.names.get(index as usize).map_or((Text::new(b""), Text::new(b""), false), |entry| {
            (self.dialect(entry.dialect), self.string(entry.name), entry.registered)
        })
    }

    pub(super) fn attribute_count(&self) -> usize {
        self.attributes.places.len()
    }

    pub(super) fn type_count(&self) -> usize {
        self.types.places.len()
    }

    /// The attribute with this number, decoded now if it was not yet.
    pub(super) fn attribute(&self, id: AttributeId) -> Result<&Attribute<'a>, &BytecodeFault> {
        let index = id.0 as usize;
        let Some(cell) = self.attributes.decoded.get(index) else { return Err(&self.foreign) };
        let decode = || match self.entry(&self.attributes, index, "an attribute")? {
            Entry::Own(data) => Attribute::decode(self, data),
            Entry::Text { text, builtin } => Ok(Attribute::of_text(text, builtin)),
        };
        cell.get_or_init(|| decode().map_err(Box::new)).as_ref().map_err(AsRef::as_ref)
    }

    /// The type with this number, decoded now if it was not yet.
    pub(super) fn r#type(&self, id: TypeId) -> Result<&Type<'a>, &BytecodeFault> {
        let index = id.0 as usize;
        let Some(cell) = self.types.decoded.get(index) else { return Err(&self.foreign) };
        let decode = || match self.entry(&self.types, index, "a type")? {
            Entry::Own(data) => Type::decode(self, data),
            Entry::Text { text, builtin } => Ok(Type::of_text(text, builtin)),
        };
        cell.get_or_init(|| decode().map_err(Box::new)).as_ref().map_err(AsRef::as_ref)
    }

    /// The string that a string attribute holds: names are looked at without decoding
    /// what else there is, so that no entry waits for itself.
    pub(super) fn string_attribute(&self, id: AttributeId, at: usize) -> Read<Text<'a>> {
        match self.entry(&self.attributes, id.0 as usize, "an attribute")? {
            Entry::Own(mut data) => Attribute::decode_string(self, &mut data, at),
            Entry::Text { .. } => Err(Attribute::no_string(at, "an attribute in text")),
        }
    }

    /// The root of the symbol that an entry is, if it is one; nothing else is decoded.
    pub(super) fn symbol_root(&self, id: AttributeId) -> Option<Text<'a>> {
        match self.entry(&self.attributes, id.0 as usize, "an attribute").ok()? {
            Entry::Own(mut data) => match data.varint("an attribute's code").ok()? {
                4 | 5 => self.name_at(&mut data).ok(),
                _ => None,
            },
            Entry::Text { .. } => None,
        }
    }

    fn entry<T>(&self, entries: &Entries<T>, index: usize, what: &'static str) -> Read<Entry<'a>> {
        let Some(place) = entries.places.get(index) else { return Err(self.foreign.clone()) };
        let next = entries.places.get(index.saturating_add(1));
        let end = next.map_or(entries.end, |next| next.start) as usize;
        let mut data = Cursor::between(self.file, place.start as usize, end);
        let dialect = self.dialect(place.dialect);
        let builtin = dialect.as_bytes() == BUILTIN;
        if place.own_encoding {
            return if builtin {
                Ok(Entry::Own(data))
            } else {
                Err(data.fault(BytecodeProblem::of_dialect(what, dialect)))
            };
        }
        let text = data.terminated(what)?;
        data.finish(what)?;
        Ok(Entry::Text { text: Text::new(text), builtin })
    }

    /// Reads the number of an attribute.
    pub(super) fn attribute_id(&self, data: &mut Cursor<'a>) -> Read<AttributeId> {
        data.index("attribute", self.attribute_count()).map(AttributeId)
    }

    /// Reads the number of a type.
    pub(super) fn type_id(&self, data: &mut Cursor<'a>) -> Read<TypeId> {
        data.index("type", self.type_count()).map(TypeId)
    }

    /// Reads the number of a string, and gives the string.
    pub(super) fn string_at(&self, data: &mut Cursor<'a>) -> Read<Text<'a>> {
        data.index("string", self.string_count()).map(|index| self.string(index))
    }

    /// Reads the number of a string attribute, and gives its string.
    pub(super) fn name_at(&self, data: &mut Cursor<'a>) -> Read<Text<'a>> {
        let at = data.offset();
        let id = self.attribute_id(data)?;
        self.string_attribute(id, at)
    }
}

/// What lies at an entry.
enum Entry<'a> {
    /// The builtin dialect's encoding.
    Own(Cursor<'a>),
    /// MLIR syntax.
    Text {
        text: Text<'a>,
        /// Whether it is the builtin dialect's.
        builtin: bool,
    },
}

impl<T> Entries<T> {
    fn new(places: Vec<Place>, end: u32) -> Self {
        let decoded = places.iter().map(|_| OnceCell::new()).collect();
        Self { places, end, decoded }
    }
}

fn count(starts: &[u32]) -> usize {
    starts.len().saturating_sub(1)
}

/// An offset in a file, which is no longer than [`MOST_BYTES`].
pub(super) fn short(offset: usize) -> u32 {
    u32::try_from(offset).unwrap_or(u32::MAX)
}

/// As many bytes as a file may have.
pub(super) const MOST_BYTES: usize = u32::MAX as usize - 1;

/// Where the strings begin: their lengths come first, the last one's first.
fn strings(mut data: Cursor<'_>) -> Read<Vec<u32>> {
    // A length, and the NUL.
    let count = data.count("strings", 2)?;
    let mut end = data.offset().saturating_add(data.left());
    let mut starts = Vec::with_capacity(count.saturating_add(1));
    starts.push(short(end));
    for _ in 0..count {
        let at = data.offset();
        let length = data.varint("a string's length")?;
        let start = usize::try_from(length).ok().and_then(|length| end.checked_sub(length));
        match start {
            Some(_) if length == 0 => {
                let problem = BytecodeProblem::Unterminated { what: "a string" };
                return Err(BytecodeFault::new(at, problem));
            }
            Some(start) if start > at => end = start,
            _ => {
                let left = end.saturating_sub(at);
                let problem = BytecodeProblem::Ends { what: "a string", needed: length, left };
                return Err(BytecodeFault::new(at, problem));
            }
        }
        starts.push(short(end));
    }
    let between = end.checked_sub(data.offset());
    match between {
        Some(0) => {}
        Some(left) => {
            let problem = BytecodeProblem::LeftOver { what: "the lengths of the strings", left };
            return Err(data.fault(problem));
        }
        None => {
            let problem = BytecodeProblem::Ends { what: "a string's length", needed: 1, left: 0 };
            return Err(BytecodeFault::new(end, problem));
        }
    }
    starts.reverse();
    Ok(starts)
}

fn dialects(mut data: Cursor<'_>, strings: usize, version: u8) -> Read<(Vec<u32>, Vec<NameEntry>)> {
    /// The section that holds a dialect's version.
    const VERSION: u8 = 7;
    let count = data.count("dialects", 1)?;
    let mut dialects = Vec::with_capacity(count);
    for _ in 0..count {
        let at = data.offset();
        let (name, versioned) = if version < since::DIALECT_VERSIONS {
            (data.varint("a dialect")?, false)
        } else {
            data.flagged("a dialect")?
        };
        dialects.push(indexed(at, "string", name, strings)?);
        if versioned {
            let at = data.offset();
            let (found, _) = data.section()?;
            if found != VERSION {
                let expected = "7, a dialect's version";
                return Err(BytecodeFault::new(at, BytecodeProblem::Section { found, expected }));
            }
        }
    }
    let expected =
        if version < since::ELIDED_LOCATIONS { 0 } else { data.count("operation names", 1)? };
    let mut names = Vec::with_capacity(expected);
    while !data.is_empty() {
        let dialect = data.index("dialect", dialects.len())?;
        for _ in 0..data.count("operation names", 1)? {
            let at = data.offset();
            let (name, registered) = if version < since::PROPERTIES {
                (data.varint("an operation name")?, false)
            } else {
                data.flagged("an operation name")?
            };
            let name = indexed(at, "string", name, strings)?;
            names.push(NameEntry { dialect, name, registered });
        }
    }
    Ok((dialects, names))
}

/// Where attributes and types lie in the section of their data: the lengths, end to end.
fn entries<'a>(
    mut offsets: Cursor<'_>,
    data: Cursor<'_>,
    dialects: usize,
) -> Read<(Entries<Attribute<'a>>, Entries<Type<'a>>)> {
    let attributes = offsets.count("attributes", 1)?;
    let types = offsets.count("types", 1)?;
    let at = offsets.offset();
    let all = (attributes as u64).saturating_add(types as u64);
    let all = offsets.checked(at, "attributes and types", all, 1)?;
    let mut places = Vec::with_capacity(all);
    let mut start = data.offset();
    let end = start.saturating_add(data.left());
    while places.len() < all {
        let dialect = offsets.index("dialect", dialects)?;
        let at = offsets.offset();
        let group = offsets.count("attributes and types", 1)?;
        // A group is of one kind.
        let kind = if places.len() < attributes { attributes } else { all };
        let room = kind.saturating_sub(places.len());
        if group > room {
            let (what, count) = ("attributes or types of a dialect", group as u64);
            return Err(BytecodeFault::new(at, BytecodeProblem::Count { what, count, most: room }));
        }
        for _ in 0..group {
            let at = offsets.offset();
            let (length, own_encoding) = offsets.flagged("an entry's length")?;
            places.push(Place { start: short(start), dialect, own_encoding });
            let left = end.saturating_sub(start);
            let next = usize::try_from(length).ok().filter(|length| *length <= left);
            let Some(length) = next else {
                let problem = BytecodeProblem::Ends { what: "an entry", needed: length, left };
                return Err(BytecodeFault::new(at, problem));
            };
            start = start.saturating_add(length);
        }
    }
    offsets.finish("the lengths of attributes and types")?;
    if start != end {
        let left = end.saturating_sub(start);
        let problem = BytecodeProblem::LeftOver { what: "attributes and types", left };
        return Err(BytecodeFault::new(start, problem));
    }
    let of_types = places.split_off(attributes);
    let end_of_attributes = of_types.first().map_or(short(end), |place| place.start);
    Ok((Entries::new(places, end_of_attributes), Entries::new(of_types, short(end))))
}
