//! The listing of the README: a kernel lowered, and the call that XLA compiles.
#![allow(clippy::indexing_slicing, reason = "an example")]

use mosaic_memspace::custom_call::{LibtpuVersion, ValueName};
use mosaic_memspace::kernel::{Kernel, RefAccess};
use mosaic_memspace::operand::Operand;
use mosaic_memspace::rules::AccessShape;
use mosaic_memspace::{Chip, CoreType, Dtype};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let rows = |operand: Operand| operand.block([128, 256]).index_map([Some(0), None]);
    let kernel = Kernel::pipelined(CoreType::Tc)
        .named("double")
        .on(Chip::V5e)
        .grid([4])
        .operand(rows(Operand::input("x", [512, 256], Dtype::Float32)))
        .operand(rows(Operand::output("o", [512, 256], Dtype::Float32)))
        .access(RefAccess::load("x", AccessShape::Vector))
        .access(RefAccess::store("o", AccessShape::Vector));

    // Every fault at once, or the kernel with each ref resolved.
    let resolved = kernel.resolve()?;

    // Mosaic's function: %arg0 is the grid's index, %arg1 is x, %arg2 is o.
    let function = resolved.function().ok_or("a mesh of unknown extents")?;
    let block = &function.arguments[1].r#type;
    let body = function.module(&format!(
        "%zero = arith.constant 0 : index
         %x = vector.load %arg1[%zero, %zero] : {block}, vector<128x256xf32>
         %sum = arith.addf %x, %x : vector<128x256xf32>
         vector.store %sum, %arg2[%zero, %zero] : {block}, vector<128x256xf32>"
    ));

    // The operation that calls it, in a module that XLA compiles.
    let x = ValueName::new("%x")?;
    let call = resolved.call(body.as_bytes(), LibtpuVersion::NEWEST, |_| x);
    let array = "tensor<512x256xf32>";
    println!("func.func public @main(%x: {array}) -> {array} {{\n{call}\nreturn %0 : {array}\n}}");
    Ok(())
}
