//! One file a rule: places, blocks, windows, accesses, copies, accumulators.

mod accesses;
mod accumulator_fault;
mod accumulators;
mod blocks;
mod copies;
mod copy_fault;
mod emit_pipeline;
mod places;
mod window_attr;
mod windows;

pub use accesses::{Access, AccessFault, AccessOp, AccessRefusal, AccessShape};
pub use accumulator_fault::{AccumulatorFault, AccumulatorFreeOrder};
pub use accumulators::{Accumulator, AccumulatorAllocator, Allocation};
pub use blocks::{BlockFault, Misaligned, Nearest, Rank1, block_faults, check_block};
pub use copies::{CopyEnd, Dma, DmaMode, Indices};
pub use copy_fault::{CopyFault, CopyRefusal, IndicesFault};
pub use emit_pipeline::{EmitPipelineFault, PipelineBuffer};
pub use places::{Holding, PlaceFault, check_place, check_scratch};
pub use window_attr::WindowAttr;
pub use windows::{
    WindowFault, check_host_operand, check_mesh_operand, check_window_space, window_faults,
};
