//! The facts of the registered chips: an answer a row.
//!
//! The hardware's figures are JAX's (`jax._src.tpu_info`), of one TensorCore;
//! the compiler's limits are libtpu's, found by asking it.

use super::Chip;
use super::facts::{ChipFacts, CompilerLimits, MatmulPairs, SparseCoreFacts};
use crate::dtype::Dtype;
use std::num::NonZeroU32;
use strum::EnumCount;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const MEGA: u64 = 1_000_000;
const GIGA: u64 = 1_000_000_000;
const TERA: u64 = 1_000_000_000_000;

#[allow(clippy::indexing_slicing, reason = "a row for every chip")]
pub(super) const fn facts(chip: Chip) -> &'static ChipFacts {
    &TABLE[chip as usize]
}

#[allow(clippy::indexing_slicing, reason = "evaluated at compile time")]
const TABLE: &[ChipFacts; Chip::COUNT] = &{
    let mut table = [row(Chip::V2); Chip::COUNT];
    let mut i = 0;
    while i < Chip::COUNT {
        table[i] = row(Chip::ALL[i]);
        i += 1;
    }
    table
};

const fn row(chip: Chip) -> ChipFacts {
    ChipFacts {
        name: chip.as_str(),
        generation: generation(chip),
        num_physical_cores: num_physical_cores(chip),
        num_cores: NonZeroU32::MIN,
        supports_megacore: supports_megacore(chip),
        is_lite: is_lite(chip),
        num_lanes: non_zero(128),
        num_sublanes: num_sublanes(chip),
        mxu_column_size: mxu_column_size(chip),
        num_mxus: num_mxus(chip),
        num_accumulators: num_accumulators(chip),
        vmem_capacity_bytes: vmem_capacity_bytes(chip),
        cmem_capacity_bytes: cmem_capacity_bytes(chip),
        smem_capacity_bytes: smem_capacity_bytes(chip),
        hbm_capacity_bytes: hbm_capacity_bytes(chip),
        mem_bw_bytes_per_second: mem_bw_bytes_per_second(chip),
        bf16_ops_per_second: bf16_ops_per_second(chip),
        int8_ops_per_second: int8_ops_per_second(chip),
        fp8_ops_per_second: fp8_ops_per_second(chip),
        int4_ops_per_second: int4_ops_per_second(chip),
        matmul: matmul(chip),
        compiler: CompilerLimits {
            default_vmem_limit_bytes: default_vmem_limit_bytes(chip),
            max_vmem_limit_bytes: max_vmem_limit_bytes(chip),
            usable_smem_bytes: usable_smem_bytes(chip),
            default_num_cores: default_num_cores(chip),
        },
        sparse_core: sparse_core(chip),
    }
}

const fn generation(chip: Chip) -> u32 {
    match chip {
        Chip::V2 => 2,
        Chip::V3 => 3,
        Chip::V4i | Chip::V4 => 4,
        Chip::V5e | Chip::V5p => 5,
        Chip::V6e => 6,
        Chip::Tpu7 | Chip::Tpu7x => 7,
        Chip::Tpu8i | Chip::Tpu8t => 8,
    }
}

const fn num_physical_cores(chip: Chip) -> NonZeroU32 {
    match chip {
        Chip::V4i | Chip::V5e | Chip::V6e | Chip::Tpu8t => non_zero(1),
        Chip::V2 | Chip::V3 | Chip::V4 | Chip::V5p => non_zero(2),
        Chip::Tpu7 | Chip::Tpu7x | Chip::Tpu8i => non_zero(2),
    }
}

const fn supports_megacore(chip: Chip) -> bool {
    match chip {
        Chip::V4 | Chip::V5p => true,
        Chip::V2 | Chip::V3 | Chip::V4i | Chip::V5e | Chip::V6e => false,
        Chip::Tpu7 | Chip::Tpu7x | Chip::Tpu8i | Chip::Tpu8t => false,
    }
}

const fn is_lite(chip: Chip) -> bool {
    match chip {
        Chip::V4i | Chip::V5e | Chip::V6e => true,
        Chip::V2 | Chip::V3 | Chip::V4 | Chip::V5p => false,
        Chip::Tpu7 | Chip::Tpu7x | Chip::Tpu8i | Chip::Tpu8t => false,
    }
}

const fn num_sublanes(chip: Chip) -> NonZeroU32 {
    match chip {
        Chip::V2 | Chip::V3 | Chip::V4i | Chip::V4 | Chip::V5e | Chip::V5p => non_zero(8),
        Chip::V6e | Chip::Tpu7 | Chip::Tpu7x | Chip::Tpu8i => non_zero(8),
        Chip::Tpu8t => non_zero(16),
    }
}

