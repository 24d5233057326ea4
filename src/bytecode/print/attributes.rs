//! Attributes.

use super::affine::{write_map, write_set};
use super::{Elide, Printer, is_bare};
use crate::bytecode::attribute::{Attribute, WideInteger};
use crate::bytecode::float;
use crate::bytecode::tables::{AttributeId, TypeId};
use crate::bytecode::text::Text;
use crate::bytecode::types::{DYNAMIC, FloatKind, Signedness, Type};
use std::fmt;

impl Printer<'_, '_, '_> {
    pub(super) fn attribute(&mut self, id: AttributeId, elide: Elide) -> fmt::Result {
        let file = self.file;
        match file.attribute(id) {
            Ok(known) => self.deeper(|printer| printer.known_attribute(known, elide)),
            Err(fault) => write!(self.out, "<{fault}>"),
        }
    }

    fn known_attribute(&mut self, known: &Attribute<'_>, elide: Elide) -> fmt::Result {
        match known {
            Attribute::Array(elements) => {
                self.out.write_str("[")?;
                self.list(elements, |printer, id| printer.attribute(*id, Elide::UsualType))?;
                self.out.write_str("]")
            }
            Attribute::Dictionary(entries) => {
                self.out.write_str("{")?;
                self.list(entries.iter(), |printer, (name, id)| printer.named(name, id))?;
                self.out.write_str("}")
            }
            Attribute::String { text, r#type } => {
                self.quoted(*text)?;
                self.of_type(*r#type)
            }
            Attribute::Symbol { root, nested } => {
                self.symbol(*root)?;
                nested.iter().try_for_each(|id| {
                    self.out.write_str("::")?;
                    self.attribute(*id, elide)
                })
            }
            Attribute::Type(id) => self.r#type(*id),
            Attribute::Unit => self.out.write_str("unit"),
            Attribute::Integer { r#type, value } => {
                self.integer(*r#type, value)?;
                match self.file.r#type(*r#type) {
                    Ok(Type::Integer { width: 1, signedness: Signedness::Signless }) => Ok(()),
                    Ok(Type::Integer { width: 64, signedness: Signedness::Signless })
                        if elide == Elide::UsualType =>
                    {
                        Ok(())
                    }
                    _ => self.of_type(Some(*r#type)),
                }
            }
            Attribute::Float { r#type, bits } => {
                let is_number = self.float(*r#type, bits)?;
                let usual = matches!(self.file.r#type(*r#type), Ok(Type::Float(FloatKind::F64)));
                if usual && is_number && elide == Elide::UsualType {
                    return Ok(());
                }
                self.of_type(Some(*r#type))
            }
            Attribute::Location(location) => {
                self.out.write_str("loc(")?;
                self.location(location)?;
                self.out.write_str(")")
            }
            Attribute::Resource { r#type, index } => {
                self.out.write_str("dense_resource<")?;
                self.resource(*index)?;
                self.out.write_str(">")?;
                self.of_type(Some(*r#type))
            }
            Attribute::DenseArray { element, count, bytes } => {
                self.out.write_str("array<")?;
                self.r#type(*element)?;
                if *count > 0 {
                    self.out.write_str(": ")?;
                    self.scalars(*element, bytes)?;
                }
                self.out.write_str(">")
            }
            Attribute::DenseElements { r#type, bytes } => self.dense(*r#type, bytes),
            Attribute::DenseStrings { r#type, strings } => self.strings(*r#type, strings),
            Attribute::Sparse { r#type, indices, values } => {
                self.out.write_str("sparse<")?;
                self.list([indices, values], |printer, id| match printer.file.attribute(*id) {
                    Ok(Attribute::DenseElements { r#type, bytes }) => {
                        printer.elements(*r#type, bytes)
                    }
                    _ => printer.attribute(*id, Elide::Nothing),
                })?;
                self.out.write_str(">")?;
                self.of_type(Some(*r#type))
            }
            Attribute::Distinct(id) => {
                self.out.write_str("distinct[0]<")?;
                self.attribute(*id, Elide::Nothing)?;
                self.out.write_str(">")
            }
            Attribute::AffineMap(map) => write_map(self.out, map),
            Attribute::IntegerSet(set) => write_set(self.out, set),
            Attribute::Strided { offset, strides } => {
                self.out.write_str("strided<[")?;
                self.list(strides, |printer, stride| printer.extent(*stride))?;
                self.out.write_str("]")?;
                if *offset != 0 {
                    self.out.write_str(", offset: ")?;
                    self.extent(*offset)?;
                }
                self.out.write_str(">")
            }
            Attribute::Text(text) => self.plain(*text),
        }
    }

    fn strings(&mut self, r#type: TypeId, strings: &[Text<'_>]) -> fmt::Result {
        self.out.write_str("dense<")?;
        if let [one] = strings {
            self.quoted(*one)?;
        } else {
            let file = self.file;
            let shaped = file.r#type(r#type).ok().and_then(Type::as_shaped);
            let shape = shaped.map(|(shape, _)| shape).unwrap_or_default();
            self.nested(shape, strings.len(), |printer, place| {
                strings.get(place).map_or(Ok(()), |text| printer.quoted(*text))
            })?;
        }
        self.out.write_str(">")?;
        self.of_type(Some(r#type))
    }

    pub(super) fn of_type(&mut self, id: Option<TypeId>) -> fmt::Result {
        let Some(id) = id else { return Ok(()) };
        self.out.write_str(" : ")?;
        self.r#type(id)
    }

    fn extent(&mut self, extent: i64) -> fmt::Result {
        if extent == DYNAMIC { self.out.write_str("?") } else { write!(self.out, "{extent}") }
    }

    fn named(&mut self, name: Text<'_>, id: AttributeId) -> fmt::Result {
        self.name(name)?;
        if matches!(self.file.attribute(id), Ok(Attribute::Unit)) {
            return Ok(());
        }
        self.out.write_str(" = ")?;
        self.attribute(id, Elide::Nothing)
    }

    fn symbol(&mut self, name: Text<'_>) -> fmt::Result {
        self.out.write_str("@")?;
        self.name(name)
    }

    fn name(&mut self, name: Text<'_>) -> fmt::Result {
        if is_bare(name) { self.plain(name) } else { self.quoted(name) }
    }

    pub(super) fn integer(&mut self, id: TypeId, value: &WideInteger) -> fmt::Result {
        let value = match value {
            WideInteger::Small(value) => *value,
            WideInteger::Words(words) => return write_words(self.out, words),
        };
        match self.file.r#type(id) {
            Ok(Type::Integer { width: 1, signedness: Signedness::Signless }) => {
                self.out.write_str(if value == 0 { "false" } else { "true" })
            }
            Ok(Type::Integer { signedness: Signedness::Unsigned, .. }) => {
                write!(self.out, "{}", value.cast_unsigned())
            }
            _ => write!(self.out, "{value}"),
        }
    }

    /// Writes a float, and says whether it is a finite number.
    pub(super) fn float(&mut self, id: TypeId, bits: &WideInteger) -> Result<bool, fmt::Error> {
        match (bits, self.file.r#type(id)) {
            (WideInteger::Small(bits), Ok(Type::Float(kind))) => {
                let bits = bits.cast_unsigned();
                float::write(self.out, *kind, bits)?;
                Ok(float::value(*kind, bits).is_some())
            }
            (WideInteger::Small(bits), _) => write!(self.out, "0x{bits:X}").map(|()| false),
            (WideInteger::Words(words), _) => write_words(self.out, words).map(|()| false),
        }
    }

    fn resource(&mut self, index: u64) -> fmt::Result {
        let resources = self.file.resources().unwrap_or_default();
        let mut of_dialects = resources.iter().filter(|resource| resource.of_dialect);
        let index = usize::try_from(index).unwrap_or(usize::MAX);
        match of_dialects.nth(index) {
            Some(resource) => self.plain(resource.key),
            None => write!(self.out, "{index}"),
        }
    }
}

/// A number wider than 64 bits.
fn write_words(out: &mut dyn super::Bounded, words: &[u64]) -> fmt::Result {
    out.write_str("0x")?;
    words.iter().rev().try_for_each(|word| write!(out, "{word:016X}"))
}
