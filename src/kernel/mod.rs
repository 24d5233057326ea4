//! A whole kernel: one description in, everything wrong with it out.

mod description;
mod fault;
mod handed;
mod place;
mod report;
mod resolved;
#[cfg(feature = "schema")]
mod schema;
mod validate;

pub(crate) use description::FromBody;
pub use description::{AccessedRef, Kernel, MeshSpec, RefAccess};
#[cfg(feature = "read")]
pub(crate) use description::{OnChip, Params};
pub use fault::KernelFault;
pub use handed::{Argument, ArgumentKind, Function, Transform};
pub use place::{Place, Step};
pub use report::{
    Diagnostic, Diagnostics, Fit, Memory, MemoryKind, OperandReport, Report, ScratchReport,
};
pub use resolved::ResolvedKernel;
#[cfg(feature = "schema")]
pub use schema::output_schema;
