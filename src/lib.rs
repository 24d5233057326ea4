//! Memory-space resolution for Mosaic, the MLIR dialect of TPU kernels.
//!
//! A word goes one way: written, resolved, then printed, checked and measured,
//! and at last handed over to XLA.
//!
//! ```
//! use mosaic_memspace::{CoreType, MemorySpace, MemorySpaceAttr, Resolved, resolve};
//!
//! // `index` means scalar memory on every core, and the type checker knows.
//! const SPACE: Resolved = resolve(MemorySpace::INDEX, CoreType::ScVectorSubcore);
//! assert_eq!(SPACE, Resolved::SMEM);
//!
//! let attribute = match SPACE {
//!     Resolved::Memref(space) => Some(MemorySpaceAttr::new(space)?),
//!     Resolved::Acc(_) => None, // an accumulator is never a memref
//! };
//! assert_eq!(attribute.map(MemorySpaceAttr::as_str), Some("#tpu.memory_space<smem>"));
//! # Ok::<(), mosaic_memspace::NotOwnableByCore>(())
//! ```

mod attribute;
pub mod check;
mod chip;
mod core_type;
pub mod custom_call;
mod dtype;
pub mod error;
pub mod fit;
pub mod kernel;
mod memory_space;
mod mesh;
mod resolve;
mod word;

pub use attribute::{CoreTypeAttr, MemorySpaceAttr, NotOwnableByCore, UnknownAttribute};
pub use chip::{
    Capacity, Chip, ChipFacts, CompilerLimits, CoreCountUnsupported, InferredTiling, MatmulPairs,
    NoSparseCores, ScVectorShapes, SparseCoreFacts, TilingError, UnknownChip,
};
pub use core_type::{CoreType, UnknownCoreType};
pub use dtype::{Dtype, UnknownDtype};
pub use memory_space::{
    CoreMemorySpace, MemorySpace, MemrefSpace, PlainSpace, Resolved, TpuSpace, UnknownMemorySpace,
};
pub use mesh::{
    CoresOf, MemorySpaceNotSupportedByMesh, Mesh, MeshAxis, MeshConflict, MeshConflictReason,
    MeshError, MeshShape,
};
pub use resolve::{CallSite, resolve};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
