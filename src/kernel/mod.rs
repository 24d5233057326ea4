//! A whole kernel: one description in, everything wrong with it out.

mod description;
mod fault;
mod handed;
mod place;
mod report;
mod resolved;
#[cfg(feature = "schema")]
mod schema;
mod spelled;
mod validate;

pub(crate) use description::{BodyUse, FromBody, Holds, Kept, UsedAs};
pub use description::{Kernel, MeshSpec, Operand, Prefetch, RefAccess, Scratch, Semaphore};
pub use handed::{Argument, ArgumentKind, Function, Transform};
pub use place::{Place, Step};
pub use report::{
    Diagnostic, Diagnostics, Fit, Memory, MemoryKind, MemoryPart, OperandReport, Report,
    ScratchReport,
};
pub use resolved::ResolvedKernel;
#[cfg(feature = "schema")]
pub use schema::output_schema;
#[cfg(feature = "read")]
pub(crate) use {
    description::{OnChip, Params},
    spelled::Spelled,
};
