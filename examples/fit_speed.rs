//! How long a fit of 20 operands takes: the shortest time of many, in nanoseconds,
//! as JSON, with the kernel. `benches/against_compiler.py` sets the compiler's beside it.

#![allow(clippy::arithmetic_side_effects, reason = "small numbers")]

use clock::shortest;
use mosaic_memspace::fit::FitError;
use mosaic_memspace::rules::{BlockDim, IndexEntry, Operand, Role};
use serde_json::{Value, json};
use shared::{CHIP, GRID, SCRATCH, kernel, operands};
use std::hint::black_box;

#[path = "shared/clock.rs"]
mod clock;
#[path = "shared/fit.rs"]
mod shared;

fn main() -> Result<(), FitError> {
    let operands = operands();
    let kernel = kernel(&operands);
    let mut parts = Vec::with_capacity(operands.len() + SCRATCH.len());

    let bytes = kernel.vmem_plan_into(&mut parts)?.bytes();
    let vmem = shortest(|| {
        black_box(black_box(&kernel).vmem_plan_into(&mut parts).is_ok());
    });
    let both = shortest(|| {
        black_box(black_box(&kernel).vmem_plan_into(&mut parts).is_ok());
        black_box(black_box(&kernel).smem_plan_into(&mut parts).is_ok());
    });
    let written: Vec<_> = operands.iter().map(|operand| written(&operand.operand)).collect();
    let scratch = SCRATCH.iter().map(|scratch| {
        json!({
            "space": scratch.space.to_string(),
            "shape": scratch.shape,
            "dtype": scratch.dtype.as_str(),
        })
    });
    println!(
        "{}",
        json!({
            "operands": operands.len(),
            "vmem_bytes": bytes,
            "vmem_ns": vmem,
            "vmem_and_smem_ns": both,
            "kernel": {
                "chip": CHIP.as_str(),
                "grid": GRID.map(|axis| axis.extent),
                "operands": written,
                "scratch": scratch.collect::<Vec<_>>(),
            },
        })
    );
    Ok(())
}

/// The operand, as the vectors of `vmem_fit` have it.
fn written(operand: &Operand<'_>) -> Value {
    let entry =
        |entry: &IndexEntry| if let IndexEntry::Axis(axis) = entry { Some(*axis) } else { None };
    let zeros = vec![IndexEntry::Zero; operand.array_shape.len()];
    let index_map = operand.index_map.unwrap_or(&zeros);
    json!({
        "role": if operand.role == Role::Input { "in" } else { "out" },
        "array_shape": operand.array_shape,
        "block_shape": operand.block().dims().map(BlockDim::extent).collect::<Vec<_>>(),
        "index_map": index_map.iter().map(entry).collect::<Vec<_>>(),
        "dtype": operand.dtype.as_str(),
        "space": operand.space.to_string(),
        "buffers": operand.buffers,
    })
}
