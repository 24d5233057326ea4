//! Locations.

use super::{Elide, Printer};
use crate::bytecode::attribute::Attribute;
use crate::bytecode::location::{FileRange, Location};
use crate::bytecode::tables::AttributeId;
use std::fmt;

impl Printer<'_, '_, '_> {
    pub(super) fn location(&mut self, location: &Location<'_>) -> fmt::Result {
        match location {
            Location::Unknown => self.out.write_str("unknown"),
            Location::File(range) => self.range(range),
            Location::Name { name, child } => {
                self.quoted(*name)?;
                if matches!(self.file.attribute(*child), Ok(Attribute::Location(Location::Unknown)))
                {
                    return Ok(());
                }
                self.out.write_str("(")?;
                self.inner_location(*child)?;
                self.out.write_str(")")
            }
            Location::CallSite { callee, caller } => {
                self.out.write_str("callsite(")?;
                self.inner_location(*callee)?;
                self.out.write_str(" at ")?;
                self.inner_location(*caller)?;
                self.out.write_str(")")
            }
            Location::Fused { locations, metadata } => {
                self.out.write_str("fused")?;
                if let Some(metadata) = metadata {
                    self.out.write_str("<")?;
                    self.attribute(*metadata, Elide::Nothing)?;
                    self.out.write_str(">")?;
                }
                self.out.write_str("[")?;
                self.list(locations, |printer, id| printer.inner_location(*id))?;
                self.out.write_str("]")
            }
        }
    }

    fn inner_location(&mut self, id: AttributeId) -> fmt::Result {
        let file = self.file;
        match file.attribute(id) {
            Ok(Attribute::Location(location)) => self.deeper(|printer| printer.location(location)),
            _ => self.attribute(id, Elide::Nothing),
        }
    }

    fn range(&mut self, range: &FileRange<'_>) -> fmt::Result {
        self.quoted(range.file)?;
        let Some(line) = range.line else { return Ok(()) };
        write!(self.out, ":{line}")?;
        let Some(column) = range.column else { return Ok(()) };
        write!(self.out, ":{column}")?;
        let Some(end_column) = range.end_column else { return Ok(()) };
        match range.end_line.filter(|end| *end != line) {
            Some(end_line) => write!(self.out, " to {end_line}:{end_column}"),
            None if end_column == column => Ok(()),
            None => write!(self.out, " to :{end_column}"),
        }
    }
}
