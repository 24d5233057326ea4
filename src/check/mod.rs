//! One file a rule: blocks, windows, accesses, copies.

mod access;
mod copy;

pub use access::{Access, AccessOp, AccessRefusal, AccessShape, IllegalAccess, UnknownAccess};
pub use copy::{
    CopyEnd, CopyRefusal, Dma, DmaMode, EndRefusal, IllegalCopy, Indices, IndicesFault, by_way_of,
};