const fn mxu_column_size(chip: Chip) -> NonZeroU32 {
    match chip {
        Chip::V2 | Chip::V3 | Chip::V4i | Chip::V4 | Chip::V5e | Chip::V5p => non_zero(128),
        Chip::V6e | Chip::Tpu7 | Chip::Tpu7x | Chip::Tpu8i | Chip::Tpu8t => non_zero(256),
    }
}

const fn num_mxus(chip: Chip) -> u32 {
    match chip {
        Chip::V2 => 1,
        Chip::V3 => 2,
        Chip::V4i | Chip::V4 | Chip::V5e | Chip::V5p => 4,
        Chip::V6e | Chip::Tpu7 | Chip::Tpu7x | Chip::Tpu8i | Chip::Tpu8t => 2,
    }
}

const fn num_accumulators(chip: Chip) -> Option<NonZeroU32> {
    match chip {
        Chip::V2 | Chip::V3 | Chip::V4i | Chip::V4 => None,
        Chip::V5e | Chip::V5p | Chip::V6e => None,
        Chip::Tpu7 | Chip::Tpu7x => NonZeroU32::new(128),
        Chip::Tpu8i | Chip::Tpu8t => NonZeroU32::new(256),
    }
}

const fn vmem_capacity_bytes(chip: Chip) -> u64 {
    match chip {
        Chip::V2 | Chip::V3 | Chip::V4i | Chip::V4 => 16 * MIB,
        Chip::V5p | Chip::Tpu7 | Chip::Tpu7x => 64 * MIB,
        Chip::V5e | Chip::V6e | Chip::Tpu8t => 128 * MIB,
        Chip::Tpu8i => 192 * MIB,
    }
}

const fn cmem_capacity_bytes(chip: Chip) -> Option<u64> {
    match chip {
        Chip::V4i => Some(134 * MEGA),
        Chip::V4 => Some(67 * MEGA),
        Chip::V2 | Chip::V3 | Chip::V5e | Chip::V5p | Chip::V6e => None,
        Chip::Tpu7 | Chip::Tpu7x | Chip::Tpu8i | Chip::Tpu8t => None,
    }
}

const fn smem_capacity_bytes(chip: Chip) -> u64 {
    match chip {
        Chip::V2 | Chip::V3 => 16 * KIB,
        Chip::V4i | Chip::V4 | Chip::V5e | Chip::V5p | Chip::V6e => MIB,
        Chip::Tpu7 | Chip::Tpu7x | Chip::Tpu8i | Chip::Tpu8t => MIB,
    }
}

const fn hbm_capacity_bytes(chip: Chip) -> u64 {
    match chip {
        Chip::V2 => 8_000 * MEGA,
        Chip::V4i => 8_590 * MEGA,
        Chip::V3 | Chip::V4 | Chip::V5e => 17_200 * MEGA,
        Chip::V6e => 34_400 * MEGA,
        Chip::V5p => 51_500 * MEGA,
        Chip::Tpu7 | Chip::Tpu7x => 103_000 * MEGA,
        Chip::Tpu8i => 154_500 * MEGA,
        Chip::Tpu8t => 231_000 * MEGA,
    }
}

const fn mem_bw_bytes_per_second(chip: Chip) -> u64 {
    match chip {
        Chip::V2 => 358 * GIGA,
        Chip::V3 => 412_500 * MEGA,
        Chip::V4i => 614 * GIGA,
        Chip::V4 => 615 * GIGA,
        Chip::V5e => 820 * GIGA,
        Chip::V5p => 1_230 * GIGA,
        Chip::V6e => 1_640 * GIGA,
        Chip::Tpu7 | Chip::Tpu7x => 3_700 * GIGA,
        Chip::Tpu8i => 4_300 * GIGA,
        Chip::Tpu8t => 6_400 * GIGA,
    }
}

const fn bf16_ops_per_second(chip: Chip) -> u64 {
    match chip {
        Chip::V2 => 23 * TERA,
        Chip::V3 => 70 * TERA,
        Chip::V4i => 137 * TERA,
        Chip::V4 => 137_500 * GIGA,
        Chip::V5e => 197 * TERA,
        Chip::V5p => 229_500 * GIGA,
        Chip::V6e => 920 * TERA,
        Chip::Tpu7 | Chip::Tpu7x => 1_155 * TERA,
        Chip::Tpu8i => 550_500 * GIGA,
        Chip::Tpu8t => 996_100 * GIGA,
    }
}

