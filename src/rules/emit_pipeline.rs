//! The buffers of `emit_pipeline`, the pipeline that a kernel runs inside itself.

use super::assumption::OrNone;
use super::blocks::BlockDim;
use super::windows::{GridAxis, Operand};
use crate::core_type::CoreType;
use crate::error::{Code, Fault};
use crate::memory_space::{MemorySpace, MemrefSpace, Resolved, TpuSpace};
use crate::reach::{Afar, Reach, reach};
use crate::resolve::CallSite;

/// The buffer that `emit_pipeline` allocates for one of its block specs.
///
/// ```
/// use mosaic_memspace::rules::{BlockDim, GridAxis, IndexEntry, Operand, PipelineBuffer, Role};
/// use mosaic_memspace::{Dtype, MemorySpace, Resolved};
///
/// let x = Operand {
///     role: Role::Input,
///     array_shape: &[512, 256],
///     block_shape: Some(&[BlockDim::Blocked(128), BlockDim::Squeezed]),
///     element_shape: &[],
///     dtype: Dtype::Float32,
///     index_map: Some(&[IndexEntry::Axis(0), IndexEntry::Zero]),
///     space: Resolved::VMEM,
///     buffers: Some(3),
/// };
/// let source = Some(MemorySpace::HBM);
/// let buffer = PipelineBuffer::new(&x, None, source, &[GridAxis::new(4)])?;
/// // Three blocks of rank 1 lie end to end.
/// assert_eq!(buffer.map(|buffer| buffer.shape().collect()), Some(vec![384]));
/// # Ok::<(), mosaic_memspace::rules::EmitPipelineFault>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PipelineBuffer<'a> {
    operand: Operand<'a>,
    space: TpuSpace,
    /// `None`: one buffer of the whole array's shape.
    blocks: Option<u32>,
}

impl<'a> PipelineBuffer<'a> {
    /// The buffer for a block spec in `written`, over a ref in `source`; `None`
    /// when none is allocated, because the block is used where it lies. Of
    /// `operand`, the space does not count.
    ///
    /// JAX resolves the space as on a TensorCore, on every core, and compares it
    /// with the source's as written (`BufferedRef.create`).
    ///
    /// # Errors
    /// [`EmitPipelineFault`]: the space is none of vmem, smem and hbm; it is hbm
    /// and the source's is not; no buffers are asked for.
    ///
    /// ```
    /// # use mosaic_memspace::rules::{GridAxis, Operand, PipelineBuffer, Role};
    /// # use mosaic_memspace::{Dtype, MemorySpace, Resolved};
    /// # let x = Operand { role: Role::Input, array_shape: &[3], block_shape: None,
    /// #     element_shape: &[], dtype: Dtype::Int8, index_map: None, space: Resolved::VMEM,
    /// #     buffers: None };
    /// let grid = [GridAxis::new(4)];
    /// let hbm = Some(MemorySpace::HBM);
    /// assert_eq!(PipelineBuffer::new(&x, hbm, hbm, &grid), Ok(None));
    /// let fault = PipelineBuffer::new(&x, Some(MemorySpace::CMEM), hbm, &grid).unwrap_err();
    /// assert_eq!(fault.to_string(), "an emit_pipeline buffer in cmem");
    /// ```
    pub fn new(
        operand: &Operand<'a>,
        written: Option<MemorySpace>,
        source: Option<MemorySpace>,
        grid: &[GridAxis],
    ) -> Result<Option<Self>, EmitPipelineFault> {
        let Some(space) = allocated(written, source)? else { return Ok(None) };
        // A trivial window with a count of its own is still one buffer.
        let blocks = match operand.buffers {
            Some(0) => return Err(EmitPipelineFault::NoBuffers),
            _ if is_trivial(operand, grid) => None,
            Some(buffers) => Some(buffers),
            None => Some(2),
        };
        Ok(Some(Self { operand: *operand, space, blocks }))
    }

    /// Where it lies: vmem or smem.
    ///
    /// ```
    /// # use mosaic_memspace::rules::{Operand, PipelineBuffer, Role};
    /// # use mosaic_memspace::{Dtype, MemorySpace, Resolved, TpuSpace};
    /// # let x = Operand { role: Role::Input, array_shape: &[3], block_shape: None,
    /// #     element_shape: &[], dtype: Dtype::Int8, index_map: None, space: Resolved::VMEM,
    /// #     buffers: None };
    /// let buffer = PipelineBuffer::new(&x, None, Some(MemorySpace::ANY), &[])?;
    /// assert_eq!(buffer.map(|buffer| buffer.space()), Some(TpuSpace::Vmem));
    /// # Ok::<(), mosaic_memspace::rules::EmitPipelineFault>(())
    /// ```
    pub const fn space(&self) -> TpuSpace {
        self.space
    }

