//! One file a rule: places, blocks, windows, accesses, copies, accumulators.

mod access;
mod accumulator;
mod assumption;
mod block;
mod copy;
mod emit_pipeline;
mod place;
mod serving;
mod subcore_slice;
mod window;

pub use access::{Access, AccessOp, AccessRefusal, AccessShape, IllegalAccess, UnknownAccess};
pub use accumulator::{
    Accumulator, AccumulatorAllocator, AccumulatorError, AccumulatorFreeOrder, Allocation,
};
pub use assumption::{Assumption, Assumptions, HazardFault};
pub use block::{Block, BlockDim, BlockFault, Misaligned, Nearest, Rank1};
pub use copy::{
    CopyEnd, CopyRefusal, Dma, DmaMode, EndRefusal, IllegalCopy, Indices, IndicesFault, by_way_of,
};
pub use emit_pipeline::{EmitPipelineFault, PipelineBuffer};
pub use place::{PlaceFault, check_place, check_scratch};
pub use serving::{Use, serving_spaces};
pub use subcore_slice::{SubcoreSliceFault, subcore_slice};
pub use window::{
    Form, GridAxis, IndexEntry, Operand, Role, WindowAttr, WindowFault, check_mesh_operand,
    check_window_space, one_step_a_core,
};
