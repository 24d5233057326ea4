//! Colors: where XLA puts operands and results, and what aliases make of it.

pub(super) mod alias;
pub(super) mod carried;
pub(super) mod color;
