//! A kernel of 20 operands, of the kinds that kernels have.

use mosaic_memspace::fit::TcKernel;
use mosaic_memspace::operand::{GridAxis, Operand, Ref, ResolvedScratch};
use mosaic_memspace::{Chip, Dtype, Resolved};

pub(crate) const CHIP: Chip = Chip::V5e;

pub(crate) const GRID: [GridAxis; 2] = [GridAxis::new(8), GridAxis::new(3)];

pub(crate) const SCRATCH: [ResolvedScratch<'static>; 2] = [
    ResolvedScratch::new("sum", &[256, 128], Dtype::Float32, Resolved::VMEM),
    ResolvedScratch::new("mask", &[100, 3], Dtype::Int8, Resolved::VMEM),
];

/// Four of each kind, inputs before outputs, and where they lie.
pub(crate) fn operands() -> Vec<(Operand, Resolved)> {
    let kinds = [
        (
            Operand::input("x", [2048, 512], Dtype::Bfloat16)
                .block([256, 512])
                .index_map([Some(0), None]),
            Resolved::VMEM,
        ),
        (Operand::input("w", [512, 512], Dtype::Float32), Resolved::VMEM),
        (
            Operand::input("q", [4096, 384], Dtype::Int8)
                .block([512, 128])
                .index_map([Some(0), Some(1)]),
            Resolved::VMEM,
        ),
        (Operand::input("n", [64], Dtype::Int32), Resolved::SMEM),
        (
            Operand::output("o", [2048, 384], Dtype::Float32)
                .block([256, 128])
                .index_map([Some(0), Some(1)]),
            Resolved::VMEM,
        ),
    ];
    kinds.into_iter().flat_map(|kind| std::iter::repeat_n(kind, 4)).collect()
}

pub(crate) fn refs(operands: &[(Operand, Resolved)]) -> Vec<Ref<'_>> {
    let operands = operands.iter().map(|(operand, space)| operand.in_space(*space).into());
    operands.chain(SCRATCH.map(Ref::from)).collect()
}

pub(crate) fn kernel<'a>(refs: &'a [Ref<'a>]) -> TcKernel<'a> {
    TcKernel { grid: &GRID, refs, ..TcKernel::new(CHIP.facts()) }
}
