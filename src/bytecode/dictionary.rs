//! Names and what they stand for.

use super::cursor::{Cursor, Read};
use super::tables::{AttributeId, Tables};
use super::text::Text;

/// The entries of a dictionary attribute, in the file's order, which MLIR keeps sorted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dictionary<'a>(Entries<'a>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Entries<'a> {
    /// So few that each is looked at.
    Few(Box<[(Text<'a>, AttributeId)]>),
    Many(Box<Many<'a>>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Many<'a> {
    entries: Box<[(Text<'a>, AttributeId)]>,
    /// The entries by length and name.
    sorted: Box<[u32]>,
}

impl<'a> Dictionary<'a> {
    /// As many entries as are looked at one by one.
    const FEW: usize = 16;

    pub(super) fn decode(tables: &Tables<'a>, data: &mut Cursor<'a>) -> Read<Self> {
        let count = data.count("entries of a dictionary", 2)?;
        let entry = |_| Ok((tables.name_at(data)?, tables.attribute_id(data)?));
        let entries = (0..count).map(entry).collect::<Read<Box<[_]>>>()?;
        if count <= Self::FEW {
            return Ok(Self(Entries::Few(entries)));
        }
        let mut sorted: Box<[u32]> = (0_u32..).take(count).collect();
        let key = |index: &u32| entries.get(*index as usize).map(|(name, _)| order(*name));
        sorted.sort_by_key(key);
        Ok(Self(Entries::Many(Box::new(Many { entries, sorted }))))
    }

    /// The entries, in the file's order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (Text<'a>, AttributeId)> {
        self.entries().iter().copied()
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.entries().len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.entries().is_empty()
    }

    fn entries(&self) -> &[(Text<'a>, AttributeId)] {
        match &self.0 {
            Entries::Few(entries) => entries,
            Entries::Many(many) => &many.entries,
        }
    }

    /// What a name stands for.
    pub fn get(&self, name: &str) -> Option<AttributeId> {
        let is_it = |(entry, _): &&(Text<'a>, AttributeId)| *entry == name;
        match &self.0 {
            Entries::Few(entries) => entries.iter().find(is_it),
            Entries::Many(many) => {
                let wanted = order(Text::new(name.as_bytes()));
                let entry = |index: u32| many.entries.get(index as usize);
                let before =
                    |index: &u32| entry(*index).is_some_and(|(name, _)| order(*name) < wanted);
                let from = many.sorted.partition_point(before);
                let same = many.sorted.get(from..).unwrap_or_default().iter();
                let same = same.map_while(|index| entry(*index));
                same.take_while(|(name, _)| order(*name) == wanted).find(is_it)
            }
        }
        .map(|(_, attribute)| *attribute)
    }
}

/// What names are sorted by: no comparison looks at more than so many bytes, however
/// long the names are.
fn order(name: Text<'_>) -> (usize, &[u8]) {
    const LOOKED_AT: usize = 64;
    let name = name.as_bytes();
    (name.len(), name.get(..LOOKED_AT).unwrap_or(name))
}
