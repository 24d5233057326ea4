//! A kernel's module, as a lowering pass writes it: Mosaic in MLIR's bytecode.
//!
//! ```no_run
//! use mosaic_memspace::bytecode::Bytecode;
//! use mosaic_memspace::read::module::ModuleBody;
//!
//! let bytes = std::fs::read("kernel.mlirbc")?;
//! let file = Bytecode::parse(&bytes)?;
//! let module = ModuleBody::read(&file);
//! for kernel in &module.kernels {
//!     for access in &kernel.accesses {
//!         println!("{} of {:?}", access.name, kernel.get(access.r#ref));
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Every function that no attribute names is a kernel; the others are index maps. A
//! kernel written for several meshes is several kernels in one module. All versions of
//! `stable_mosaic` that JAX has written are read, and modules from before it had any.
//!
//! Nothing is guessed at: what is not understood is named in
//! [`ModuleBody::not_understood`], and what depends on it is left open.

mod arithmetic;
mod copies;
mod groups;
mod index;
mod kernel;
mod not_understood;
mod operations;
mod overlap;
mod place;
mod reader;
mod refs;
mod removed;
mod scalars;
mod uses;
mod walk;
mod window;

pub use index::{IndexValue, Knowledge};
pub use kernel::{ArgumentKind, BodyArgument, KernelBody, SaidCoreType};
pub use not_understood::{NotUnderstood, Unread};
pub use operations::{AllocationKind, SemaphoreAction, ViewKind};
pub use place::{DebugLocations, LocationsMismatch};
pub use refs::{BodyRef, BodyRefId, BodyView, RefElement, RefRoot, RefSpace};
pub use removed::KeptScratch;
pub use uses::{
    BodyAccess, BodyAllocation, BodyCopy, BodyScope, BodySemaphoreUse, CopyOffsets, IndirectCopy,
};
pub use window::{
    BodyWindow, ElementWindow, PipelineMode, RevisitMode, WindowIndex, WindowTransform,
    WrittenIndex,
};

use crate::bytecode::{Operation, Text};

/// The newest version of `stable_mosaic` that is known.
pub const NEWEST_VERSION: i64 = 18;

/// A kernel's module: its kernels, and what of it was not understood.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ModuleBody<'m, 'a> {
    /// The version of `stable_mosaic`; `None` before there was one.
    pub version: Option<i64>,
    /// The module's name, where it has one.
    pub name: Option<Text<'a>>,
    /// All functions, in order: kernels and index maps.
    pub functions: Vec<Operation<'m, 'a>>,
    /// The kernels, in order.
    pub kernels: Vec<KernelBody<'m, 'a>>,
    /// What was not understood.
    pub not_understood: Unread,
}

/// Whether a body is text: a module in MLIR's readable syntax, which a call may carry
/// instead of bytecode. It is named, and not read.
///
/// ```
/// use mosaic_memspace::read::module::is_text;
/// assert!(is_text(b"module attributes {stable_mosaic.version = 11 : i64} {}"));
/// assert!(is_text(b"#map = affine_map<(d0) -> (d0)>\nmodule {}"));
/// assert!(!is_text(b"ML\xefR"));
/// assert!(!is_text(b"\xff\xfe"));
/// ```
pub fn is_text(body: &[u8]) -> bool {
    // MLIR's syntax is UTF-8; what is not it, and no bytecode, is no module at all.
    let Ok(text) = std::str::from_utf8(body) else { return false };
    let text = text.trim_start();
    ["module", "#", "\"builtin.module\"", "builtin.module", "//", "!", "func.func", "{-#"]
        .iter()
        .any(|start| text.starts_with(start))
}
