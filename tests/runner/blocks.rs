//! Which blocks JAX takes.

use crate::line::Word;
use mosaic_memspace::error::{Code, Fault};
use mosaic_memspace::operand::{BlockDim, Operand};
use mosaic_memspace::rules::check_block;
use mosaic_memspace::{CallSite, Chip, CoreType, Dtype, MemorySpace};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Mapping {
    chip: Word<Chip>,
    core: Word<CoreType>,
    space: Option<Word<MemorySpace>>,
    array_shape: Vec<u64>,
    /// Null is squeezed.
    block_shape: Vec<Option<u64>>,
    dtype: Word<Dtype>,
    trivial_window: bool,
}

pub(crate) fn block_mapping(mapping: Mapping) -> Result<bool, Code> {
    let dim = |extent: Option<u64>| extent.map_or(BlockDim::Squeezed, BlockDim::Blocked);
    let operand = Operand::input("x", mapping.array_shape, mapping.dtype.0)
        .block_dims(mapping.block_shape.into_iter().map(dim));
    let space = CallSite::BlockSpec.resolve(mapping.space.map(|space| space.0), mapping.core.0);
    let chip = Some(mapping.chip.0.facts());
    check_block(&operand.in_space(space), mapping.trivial_window, chip)
        .map_err(|fault| fault.code())?;
    Ok(true)
}
