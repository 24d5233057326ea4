//! One file a rule: places, blocks, windows, accesses, copies, accumulators.

mod accesses;
mod accumulators;
mod blocks;
mod copies;
mod emit_pipeline;
mod places;
mod window_attr;
mod windows;

pub use accesses::{Access, AccessFault, AccessOp, AccessRefusal, AccessShape};
pub use accumulators::{
    Accumulator, AccumulatorAllocator, AccumulatorFault, AccumulatorFreeOrder, Allocation,
};
pub use blocks::{BlockFault, Misaligned, Nearest, Rank1, block_faults, check_block};
pub use copies::{CopyEnd, CopyFault, CopyRefusal, Dma, DmaMode, Indices, IndicesFault};
pub use emit_pipeline::{EmitPipelineFault, PipelineBuffer};
pub use places::{Holding, PlaceFault, check_place, check_scratch};
pub use window_attr::WindowAttr;
pub use windows::{
    WindowFault, check_host_operand, check_mesh_operand, check_window_space, window_faults,
};