const fn int8_ops_per_second(chip: Chip) -> Option<u64> {
    match chip {
        Chip::V2 | Chip::V3 | Chip::V4i | Chip::V4 => None,
        Chip::V5e => Some(394 * TERA),
        Chip::V5p => Some(459 * TERA),
        Chip::V6e => Some(1_840 * TERA),
        Chip::Tpu7 | Chip::Tpu7x | Chip::Tpu8i => None,
        Chip::Tpu8t => Some(996_100 * GIGA),
    }
}

const fn fp8_ops_per_second(chip: Chip) -> Option<u64> {
    match chip {
        Chip::V2 | Chip::V3 | Chip::V4i | Chip::V4 | Chip::V5e | Chip::V5p => None,
        Chip::V6e => Some(920 * TERA),
        Chip::Tpu7 | Chip::Tpu7x => Some(2_300 * TERA),
        Chip::Tpu8i => Some(4_404 * TERA),
        Chip::Tpu8t => Some(5_976_900 * GIGA),
    }
}

const fn int4_ops_per_second(chip: Chip) -> Option<u64> {
    match chip {
        Chip::V2 | Chip::V3 | Chip::V4i | Chip::V4 => None,
        Chip::V5e => Some(788 * TERA),
        Chip::V5p => Some(920 * TERA),
        Chip::V6e => Some(3_680 * TERA),
        Chip::Tpu7 | Chip::Tpu7x | Chip::Tpu8i => None,
        Chip::Tpu8t => Some(11_953_800 * GIGA),
    }
}

const fn matmul(chip: Chip) -> &'static [MatmulPairs] {
    use Dtype::{
        Bfloat16, Float8E4m3b11fnuz, Float8E4m3fn, Float8E5m2, Float32, Int4, Int8, Uint4, Uint8,
    };
    match chip {
        Chip::V2 | Chip::V3 => &[MatmulPairs { lhs: &[Float32], rhs: &[Float32] }],
        Chip::V4i | Chip::V4 => {
            &[MatmulPairs { lhs: &[Float32, Bfloat16], rhs: &[Float32, Bfloat16, Int8] }]
        }
        Chip::V5e | Chip::V5p | Chip::V6e => &[
            MatmulPairs {
                lhs: &[Float32, Bfloat16, Float8E5m2, Float8E4m3b11fnuz],
                rhs: &[Float32, Bfloat16, Float8E5m2, Float8E4m3b11fnuz],
            },
            MatmulPairs { lhs: &[Uint8, Int8], rhs: &[Uint8, Int8] },
            MatmulPairs { lhs: &[Uint4, Int4], rhs: &[Uint4, Int4] },
        ],
        Chip::Tpu7 | Chip::Tpu7x => &[
            MatmulPairs {
                lhs: &[Float32, Bfloat16],
                rhs: &[Float32, Bfloat16, Float8E5m2, Float8E4m3fn],
            },
            MatmulPairs { lhs: &[Float8E5m2, Float8E4m3fn], rhs: &[Float8E5m2, Float8E4m3fn] },
        ],
        Chip::Tpu8i => &[
            MatmulPairs {
                lhs: &[Float32, Bfloat16],
                rhs: &[Float32, Bfloat16, Float8E5m2, Float8E4m3fn, Uint4, Int4],
            },
            MatmulPairs {
                lhs: &[Float8E5m2, Float8E4m3fn],
                rhs: &[Float8E5m2, Float8E4m3fn, Uint4, Int4],
            },
        ],
        Chip::Tpu8t => &[
            MatmulPairs { lhs: &[Float32, Bfloat16], rhs: &[Float32, Bfloat16, Int4] },
            MatmulPairs {
                lhs: &[Float32, Bfloat16, Float8E5m2, Float8E4m3fn],
                rhs: &[Float8E5m2, Float8E4m3fn, Int4],
            },
        ],
    }
}

const fn default_vmem_limit_bytes(chip: Chip) -> Option<u64> {
    match chip {
        Chip::V2 | Chip::V3 | Chip::V4i | Chip::V4 | Chip::V5e | Chip::V5p => Some(16 * MIB),
        Chip::V6e | Chip::Tpu7x => Some(32 * MIB),
        Chip::Tpu7 | Chip::Tpu8i | Chip::Tpu8t => None,
    }
}

