//! One file a rule: places, blocks, windows, accesses, copies.
//! One file a rule: blocks, windows, accesses, copies, accumulators.

mod access;
mod accumulator;
mod block;
mod copy;
mod emit_pipeline;
mod place;
mod window;

pub use access::{Access, AccessOp, AccessRefusal, AccessShape, IllegalAccess, UnknownAccess};
pub use accumulator::{
    Accumulator, AccumulatorAllocator, AccumulatorError, AccumulatorFreeOrder, Allocation,
};
pub use block::{Block, BlockDim, BlockFault, Misaligned, Nearest, Rank1};
pub use copy::{
    CopyEnd, CopyRefusal, Dma, DmaMode, EndRefusal, IllegalCopy, Indices, IndicesFault, by_way_of,
};
pub use emit_pipeline::{EmitPipelineFault, PipelineBuffer};
pub use place::{PlaceFault, check_place, check_scratch};
pub use window::{
    Form, GridAxis, IndexEntry, Operand, Role, WindowAttr, WindowFault, check_window_space,
    one_step_a_core,
};
