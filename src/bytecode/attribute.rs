//! Attributes of the builtin dialect, and other dialects' attributes as their text.

use super::affine::{AffineMap, IntegerSet};
use super::cursor::{Cursor, Read};
use super::dictionary::Dictionary;
use super::fault::{BytecodeFault, BytecodeProblem};
use super::location::Location;
use super::tables::{AttributeId, Tables, TypeId};
use super::text::Text;

/// An attribute, as its entry says it; the attributes and types within are numbers, to
/// be asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Attribute<'a> {
    /// `[1, 2]`
    Array(Box<[AttributeId]>),
    /// `{a = 1}`
    Dictionary(Dictionary<'a>),
    /// `"text"`, perhaps with a type
    String {
        /// The string.
        text: Text<'a>,
        /// Its type, where it says one.
        r#type: Option<TypeId>,
    },
    /// `@root::@nested`
    Symbol {
        /// The outermost name.
        root: Text<'a>,
        /// The names within.
        nested: Box<[AttributeId]>,
    },
    /// A type
    Type(TypeId),
    /// `unit`: what it says is that it is there.
    Unit,
    /// `1 : i32`
    Integer {
        /// Its type: an integer or index.
        r#type: TypeId,
        /// Its value.
        value: WideInteger,
    },
    /// `1.0 : f32`
    Float {
        /// Its type.
        r#type: TypeId,
        /// Its bits.
        bits: WideInteger,
    },
    /// `loc(…)`
    Location(Location<'a>),
    /// `dense_resource<…>`
    Resource {
        /// The type of the whole.
        r#type: TypeId,
        /// The number of the resource.
        index: u64,
    },
    /// `array<i64: 1, 2>`
    DenseArray {
        /// The type of its elements.
        element: TypeId,
        /// How many there are.
        count: u64,
        /// The elements: whole bytes each, little-endian.
        bytes: &'a [u8],
    },
    /// `dense<…>`: elements, or the one that all of them are.
    DenseElements {
        /// The type of the whole.
        r#type: TypeId,
        /// The elements.
        bytes: &'a [u8],
    },
    /// `dense<…>` of strings
    DenseStrings {
        /// The type of the whole.
        r#type: TypeId,
        /// The strings, or the one that all of them are.
        strings: Box<[Text<'a>]>,
    },
    /// `sparse<…>`
    Sparse {
        /// The type of the whole.
        r#type: TypeId,
        /// Where the elements are that are not zero.
        indices: AttributeId,
        /// What they are.
        values: AttributeId,
    },
    /// `distinct[…]<…>`
    Distinct(AttributeId),
    /// `affine_map<…>`
    AffineMap(Box<AffineMap>),
    /// `affine_set<…>`
    IntegerSet(Box<IntegerSet>),
    /// `strided<[1], offset: 0>`
    Strided {
        /// Where the first element is; [`DYNAMIC`](super::DYNAMIC) for `?`.
        offset: i64,
        /// How far apart elements are, in each dimension.
        strides: Box<[i64]>,
    },
    /// An attribute that stands in the file as text, whole: `#tpu.memory_space<vmem>`.
    Text(Text<'a>),
}

/// An integer or the bits of a float, of any width.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WideInteger {
    /// One of at most 64 bits, with its sign if it has one.
    Small(i64),
    /// A wider one: words of 64 bits, the lowest first.
    Words(Box<[u64]>),
}

impl WideInteger {
    /// The value, where it has at most 64 bits.
    pub const fn small(&self) -> Option<i64> {
        match self {
            Self::Small(value) => Some(*value),
            Self::Words(_) => None,
        }
    }
}

/// The highest code of an attribute that is known.
const NEWEST: u64 = 25;

/// What an attribute is, where it is of one kind.
impl<'a> Attribute<'a> {
    /// The elements of an array.
    pub fn as_array(&self) -> Option<&[AttributeId]> {
        if let Self::Array(elements) = self { Some(elements) } else { None }
    }

    /// A dictionary.
    pub const fn as_dictionary(&self) -> Option<&Dictionary<'a>> {
        if let Self::Dictionary(dictionary) = self { Some(dictionary) } else { None }
    }

    /// The text of a string.
    pub const fn as_string(&self) -> Option<Text<'a>> {
        if let Self::String { text, .. } = self { Some(*text) } else { None }
    }

    /// The name of a symbol that is not nested.
    pub fn as_symbol(&self) -> Option<Text<'a>> {
        if let Self::Symbol { root, nested } = self
            && nested.is_empty()
        {
            return Some(*root);
        }
        None
    }

    /// The value of an integer or boolean of at most 64 bits.
    pub const fn as_integer(&self) -> Option<i64> {
        if let Self::Integer { value, .. } = self { value.small() } else { None }
    }

    /// Another dialect's attribute, whole.
    pub const fn as_text(&self) -> Option<Text<'a>> {
        if let Self::Text(text) = self { Some(*text) } else { None }
    }

    /// A location.
    pub const fn as_location(&self) -> Option<&Location<'a>> {
        if let Self::Location(location) = self { Some(location) } else { None }
    }

    /// An affine map.
    pub fn as_affine_map(&self) -> Option<&AffineMap> {
        if let Self::AffineMap(map) = self { Some(map) } else { None }
    }
}

impl<'a> Attribute<'a> {
    pub(super) fn of_text(text: Text<'a>, builtin: bool) -> Self {
        let map = builtin.then(|| AffineMap::parse(text)).flatten();
        map.map_or(Self::Text(text), |map| Self::AffineMap(Box::new(map)))
    }

