//! The chips, and the facts about them: one table, known at compile time.

mod capacity;
mod cores;
mod device_kind;
mod facts;
mod table;
mod tiling;

pub use capacity::Capacity;
pub use cores::NoSparseCores;
pub use facts::{ChipFacts, CompilerLimits, CoreCountUnsupported, MatmulPairs, SparseCoreFacts};
pub use tiling::{InferredTiling, ScVectorShapes, TilingFault};

use crate::error::words;

words! {
    /// A registered TPU chip (JAX's `ChipVersion`).
    ///
    /// Its facts are [`facts`](Self::facts). A chip that is not among these is
    /// described by a [`ChipFacts`] of the caller's own: everything that needs a
    /// chip takes the facts. New chips come with new versions of JAX.
    ///
    /// All that is known of chips, tilings, meshes and accumulators is known at compile
    /// time. What is not `const` says why; reading and printing are traits, which
    /// cannot be.
    ///
    /// ```
    /// use mosaic_memspace::Chip;
    ///
    /// assert_eq!("v5e".parse(), Ok(Chip::V5e));
    /// assert_eq!(Chip::Tpu7x.as_str(), "7x");
    /// const VMEM: u64 = Chip::V5e.facts().vmem_capacity_bytes;
    /// assert_eq!(VMEM, 128 << 20);
    /// ```
    #[non_exhaustive]
    #[repr(u8)]
    pub enum Chip {
        /// `v2`
        V2,
        /// `v3`
        V3,
        /// `v4i`, whose device kind is `TPU v4 lite`.
        V4i,
        /// `v4`
        V4,
        /// `v5e`, whose device kind is `TPU v5 lite`.
        V5e,
        /// `v5p`, whose device kind is `TPU v5`.
        V5p,
        /// `v6e`, whose device kind is `TPU v6 lite`.
        V6e,
        /// `7`
        #[strum(serialize = "7")]
        Tpu7,
        /// `7x`
        #[strum(serialize = "7x")]
        Tpu7x,
        /// `8i`
        #[strum(serialize = "8i")]
        Tpu8i,
        /// `8t`
        #[strum(serialize = "8t")]
        Tpu8t,
    }
    path: "Chip",
    all: 11 "Every registered chip, the oldest first",
    as_str: Tpu8i "8i" "JAX's word",
    expecting: "a chip: v2, v3, v4i, v4, v5e, v5p, v6e, 7, 7x, 8i or 8t",
    unknown: UnknownChip "unknown chip",
}

impl Chip {
    /// The facts of the chip with one TensorCore to a logical device (JAX:
    /// `get_tpu_info_for_chip`); see [`ChipFacts::with_num_cores`] for two.
    ///
    /// ```
    /// use mosaic_memspace::Chip;
    /// const SUBLANES: u32 = Chip::Tpu8t.facts().num_sublanes.get();
    /// assert_eq!(SUBLANES, 16);
    /// assert!(Chip::V5e.facts().sparse_core.is_none());
    /// ```
    pub const fn facts(self) -> &'static ChipFacts {
        table::facts(self)
    }
}
