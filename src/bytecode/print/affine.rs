//! Affine maps and integer sets.

use crate::bytecode::affine::{AffineBinary, AffineExpr, AffineMap, AffineOperator, IntegerSet};
use std::fmt::{self, Write};

impl fmt::Display for AffineMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_map(f, self)
    }
}

/// Writes `affine_map<(d0, d1) -> (d0)>`.
pub(super) fn write_map(out: &mut (impl Write + ?Sized), map: &AffineMap) -> fmt::Result {
    out.write_str("affine_map<")?;
    write_inputs(out, map.dimensions(), map.symbols())?;
    out.write_str(" -> (")?;
    for (place, result) in map.iter().enumerate() {
        if place > 0 {
            out.write_str(", ")?;
        }
        write_expression(out, result, Binds::Weakly)?;
    }
    out.write_str(")>")
}

/// Writes `affine_set<(d0) : (d0 - 1 >= 0)>`.
pub(super) fn write_set(out: &mut (impl Write + ?Sized), set: &IntegerSet) -> fmt::Result {
    out.write_str("affine_set<")?;
    write_inputs(out, set.dimensions, set.symbols)?;
    out.write_str(" : (")?;
    for (place, (constraint, equality)) in set.iter().enumerate() {
        if place > 0 {
            out.write_str(", ")?;
        }
        write_expression(out, constraint, Binds::Weakly)?;
        out.write_str(if equality { " == 0" } else { " >= 0" })?;
    }
    out.write_str(")>")
}

fn write_inputs(out: &mut (impl Write + ?Sized), dimensions: u64, symbols: u64) -> fmt::Result {
    out.write_str("(")?;
    write_names(out, 'd', dimensions)?;
    out.write_str(")")?;
    if symbols == 0 {
        return Ok(());
    }
    out.write_str("[")?;
    write_names(out, 's', symbols)?;
    out.write_str("]")
}

fn write_names(out: &mut (impl Write + ?Sized), letter: char, count: u64) -> fmt::Result {
    (0..count).try_for_each(|number| {
        let comma = if number == 0 { "" } else { ", " };
        write!(out, "{comma}{letter}{number}")
    })
}

/// How what is around an expression binds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Binds {
    Weakly,
    Strongly,
}

fn write_expression(
    out: &mut (impl Write + ?Sized),
    expression: AffineExpr<'_>,
    around: Binds,
) -> fmt::Result {
    match expression {
        AffineExpr::Dimension(number) => write!(out, "d{number}"),
        AffineExpr::Symbol(number) => write!(out, "s{number}"),
        AffineExpr::Constant(value) => write!(out, "{value}"),
        AffineExpr::Binary(binary) if around == Binds::Strongly => {
            out.write_str("(")?;
            write_binary(out, binary)?;
            out.write_str(")")
        }
        AffineExpr::Binary(binary) => write_binary(out, binary),
    }
}

fn write_binary(out: &mut (impl Write + ?Sized), binary: AffineBinary<'_>) -> fmt::Result {
    let (left, right) = (binary.left(), binary.right());
    if binary.operator == AffineOperator::Add {
        return write_sum(out, left, right);
    }
    if binary.operator == AffineOperator::Mul && right == AffineExpr::Constant(-1) {
        out.write_str("-")?;
        return write_expression(out, left, Binds::Strongly);
    }
    write_expression(out, left, Binds::Strongly)?;
    write!(out, " {} ", binary.operator.as_str())?;
    write_expression(out, right, Binds::Strongly)
}

/// A sum; one with something negative is written as a difference.
fn write_sum(
    out: &mut (impl Write + ?Sized),
    left: AffineExpr<'_>,
    right: AffineExpr<'_>,
) -> fmt::Result {
    write_expression(out, left, Binds::Weakly)?;
    if let AffineExpr::Constant(value) = right
        && value < 0
    {
        return write!(out, " - {}", value.unsigned_abs());
    }
    if let AffineExpr::Binary(product) = right
        && product.operator == AffineOperator::Mul
        && let AffineExpr::Constant(factor) = product.right()
        && factor < 0
    {
        let left = product.left();
        out.write_str(" - ")?;
        if factor != -1 {
            write_expression(out, left, Binds::Strongly)?;
            return write!(out, " * {}", factor.unsigned_abs());
        }
        let is_sum = matches!(left, AffineExpr::Binary(sum) if sum.operator == AffineOperator::Add);
        return write_expression(out, left, if is_sum { Binds::Strongly } else { Binds::Weakly });
    }
    out.write_str(" + ")?;
    write_expression(out, right, Binds::Weakly)
}
