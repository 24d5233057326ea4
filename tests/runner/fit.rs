//! What libtpu's compiler takes of VMEM, SMEM and a SparseCore's pool.

use crate::line::Word;
use mosaic_memspace::error::{Code, Fault};
use mosaic_memspace::fit::{TcKernel, pool_bytes, smem_operand_bytes};
use mosaic_memspace::operand::{BlockDim, GridAxis, Operand, Ref, ResolvedScratch};
use mosaic_memspace::{CallSite, Chip, CoreType, Dtype, MemorySpace};
use serde::{Deserialize, Serialize};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Kernel {
    chip: Word<Chip>,
    grid: Vec<u64>,
    operands: Vec<Windowed>,
    scratch: Vec<Allocated>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Windowed {
    role: Direction,
    array_shape: Vec<u64>,
    /// Null is squeezed.
    block_shape: Vec<Option<u64>>,
    /// Null is 0, a number the grid's axis.
    index_map: Vec<Option<usize>>,
    dtype: Word<Dtype>,
    space: Option<Word<MemorySpace>>,
    buffers: Option<u32>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Direction {
    In,
    Out,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Allocated {
    space: Word<MemorySpace>,
    shape: Vec<u64>,
    dtype: Word<Dtype>,
}

#[derive(Serialize)]
pub(crate) struct Vmem {
    vmem_bytes: u64,
}

pub(crate) fn vmem_fit(kernel: Kernel) -> Result<Vmem, Code> {
    let operands: Vec<_> = kernel.operands.iter().map(Windowed::operand).collect();
    let windows = kernel.operands.iter().zip(&operands).map(|(given, operand)| {
        let space = given.space.map(|space| space.0);
        let placed = operand.in_space(CallSite::BlockSpec.resolve(space, CoreType::Tc));
        // The kernels that were measured leave what has no window alone.
        let left_alone = [MemorySpace::ANY, MemorySpace::HBM];
        let untouched = space.is_some_and(|space| left_alone.contains(&space));
        Ref::from(if untouched { placed.left_untouched() } else { placed })
    });
    let scratch = kernel.scratch.iter().map(|given| {
        let space = CallSite::Other.resolve(Some(given.space.0), CoreType::Tc);
        ResolvedScratch::new("scratch", &given.shape, given.dtype.0, space).into()
    });
    let refs: Vec<_> = windows.chain(scratch).collect();
    let grid: Vec<_> = kernel.grid.iter().copied().map(GridAxis::new).collect();
    let kernel = TcKernel { grid: &grid, refs: &refs, ..TcKernel::new(kernel.chip.0.facts()) };
    let mut parts = Vec::new();
    let plan = kernel.vmem_plan_into(&mut parts).map_err(|fault| fault.code())?;
    assert_eq!(plan.parts().iter().map(|part| part.bytes).sum::<u64>(), plan.bytes());
    if plan.fits_by_its_declarations() {
        Ok(Vmem { vmem_bytes: plan.bytes() })
    } else {
        Err(Code::VmemOverflow)
    }
}

impl Windowed {
    fn operand(&self) -> Operand {
        let dim = |extent: &Option<u64>| extent.map_or(BlockDim::Squeezed, BlockDim::Blocked);
        let new = match self.role {
            Direction::In => Operand::input,
            Direction::Out => Operand::output,
        };
        new("operand", self.array_shape.clone(), self.dtype.0)
            .block_dims(self.block_shape.iter().map(dim))
            .index_map(self.index_map.iter().copied())
            .buffers(self.buffers)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ScalarOperand {
    shape: Vec<u64>,
    dtype: Word<Dtype>,
}

#[derive(Serialize)]
pub(crate) struct Smem {
    bytes: u64,
}

/// Without a chip: those from v4 on agree.
pub(crate) fn smem_bytes(operand: ScalarOperand) -> Result<Smem, Code> {
    let bytes = smem_operand_bytes(Chip::V4.facts(), &operand.shape, operand.dtype.0);
    Ok(Smem { bytes: bytes.map_err(|error| error.code())? })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Pool {
    chip: Word<Chip>,
    vmem_bytes_per_subcore: u64,
    vmem_shared_bytes: u64,
}

#[derive(Serialize)]
pub(crate) struct Fits {
    fits: bool,
}

pub(crate) fn sparse_core_pool(pool: Pool) -> Result<Fits, Code> {
    let facts = pool.chip.0.facts().require_sparse_core().map_err(|absent| absent.code())?;
    let bytes = pool_bytes(facts, pool.vmem_bytes_per_subcore, pool.vmem_shared_bytes);
    let bytes = bytes.ok_or(Code::SizeOverflow)?;
    Ok(Fits { fits: bytes <= facts.pool_bytes() })
}
