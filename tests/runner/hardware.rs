//! Element types, chips, tilings.

use crate::line::Word;
use mosaic_memspace::error::{Code, Fault};
use mosaic_memspace::{Chip, ChipFacts, Dtype, SparseCoreFacts};
use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Named {
    dtype: Word<Dtype>,
}

#[derive(Serialize)]
pub(crate) struct DtypeInfo {
    bits: u32,
    itemsize_bytes: u32,
    mosaic: &'static str,
}

pub(crate) fn dtype(asked: Named) -> Result<DtypeInfo, Code> {
    let dtype = asked.dtype.0;
    let (bits, itemsize_bytes) = (dtype.bits(), dtype.itemsize_bytes());
    Ok(DtypeInfo { bits, itemsize_bytes, mosaic: dtype.as_mosaic() })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OfChip {
    chip: Word<Chip>,
}

pub(crate) fn matmul_pairs(asked: OfChip) -> Result<Vec<[Word<Dtype>; 2]>, Code> {
    let mut dtypes = Dtype::ALL.to_vec();
    dtypes.sort_unstable_by_key(|dtype| dtype.as_str());
    let pairs = dtypes.iter().flat_map(|lhs| dtypes.iter().map(move |rhs| [*lhs, *rhs]));
    let supported = |pair: &[Dtype; 2]| asked.chip.0.facts().is_matmul_supported(pair[0], pair[1]);
    Ok(pairs.filter(supported).map(|pair| pair.map(Word)).collect())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DeviceKind {
    device_kind: String,
}

pub(crate) fn device_kind(asked: DeviceKind) -> Result<Option<Word<Chip>>, Code> {
    Ok(Chip::from_device_kind(&asked.device_kind).map(Word))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Cores {
    chip: Word<Chip>,
    num_cores: u32,
}

/// JAX's `TpuInfo`: what a chip lacks is 0 there.
#[derive(Serialize)]
pub(crate) struct TpuInfo {
    generation: u32,
    num_cores: u32,
    num_lanes: u32,
    num_sublanes: u32,
    mxu_column_size: u32,
    num_mxus: u32,
    num_accumulators: u32,
    vmem_capacity_bytes: u64,
    cmem_capacity_bytes: u64,
    smem_capacity_bytes: u64,
    hbm_capacity_bytes: u64,
    mem_bw_bytes_per_second: u64,
    bf16_ops_per_second: u64,
    int8_ops_per_second: u64,
    fp8_ops_per_second: u64,
    int4_ops_per_second: u64,
    is_lite: bool,
    is_split_chip: bool,
    is_megacore: bool,
    sparse_core: Option<SparseCoreInfo>,
}

#[derive(Serialize)]
struct SparseCoreInfo {
    num_cores: u32,
    num_subcores: u32,
    num_lanes: u32,
    vmem_capacity_bytes: u32,
    dma_granule_size_bytes: u32,
}

pub(crate) fn tpu_info(asked: Cores) -> Result<TpuInfo, Code> {
    let facts = asked.chip.0.facts().with_num_cores(asked.num_cores);
    let facts = facts.map_err(|fault| fault.code())?;
    Ok(TpuInfo {
        generation: facts.generation,
        num_cores: facts.num_cores.get(),
        num_lanes: facts.num_lanes.get(),
        num_sublanes: facts.num_sublanes.get(),
        mxu_column_size: facts.mxu_column_size.get(),
        num_mxus: facts.num_mxus,
        num_accumulators: facts.num_accumulators.map_or(0, NonZeroU32::get),
        vmem_capacity_bytes: facts.vmem_capacity_bytes,
        cmem_capacity_bytes: facts.cmem_capacity_bytes.unwrap_or(0),
        smem_capacity_bytes: facts.smem_capacity_bytes,
        hbm_capacity_bytes: facts.hbm_capacity_bytes,
        mem_bw_bytes_per_second: facts.mem_bw_bytes_per_second,
        bf16_ops_per_second: facts.bf16_ops_per_second,
        int8_ops_per_second: facts.int8_ops_per_second.unwrap_or(0),
        fp8_ops_per_second: facts.fp8_ops_per_second.unwrap_or(0),
        int4_ops_per_second: facts.int4_ops_per_second.unwrap_or(0),
        is_lite: facts.is_lite,
        is_split_chip: facts.is_split_chip(),
        is_megacore: facts.is_megacore(),
        sparse_core: facts.sparse_core.map(sparse_core_info),
    })
}

fn sparse_core_info(facts: SparseCoreFacts) -> SparseCoreInfo {
    SparseCoreInfo {
        num_cores: facts.num_cores.get(),
        num_subcores: facts.num_subcores.get(),
        num_lanes: facts.num_lanes.get(),
        vmem_capacity_bytes: facts.vmem_capacity_bytes,
        dma_granule_size_bytes: facts.dma_granule_size_bytes,
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OfDtype {
    chip: Word<Chip>,
    dtype: Word<Dtype>,
}

pub(crate) fn sublane_tiling(asked: OfDtype) -> Result<u64, Code> {
    Ok(asked.chip.0.facts().jax_sublane_tiling(asked.dtype.0))
}

pub(crate) fn sc_supported_shapes(asked: OfDtype) -> Result<Vec<Vec<u64>>, Code> {
    let shapes = asked.chip.0.facts().jax_sc_supported_shapes(asked.dtype.0);
    let shapes = shapes.map_err(|fault| fault.code())?;
    Ok(shapes.iter().map(<[u64]>::to_vec).collect())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tiled {
    chip: Word<Chip>,
    shape: Vec<u64>,
    dtype: Word<Dtype>,
    tiling: Option<Tiling>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Tiling {
    Compact,
    SparseCore,
}

pub(crate) fn infer_tiling(asked: Tiled) -> Result<Vec<u64>, Code> {
    let (facts, shape, dtype) = (asked.chip.0.facts(), &asked.shape, asked.dtype.0);
    let tiling = match asked.tiling.unwrap_or(Tiling::Compact) {
        Tiling::Compact => ChipFacts::jax_compact_tiling(facts, shape, dtype),
        Tiling::SparseCore => ChipFacts::jax_sparse_core_tiling(facts, shape, dtype),
    };
    tiling.map(|tiling| tiling.extents().collect()).map_err(|fault| fault.code())
}
