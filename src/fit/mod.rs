//! Whether a kernel fits: the bytes that it declares, memory by memory.

mod fault;
mod kernel;
mod padding;
mod remedy;
mod smem;
mod sparse_core;
mod vmem;

pub use fault::{FitFault, Overflow, smem_fault};
pub use kernel::{CountFault, Part, TcKernel};
pub use padding::{Layout, PaddingFault};
pub use remedy::{Change, Remedy};
pub use smem::{SmemPlan, smem_operand_bytes};
pub use sparse_core::{ScKernel, ScPlan, pool_bytes};
pub use vmem::{VmemLimit, VmemPlan};
