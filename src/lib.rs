//! crate docs
mod core_type;
pub mod error;
mod memory_space;
mod resolve;
mod word;

pub use core_type::{CoreType, UnknownCoreType};
pub use memory_space::{CoreMemorySpace, MemorySpace, MemrefSpace, Resolved, TpuSpace, UnknownMemorySpace};
pub use resolve::{CallSite, resolve};
