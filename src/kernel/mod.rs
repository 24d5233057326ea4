//! A whole kernel: one description in, everything wrong with it out.

mod description;
mod fault;
#[cfg(feature = "schema")]
mod field_rules;
#[cfg(feature = "read")]
mod json;
mod place;
#[cfg(feature = "read")]
mod read;
mod report;
mod resolved;
#[cfg(feature = "schema")]
mod schema;
mod spelled;
#[cfg(feature = "read")]
mod strict;
mod validate;

pub use description::{Kernel, MeshSpec, Operand, Prefetch, RefAccess, Scratch, Semaphore};
pub use place::{Place, Step};
#[cfg(feature = "read")]
pub use read::{Described, InputError, Kernels, Locator, Positions};
pub use report::{
    Diagnostic, Diagnostics, Fit, Memory, MemoryKind, MemoryPart, OperandReport, Report,
    ScratchReport,
};
pub use resolved::ResolvedKernel;
#[cfg(feature = "schema")]
pub use schema::{input_schema, output_schema};