const fn max_vmem_limit_bytes(chip: Chip) -> Option<u64> {
    match chip {
        Chip::V2 | Chip::V3 | Chip::V4i | Chip::V4 => Some(16 * MIB),
        Chip::V5e => Some(128 * MIB),
        Chip::V5p | Chip::Tpu7x => Some(64 * MIB - 64 * KIB),
        Chip::V6e => Some(128 * MIB - 64 * KIB),
        Chip::Tpu7 | Chip::Tpu8i | Chip::Tpu8t => None,
    }
}

const fn usable_smem_bytes(chip: Chip) -> Option<u64> {
    match chip {
        Chip::V2 | Chip::V3 => Some(15 * KIB),
        Chip::V4i | Chip::V4 => Some(MIB - 512),
        Chip::V5e | Chip::V5p | Chip::V6e | Chip::Tpu7x => Some(MIB - 2_048),
        Chip::Tpu7 | Chip::Tpu8i | Chip::Tpu8t => None,
    }
}

const fn default_num_cores(chip: Chip) -> NonZeroU32 {
    match chip {
        Chip::V5p => non_zero(2),
        Chip::V2 | Chip::V3 | Chip::V4i | Chip::V4 | Chip::V5e | Chip::V6e => non_zero(1),
        Chip::Tpu7 | Chip::Tpu7x | Chip::Tpu8i | Chip::Tpu8t => non_zero(1),
    }
}

const fn sparse_core(chip: Chip) -> Option<SparseCoreFacts> {
    match chip {
        Chip::V2 | Chip::V3 | Chip::V4i | Chip::V4 | Chip::V5e => None,
        Chip::V5p => Some(SparseCoreFacts {
            num_cores: non_zero(4),
            num_subcores: non_zero(16),
            num_lanes: non_zero(8),
            vmem_capacity_bytes: 512 << 10,
            dma_granule_size_bytes: 32,
            usable_scalar_smem_words: usable_scalar_smem_words(chip),
            usable_vector_smem_words: usable_vector_smem_words(chip),
        }),
        Chip::V6e => Some(SparseCoreFacts {
            num_cores: non_zero(2),
            num_subcores: non_zero(16),
            num_lanes: non_zero(8),
            vmem_capacity_bytes: 256 << 10,
            dma_granule_size_bytes: 32,
            usable_scalar_smem_words: usable_scalar_smem_words(chip),
            usable_vector_smem_words: usable_vector_smem_words(chip),
        }),
        Chip::Tpu7 | Chip::Tpu7x => Some(SparseCoreFacts {
            num_cores: non_zero(2),
            num_subcores: non_zero(16),
            num_lanes: non_zero(16),
            vmem_capacity_bytes: 512 << 10,
            dma_granule_size_bytes: 32,
            usable_scalar_smem_words: usable_scalar_smem_words(chip),
            usable_vector_smem_words: usable_vector_smem_words(chip),
        }),
        Chip::Tpu8i => Some(SparseCoreFacts {
            num_cores: non_zero(1),
            num_subcores: non_zero(4),
            num_lanes: non_zero(16),
            vmem_capacity_bytes: 512 << 10,
            dma_granule_size_bytes: 64,
            usable_scalar_smem_words: usable_scalar_smem_words(chip),
            usable_vector_smem_words: usable_vector_smem_words(chip),
        }),
        Chip::Tpu8t => Some(SparseCoreFacts {
            num_cores: non_zero(2),
            num_subcores: non_zero(16),
            num_lanes: non_zero(16),
            vmem_capacity_bytes: 256 << 10,
            dma_granule_size_bytes: 64,
            usable_scalar_smem_words: usable_scalar_smem_words(chip),
            usable_vector_smem_words: usable_vector_smem_words(chip),
        }),
    }
}

const fn usable_scalar_smem_words(chip: Chip) -> Option<u32> {
    match chip {
        Chip::V5p | Chip::V6e | Chip::Tpu7x => Some(16_326),
        Chip::V2 | Chip::V3 | Chip::V4i | Chip::V4 | Chip::V5e => None,
        Chip::Tpu7 | Chip::Tpu8i | Chip::Tpu8t => None,
    }
}

const fn usable_vector_smem_words(chip: Chip) -> Option<u32> {
    match chip {
        Chip::V5p | Chip::V6e | Chip::Tpu7x => Some(2_046),
        Chip::V2 | Chip::V3 | Chip::V4i | Chip::V4 | Chip::V5e => None,
        Chip::Tpu7 | Chip::Tpu8i | Chip::Tpu8t => None,
    }
}

#[allow(clippy::unwrap_used, reason = "evaluated at compile time")]
const fn non_zero(count: u32) -> NonZeroU32 {
    NonZeroU32::new(count).unwrap()
}
