//! Collective ids: the ids of the barriers that kernels of a module meet at.

pub(super) mod allocator;
pub(super) mod collective_id;
