//! What one buffer takes once the compiler has padded it to its tiles.

use crate::chip::{ChipFacts, TilingFault};
use crate::dtype::Dtype;
use crate::error::faults;
use crate::operand::{Allocated, ResolvedScratch};

/// How the compiler lays out the elements of a type in a TensorCore's VMEM and
/// SMEM: rank 1 in lines of lanes × packing, higher ranks in tiles of
/// [`compact_rows`](ChipFacts::compact_rows) × lanes; rank 0 as one element.
///
/// ```
/// use mosaic_memspace::fit::Layout;
/// use mosaic_memspace::{Chip, Dtype};
///
/// let chip = Chip::V5e.facts();
/// assert_eq!(Layout::of_window(chip, Dtype::Bfloat16)?.bytes(&[100, 3])?, 104 * 128 * 2);
/// // In scratch an element takes at least a byte.
/// assert_eq!(Layout::of_window(chip, Dtype::Int4)?.bytes(&[8, 128])?, 512);
/// assert_eq!(Layout::of_scratch(chip, Dtype::Int4)?.bytes(&[8, 128])?, 1024);
/// # Ok::<(), mosaic_memspace::fit::PaddingFault>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Layout<'a> {
    chip: &'a ChipFacts,
    packing: u32,
    bits: u32,
    tiles: Tiles,
}

#[derive(Clone, Copy, Debug)]
enum Tiles {
    /// XLA's compact tiles.
    Compact,
    /// Rows of so many words, whatever the rank.
    Words(u32),
}

impl<'a> Layout<'a> {
    /// Of a window, or of an array that is kept in the memory.
    ///
    /// # Errors
    /// [`PaddingFault::NoTile`] when a 32-bit word does not hold a whole number
    /// of elements.
    ///
    /// ```
    /// use mosaic_memspace::fit::Layout;
    /// use mosaic_memspace::{Chip, Dtype};
    /// assert!(Layout::of_window(Chip::V5e.facts(), Dtype::Bool).is_ok());
    /// assert!(Layout::of_window(Chip::V5e.facts(), Dtype::Float64).is_err());
    /// ```
    pub const fn of_window(chip: &'a ChipFacts, dtype: Dtype) -> Result<Self, PaddingFault> {
        match dtype.memref_packing() {
            Some(packing) => {
                Ok(Self { chip, packing, bits: dtype.memref_bits(), tiles: Tiles::Compact })
            }
            None => Err(PaddingFault::NoTile(TilingFault::UnsupportedDtype { dtype })),
        }
    }

    /// Of scratch: padded by the type's own packing, a byte an element at least.
    ///
    /// # Errors
    /// [`PaddingFault::NoTile`], as for a window.
    ///
    /// ```
    /// use mosaic_memspace::fit::Layout;
    /// use mosaic_memspace::{Chip, Dtype};
    /// let scratch = Layout::of_scratch(Chip::V5e.facts(), Dtype::Int2)?;
    /// assert_eq!(scratch.bytes(&[1])?, 2048);
    /// # Ok::<(), mosaic_memspace::fit::PaddingFault>(())
    /// ```
    pub const fn of_scratch(chip: &'a ChipFacts, dtype: Dtype) -> Result<Self, PaddingFault> {
        match Self::of_window(chip, dtype) {
            Ok(layout) if layout.bits < 8 => Ok(Self { bits: 8, ..layout }),
            Ok(layout) => Ok(layout),
            Err(error) => Err(error),
        }
    }

    /// Of scratch, as it is allocated: what the body allocates is laid out as windows are.
    pub(super) const fn of(
        scratch: &ResolvedScratch<'_>,
        chip: &'a ChipFacts,
    ) -> Result<Self, PaddingFault> {
        match scratch.allocated {
            Allocated::ByKernel => Self::of_scratch(chip, scratch.dtype),
            Allocated::Before | Allocated::ByBody => Self::of_window(chip, scratch.dtype),
        }
    }

    /// Of a window of rank 2 or more in a kernel without a grid, where the
    /// compiler lays out types of fewer than 4 bits as those of 4.
    pub(super) const fn of_window_without_grid(
        chip: &'a ChipFacts,
        dtype: Dtype,
    ) -> Result<Self, PaddingFault> {
        match Self::of_window(chip, dtype) {
            Ok(layout) if layout.bits < 4 => Ok(Self { packing: 8, bits: 4, ..layout }),
            Ok(layout) => Ok(layout),
            Err(error) => Err(error),
        }
    }

