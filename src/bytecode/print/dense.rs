//! Dense elements.

use super::Printer;
use crate::bytecode::attribute::WideInteger;
use crate::bytecode::tables::TypeId;
use crate::bytecode::types::Type;
use std::fmt;

impl Printer<'_, '_, '_> {
    /// Bytes of one element of a dense attribute, and bits of a number of it.
    fn element_size(&self, id: TypeId) -> Option<(usize, u32)> {
        let known = self.file.r#type(id).ok()?;
        let (numbers, bits) = if let Type::Complex(part) = known {
            (2, self.file.r#type(*part).ok()?.value_bits()?)
        } else {
            (1, known.value_bits()?)
        };
        let bytes = bits.div_ceil(u8::BITS).max(1).checked_mul(numbers)?;
        Some((bytes as usize, bits))
    }

    /// Writes the elements of a dense array: whole bytes each.
    pub(super) fn scalars(&mut self, element: TypeId, bytes: &[u8]) -> fmt::Result {
        let (size, _) = self.element_size(element).unwrap_or((1, 8));
        self.list(bytes.chunks(size), |printer, bytes| printer.scalar(element, bytes))
    }

    fn scalar(&mut self, element: TypeId, bytes: &[u8]) -> fmt::Result {
        let file = self.file;
        let element_type = file.r#type(element);
        if let Ok(Type::Complex(part)) = element_type {
            let half = bytes.len() >> 1;
            let (real, imaginary) = bytes.split_at_checked(half).unwrap_or_default();
            self.out.write_str("(")?;
            self.list([real, imaginary], |printer, bytes| printer.scalar(*part, bytes))?;
            return self.out.write_str(")");
        }
        let bits = element_type.ok().and_then(Type::value_bits).unwrap_or(u8::BITS);
        if bits > u64::BITS {
            let words = bytes.chunks(8).map(little).collect();
            return self.integer(element, &WideInteger::Words(words));
        }
        let value = little(bytes);
        if matches!(element_type, Ok(Type::Float(_))) {
            let bits = WideInteger::Small(value.cast_signed());
            return self.float(element, &bits).map(|_| ());
        }
        let unused = u64::BITS.saturating_sub(bits.max(1));
        let value = if element_type.is_ok_and(Type::is_unsigned) {
            value.cast_signed()
        } else {
            (value << unused).cast_signed() >> unused
        };
        self.integer(element, &WideInteger::Small(value))
    }

    pub(super) fn dense(&mut self, r#type: TypeId, bytes: &[u8]) -> fmt::Result {
        self.out.write_str("dense<")?;
        self.elements(r#type, bytes)?;
        self.out.write_str(">")?;
        self.of_type(Some(r#type))
    }

    pub(super) fn elements(&mut self, r#type: TypeId, bytes: &[u8]) -> fmt::Result {
        /// As many elements as are written one by one.
        const SHOWN: u64 = 100;
        let file = self.file;
        let shaped = file.r#type(r#type).ok().and_then(Type::as_shaped);
        let Some((shape, element)) = shaped else { return self.hex(bytes) };
        let Some((size, bits)) = self.element_size(element) else { return self.hex(bytes) };
        let count = shape
            .iter()
            .try_fold(1_u64, |count, extent| count.checked_mul(u64::try_from(*extent).ok()?));
        let count = count.unwrap_or(u64::MAX);
        if bits == 1 && bytes.len() as u64 != count {
            // A bit each; a splat is all ones or all zeros.
            return match bytes {
                [0xff | 0] if count != 8 => self.scalar(element, bytes),
                _ if count > SHOWN => self.hex(bytes),
                _ => self.nested(shape, bytes.len().saturating_mul(8), |printer, place| {
                    let bit =
                        bytes.get(place >> 3).is_some_and(|byte| byte >> (place & 7) & 1 == 1);
                    printer.scalar(element, &[u8::from(bit)])
                }),
            };
        }
        if bytes.len() == size {
            return self.scalar(element, bytes);
        }
        if count > SHOWN {
            return self.hex(bytes);
        }
        let all = bytes.len().checked_div(size).unwrap_or(0);
        self.nested(shape, all, |printer, place| {
            let start = place.saturating_mul(size);
            printer
                .scalar(element, bytes.get(start..start.saturating_add(size)).unwrap_or_default())
        })
    }

    fn hex(&mut self, bytes: &[u8]) -> fmt::Result {
        self.out.write_str("\"0x")?;
        bytes.iter().try_for_each(|byte| write!(self.out, "{byte:02X}"))?;
        self.out.write_str("\"")
    }

    /// Writes up to `count` elements in brackets, as the shape nests them.
    pub(super) fn nested(
        &mut self,
        shape: &[i64],
        count: usize,
        mut one: impl FnMut(&mut Self, usize) -> fmt::Result,
    ) -> fmt::Result {
        // How many elements a bracket of each dimension holds.
        let mut size = 1_usize;
        let mut sizes = Vec::with_capacity(shape.len());
        for extent in shape.iter().rev() {
            size = size.saturating_mul(usize::try_from(*extent).unwrap_or(0));
            sizes.push(size);
        }
        let count = count.min(size);
        for place in 0..count {
            if place > 0 {
                self.out.write_str(", ")?;
            }
            let at = |place: usize| {
                sizes.iter().filter(move |size| place.checked_rem(**size) == Some(0)).count()
            };
            for _ in 0..at(place) {
                self.out.write_str("[")?;
            }
            one(self, place)?;
            for _ in 0..at(place.saturating_add(1)) {
                self.out.write_str("]")?;
            }
        }
        Ok(())
    }
}

fn little(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
}
