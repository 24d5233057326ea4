//! Into a kernel: what others wrote, read.
//!
//! * [`module`]: a kernel's module, MLIR bytecode.
//! * [`body_kernel`]: a kernel from such a module.
//! * `Kernels`, with feature `read`: descriptions in JSON, and `DumpKernels`: the calls
//!   of a dump.

mod body;
#[cfg(feature = "read")]
mod dump;
#[cfg(feature = "read")]
mod fault;
#[cfg(feature = "read")]
mod json;
#[cfg(feature = "read")]
mod kernel;
#[cfg(feature = "read")]
mod kernels;
pub mod module;
#[cfg(feature = "read")]
mod params;
#[cfg(feature = "read")]
mod rows;
#[cfg(feature = "read")]
mod schema;
#[cfg(feature = "read")]
mod shapes;
#[cfg(feature = "read")]
mod text;
#[cfg(feature = "read")]
mod value;
#[cfg(feature = "read")]
mod words;

pub use body::{BodyCall, body_kernel};
#[cfg(feature = "read")]
pub use dump::{DumpKernel, DumpKernelFault, DumpKernels};
#[cfg(feature = "read")]
pub use fault::{InputFault, InputFaults, Span};
#[cfg(feature = "read")]
pub use kernels::{Described, Kernels};
#[cfg(feature = "read")]
pub use schema::input_schema;
