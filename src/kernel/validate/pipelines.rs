//! Pipelines that the body runs, and the buffers that they allocate.

use super::Pass;
use super::refs::{Described, Entered};
use crate::dtype::Dtype;
use crate::kernel::fault::KernelFault;
use crate::kernel::place::Place;
use crate::kernel::report::{ScratchReport, attribute};
use crate::memory_space::{MemorySpace, MemrefSpace, Resolved};
use crate::operand::{BlockDim, Form, GridAxis, Operand};
use crate::rules::{BlockFault, PipelineBuffer, WindowFault, block_faults, window_faults};
use crate::word::Spelled;

/// The ref that a block spec of a pipeline is over.
struct Source {
    shape: Vec<u64>,
    dtype: Dtype,
    space: MemorySpace,
}

impl Pass<'_> {
    pub(super) fn pipelines(&mut self) {
        let kernel = self.kernel;
        for (number, pipeline) in kernel.pipelines.iter().enumerate() {
            let axis = |extent: &Option<u64>| GridAxis { extent: *extent, parallel: false };
            let grid: Vec<_> = pipeline.grid.iter().map(axis).collect();
            let place = Place::list("pipelines").index(number).field("operands");
            for (index, spec) in pipeline.operands.iter().enumerate() {
                self.pipeline_operand(&spec.over, &grid, place.clone().index(index));
            }
        }
    }

    fn pipeline_operand(&mut self, spec: &Operand, grid: &[GridAxis], place: Place) {
        if let Some(space) = &spec.space
            && self.known(space, &place, "space").is_none()
        {
            return;
        }
        let name = spec.name.as_deref().unwrap_or_default();
        let source = match self.refs.get(name) {
            Ok(found) => found.source(),
            Err(fault) => return self.push(fault, place.field("ref")),
        };
        let Some(source) = source else { return };
        let spec =
            Operand { array_shape: source.shape, dtype: source.dtype.into(), ..spec.clone() };
        if self.is_no_window(&spec, grid, &place) {
            return;
        }
        let buffer = match PipelineBuffer::new(&spec, Some(source.space), grid) {
            Ok(Some(buffer)) => buffer,
            Ok(None) => return,
            Err(fault) => return self.push_in(fault, &place),
        };
        let resolved = Resolved::Memref(MemrefSpace::Tpu(buffer.space));
        let name = place.to_string();
        self.report.scratch.push(ScratchReport {
            name: name.clone(),
            semaphore: None,
            resolved: Some(resolved),
            attribute: attribute(resolved),
            bytes: None,
        });
        self.enter(Entered {
            name,
            place,
            rank: buffer.shape.len(),
            dtype: Some(source.dtype),
            resolved: Some(resolved),
            sound: true,
            described: Described::Buffer(buffer.shape),
        });
    }

    /// Whether the block or the index map is none of this ref and this grid; that is
    /// reported.
    fn is_no_window(&mut self, spec: &Operand, grid: &[GridAxis], place: &Place) -> bool {
        let Some(core_type) = self.target.core_type else { return true };
        let spec = spec.in_space(Resolved::VMEM);
        let of_block = |fault: &BlockFault| {
            matches!(fault, BlockFault::RankMismatch { .. } | BlockFault::ExtentZero { .. })
        };
        let of_map = |fault: &WindowFault| {
            matches!(fault, WindowFault::RankMismatch { .. } | WindowFault::AxisOutOfRange { .. })
        };
        let blocks = block_faults(&spec, None).filter(of_block).map(KernelFault::from);
        let maps = window_faults(&spec, grid, Form::Pipelined, core_type);
        let faults: Vec<_> = blocks.chain(maps.filter(of_map).map(Into::into)).collect();
        let is_refused = !faults.is_empty();
        for fault in faults {
            self.push_in(fault, place);
        }
        is_refused
    }
}

impl Entered<'_> {
    /// The ref as a body sees it, as far as it is known and may be used.
    fn source(&self) -> Option<Source> {
        let (resolved, dtype) = (self.resolved.filter(|_| self.sound)?, self.dtype?);
        let (shape, written) = match &self.described {
            Described::Prefetch(prefetch) => (prefetch.shape.clone(), None),
            Described::Operand(operand) => {
                let dims = operand.in_space(resolved).dims();
                let kept = dims.filter(|dim| !matches!(dim, BlockDim::Squeezed));
                (kept.map(BlockDim::extent).collect(), operand.space.as_ref())
            }
            Described::Scratch(scratch) => (scratch.shape.clone(), None),
            Described::Buffer(_) => return None,
        };
        let space = written.and_then(Spelled::known).copied();
        Some(Source { shape, dtype, space: space.unwrap_or_else(|| resolved.written()) })
    }
}
