//! Where something comes from.

use super::attribute::ids;
use super::cursor::{Cursor, Read};
use super::fault::BytecodeProblem;
use super::tables::{AttributeId, Tables};
use super::text::Text;

/// Where something comes from; the locations within are numbers, to be asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Location<'a> {
    /// `loc(unknown)`
    Unknown,
    /// `loc("file":1:2 to 3:4)`
    File(FileRange<'a>),
    /// `loc("name"(…))`
    Name {
        /// The name.
        name: Text<'a>,
        /// Where that is.
        child: AttributeId,
    },
    /// `loc(callsite(… at …))`
    CallSite {
        /// Where it is in what was called.
        callee: AttributeId,
        /// Where that was called.
        caller: AttributeId,
    },
    /// `loc(fused[…])`
    Fused {
        /// The locations that it was made of.
        locations: Box<[AttributeId]>,
        /// What was said about that.
        metadata: Option<AttributeId>,
    },
}

/// A place in a source file: lines and columns from 1, as the file says them; what it
/// does not say is `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FileRange<'a> {
    /// The file's name.
    pub file: Text<'a>,
    /// The first line.
    pub line: Option<u64>,
    /// The column where it begins.
    pub column: Option<u64>,
    /// The last line, where it says more than one.
    pub end_line: Option<u64>,
    /// The column where it ends.
    pub end_column: Option<u64>,
}

impl<'a> Location<'a> {
    /// Reads what follows `code`, one of those that are locations.
    pub(super) fn decode(tables: &Tables<'a>, data: &mut Cursor<'a>, code: u64) -> Read<Self> {
        Ok(match code {
            10 => Self::CallSite {
                callee: tables.attribute_id(data)?,
                caller: tables.attribute_id(data)?,
            },
            11 => Self::File(FileRange {
                file: tables.name_at(data)?,
                line: Some(data.varint("a line")?),
                column: Some(data.varint("a column")?),
                end_line: None,
                end_column: None,
            }),
            12 => Self::Fused { locations: ids(tables, data)?, metadata: None },
            13 => Self::Fused {
                locations: ids(tables, data)?,
                metadata: Some(tables.attribute_id(data)?),
            },
            14 => Self::Name { name: tables.name_at(data)?, child: tables.attribute_id(data)? },
            22 => Self::File(range(tables, data)?),
            _ => Self::Unknown,
        })
    }
}

/// A file and up to four numbers: line; column; end column, or end line and end column.
fn range<'a>(tables: &Tables<'a>, data: &mut Cursor<'a>) -> Read<FileRange<'a>> {
    const MOST: usize = 4;
    let file = tables.name_at(data)?;
    let at = *data;
    let count = data.count("lines and columns", 1)?;
    if count > MOST {
        let (what, count) = ("lines and columns", count as u64);
        return Err(at.fault(BytecodeProblem::Count { what, count, most: MOST }));
    }
    let mut numbers = [None; MOST];
    for number in numbers.iter_mut().take(count) {
        *number = Some(data.varint("a line or column")?);
    }
    let [line, column, third, fourth] = numbers;
    let (end_line, end_column) = if fourth.is_some() { (third, fourth) } else { (None, third) };
    Ok(FileRange { file, line, column, end_line, end_column })
}
