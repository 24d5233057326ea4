//! What is known of a chip: the type of a row of the table.

use crate::dtype::Dtype;
use crate::error::faults;
use std::num::NonZeroU32;

/// The facts of a chip, of one TensorCore (JAX's `TpuInfo`).
///
/// Every field is public and none has a default: a chip that is not registered
/// is described by stating each of them, or by the registered chip that it takes
/// the rest from. What a chip lacks, or what nobody has published or measured, is
/// `None`, never 0.
///
/// ```
/// use mosaic_memspace::{Chip, ChipFacts, CoreType, TpuSpace, Capacity};
///
/// // One that differs from v6e by twice the VMEM.
/// const MINE: ChipFacts = ChipFacts {
///     name: "v6x",
///     vmem_capacity_bytes: 256 << 20,
///     ..*Chip::V6e.facts()
/// };
/// assert_eq!(MINE.capacity(TpuSpace::Vmem, CoreType::Tc), Capacity::Bytes(256 << 20));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ChipFacts {
    /// What messages call it: for a registered chip its word, as `v5e`.
    pub name: &'static str,
    /// The generation, as 5 for v5e and v5p. Some of the compiler's rules go by it.
    pub generation: u32,
    /// TensorCores on a chip.
    pub num_physical_cores: NonZeroU32,
    /// TensorCores that make one logical device.
    pub num_cores: NonZeroU32,
    /// Whether its TensorCores can be joined into one logical device.
    pub supports_megacore: bool,
    /// Whether it is one of the smaller chips of its generation (v4i, v5e, v6e).
    pub is_lite: bool,
    /// Lanes of a vector register.
    pub num_lanes: NonZeroU32,
    /// Sublanes of a vector register.
    pub num_sublanes: NonZeroU32,
    /// Columns of an MXU.
    pub mxu_column_size: NonZeroU32,
    /// MXUs of a TensorCore.
    pub num_mxus: u32,
    /// Entries of an MXU's result buffer that a kernel can use as accumulators,
    /// each of sublanes × columns 32-bit elements.
    pub num_accumulators: Option<NonZeroU32>,
    /// Bytes of VMEM.
    pub vmem_capacity_bytes: u64,
    /// Bytes of CMEM.
    pub cmem_capacity_bytes: Option<u64>,
    /// Bytes of SMEM; a kernel cannot use them all, see
    /// [`CompilerLimits::usable_smem_bytes`].
    pub smem_capacity_bytes: u64,
    /// Bytes of HBM: the TensorCore's share of the chip's.
    pub hbm_capacity_bytes: u64,
    /// Bytes per second from and to HBM: the TensorCore's share.
    pub mem_bw_bytes_per_second: u64,
    /// bfloat16 operations per second.
    pub bf16_ops_per_second: u64,
    /// int8 operations per second.
    pub int8_ops_per_second: Option<u64>,
    /// float8 operations per second.
    pub fp8_ops_per_second: Option<u64>,
    /// int4 operations per second.
    pub int4_ops_per_second: Option<u64>,
    /// The pairs of element types that an MXU multiplies without a cast.
    pub matmul: &'static [MatmulPairs],
    /// What libtpu's compiler lets a kernel have.
    pub compiler: CompilerLimits,
    /// The SparseCores.
    pub sparse_core: Option<SparseCoreFacts>,
}

impl ChipFacts {
    /// The first generation whose compact tiles start at one 32-bit word a
    /// sublane; those before it start at two.
    const FIRST_OF_SINGLE_TILES: u32 = 4;

