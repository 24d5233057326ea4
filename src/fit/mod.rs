//! Whether a kernel fits: the bytes that it declares, memory by memory.

mod fault;
mod kernel;
mod padding;
mod remedy;
mod smem;
mod sparse_core;
mod vmem;

pub use fault::{FitFault, Overflow, smem_fault};
pub use kernel::{FitError, FitOperand, Part, RefId, Scratch, TcKernel};
pub use padding::{Layout, PaddingError};
pub use remedy::{Change, Remedy};
pub use smem::{SmemPlan, smem_operand_bytes};
pub use sparse_core::{ScKernel, ScPlan, ScWindow, pool_bytes};
pub use vmem::{VmemLimit, VmemPlan};