    /// How many blocks it holds: 1 for a window that never moves, else as asked,
    /// else 2. Any number is possible.
    ///
    /// ```
    /// # use mosaic_memspace::rules::{Operand, PipelineBuffer, Role};
    /// # use mosaic_memspace::{Dtype, MemorySpace, Resolved};
    /// # let x = Operand { role: Role::Input, array_shape: &[3], block_shape: None,
    /// #     element_shape: &[], dtype: Dtype::Int8, index_map: None, space: Resolved::VMEM,
    /// #     buffers: Some(9) };
    /// let buffer = PipelineBuffer::new(&x, None, Some(MemorySpace::ANY), &[])?;
    /// assert_eq!(buffer.map(|buffer| buffer.count()), Some(1));
    /// # Ok::<(), mosaic_memspace::rules::EmitPipelineFault>(())
    /// ```
    pub const fn count(&self) -> u32 {
        match self.blocks {
            Some(blocks) => blocks,
            None => 1,
        }
    }

    /// The shape that is allocated, as scratch is: the whole array's for a
    /// window that never moves; else a leading dimension of blocks, squeezed
    /// dimensions left out; blocks of rank 1 lie end to end.
    ///
    /// An extent beyond 64 bits comes out as `u64::MAX`.
    ///
    /// ```
    /// # use mosaic_memspace::rules::{BlockDim, GridAxis, IndexEntry, Operand, PipelineBuffer, Role};
    /// # use mosaic_memspace::{Dtype, MemorySpace, Resolved};
    /// # let x = Operand { role: Role::Input, array_shape: &[64, 128],
    /// #     block_shape: Some(&[BlockDim::Blocked(8), BlockDim::Blocked(128)]),
    /// #     element_shape: &[], dtype: Dtype::Int8, index_map: Some(&[IndexEntry::Axis(0); 2]),
    /// #     space: Resolved::VMEM, buffers: None };
    /// let buffer = PipelineBuffer::new(&x, None, Some(MemorySpace::ANY), &[GridAxis::new(8)])?;
    /// assert_eq!(buffer.map(|buffer| buffer.shape().collect()), Some(vec![2, 8, 128]));
    /// # Ok::<(), mosaic_memspace::rules::EmitPipelineFault>(())
    /// ```
    pub fn shape(&self) -> impl DoubleEndedIterator<Item = u64> + Clone + use<'a> {
        let whole = self.blocks.is_none();
        let kept = move |dim: &BlockDim| whole || !matches!(dim, BlockDim::Squeezed);
        let dims = self.operand.block().dims().filter(kept);
        let blocks = self.blocks.map(u64::from);
        let line = dims.clone().count() == 1 && self.operand.element_shape.is_empty();
        let times = if line { blocks.unwrap_or(1) } else { 1 };
        let leading = if line { None } else { blocks };
        let extents = dims.map(move |dim| dim.extent().saturating_mul(times));
        let own = self.operand.element_shape.iter().copied();
        leading.into_iter().chain(extents).chain(own)
    }
}

/// Where a buffer is allocated, if one is.
fn allocated(
    written: Option<MemorySpace>,
    source: Option<MemorySpace>,
) -> Result<Option<TpuSpace>, EmitPipelineFault> {
    let space = CallSite::EmitPipelineBuffer.resolve(written, CoreType::Tc);
    let refused = Err(EmitPipelineFault::Space { space });
    let Some(MemrefSpace::Tpu(tpu)) = space.memref() else { return refused };
    match reach(space, CoreType::Tc, None) {
        Reach::Local(_) => {
            let there = source == Some(MemorySpace::Tpu(tpu));
            Ok(if there { None } else { Some(tpu) })
        }
        Reach::ByCopies(Afar::Hbm) => {
            let there = [Some(MemorySpace::ANY), Some(MemorySpace::HBM)];
            if there.contains(&source) {
                Ok(None)
            } else {
                Err(EmitPipelineFault::HbmOverAnother { over: source })
            }
        }
        Reach::ByCopies(Afar::Host | Afar::Shared) | Reach::Not(_) => refused,
    }
}

/// Whether the pipeline's window is the whole array and never moves. A squeezed
/// dimension, or one of elements, is not whole, whatever its extent.
fn is_trivial(operand: &Operand<'_>, grid: &[GridAxis]) -> bool {
    let whole = |dims: &[BlockDim]| {
        let whole = |(dim, extent): (&BlockDim, &u64)| *dim == BlockDim::Blocked(*extent);
        dims.len() == operand.array_shape.len() && dims.iter().zip(operand.array_shape).all(whole)
    };
    operand.block_shape.is_none_or(|dims| whole(dims) && !operand.moves(grid))
}

