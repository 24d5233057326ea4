//! The ids by which kernels of a module meet at a barrier.

pub(super) mod allocator;
pub(super) mod collective_id;
