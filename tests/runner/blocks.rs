//! Which blocks JAX takes.

use crate::line::Word;
use mosaic_memspace::error::{Code, Fault};
use mosaic_memspace::rules::{Block, BlockDim};
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
    let dim = |extent: &Option<u64>| extent.map_or(BlockDim::Squeezed, BlockDim::Blocked);
    let block_shape: Vec<_> = mapping.block_shape.iter().map(dim).collect();
    let block = Block {
        array_shape: &mapping.array_shape,
        block_shape: Some(&block_shape),
        element_shape: &[],
        dtype: mapping.dtype.0,
        space: CallSite::BlockSpec.resolve(mapping.space.map(|space| space.0), mapping.core.0),
        trivial_window: mapping.trivial_window,
    };
    block.check(Some(mapping.chip.0.facts())).map_err(|fault| fault.code())?;
    Ok(true)
}