    /// The same chip with another number of TensorCores to a logical device;
    /// the other figures stay, as they are those of one TensorCore.
    ///
    /// JAX's `get_tpu_info_for_chip` lets v4 and v5p have any number.
    ///
    /// # Errors
    /// [`CoreCountUnsupported`]: one is always possible, and all the physical
    /// ones where the chip supports megacore; no other number is.
    ///
    /// ```
    /// use mosaic_memspace::Chip;
    /// let megacore = Chip::V5p.facts().with_num_cores(2)?;
    /// assert!(megacore.is_megacore() && !megacore.is_split_chip());
    /// assert!(Chip::V5e.facts().with_num_cores(2).is_err());
    /// # Ok::<(), mosaic_memspace::CoreCountUnsupported>(())
    /// ```
    pub const fn with_num_cores(&self, num_cores: u32) -> Result<Self, CoreCountUnsupported> {
        let all = self.supports_megacore && num_cores == self.num_physical_cores.get();
        match NonZeroU32::new(num_cores) {
            Some(num_cores) if num_cores.get() == 1 || all => Ok(Self { num_cores, ..*self }),
            Some(_) | None => Err(CoreCountUnsupported {
                chip: self.name,
                num_cores,
                megacore: if self.supports_megacore { Some(self.num_physical_cores) } else { None },
            }),
        }
    }

    /// Whether a logical device joins several TensorCores.
    ///
    /// ```
    /// assert!(!mosaic_memspace::Chip::V5p.facts().is_megacore());
    /// ```
    pub const fn is_megacore(&self) -> bool {
        self.num_cores.get() > 1
    }

    /// Whether each of several physical TensorCores is a logical device.
    ///
    /// ```
    /// use mosaic_memspace::Chip;
    /// assert!(Chip::V5p.facts().is_split_chip());
    /// assert!(!Chip::V5e.facts().is_split_chip());
    /// ```
    pub const fn is_split_chip(&self) -> bool {
        self.num_cores.get() == 1 && self.num_physical_cores.get() > 1
    }

    /// Whether compact tiles start at twice the packing: v2 and v3 (JAX:
    /// `_get_tiling_factor`; libtpu lays windows and scratch out by the same rule).
    ///
    /// ```
    /// use mosaic_memspace::Chip;
    /// assert!(Chip::V3.facts().doubles_tiles());
    /// assert!(!Chip::V4.facts().doubles_tiles());
    /// ```
    pub const fn doubles_tiles(&self) -> bool {
        self.generation < Self::FIRST_OF_SINGLE_TILES
    }

    /// Whether an MXU multiplies these element types without casting one (JAX:
    /// `TpuInfo.is_matmul_supported`).
    ///
    /// ```
    /// use mosaic_memspace::{Chip, Dtype};
    /// const V4: bool = Chip::V4.facts().is_matmul_supported(Dtype::Bfloat16, Dtype::Int8);
    /// assert!(V4);
    /// assert!(!Chip::V4.facts().is_matmul_supported(Dtype::Int8, Dtype::Bfloat16));
    /// ```
    pub const fn is_matmul_supported(&self, lhs: Dtype, rhs: Dtype) -> bool {
        let mut pairs = self.matmul;
        while let [first, rest @ ..] = pairs {
            if contains(first.lhs, lhs) && contains(first.rhs, rhs) {
                return true;
            }
            pairs = rest;
        }
        false
    }
}

const fn contains(dtypes: &[Dtype], dtype: Dtype) -> bool {
    let mut dtypes = dtypes;
    while let [first, rest @ ..] = dtypes {
        if first.is(dtype) {
            return true;
        }
        dtypes = rest;
    }
    false
}

/// Every left operand of one list with every right operand of another.
///
/// ```
/// use mosaic_memspace::{Dtype, MatmulPairs};
/// const SIGNED: MatmulPairs = MatmulPairs { lhs: &[Dtype::Int8], rhs: &[Dtype::Int8] };
/// assert_eq!(SIGNED.lhs, SIGNED.rhs);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct MatmulPairs {
    /// What may be on the left.
    pub lhs: &'static [Dtype],
    /// What may be on the right.
    pub rhs: &'static [Dtype],
}

