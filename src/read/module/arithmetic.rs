//! Integers made of others, folded as MLIR folds them.

use super::index::{IndexValue, Knowledge, gcd, multiple_of};
use super::operations::Arithmetic;

/// No value.
pub(super) const NONE: u32 = u32::MAX;

/// An integer, and the value that it is a constant more than.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    pub(super) index: IndexValue,
    pub(super) base: u32,
    pub(super) more: i64,
    pub(super) is_set: bool,
}

impl Entry {
    pub(super) const UNSET: Self =
        Self { index: IndexValue::UNKNOWN, base: NONE, more: 0, is_set: false };

    pub(super) const fn constant(value: i64) -> Self {
        Self { index: IndexValue::constant(value), base: NONE, more: value, is_set: true }
    }

    pub(super) const fn as_constant(&self) -> Option<i64> {
        match self.index.knowledge() {
            Knowledge::Constant(value) => Some(value),
            Knowledge::Multiple(_) | Knowledge::Unknown => None,
        }
    }

    /// Whether both are the same value.
    pub(super) const fn is(&self, other: &Self) -> bool {
        self.base == other.base
            && self.more == other.more
            && (self.base != NONE
                || (self.as_constant().is_some() && other.as_constant().is_some()))
    }
}

/// A value cut to so many bits, with the sign of the highest.
pub(super) const fn wrap(value: i64, width: u32) -> i64 {
    let unused = u64::BITS.saturating_sub(width);
    (value << unused) >> unused
}

const fn unsigned(value: i64, width: u32) -> u64 {
    let unused = u64::BITS.saturating_sub(width);
    (value.cast_unsigned() << unused) >> unused
}

/// Whether a comparison holds; `None` for a predicate that there is not.
pub(super) fn holds(predicate: i64, a: i64, b: i64, width: u32) -> Option<bool> {
    let (low, high) = (unsigned(a, width), unsigned(b, width));
    Some(match predicate {
        0 => a == b,
        1 => a != b,
        2 => a < b,
        3 => a <= b,
        4 => a > b,
        5 => a >= b,
        6 => low < high,
        7 => low <= high,
        8 => low > high,
        9 => low >= high,
        _ => return None,
    })
}

/// Two constants made one; `None` where that has no value.
fn fold(arithmetic: Arithmetic, a: i64, b: i64, width: u32) -> Option<i64> {
    let (low, high) = (unsigned(a, width), unsigned(b, width));
    let shift = u32::try_from(b).ok().filter(|shift| *shift < width);
    let value = match arithmetic {
        Arithmetic::Add => a.wrapping_add(b),
        Arithmetic::Sub => a.wrapping_sub(b),
        Arithmetic::Mul => a.wrapping_mul(b),
        Arithmetic::DivSigned => a.checked_div(b)?,
        Arithmetic::DivUnsigned => low.checked_div(high)?.cast_signed(),
        Arithmetic::FloorDiv => {
            let quotient = a.checked_div(b)?;
            let inexact = a.checked_rem(b)? != 0;
            if inexact && (a < 0) != (b < 0) { quotient.checked_sub(1)? } else { quotient }
        }
        Arithmetic::CeilDivSigned => {
            let quotient = a.checked_div(b)?;
            let inexact = a.checked_rem(b)? != 0;
            if inexact && (a < 0) == (b < 0) { quotient.checked_add(1)? } else { quotient }
        }
        Arithmetic::CeilDivUnsigned => {
            if high == 0 {
                return None;
            }
            low.div_ceil(high).cast_signed()
        }
        Arithmetic::RemSigned => a.checked_rem(b)?,
        Arithmetic::RemUnsigned => low.checked_rem(high)?.cast_signed(),
        Arithmetic::And => a & b,
        Arithmetic::Or => a | b,
        Arithmetic::Xor => a ^ b,
        Arithmetic::ShiftLeft => a << shift?,
        Arithmetic::ShiftRightSigned => a >> shift?,
        Arithmetic::ShiftRightUnsigned => (low >> shift?).cast_signed(),
        Arithmetic::MinSigned => a.min(b),
        Arithmetic::MaxSigned => a.max(b),
        Arithmetic::MinUnsigned => low.min(high).cast_signed(),
        Arithmetic::MaxUnsigned => low.max(high).cast_signed(),
    };
    Some(wrap(value, width))
}

