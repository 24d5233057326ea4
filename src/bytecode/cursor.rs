//! The primitives of the format: bytes, varints, strings, sections.

use super::fault::{BytecodeFault, BytecodeProblem};

/// A place in the file, and how far one may read from there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'a> {
    rest: &'a [u8],
    /// The offset in the file of the end of `rest`.
    end: usize,
}

pub(super) type Read<T> = Result<T, BytecodeFault>;

impl<'a> Cursor<'a> {
    /// All of a file.
    pub(super) const fn new(file: &'a [u8]) -> Self {
        Self { rest: file, end: file.len() }
    }

    /// The bytes of a file from `start` up to `end`, which both lie in it.
    pub(super) fn between(file: &'a [u8], start: usize, end: usize) -> Self {
        Self { rest: file.get(start..end).unwrap_or_default(), end }
    }

    /// Where it stands, in bytes from the start of the file.
    pub(super) const fn offset(&self) -> usize {
        self.end.saturating_sub(self.rest.len())
    }

    pub(super) const fn left(&self) -> usize {
        self.rest.len()
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// A fault at the place where it stands.
    #[cold]
    pub(super) const fn fault(&self, problem: BytecodeProblem) -> BytecodeFault {
        BytecodeFault::new(self.offset(), problem)
    }

    #[cold]
    fn ends(&self, what: &'static str, needed: u64) -> BytecodeFault {
        self.fault(BytecodeProblem::Ends { what, needed, left: self.left() })
    }

    /// That nothing is left of `what`.
    pub(super) fn finish(&self, what: &'static str) -> Read<()> {
        if self.is_empty() {
            Ok(())
        } else {
            Err(self.fault(BytecodeProblem::LeftOver { what, left: self.left() }))
        }
    }

    #[inline]
    pub(super) fn byte(&mut self, what: &'static str) -> Read<u8> {
        match self.rest.split_first() {
            Some((byte, rest)) => {
                self.rest = rest;
                Ok(*byte)
            }
            None => Err(self.ends(what, 1)),
        }
    }

    pub(super) fn bytes(&mut self, what: &'static str, count: u64) -> Read<&'a [u8]> {
        let split = usize::try_from(count).ok().and_then(|count| self.rest.split_at_checked(count));
        match split {
            Some((bytes, rest)) => {
                self.rest = rest;
                Ok(bytes)
            }
            None => Err(self.ends(what, count)),
        }
    }

    /// A number: its first byte ends in as many zeros as bytes follow.
    #[inline]
    pub(super) fn varint(&mut self, what: &'static str) -> Read<u64> {
        match self.rest.split_first() {
            Some((first, rest)) if first & 1 == 1 => {
                self.rest = rest;
                Ok(u64::from(*first >> 1))
            }
            _ => self.long_varint(what),
        }
    }

    fn long_varint(&mut self, what: &'static str) -> Read<u64> {
        let Some((first, rest)) = self.rest.split_first() else { return Err(self.ends(what, 1)) };
        let more = first.trailing_zeros();
        let Some((following, rest)) = rest.split_at_checked(more as usize) else {
            return Err(self.ends(what, u64::from(more).saturating_add(1)));
        };
        self.rest = rest;
        let little = |bytes: &[u8]| {
            bytes.iter().rev().fold(0_u64, |value, byte| value << 8 | u64::from(*byte))
        };
        if more == 8 {
            return Ok(little(following));
        }
        let value = little(following) << 8 | u64::from(*first);
        // The eight bytes of the longest of these hold 64 bits, all of them kept.
        Ok(value >> more.saturating_add(1))
    }

    /// A number with a sign, zigzag.
    pub(super) fn svarint(&mut self, what: &'static str) -> Read<i64> {
        let value = self.varint(what)?;
        Ok((value >> 1).cast_signed() ^ (value & 1).cast_signed().wrapping_neg())
    }

    /// A number and the flag in its low bit.
    #[inline]
    pub(super) fn flagged(&mut self, what: &'static str) -> Read<(u64, bool)> {
        let value = self.varint(what)?;
        Ok((value >> 1, value & 1 == 1))
    }

    /// A count of things of which each takes at least `least` bytes of what is left.
    #[inline]
    pub(super) fn count(&mut self, what: &'static str, least: usize) -> Read<usize> {
        let at = self.offset();
        let count = self.varint(what)?;
        self.checked(at, what, count, least)
    }

    /// That `count`, read at `at`, of things fits into what is left.
    #[inline]
    pub(super) fn checked(
        &self,
        at: usize,
        what: &'static str,
        count: u64,
        least: usize,
    ) -> Read<usize> {
        let most = self.left().checked_div(least).unwrap_or(usize::MAX);
        match usize::try_from(count) {
            Ok(count) if count <= most => Ok(count),
            _ => Err(BytecodeFault::new(at, BytecodeProblem::Count { what, count, most })),
        }
    }

    /// The number of one of `count` things.
    #[inline]
    pub(super) fn index(&mut self, what: &'static str, count: usize) -> Read<u32> {
        let at = self.offset();
        let index = self.varint(what)?;
        indexed(at, what, index, count)
    }

    /// A string up to its NUL.
    pub(super) fn terminated(&mut self, what: &'static str) -> Read<&'a [u8]> {
        match self.rest.iter().position(|byte| *byte == 0) {
            Some(length) => {
                let (string, rest) = self.rest.split_at_checked(length).unwrap_or_default();
                self.rest = rest.get(1..).unwrap_or_default();
                Ok(string)
            }
            None => Err(self.fault(BytecodeProblem::Unterminated { what })),
        }
    }

    /// The next section: its number and its data.
    pub(super) fn section(&mut self) -> Read<(u8, Cursor<'a>)> {
        const ALIGNED: u8 = 0x80;
        let id = self.byte("a section")?;
        let length = self.varint("a section's length")?;
        if id & ALIGNED != 0 {
            self.align()?;
        }
        let start = self.offset();
        let data = self.bytes("a section", length)?;
        Ok((id & !ALIGNED, Cursor { rest: data, end: start.saturating_add(data.len()) }))
    }

    /// The padding up to an alignment that stands before it.
    pub(super) fn align(&mut self) -> Read<()> {
        const PADDING: u8 = 0xcb;
        let at = self.offset();
        let alignment = self.varint("an alignment")?;
        let fault = |what, expected| {
            Err(BytecodeFault::new(at, BytecodeProblem::Alignment { what, expected }))
        };
        let Some(mask) = alignment.checked_sub(1).filter(|_| alignment.is_power_of_two()) else {
            return fault("an alignment", "a power of two");
        };
        let over = (self.offset() as u64 & mask, alignment);
        let padding = if over.0 == 0 { 0 } else { over.1.saturating_sub(over.0) };
        let padding = self.bytes("padding", padding)?;
        if padding.iter().all(|byte| *byte == PADDING) {
            Ok(())
        } else {
            fault("padding of other bytes", "the bytes cb")
        }
    }
}

/// `index`, read at `at`, as the number of one of `count` things.
#[inline]
pub(super) fn indexed(at: usize, what: &'static str, index: u64, count: usize) -> Read<u32> {
    match u32::try_from(index) {
        Ok(small) if (small as usize) < count => Ok(small),
        _ => Err(BytecodeFault::new(at, BytecodeProblem::Index { what, index, count })),
    }
}
