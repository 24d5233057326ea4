//! Types.

use super::{Elide, Printer};
use crate::bytecode::attribute::Attribute;
use crate::bytecode::tables::{AttributeId, TypeId};
use crate::bytecode::types::{DYNAMIC, Signedness, Type};
use std::fmt;

impl Printer<'_, '_, '_> {
    pub(super) fn r#type(&mut self, id: TypeId) -> fmt::Result {
        let file = self.file;
        match file.r#type(id) {
            Ok(known) => self.deeper(|printer| printer.known_type(known)),
            Err(fault) => write!(self.out, "<{fault}>"),
        }
    }

    fn known_type(&mut self, known: &Type<'_>) -> fmt::Result {
        match known {
            Type::Integer { width, signedness } => {
                let letters = match signedness {
                    Signedness::Signless => "i",
                    Signedness::Signed => "si",
                    Signedness::Unsigned => "ui",
                };
                write!(self.out, "{letters}{width}")
            }
            Type::Index => self.out.write_str("index"),
            Type::Float(kind) => self.out.write_str(kind.as_str()),
            Type::Complex(element) => {
                self.out.write_str("complex<")?;
                self.r#type(*element)?;
                self.out.write_str(">")
            }
            Type::Function { inputs, results } => self.function(inputs, results),
            Type::Memref(parts) => {
                self.out.write_str("memref<")?;
                self.shape(&parts.shape, &[])?;
                self.r#type(parts.element)?;
                self.layout(parts.layout)?;
                self.space(parts.space)?;
                self.out.write_str(">")
            }
            Type::UnrankedMemref { element, space } => {
                self.out.write_str("memref<*x")?;
                self.r#type(*element)?;
                self.space(*space)?;
                self.out.write_str(">")
            }
            Type::Tensor { shape, element, encoding } => {
                self.out.write_str("tensor<")?;
                self.shape(shape, &[])?;
                self.r#type(*element)?;
                if let Some(encoding) = encoding {
                    self.out.write_str(", ")?;
                    self.attribute(*encoding, Elide::Nothing)?;
                }
                self.out.write_str(">")
            }
            Type::UnrankedTensor(element) => {
                self.out.write_str("tensor<*x")?;
                self.r#type(*element)?;
                self.out.write_str(">")
            }
            Type::Tuple(types) => {
                self.out.write_str("tuple<")?;
                self.list(types, |printer, id| printer.r#type(*id))?;
                self.out.write_str(">")
            }
            Type::Vector { shape, scalable, element } => {
                self.out.write_str("vector<")?;
                self.shape(shape, scalable)?;
                self.r#type(*element)?;
                self.out.write_str(">")
            }
            Type::None => self.out.write_str("none"),
            Type::Text(text) => self.plain(*text),
        }
    }

    fn function(&mut self, inputs: &[TypeId], results: &[TypeId]) -> fmt::Result {
        self.out.write_str("(")?;
        self.list(inputs, |printer, id| printer.r#type(*id))?;
        self.out.write_str(") -> ")?;
        if let [result] = results
            && !matches!(self.file.r#type(*result), Ok(Type::Function { .. }))
        {
            return self.r#type(*result);
        }
        self.out.write_str("(")?;
        self.list(results, |printer, id| printer.r#type(*id))?;
        self.out.write_str(")")
    }

    fn shape(&mut self, shape: &[i64], scalable: &[bool]) -> fmt::Result {
        for (place, extent) in shape.iter().enumerate() {
            if *extent == DYNAMIC {
                self.out.write_str("?x")?;
            } else if scalable.get(place) == Some(&true) {
                write!(self.out, "[{extent}]x")?;
            } else {
                write!(self.out, "{extent}x")?;
            }
        }
        Ok(())
    }

    fn layout(&mut self, layout: AttributeId) -> fmt::Result {
        match self.file.attribute(layout) {
            Ok(Attribute::AffineMap(map)) if map.is_identity() => Ok(()),
            _ => {
                self.out.write_str(", ")?;
                self.attribute(layout, Elide::UsualType)
            }
        }
    }

    fn space(&mut self, space: Option<AttributeId>) -> fmt::Result {
        let Some(space) = space else { return Ok(()) };
        self.out.write_str(", ")?;
        self.attribute(space, Elide::UsualType)
    }
}
