//! The pipeline that a kernel runs inside itself.

use super::Operand;
use crate::dtype::Dtype;

/// A pipeline that a kernel's body runs over its own refs (`pltpu.emit_pipeline`).
///
/// ```
/// use mosaic_memspace::kernel::Kernel;
/// use mosaic_memspace::operand::{Operand, Pipeline};
/// use mosaic_memspace::{Chip, CoreType, Dtype, MemorySpace};
///
/// let x = Operand::input("x", [512, 256], Dtype::Float32).space(MemorySpace::HBM);
/// let block = Operand::over("x").block([128, 256]).index_map([Some(0), None]).buffers(3);
/// let kernel = Kernel::pipelined(CoreType::Tc)
///     .on(Chip::V5e)
///     .operand(x)
///     .pipeline(Pipeline::new([Some(4)]).operand(block));
/// assert_eq!(kernel.check().fit.and_then(|fit| fit.vmem_bytes), Some(3 * 128 * 256 * 4));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pipeline {
    pub(crate) grid: Vec<Option<u64>>,
    pub(crate) operands: Vec<PipelineOperand>,
}

/// A block spec of a pipeline: what it is over is the ref of the operand's name.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PipelineOperand {
    pub(crate) over: Operand,
}

impl Pipeline {
    /// A pipeline of so many steps along each axis; `None` is known only when the kernel
    /// runs.
    pub fn new(grid: impl Into<Vec<Option<u64>>>) -> Self {
        Self { grid: grid.into(), operands: Vec::new() }
    }

    /// Adds a block spec, made by [`Operand::over`].
    #[must_use]
    pub fn operand(mut self, over: Operand) -> Self {
        self.operands.push(PipelineOperand { over });
        self
    }
}

impl Operand {
    /// A block spec of a [`Pipeline`], over the ref of this name, whose shape and element
    /// type it has.
    pub fn over(name: &str) -> Self {
        Self::input(name, [], Dtype::Int32)
    }
}