    /// Of scratch of a SparseCore: as XLA tiles it when the kernel has the
    /// TensorCore's tiling, which is the default; else in rows of whole DMA
    /// granules. An element takes its own bits.
    ///
    /// # Errors
    /// [`PaddingFault::NoTile`], as for a window, and on a chip without
    /// SparseCores.
    ///
    /// ```
    /// use mosaic_memspace::fit::Layout;
    /// use mosaic_memspace::{Chip, Dtype};
    /// let chip = Chip::Tpu7x.facts();
    /// assert_eq!(Layout::of_sparse_core(chip, Dtype::Int8, true)?.bytes(&[9, 5])?, 16 * 128);
    /// assert_eq!(Layout::of_sparse_core(chip, Dtype::Int8, false)?.bytes(&[9, 5])?, 9 * 32);
    /// # Ok::<(), mosaic_memspace::fit::PaddingFault>(())
    /// ```
    pub const fn of_sparse_core(
        chip: &'a ChipFacts,
        dtype: Dtype,
        tc_tiling: bool,
    ) -> Result<Self, PaddingFault> {
        let granule = match chip.require_sparse_core() {
            Ok(sparse_core) => sparse_core.dma_granule_size_bytes,
            Err(absent) => return Err(PaddingFault::NoTile(TilingFault::NoSparseCores(absent))),
        };
        match Self::of_window(chip, dtype) {
            Ok(layout) if tc_tiling => Ok(layout),
            Ok(layout) => Ok(Self { tiles: Tiles::Words(granule >> 2), ..layout }),
            Err(error) => Err(error),
        }
    }

    /// Bytes of one buffer of this shape.
    ///
    /// # Errors
    /// [`PaddingFault::TooLarge`] beyond 64 bits.
    ///
    /// ```
    /// use mosaic_memspace::fit::{Layout, PaddingFault};
    /// use mosaic_memspace::{Chip, ChipFacts, Dtype};
    ///
    /// const V5E: &ChipFacts = Chip::V5e.facts();
    /// const BYTES: Result<u64, PaddingFault> = match Layout::of_window(V5E, Dtype::Int8) {
    ///     Ok(layout) => layout.bytes(&[2, 3, 200]),
    ///     Err(error) => Err(error),
    /// };
    /// assert_eq!(BYTES, Ok(2 * 4 * 256));
    /// let layout = Layout::of_window(V5E, Dtype::Int8)?;
    /// assert_eq!(layout.bytes(&[u64::MAX, u64::MAX, 1]), Err(PaddingFault::TooLarge));
    /// # Ok::<(), mosaic_memspace::fit::PaddingFault>(())
    /// ```
    pub const fn bytes(self, shape: &[u64]) -> Result<u64, PaddingFault> {
        let (mut major, rows, lanes) = match shape {
            [] => (shape, None, 1),
            [lanes] => (&[] as &[u64], None, *lanes),
            [major @ .., rows, lanes] => (major, Some(*rows), *lanes),
        };
        let mut outer = Some(1);
        while let [extent, rest @ ..] = major {
            outer = product(outer, Some(*extent));
            major = rest;
        }
        self.padded(outer, rows, lanes)
    }

    /// The same, of extents that no slice holds.
    pub(super) fn bytes_of(
        self,
        mut extents: impl DoubleEndedIterator<Item = u64>,
    ) -> Result<u64, PaddingFault> {
        let lanes = extents.next_back().unwrap_or(1);
        let rows = extents.next_back();
        self.padded(extents.try_fold(1, u64::checked_mul), rows, lanes)
    }

    const fn padded(
        self,
        outer: Option<u64>,
        rows: Option<u64>,
        lanes: u64,
    ) -> Result<u64, PaddingFault> {
        let [tile_rows, tile_lanes] = self.tile(rows);
        let rows = if let Some(rows) = rows { rows } else { 1 };
        let rows = rows.checked_next_multiple_of(tile_rows);
        let lanes = lanes.checked_next_multiple_of(tile_lanes);
        // Whole words, so that no bits are left over.
        let bits = product(product(outer, rows), product(lanes, Some(self.bits as u64)));
        match bits {
            Some(bits) => Ok(bits >> 3),
            None => Err(PaddingFault::TooLarge),
        }
    }
}

impl Layout<'_> {
    /// What the last two extents are rounded up to; no factor exceeds 32 bits.
    const fn tile(self, rows: Option<u64>) -> [u64; 2] {
        let lanes = self.chip.num_lanes.get() as u64;
        match self.tiles {
            Tiles::Words(words) => [1, (words as u64).saturating_mul(self.packing as u64)],
            Tiles::Compact => {
                if let Some(rows) = rows {
                    [self.chip.compact_rows(rows, self.packing), lanes]
                } else {
                    [1, lanes.saturating_mul(self.chip.least_rows(self.packing))]
                }
            }
        }
    }
}

const fn product(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    match (a, b) {
        (Some(a), Some(b)) => a.checked_mul(b),
        (_, _) => None,
    }
}

faults! {
    /// Why a buffer has no size.
    ///
    /// ```
    /// use mosaic_memspace::error::{Code, Fault};
    /// use mosaic_memspace::fit::PaddingFault;
    /// assert_eq!(PaddingFault::TooLarge.code(), Code::SizeOverflow);
    /// assert_eq!(PaddingFault::TooLarge.to_string(), "more bytes than 64 bits can count");
    /// ```
    #[derive(Clone, Copy)]
    pub enum PaddingFault {
        /// A size beyond 64 bits.
        TooLarge => SizeOverflow ("more bytes than 64 bits can count");
        /// A type of which a 32-bit word does not hold a whole number.
        NoTile[fault: TilingFault];
    }
}
