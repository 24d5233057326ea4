//! Memory spaces of Mosaic, the MLIR dialect of TPU kernels: resolved, checked,
//! measured and handed over, before the compiler runs.
//!
//! A word goes one way: what a kernel's author wrote is resolved to what the TPU
//! has, printed as Mosaic's attribute, checked against the core's rules, counted in
//! bytes, and at last handed over to XLA.
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
//!
//! # Where to look
//!
//! | question | answer |
//! | --- | --- |
//! | what does this memory space mean on this core? | [`resolve`]; [`CallSite`] where none was written |
//! | how does Mosaic write it? | [`MemorySpaceAttr`], [`MemrefType`], [`CoreTypeAttr`] |
//! | what does this chip have? | [`Chip`] and its [`ChipFacts`]; [`Dtype`]; [`Mesh`] |
//! | what is a ref? | [`operand`]: role, array, block, index map, buffers; scratch; the grid |
//! | may this core do that? | [`rules`]: blocks, windows, loads and stores, copies, accumulators |
//! | does it fit? | [`fit`]: VMEM, SMEM, the SparseCore's pool |
//! | what is XLA handed? | [`custom_call`]: colors, aliases, parameters, collective ids, the JSON |
//! | what is wrong with this kernel? | [`kernel::Kernel`]: all of the above, in one pass |
//! | what does this code mean? | [`error::Code`] |
//!
//! # What it promises, and what not
//!
//! * The answers are those of JAX 0.12.0.1 and of libtpu 0.0.52's compiler. Where
//!   JAX's own answer would harm a user it has a name of its own, `jax_…`, and the
//!   docs say why the other differs.
//! * [`CoreType`] and the memory spaces are closed: match them all, without `_`. A
//!   new one is a new major version, and your `match` stops compiling. Chips, element
//!   types, codes and errors may grow in a minor version.
//! * "Fits" means "fits by its declarations", to the byte. Spilled registers and the
//!   compiler's own scratch are in no declaration and come on top; no one can tell how
//!   much without compiling the body.
//! * Of a description, what the body loads, stores and copies is checked as far as it
//!   is described. Of a dump or a module, the body itself is read ([`read`]), and what of
//!   it is not understood is listed by name.
//! * No input panics, and none takes more time or memory than its size accounts for.
//!
//! # Features
//!
//! The default build needs strum, thiserror and base64-simd. `serde` reads and writes
//! the words; `read` reads kernels and backend configs from JSON; `schema` has the
//! JSON schemas; `cli` is the command line, `mosaic-memspace`.

mod attribute;
pub mod bytecode;
mod chip;
mod core_type;
pub mod custom_call;
mod dtype;
pub mod error;
pub mod fit;
pub mod kernel;
mod memory_space;
mod mesh;
pub mod operand;
mod reach;
pub mod read;
mod resolve;
pub mod rules;
mod word;

pub use attribute::{CoreTypeAttr, MemorySpaceAttr, MemrefType, NotOwnableByCore};
pub use chip::{
    Capacity, Chip, ChipFacts, CompilerLimits, CoreCountUnsupported, InferredTiling, MatmulPairs,
    NoSparseCores, ScVectorShapes, SparseCoreFacts, TilingFault,
};
pub use core_type::CoreType;
pub use dtype::Dtype;
pub use memory_space::{CoreMemorySpace, MemorySpace, MemrefSpace, PlainSpace, Resolved, TpuSpace};
pub use mesh::{
    CoresOf, MemorySpaceNotSupportedByMesh, Mesh, MeshAxis, MeshConflict, MeshConflictReason,
    MeshFault, MeshShape,
};
pub use reach::{Afar, Held, Reach, Unreached, reach};
pub use resolve::{CallSite, resolve};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
