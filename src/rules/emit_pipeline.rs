//! The buffers of `emit_pipeline`, the pipeline that a kernel runs inside itself.

use crate::core_type::CoreType;
use crate::error::faults;
use crate::memory_space::{MemorySpace, MemrefSpace, Resolved, TpuSpace};
use crate::operand::{BlockDim, GridAxis, Operand};
use crate::reach::{Afar, Reach, reach};
use crate::resolve::CallSite;
use crate::word::Spelled;

/// The buffer that `emit_pipeline` allocates for one of its block specs.
///
/// ```
/// use mosaic_memspace::operand::{BlockDim, GridAxis, Operand};
/// use mosaic_memspace::rules::PipelineBuffer;
/// use mosaic_memspace::{Dtype, MemorySpace};
///
/// let x = Operand::input("x", [512, 256], Dtype::Float32)
///     .block_dims([BlockDim::Blocked(128), BlockDim::Squeezed])
///     .index_map([Some(0), None])
///     .buffers(3);
/// let hbm = Some(MemorySpace::HBM);
/// let buffer = PipelineBuffer::new(&x, hbm, &[GridAxis::new(4)])?;
/// // Three blocks of rank 1 lie end to end.
/// assert_eq!(buffer.map(|buffer| buffer.shape), Some(vec![384]));
///
/// let in_place = PipelineBuffer::new(&x.space(MemorySpace::HBM), hbm, &[GridAxis::new(4)])?;
/// assert_eq!(in_place, None);
/// # Ok::<(), mosaic_memspace::rules::EmitPipelineFault>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PipelineBuffer {
    /// Where it lies: vmem or smem.
    pub space: TpuSpace,
    /// The shape that is allocated: the whole array's for a window that never moves;
    /// else a leading dimension of blocks, as many as asked for or two, squeezed
    /// dimensions left out; blocks of rank 1 lie end to end. An extent beyond 64 bits
    /// is `u64::MAX`.
    pub shape: Vec<u64>,
}

impl PipelineBuffer {
    /// The buffer for a block spec of the pipeline, over a ref in `source`; `None`
    /// when none is allocated, because the block is used where it lies.
    ///
    /// JAX resolves the space as on a TensorCore, on every core, and compares it
    /// with the source's as written (`BufferedRef.create`).
    ///
    /// # Errors
    /// [`EmitPipelineFault`]: the space is none of vmem, smem and hbm; it is hbm
    /// and the source's is not; no buffers are asked for.
    pub fn new(
        spec: &Operand,
        source: Option<MemorySpace>,
        grid: &[GridAxis],
    ) -> Result<Option<Self>, EmitPipelineFault> {
        let written = spec.space.as_ref().and_then(Spelled::known).copied();
        let Some(space) = allocated(written, source)? else { return Ok(None) };
        // A trivial window with a count of its own is still one buffer.
        let blocks = match spec.buffers {
            Some(buffers) if buffers <= 0 => return Err(EmitPipelineFault::NoBuffers { buffers }),
            _ if is_trivial(spec, grid) => None,
            Some(buffers) => Some(buffers.unsigned_abs()),
            None => Some(2),
        };
        Ok(Some(Self { space, shape: shape(spec, blocks) }))
    }
}

/// The shape of so many blocks; of `None`, of the whole array.
fn shape(spec: &Operand, blocks: Option<u64>) -> Vec<u64> {
    let kept = |dim: &BlockDim| blocks.is_none() || !matches!(dim, BlockDim::Squeezed);
    let dims = spec.in_space(Resolved::VMEM).dims().filter(kept);
    let mut shape: Vec<_> = dims.map(BlockDim::extent).collect();
    match (blocks, shape.as_mut_slice()) {
        (Some(blocks), [line]) if spec.element_shape.is_empty() => {
            *line = line.saturating_mul(blocks);
        }
        (Some(blocks), _) => shape.insert(0, blocks),
        (None, _) => {}
    }
    shape.extend(&spec.element_shape);
    shape
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
        Reach::ByCopies(Afar::Hbm) => match source {
            Some(MemorySpace::ANY | MemorySpace::HBM) => Ok(None),
            Some(over) => Err(EmitPipelineFault::HbmOverAnother { over }),
            None => Err(EmitPipelineFault::HbmOverNone),
        },
        Reach::ByCopies(Afar::Host | Afar::Shared) | Reach::Not(_) => refused,
    }
}

/// Whether the pipeline's window is the whole array and never moves. A squeezed
/// dimension, or one of elements, is not whole, whatever its extent.
fn is_trivial(spec: &Operand, grid: &[GridAxis]) -> bool {
    let whole = |dims: &Vec<BlockDim>| {
        let array = spec.array_shape.iter().copied().map(BlockDim::Blocked);
        dims.iter().copied().eq(array) && !spec.in_space(Resolved::VMEM).moves(grid)
    };
    spec.block_shape.as_ref().is_none_or(whole)
}