/// Two integers made one, as MLIR folds them.
pub(super) fn binary(
    arithmetic: Arithmetic,
    own: &Entry,
    a: &Entry,
    b: &Entry,
    width: u32,
) -> Entry {
    let (left, right) = (a.as_constant(), b.as_constant());
    if let (Some(left), Some(right)) = (left, right) {
        return fold(arithmetic, left, right, width).map_or(*own, Entry::constant);
    }
    if let Some(entry) = identity(arithmetic, a, b, width) {
        return entry;
    }
    let (x, y) = (a.index.multiple(), b.index.multiple());
    let multiple = match arithmetic {
        Arithmetic::Add | Arithmetic::Sub | Arithmetic::RemSigned | Arithmetic::RemUnsigned => {
            gcd(x, y)
        }
        Arithmetic::MinSigned
        | Arithmetic::MaxSigned
        | Arithmetic::MinUnsigned
        | Arithmetic::MaxUnsigned => gcd(x, y),
        Arithmetic::Mul => x.saturating_mul(y),
        Arithmetic::DivSigned | Arithmetic::DivUnsigned | Arithmetic::FloorDiv => {
            // Exact where the divisor divides.
            match x.checked_rem(y) {
                Some(0) if right.is_some() => x.checked_div(y).unwrap_or(1),
                _ => 1,
            }
        }
        Arithmetic::ShiftLeft => match right.and_then(|shift| u32::try_from(shift).ok()) {
            Some(shift) if shift < width => x.checked_mul(1 << shift).unwrap_or(1),
            _ => 1,
        },
        // The low zeros of either are zeros of both.
        Arithmetic::And => (1_u64 << x.trailing_zeros().max(y.trailing_zeros()).min(62)).max(1),
        Arithmetic::Or | Arithmetic::Xor => {
            1_u64 << x.trailing_zeros().min(y.trailing_zeros()).min(62)
        }
        Arithmetic::CeilDivSigned
        | Arithmetic::CeilDivUnsigned
        | Arithmetic::ShiftRightSigned
        | Arithmetic::ShiftRightUnsigned => 1,
    };
    let index = IndexValue::of_all([a.index, b.index]).knowing(multiple_of(multiple));
    // A constant more than something is still made of it.
    match (arithmetic, left, right) {
        (Arithmetic::Add, None, Some(more)) => Entry {
            index,
            base: a.base,
            more: wrap(a.more.wrapping_add(more), width),
            is_set: true,
        },
        (Arithmetic::Add, Some(more), None) => Entry {
            index,
            base: b.base,
            more: wrap(b.more.wrapping_add(more), width),
            is_set: true,
        },
        (Arithmetic::Sub, None, Some(less)) => Entry {
            index,
            base: a.base,
            more: wrap(a.more.wrapping_sub(less), width),
            is_set: true,
        },
        _ => Entry { index, ..*own },
    }
}

/// What needs no arithmetic: `x * 0`, `x + 0`, `x - x`, `x % 1`.
fn identity(arithmetic: Arithmetic, a: &Entry, b: &Entry, width: u32) -> Option<Entry> {
    let left = |value: i64| a.as_constant() == Some(value);
    let right = |value: i64| b.as_constant() == Some(value);
    let same = a.is(b);
    let constant = Entry::constant;
    let lowest = wrap(1_i64.wrapping_shl(width.saturating_sub(1)), width);
    let highest = !lowest;
    match arithmetic {
        Arithmetic::Add => first([(right(0), *a), (left(0), *b)]),
        Arithmetic::Sub => {
            let difference = wrap(a.more.wrapping_sub(b.more), width);
            let of_one = a.base == b.base && a.base != NONE;
            first([(right(0), *a), (same, constant(0)), (of_one, constant(difference))])
        }
        Arithmetic::Mul => {
            first([(left(0) || right(0), constant(0)), (right(1), *a), (left(1), *b)])
        }
        Arithmetic::DivSigned | Arithmetic::DivUnsigned => {
            first([(right(1), *a), (left(0), constant(0))])
        }
        Arithmetic::FloorDiv | Arithmetic::CeilDivSigned | Arithmetic::CeilDivUnsigned => {
            first([(right(1), *a)])
        }
        Arithmetic::RemSigned | Arithmetic::RemUnsigned => {
            first([(right(1) || left(0), constant(0))])
        }
        Arithmetic::And => {
            first([(left(0) || right(0), constant(0)), (same || right(-1), *a), (left(-1), *b)])
        }
        Arithmetic::Or => {
            first([(left(-1) || right(-1), constant(-1)), (same || right(0), *a), (left(0), *b)])
        }
        Arithmetic::Xor => first([(same, constant(0)), (right(0), *a), (left(0), *b)]),
        Arithmetic::ShiftLeft | Arithmetic::ShiftRightSigned | Arithmetic::ShiftRightUnsigned => {
            first([(right(0), *a), (left(0), constant(0))])
        }
        Arithmetic::MinSigned => first([
            (left(lowest) || right(lowest), constant(lowest)),
            (same || right(highest), *a),
            (left(highest), *b),
        ]),
        Arithmetic::MaxSigned => first([
            (left(highest) || right(highest), constant(highest)),
            (same || right(lowest), *a),
            (left(lowest), *b),
        ]),
        Arithmetic::MinUnsigned => {
            first([(left(0) || right(0), constant(0)), (same || right(-1), *a), (left(-1), *b)])
        }
        Arithmetic::MaxUnsigned => {
            first([(left(-1) || right(-1), constant(-1)), (same || right(0), *a), (left(0), *b)])
        }
    }
}

/// What the first rule that holds says.
fn first<const RULES: usize>(rules: [(bool, Entry); RULES]) -> Option<Entry> {
    rules.into_iter().find(|(holds, _)| *holds).map(|(_, entry)| entry)
}
