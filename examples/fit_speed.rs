//! How long a fit of 20 operands takes: the shortest time of many, in nanoseconds,
//! as JSON, with the kernel. `benches/against_compiler.py` sets the compiler's beside it.

#![allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, reason = "small numbers")]

use clock::shortest;
use mosaic_memspace::CoreType;
use mosaic_memspace::kernel::Kernel;
use mosaic_memspace::operand::Scratch;
use mosaic_memspace::{Dtype, MemorySpace};
use serde_json::{Value, json};
use shared::{CHIP, GRID, kernel, operands, refs};
use std::error::Error;
use std::hint::black_box;

#[path = "shared/clock.rs"]
mod clock;
#[path = "shared/fit.rs"]
mod shared;

fn main() -> Result<(), Box<dyn Error>> {
    let operands = operands();
    let refs = refs(&operands);
    let kernel = kernel(&refs);
    let mut parts = Vec::with_capacity(refs.len());

    let bytes = kernel.vmem_plan_into(&mut parts)?.bytes();
    let vmem = shortest(|| {
        black_box(black_box(&kernel).vmem_plan_into(&mut parts).is_ok());
    });
    let both = shortest(|| {
        black_box(black_box(&kernel).vmem_plan_into(&mut parts).is_ok());
        black_box(black_box(&kernel).smem_plan_into(&mut parts).is_ok());
    });
    println!(
        "{}",
        json!({
            "operands": operands.len(),
            "vmem_bytes": bytes,
            "vmem_ns": vmem,
            "vmem_and_smem_ns": both,
            "kernel": described()?,
        })
    );
    Ok(())
}

/// The kernel, as the vectors of `vmem_fit` have it.
fn described() -> Result<Value, serde_json::Error> {
    let grid = GRID.iter().filter_map(|axis| axis.extent);
    let mut kernel = Kernel::pipelined(CoreType::Tc).on(CHIP).grid(grid);
    for (operand, space) in operands() {
        kernel = kernel.operand(operand.space(space.written()));
    }
    let kernel = kernel
        .scratch(Scratch::new("sum", MemorySpace::VMEM, [256, 128], Dtype::Float32))
        .scratch(Scratch::new("mask", MemorySpace::VMEM, [100, 3], Dtype::Int8));
    let mut kernel: Value = serde_json::from_str(&kernel.to_json().unwrap_or_default())?;
    for operand in kernel["operands"].as_array_mut().into_iter().flatten() {
        let array = operand["array_shape"].clone();
        if operand["block_shape"].is_null() {
            operand["index_map"] =
                array.as_array().into_iter().flatten().map(|_| Value::Null).collect();
            operand["block_shape"] = array;
        }
        operand["buffers"] = Value::Null;
    }
    let members = ["chip", "grid", "operands", "scratch"];
    Ok(members.into_iter().map(|member| (member.to_owned(), kernel[member].clone())).collect())
}
