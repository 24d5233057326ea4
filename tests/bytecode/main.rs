//! The reader of MLIR bytecode, on bytes made by hand: every code, every version, and
//! files that lie.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "what is wrong here fails the test"
)]

mod encoder;
mod entries;
mod hostile;
mod versions;