/// What libtpu's compiler lets a kernel have. `None`: nobody has measured it.
///
/// ```
/// use mosaic_memspace::Chip;
/// let limits = Chip::V6e.facts().compiler;
/// assert_eq!(limits.default_vmem_limit_bytes, Some(32 << 20));
/// assert_eq!(Chip::Tpu8i.facts().compiler.max_vmem_limit_bytes, None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct CompilerLimits {
    /// Bytes of VMEM that a TensorCore kernel may use when it does not set
    /// `vmem_limit_bytes`.
    pub default_vmem_limit_bytes: Option<u64>,
    /// Bytes of VMEM that a larger `vmem_limit_bytes` is silently cut to.
    pub max_vmem_limit_bytes: Option<u64>,
    /// Bytes of SMEM left to a TensorCore kernel by the program itself.
    pub usable_smem_bytes: Option<u64>,
    /// TensorCores that share a kernel's parallel axes unless flags say
    /// otherwise. A logical device of more of them shares among them all.
    pub default_num_cores: NonZeroU32,
}

/// The SparseCores of a TensorCore's logical device (JAX's `SparseCoreInfo`).
///
/// ```
/// use mosaic_memspace::Chip;
/// let sparse_core = Chip::V5p.facts().sparse_core.map(|facts| facts.num_cores.get());
/// assert_eq!(sparse_core, Some(4));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct SparseCoreFacts {
    /// SparseCores.
    pub num_cores: NonZeroU32,
    /// Vector subcores of one SparseCore.
    pub num_subcores: NonZeroU32,
    /// Lanes of a vector subcore, of 32 bits each.
    pub num_lanes: NonZeroU32,
    /// Bytes of VMEM of one vector subcore.
    pub vmem_capacity_bytes: u32,
    /// Bytes that a copy moves at least.
    pub dma_granule_size_bytes: u32,
    /// 32-bit words of a scalar subcore's SMEM up to which libtpu lets a kernel
    /// allocate, in steps of 128. `None`: nobody has measured it.
    pub usable_scalar_smem_words: Option<u32>,
    /// The same of a vector subcore's SMEM.
    pub usable_vector_smem_words: Option<u32>,
}

impl SparseCoreFacts {
    /// Bytes of the pool from which a SparseCore's vmem (once for each of its
    /// subcores) and `vmem_shared` are taken: subcores × vmem of one.
    ///
    /// ```
    /// use mosaic_memspace::Chip;
    /// let pool = Chip::Tpu7x.facts().sparse_core.map(|facts| facts.pool_bytes());
    /// assert_eq!(pool, Some(8 << 20));
    /// ```
    #[allow(clippy::arithmetic_side_effects, reason = "two 32-bit factors")]
    pub const fn pool_bytes(&self) -> u64 {
        self.num_subcores.get() as u64 * self.vmem_capacity_bytes as u64
    }
}

faults! {
    /// A number of TensorCores that a logical device of the chip cannot have.
    ///
    /// ```
    /// use mosaic_memspace::Chip;
    /// use mosaic_memspace::error::Fault;
    ///
    /// let error = Chip::V5e.facts().with_num_cores(2).unwrap_err();
    /// assert_eq!(error.to_string(), "a logical device of v5e has 1 TensorCore, not 2");
    /// assert_eq!(error.help(), "ask for 1");
    ///
    /// let error = Chip::V4.facts().with_num_cores(3).unwrap_err();
    /// assert_eq!(error.to_string(), "a logical device of v4 has 1 or 2 TensorCores, not 3");
    /// assert_eq!(error.help(), "ask for 1 or 2");
    /// ```
    #[derive(Clone, Copy)]
    pub struct CoreCountUnsupported {
        chip: &'static str,
        num_cores: u32,
        megacore: Option<NonZeroU32>,
    }
    => CoreCountUnsupported
       (
           "a logical device of {chip} has {}, not {num_cores}",
           possible(*.megacore, "TensorCore")
       )
       help { format!("ask for {}", possible(*megacore, "")) };
}

/// How many TensorCores a logical device can have.
fn possible(megacore: Option<NonZeroU32>, noun: &str) -> String {
    let space = if noun.is_empty() { "" } else { " " };
    match megacore {
        Some(all) => {
            let plural = if noun.is_empty() { "" } else { "s" };
            format!("1 or {all}{space}{noun}{plural}")
        }
        None => format!("1{space}{noun}"),
    }
}
