//! The integers of dense arrays, as they stand in the file.

use super::attribute::Attribute;
use super::file::Bytecode;
use super::types::Type;

/// The integers of a dense array: `array<i64: 1, 2>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DenseIntegers<'a> {
    bytes: &'a [u8],
    /// Bytes of one: 1 to 8.
    size: usize,
    is_signed: bool,
}

impl<'a> DenseIntegers<'a> {
    /// How many there are.
    pub fn len(self) -> usize {
        self.bytes.len().checked_div(self.size).unwrap_or(0)
    }

    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The integers in order.
    pub fn iter(self) -> impl ExactSizeIterator<Item = i64> + use<'a> {
        let unused = u64::BITS.saturating_sub(u32::try_from(self.size).unwrap_or(8) << 3);
        self.bytes.chunks_exact(self.size.max(1)).map(move |bytes| {
            let little =
                bytes.iter().rev().fold(0_u64, |value, byte| value << 8 | u64::from(*byte));
            let high = little << unused;
            if self.is_signed {
                high.cast_signed() >> unused
            } else {
                (high >> unused).cast_signed()
            }
        })
    }
}

impl<'a> Bytecode<'a> {
    /// The integers of a dense array of integers of at most 64 bits; `None` for any other
    /// attribute. Whether there are as many as it says is not looked at: there are as
    /// many as there are bytes.
    pub fn dense_integers(&self, attribute: &Attribute<'a>) -> Option<DenseIntegers<'a>> {
        let Attribute::DenseArray { element, bytes, .. } = attribute else { return None };
        let known = self.r#type(*element).ok()?;
        if !matches!(known, Type::Integer { .. } | Type::Index) {
            return None;
        }
        let (width, is_signed) = (known.value_bits()?, !known.is_unsigned());
        let size = width.div_ceil(u8::BITS).max(1) as usize;
        (size <= 8).then_some(DenseIntegers { bytes, size, is_signed })
    }
}
