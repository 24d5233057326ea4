//! MLIR's bytecode, as its bytes say it: sections, attributes, types, operations.
//!
//! The usual way to read it is LLVM's own, through bindings to it. No well-kept Rust
//! crate reads it without LLVM, which is why this reader is here. It knows nothing of
//! Mosaic or of any other dialect but the builtin one: another dialect's attributes and
//! types stand in the file as their text, and stay so.
//!
//! * [`Bytecode::parse`] reads a file in one pass. All versions of the format that there
//!   are, 0 to 6, are read. Time and memory are linear in the file's length, and no
//!   file, whatever it holds, makes it panic.
//! * [`Operation`], [`Region`], [`BasicBlock`] and [`Value`] are numbers into its tables:
//!   copied freely, walked without allocating.
//! * [`Attribute`] and [`Type`] are decoded when they are asked for, each once. One
//!   with a code that is not known is a fault of its own, and spoils no other.
//! * [`Bytecode::show_type`] and [`Bytecode::show_attribute`] print as MLIR does. Entries
//!   may hold each other, or hold the same thing twice at every level; so what is
//!   printed has a bound.
//!
//! A fault is a [`BytecodeFault`]: where, what, and what would be right.

mod affine;
mod attribute;
mod cursor;
mod dense;
mod dictionary;
mod fault;
mod file;
mod float;
mod ir;
mod location;
mod operation;
mod print;
mod resource;
mod tables;
mod text;
mod types;

pub use affine::{AffineBinary, AffineExpr, AffineMap, AffineOperator, IntegerSet};
pub use attribute::{Attribute, WideInteger};
pub use dense::DenseIntegers;
pub use dictionary::Dictionary;
pub use fault::{BytecodeFault, BytecodeProblem};
pub use file::Bytecode;
pub use location::{FileRange, Location};
pub use operation::{
    BasicBlock, Definition, Operation, OperationAttributes, OperationName, Region, Value,
};
pub use print::Printed;
pub use resource::{Resource, ResourceKind};
pub use tables::{AttributeId, TypeId};
pub use text::Text;
pub use types::{DYNAMIC, FloatKind, MemrefParts, Signedness, Type};
