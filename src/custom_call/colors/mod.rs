//! Colors: where XLA puts operands and results, and how aliases change that.

pub(super) mod alias;
pub(super) mod carried;
pub(super) mod color;