/// What is wrong with a buffer of `emit_pipeline`.
///
/// ```
/// use mosaic_memspace::MemorySpace;
/// use mosaic_memspace::rules::EmitPipelineFault;
/// use mosaic_memspace::error::{Code, Fault};
///
/// let fault = EmitPipelineFault::HbmOverAnother { over: Some(MemorySpace::VMEM) };
/// assert_eq!(fault.to_string(), "an emit_pipeline buffer in hbm over a ref in vmem");
/// assert_eq!(fault.code(), Code::EmitPipelineSpace);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EmitPipelineFault {
    /// In another space than vmem, smem and hbm.
    #[error("an emit_pipeline buffer in {space}")]
    Space {
        /// The space.
        space: Resolved,
    },
    /// In hbm, over a ref that is neither there nor in any.
    #[error("an emit_pipeline buffer in hbm over a ref in {}", OrNone(*over))]
    HbmOverAnother {
        /// The ref's space, as written.
        over: Option<MemorySpace>,
    },
    /// No buffers at all.
    #[error("an emit_pipeline window of 0 buffers")]
    NoBuffers,
}

impl Fault for EmitPipelineFault {
    fn code(&self) -> Code {
        match self {
            Self::Space { .. } | Self::HbmOverAnother { .. } => Code::EmitPipelineSpace,
            Self::NoBuffers => Code::BufferCountUnsupported,
        }
    }

    fn help(&self) -> String {
        match self {
            Self::Space { .. } => "put the buffer in vmem or smem, or leave the space out",
            Self::HbmOverAnother { .. } => {
                "leave the space out, or give the kernel the ref in hbm or any"
            }
            Self::NoBuffers => "use at least 1 buffer",
        }
        .to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::super::windows::tests::{GRID, X as BLOCKED};
    use super::*;

    const X: Operand<'static> = Operand {
        array_shape: &[64, 128],
        block_shape: Some(&[BlockDim::Blocked(64), BlockDim::Blocked(128)]),
        ..BLOCKED
    };

    fn shape(operand: &Operand<'_>, grid: &[GridAxis]) -> Vec<u64> {
        let buffer = PipelineBuffer::new(operand, None, Some(MemorySpace::HBM), grid);
        buffer.ok().flatten().map(|buffer| buffer.shape().collect()).unwrap_or_default()
    }

    #[test]
    fn a_window_that_never_moves_is_one_buffer_whatever_was_asked() {
        assert_eq!(shape(&X, &GRID), [2, 64, 128]);
        assert_eq!(shape(&X, &[GridAxis::new(1)]), [64, 128]);
        assert_eq!(shape(&Operand { index_map: None, ..X }, &GRID), [64, 128]);
        let asked = Operand { index_map: None, buffers: Some(4), ..X };
        assert_eq!(shape(&asked, &GRID), [64, 128]);
    }

    #[test]
    fn squeezed_dimensions_are_left_out_and_lines_lie_end_to_end() {
        let dims = Some(&[BlockDim::Squeezed, BlockDim::Blocked(128)][..]);
        assert_eq!(shape(&Operand { block_shape: dims, buffers: Some(3), ..X }, &GRID), [384]);
        // One row of one: whole, yet squeezed, and so not trivial.
        let row = Operand { array_shape: &[1, 128], block_shape: dims, index_map: None, ..X };
        assert_eq!(shape(&row, &GRID), [256]);
    }

    #[test]
    fn each_fault_says_what_would_be_right() {
        let hbm = Some(MemorySpace::HBM);
        let cases = [
            (
                X,
                Some(MemorySpace::ANY),
                hbm,
                Code::EmitPipelineSpace,
                "put the buffer in vmem or smem, or leave the space out",
            ),
            (
                X,
                Some(MemorySpace::VMEM_SHARED),
                hbm,
                Code::EmitPipelineSpace,
                "put the buffer in vmem or smem, or leave the space out",
            ),
            (
                X,
                hbm,
                None,
                Code::EmitPipelineSpace,
                "leave the space out, or give the kernel the ref in hbm or any",
            ),
            (
                Operand { buffers: Some(0), ..X },
                None,
                hbm,
                Code::BufferCountUnsupported,
                "use at least 1 buffer",
            ),
        ];
        for (operand, written, source, code, help) in cases {
            let said = PipelineBuffer::new(&operand, written, source, &GRID);
            let said = said.map_err(|fault| (fault.code(), fault.help()));
            assert_eq!(said, Err((code, help.to_owned())));
        }
        let there = |space| PipelineBuffer::new(&X, Some(space), Some(space), &GRID);
        assert_eq!(there(MemorySpace::VMEM), Ok(None));
        assert_eq!(there(MemorySpace::SMEM), Ok(None));
    }
}