faults! {
    /// What is wrong with a buffer of `emit_pipeline`.
    ///
    /// ```
    /// use mosaic_memspace::MemorySpace;
    /// use mosaic_memspace::rules::EmitPipelineFault;
    /// use mosaic_memspace::error::{Code, Fault};
    ///
    /// let fault = EmitPipelineFault::HbmOverAnother { over: MemorySpace::VMEM };
    /// assert_eq!(fault.to_string(), "an emit_pipeline buffer in hbm over a ref in vmem");
    /// assert_eq!(fault.code(), Code::EmitPipelineSpace);
    /// ```
    #[derive(Clone, Copy)]
    pub enum EmitPipelineFault {
        /// In another space than vmem, smem and hbm.
        Space {
            /// The space.
            space: Resolved,
        } => EmitPipelineSpace at "space" ("an emit_pipeline buffer in {space}")
          help "put the buffer in vmem or smem, or leave the space out";
        /// In hbm, over a ref that is neither there nor in any.
        HbmOverAnother {
            /// The ref's space, as written.
            over: MemorySpace,
        } => EmitPipelineSpace at "space" ("an emit_pipeline buffer in hbm over a ref in {over}")
          help "leave the space out, or give the kernel the ref in hbm or any";
        /// In hbm, over a ref without a space.
        HbmOverNone => EmitPipelineSpace at "space"
          ("an emit_pipeline buffer in hbm over a ref in no space")
          help "leave the space out, or give the kernel the ref in hbm or any";
        /// No buffers at all.
        NoBuffers {
            /// The number asked for.
            buffers: i64,
        } => BufferCountUnsupported at "buffers" ("an emit_pipeline window of {buffers} buffers")
          help "use at least 1 buffer";
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtype::Dtype;
    use crate::error::{Code, Fault};

    const GRID: [GridAxis; 1] = [GridAxis::new(4)];

    fn whole() -> Operand {
        Operand::input("x", [64, 128], Dtype::Float32).block([64, 128])
    }

    fn x() -> Operand {
        whole().index_map([Some(0), None])
    }

    fn shape(operand: &Operand, grid: &[GridAxis]) -> Vec<u64> {
        let buffer = PipelineBuffer::new(operand, Some(MemorySpace::HBM), grid);
        buffer.ok().flatten().map(|buffer| buffer.shape).unwrap_or_default()
    }

    #[test]
    fn a_window_that_never_moves_is_one_buffer_whatever_was_asked() {
        assert_eq!(shape(&x(), &GRID), [2, 64, 128]);
        assert_eq!(shape(&x(), &[GridAxis::new(1)]), [64, 128]);
        assert_eq!(shape(&whole(), &GRID), [64, 128]);
        assert_eq!(shape(&whole().buffers(4), &GRID), [64, 128]);
    }

    #[test]
    fn squeezed_dimensions_are_left_out_and_lines_lie_end_to_end() {
        let dims = [BlockDim::Squeezed, BlockDim::Blocked(128)];
        assert_eq!(shape(&x().block_dims(dims).buffers(3), &GRID), [384]);
        // One row of one: whole, yet squeezed, and so not trivial.
        let row = Operand::input("x", [1, 128], Dtype::Float32).block_dims(dims);
        assert_eq!(shape(&row, &GRID), [256]);
    }

    #[test]
    fn each_fault_says_what_would_be_right() {
        let hbm = Some(MemorySpace::HBM);
        let space = "put the buffer in vmem or smem, or leave the space out";
        let cases = [
            (x().space(MemorySpace::ANY), hbm, Code::EmitPipelineSpace, space),
            (x().space(MemorySpace::VMEM_SHARED), hbm, Code::EmitPipelineSpace, space),
            (
                x().space(hbm),
                None,
                Code::EmitPipelineSpace,
                "leave the space out, or give the kernel the ref in hbm or any",
            ),
            (x().buffers(0), hbm, Code::BufferCountUnsupported, "use at least 1 buffer"),
        ];
        for (operand, source, code, help) in cases {
            let said = PipelineBuffer::new(&operand, source, &GRID);
            let said = said.map_err(|fault| (fault.code(), fault.help()));
            assert_eq!(said, Err((code, help.to_owned())));
        }
        let there = |space| PipelineBuffer::new(&x().space(space), Some(space), &GRID);
        assert_eq!(there(MemorySpace::VMEM), Ok(None));
        assert_eq!(there(MemorySpace::SMEM), Ok(None));
    }
}