    pub(super) fn no_string(at: usize, found: &'static str) -> BytecodeFault {
        BytecodeFault::new(at, BytecodeProblem::Kind { found, expected: "a string attribute" })
    }

    /// The string of a string attribute that is named at `at`.
    pub(super) fn decode_string(
        tables: &Tables<'a>,
        data: &mut Cursor<'a>,
        at: usize,
    ) -> Read<Text<'a>> {
        match data.varint("an attribute's code")? {
            2 | 3 => tables.string_at(data),
            _ => Err(Self::no_string(at, "another attribute")),
        }
    }

    pub(super) fn decode(tables: &Tables<'a>, mut data: Cursor<'a>) -> Read<Self> {
        let data = &mut data;
        let at = *data;
        let code = data.varint("an attribute's code")?;
        let decoded = match code {
            0 => Self::Array(ids(tables, data)?),
            1 => Self::Dictionary(Dictionary::decode(tables, data)?),
            2 => Self::String { text: tables.string_at(data)?, r#type: None },
            3 => {
                Self::String { text: tables.string_at(data)?, r#type: Some(tables.type_id(data)?) }
            }
            4 => Self::Symbol { root: tables.name_at(data)?, nested: Box::default() },
            5 => Self::Symbol { root: tables.name_at(data)?, nested: ids(tables, data)? },
            6 => Self::Type(tables.type_id(data)?),
            7 => Self::Unit,
            8 | 9 => {
                let r#type = tables.type_id(data)?;
                let value = scalar(tables, data, r#type, code == 8)?;
                if code == 8 {
                    Self::Integer { r#type, value }
                } else {
                    Self::Float { r#type, bits: value }
                }
            }
            10..=15 | 22 => Self::Location(Location::decode(tables, data, code)?),
            16 => Self::Resource {
                r#type: tables.type_id(data)?,
                index: data.varint("a resource's number")?,
            },
            17 => {
                let element = tables.type_id(data)?;
                let count = data.varint("elements of a dense array")?;
                Self::DenseArray { element, count, bytes: blob(data)? }
            }
            18 => Self::DenseElements { r#type: tables.type_id(data)?, bytes: blob(data)? },
            19 => Self::dense_strings(tables, data)?,
            20 => Self::Sparse {
                r#type: tables.type_id(data)?,
                indices: tables.attribute_id(data)?,
                values: tables.attribute_id(data)?,
            },
            21 => Self::Distinct(tables.attribute_id(data)?),
            23 => Self::AffineMap(Box::new(AffineMap::decode(data)?)),
            24 => Self::IntegerSet(Box::new(IntegerSet::decode(data)?)),
            25 => {
                let offset = data.svarint("a layout's offset")?;
                let count = data.count("strides", 1)?;
                let strides = (0..count).map(|_| data.svarint("a stride")).collect::<Read<_>>()?;
                Self::Strided { offset, strides }
            }
            _ => {
                let problem = BytecodeProblem::Code { what: "an attribute", code, most: NEWEST };
                return Err(at.fault(problem));
            }
        };
        data.finish("an attribute")?;
        Ok(decoded)
    }

    fn dense_strings(tables: &Tables<'a>, data: &mut Cursor<'a>) -> Read<Self> {
        let r#type = tables.type_id(data)?;
        let splat = data.varint("whether all strings are one")? != 0;
        // Their number is the type's; that they fill the entry is enough to read them.
        let mut strings = Vec::new();
        while !data.is_empty() {
            strings.push(tables.string_at(data)?);
        }
        if splat && strings.len() != 1 {
            let (what, count) = ("strings where all are one", strings.len() as u64);
            return Err(data.fault(BytecodeProblem::Count { what, count, most: 1 }));
        }
        Ok(Self::DenseStrings { r#type, strings: strings.into() })
    }
}

pub(super) fn ids<'a>(tables: &Tables<'a>, data: &mut Cursor<'a>) -> Read<Box<[AttributeId]>> {
    let count = data.count("attributes", 1)?;
    (0..count).map(|_| tables.attribute_id(data)).collect()
}

fn blob<'a>(data: &mut Cursor<'a>) -> Read<&'a [u8]> {
    let size = data.varint("a size of data")?;
    data.bytes("data", size)
}

/// A value as wide as its type.
fn scalar<'a>(
    tables: &Tables<'a>,
    data: &mut Cursor<'a>,
    r#type: TypeId,
    signed: bool,
) -> Read<WideInteger> {
    const WORD: u32 = u64::BITS;
    let decoded = tables.r#type(r#type).map_err(Clone::clone)?;
    let Some(bits) = decoded.value_bits() else {
        let problem = BytecodeProblem::Kind {
            found: "a number of a type that has no width",
            expected: "an integer, an index or a float",
        };
        return Err(data.fault(problem));
    };
    if bits > WORD {
        let count = data.count("words of a number", 1)?;
        let words = (0..count).map(|_| data.svarint("a number").map(i64::cast_unsigned));
        return words.collect::<Read<_>>().map(WideInteger::Words);
    }
    let value = if bits <= u8::BITS {
        u64::from(data.byte("a number")?)
    } else {
        data.svarint("a number")?.cast_unsigned()
    };
    // Cut to the width, then with the sign of its highest bit.
    let unused = WORD.saturating_sub(bits.max(1));
    let high = value << unused;
    let unsigned = decoded.is_unsigned() || !signed;
    let value =
        if unsigned { (high >> unused).cast_signed() } else { high.cast_signed() >> unused };
    Ok(WideInteger::Small(value))
}
