//! One file a rule: places, blocks, windows, accesses, copies, accumulators.

mod accesses;
mod accumulators;
mod assumption;
mod blocks;
mod copies;
mod emit_pipeline;
mod places;
mod serving;
mod subcore_slice;
mod windows;

pub use accesses::{Access, AccessFault, AccessOp, AccessRefusal, AccessShape};
pub use accumulators::{
    Accumulator, AccumulatorAllocator, AccumulatorFault, AccumulatorFreeOrder, Allocation,
};
pub use assumption::{Assumption, Assumptions, HazardFault};
pub use blocks::{Block, BlockDim, BlockFault, Misaligned, Nearest, Rank1};
pub use copies::{CopyEnd, CopyFault, CopyRefusal, Dma, DmaMode, Indices, IndicesFault};
pub use emit_pipeline::{EmitPipelineFault, PipelineBuffer};
pub use places::{Holding, PlaceFault, check_place, check_scratch};
pub use serving::{Use, serving_spaces};
pub use subcore_slice::{SubcoreSliceFault, subcore_slice};
pub use windows::{
    Form, GridAxis, IndexEntry, Operand, Role, WindowAttr, WindowFault, check_host_operand,
    check_mesh_operand, check_window_space, one_step_a_core,
};
