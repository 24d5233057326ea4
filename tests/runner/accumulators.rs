//! Accumulators.

use crate::line::{Answer, Word};
use mosaic_memspace::error::{Code, Fault};
use mosaic_memspace::rules::{Accumulator, AccumulatorAllocator};
use mosaic_memspace::{Chip, Dtype};
use serde::{Deserialize, Serialize};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Declared {
    chip: Word<Chip>,
    shape: Vec<u64>,
    dtype: Word<Dtype>,
    mxu_id: u8,
}

pub(crate) fn accumulator(asked: Declared) -> Result<bool, Code> {
    let facts = asked.chip.0.facts();
    let accumulator = Accumulator::new(&asked.shape, asked.dtype.0, asked.mxu_id, facts);
    accumulator.map(|_| true).map_err(|fault| fault.code())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Requests {
    chip: Word<Chip>,
    allocs: Vec<Request>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    mxu_id: u8,
    rows: u64,
}

#[derive(Serialize)]
pub(crate) struct Placed {
    base_address: u64,
}

pub(crate) fn accumulator_alloc(asked: Requests) -> Result<Vec<Answer<Placed>>, Code> {
    let facts = asked.chip.0.facts();
    let mut allocator = AccumulatorAllocator::new(facts);
    let place = |request: &Request| {
        let shape = [request.rows, u64::from(facts.mxu_column_size.get())];
        let placed = allocator.allocate(&shape, Dtype::Float32, request.mxu_id);
        let placed = placed.map(|placed| Placed { base_address: placed.base_address() });
        Answer::from(placed.map_err(|fault| fault.code()))
    };
    Ok(asked.allocs.iter().map(place).collect())
}
