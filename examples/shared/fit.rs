//! A kernel of 20 operands, of the kinds that kernels have.

use mosaic_memspace::fit::{FitOperand, Scratch, TcKernel};
use mosaic_memspace::rules::{BlockDim, GridAxis, IndexEntry, Operand, Role};
use mosaic_memspace::{Chip, Dtype, Resolved};

pub(crate) const CHIP: Chip = Chip::V5e;

pub(crate) const GRID: [GridAxis; 2] = [GridAxis::new(8), GridAxis::new(3)];

const ACTIVATIONS: Operand<'static> = Operand {
    role: Role::Input,
    array_shape: &[2048, 512],
    block_shape: Some(&[BlockDim::Blocked(256), BlockDim::Blocked(512)]),
    element_shape: &[],
    dtype: Dtype::Bfloat16,
    index_map: Some(&[IndexEntry::Axis(0), IndexEntry::Zero]),
    space: Resolved::VMEM,
    buffers: None,
};

const OPERANDS: [Operand<'static>; 5] = [
    ACTIVATIONS,
    Operand {
        array_shape: &[512, 512],
        block_shape: None,
        dtype: Dtype::Float32,
        index_map: None,
        ..ACTIVATIONS
    },
    Operand {
        array_shape: &[4096, 384],
        block_shape: Some(&[BlockDim::Blocked(512), BlockDim::Blocked(128)]),
        dtype: Dtype::Int8,
        index_map: Some(&[IndexEntry::Axis(0), IndexEntry::Axis(1)]),
        ..ACTIVATIONS
    },
    Operand {
        array_shape: &[64],
        block_shape: None,
        dtype: Dtype::Int32,
        index_map: None,
        space: Resolved::SMEM,
        ..ACTIVATIONS
    },
    Operand {
        role: Role::Output,
        array_shape: &[2048, 384],
        block_shape: Some(&[BlockDim::Blocked(256), BlockDim::Blocked(128)]),
        dtype: Dtype::Float32,
        index_map: Some(&[IndexEntry::Axis(0), IndexEntry::Axis(1)]),
        ..ACTIVATIONS
    },
];

pub(crate) const SCRATCH: [Scratch<'static>; 2] = [
    Scratch::new(&[256, 128], Dtype::Float32, Resolved::VMEM),
    Scratch::new(&[100, 3], Dtype::Int8, Resolved::VMEM),
];

/// Four of each kind, inputs before outputs.
pub(crate) fn operands() -> Vec<FitOperand<'static>> {
    let kinds = OPERANDS.into_iter();
    kinds.flat_map(|operand| std::iter::repeat_n(operand.into(), 4)).collect()
}

pub(crate) fn kernel<'a>(operands: &'a [FitOperand<'a>]) -> TcKernel<'a> {
    TcKernel { grid: &GRID, operands, scratch: &SCRATCH, ..TcKernel::new(CHIP.facts()) }
}
