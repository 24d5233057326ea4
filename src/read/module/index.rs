//! Integers as far as a body says them: constants, multiples, and what they depend on.

use crate::bytecode::{AffineExpr, AffineMap, AffineOperator};

/// What is known of an integer that is computed in a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Knowledge {
    /// Its value.
    Constant(i64),
    /// That it is a multiple of so much, which is more than 1.
    Multiple(u64),
    /// Nothing.
    Unknown,
}

/// An integer of a body: what is known of it, and what it depends on after the folding
/// that the compiler does.
///
/// Folding is MLIR's: `i * 0`, `i - i` and `i % 1` are constants; `min(i, 0)` and
/// `i // 8` are not, whatever `i` can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct IndexValue {
    knowledge: Knowledge,
    axes: Axes,
    reads_memory: bool,
    is_opaque: bool,
}

/// Grid axes; those above the 62nd are not told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub(super) struct Axes(u64);

impl Axes {
    const BEYOND: usize = 63;

    pub(super) const fn one(axis: usize) -> Self {
        let bit = if axis < Self::BEYOND { axis } else { Self::BEYOND };
        Self(1 << bit)
    }

    pub(super) const ALL: Self = Self(u64::MAX);

    pub(super) const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) const fn has(self, axis: usize) -> bool {
        self.0 & Self::one(axis).0 != 0
    }
}

impl IndexValue {
    pub(super) const UNKNOWN: Self =
        Self { knowledge: Knowledge::Unknown, axes: Axes(0), reads_memory: false, is_opaque: true };

    pub(super) const fn constant(value: i64) -> Self {
        Self {
            knowledge: Knowledge::Constant(value),
            axes: Axes(0),
            reads_memory: false,
            is_opaque: false,
        }
    }

    pub(super) const fn axis(axis: usize) -> Self {
        Self {
            knowledge: Knowledge::Unknown,
            axes: Axes::one(axis),
            reads_memory: false,
            is_opaque: false,
        }
    }

    /// Something that depends on all that these do.
    pub(super) fn of_all(values: impl IntoIterator<Item = Self>) -> Self {
        let nothing = Self { is_opaque: false, ..Self::UNKNOWN };
        values.into_iter().fold(nothing, |all, value| Self {
            axes: all.axes.union(value.axes),
            reads_memory: all.reads_memory || value.reads_memory,
            is_opaque: all.is_opaque || value.is_opaque,
            ..all
        })
    }

    pub(super) const fn knowing(self, knowledge: Knowledge) -> Self {
        match knowledge {
            Knowledge::Constant(value) => Self::constant(value),
            Knowledge::Multiple(_) | Knowledge::Unknown => Self { knowledge, ..self },
        }
    }

    pub(super) const fn on(self, axes: Axes) -> Self {
        Self { axes, ..self }
    }

    pub(super) const fn of_memory(self) -> Self {
        Self { reads_memory: true, ..self }
    }

    /// What is known of its value.
    pub const fn knowledge(self) -> Knowledge {
        self.knowledge
    }

    /// Whether it depends on this axis of the grid. Above the 62nd, axes are not told
    /// apart: it depends on all of them or on none.
    pub const fn reads_axis(self, axis: usize) -> bool {
        self.axes.has(axis)
    }

    /// Whether it depends on what a ref holds.
    pub const fn reads_memory(self) -> bool {
        self.reads_memory
    }

    /// Whether it depends on what is neither known, nor a grid axis, nor memory: a
    /// loop's counter, a device's number.
    pub const fn is_opaque(self) -> bool {
        self.is_opaque
    }

    /// What it is a multiple of: 0 for the constant 0, 1 where nothing is known.
    pub(super) const fn multiple(self) -> u64 {
        match self.knowledge {
            Knowledge::Constant(value) => value.unsigned_abs(),
            Knowledge::Multiple(multiple) => multiple,
            Knowledge::Unknown => 1,
        }
    }
}

/// The knowledge that something is a multiple of so much.
pub(super) const fn multiple_of(multiple: u64) -> Knowledge {
    if multiple > 1 { Knowledge::Multiple(multiple) } else { Knowledge::Unknown }
}

pub(super) const fn gcd(a: u64, b: u64) -> u64 {
    let (mut a, mut b) = (a, b);
    while let Some(rest) = a.checked_rem(b) {
        (a, b) = (b, rest);
    }
    a
}

/// A result of an affine map, of whose dimensions each is a grid axis.
pub(super) fn of_map(map: &AffineMap, result: usize) -> Option<IndexValue> {
    let result = u64::try_from(result).ok()?;
    map.result(result).map(of_expression)
}

fn of_expression(expression: AffineExpr<'_>) -> IndexValue {
    match expression {
        AffineExpr::Dimension(axis) => {
            IndexValue::axis(usize::try_from(axis).unwrap_or(usize::MAX))
        }
        AffineExpr::Symbol(_) => IndexValue::UNKNOWN,
        AffineExpr::Constant(value) => IndexValue::constant(value),
        AffineExpr::Binary(binary) => {
            let (left, right) = (of_expression(binary.left()), of_expression(binary.right()));
            let both = IndexValue::of_all([left, right]);
            let (a, b) = (left.multiple(), right.multiple());
            let constants = match (left.knowledge, right.knowledge) {
                (Knowledge::Constant(left), Knowledge::Constant(right)) => Some((left, right)),
                (_, _) => None,
            };
            let knowledge = match binary.operator {
                AffineOperator::Add => constants.map_or_else(
                    || multiple_of(gcd(a, b)),
                    |(left, right)| Knowledge::Constant(left.wrapping_add(right)),
                ),
                AffineOperator::Mul if a == 0 || b == 0 => Knowledge::Constant(0),
                AffineOperator::Mul => constants.map_or_else(
                    || multiple_of(a.saturating_mul(b)),
                    |(left, right)| Knowledge::Constant(left.wrapping_mul(right)),
                ),
                AffineOperator::Mod if a == 0 || right.knowledge == Knowledge::Constant(1) => {
                    Knowledge::Constant(0)
                }
                AffineOperator::Mod => multiple_of(gcd(a, b)),
                AffineOperator::FloorDiv | AffineOperator::CeilDiv if a == 0 => {
                    Knowledge::Constant(0)
                }
                AffineOperator::FloorDiv | AffineOperator::CeilDiv => Knowledge::Unknown,
            };
            both.knowing(knowledge)
        }
    }
}
