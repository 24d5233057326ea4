//! One file a rule: blocks, windows, accesses, copies, accumulators.

mod access;
mod accumulator;
mod block;
mod copy;

pub use access::{Access, AccessOp, AccessRefusal, AccessShape, IllegalAccess, UnknownAccess};
pub use accumulator::{
    Accumulator, AccumulatorAllocator, AccumulatorError, AccumulatorFreeOrder, Allocation,
};
pub use block::{Block, BlockDim, BlockFault, Misaligned, Nearest, Rank1};
pub use copy::{
    CopyEnd, CopyRefusal, Dma, DmaMode, EndRefusal, IllegalCopy, Indices, IndicesFault, by_way_of,
};
