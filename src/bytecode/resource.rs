//! Resources: data that come with a module, by name.

use super::cursor::{Cursor, Read};
use super::fault::BytecodeProblem;
use super::tables::Tables;
use super::text::Text;

/// A resource that comes with a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Resource<'a> {
    /// Whose it is: a dialect's, or a tool's.
    pub owner: Text<'a>,
    /// Whether the owner is a dialect.
    pub of_dialect: bool,
    /// Its name.
    pub key: Text<'a>,
    /// What its data are.
    pub kind: ResourceKind,
    /// Its data, as they stand in the file.
    pub data: &'a [u8],
}

/// What the data of a resource are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ResourceKind {
    /// An alignment, a size and bytes.
    Blob,
    /// A byte that is 0 or 1.
    Bool,
    /// The number of a string.
    String,
}

/// Reads the groups of resources: keys and sizes here, the data end to end there.
pub(super) fn read<'a>(
    tables: &Tables<'a>,
    mut offsets: Cursor<'a>,
    data: Option<Cursor<'a>>,
) -> Read<Vec<Resource<'a>>> {
    let mut data = data.unwrap_or(Cursor::new(&[]));
    let mut resources = Vec::new();
    for _ in 0..offsets.count("groups of resources", 2)? {
        let owner = tables.string_at(&mut offsets)?;
        group(tables, &mut offsets, &mut data, (owner, false), &mut resources)?;
    }
    while !offsets.is_empty() {
        let dialect = offsets.index("dialect", tables.dialect_count())?;
        let owner = (tables.dialect(dialect), true);
        group(tables, &mut offsets, &mut data, owner, &mut resources)?;
    }
    data.finish("the resources")?;
    Ok(resources)
}

fn group<'a>(
    tables: &Tables<'a>,
    offsets: &mut Cursor<'a>,
    data: &mut Cursor<'a>,
    (owner, of_dialect): (Text<'a>, bool),
    resources: &mut Vec<Resource<'a>>,
) -> Read<()> {
    for _ in 0..offsets.count("resources", 3)? {
        let key = tables.string_at(offsets)?;
        let size = offsets.varint("a size of a resource")?;
        let at = *offsets;
        let kind = match offsets.byte("a kind of resource")? {
            0 => ResourceKind::Blob,
            1 => ResourceKind::Bool,
            2 => ResourceKind::String,
            code => {
                let (what, code) = ("a resource", u64::from(code));
                return Err(at.fault(BytecodeProblem::Code { what, code, most: 2 }));
            }
        };
        let data = data.bytes("a resource", size)?;
        resources.push(Resource { owner, of_dialect, key, kind, data });
    }
    Ok(())
}
