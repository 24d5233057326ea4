//! What one buffer takes once the compiler has padded it to its tiles.

use crate::chip::{ChipFacts, TilingFault};
use crate::dtype::Dtype;
use crate::error::{Code, Fault};

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
/// # Ok::<(), mosaic_memspace::fit::PaddingError>(())
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
    /// [`PaddingError::NoTile`] when a 32-bit word does not hold a whole number
    /// of elements.
    ///
    /// ```
    /// use mosaic_memspace::fit::Layout;
    /// use mosaic_memspace::{Chip, Dtype};
    /// assert!(Layout::of_window(Chip::V5e.facts(), Dtype::Bool).is_ok());
    /// assert!(Layout::of_window(Chip::V5e.facts(), Dtype::Float64).is_err());
    /// ```
    pub const fn of_window(chip: &'a ChipFacts, dtype: Dtype) -> Result<Self, PaddingError> {
        match dtype.memref_packing() {
            Some(packing) => {
                Ok(Self { chip, packing, bits: dtype.memref_bits(), tiles: Tiles::Compact })
            }
            None => Err(PaddingError::NoTile(TilingFault::UnsupportedDtype { dtype })),
        }
    }

    /// Of scratch: padded by the type's own packing, a byte an element at least.
    ///
    /// # Errors
    /// [`PaddingError::NoTile`], as for a window.
    ///
    /// ```
    /// use mosaic_memspace::fit::Layout;
    /// use mosaic_memspace::{Chip, Dtype};
    /// let scratch = Layout::of_scratch(Chip::V5e.facts(), Dtype::Int2)?;
    /// assert_eq!(scratch.bytes(&[1])?, 2048);
    /// # Ok::<(), mosaic_memspace::fit::PaddingError>(())
    /// ```
    pub const fn of_scratch(chip: &'a ChipFacts, dtype: Dtype) -> Result<Self, PaddingError> {
        match Self::of_window(chip, dtype) {
            Ok(layout) if layout.bits < 8 => Ok(Self { bits: 8, ..layout }),
            Ok(layout) => Ok(layout),
            Err(error) => Err(error),
        }
    }

    /// Of a window of rank 2 or more in a kernel without a grid, where the
    /// compiler lays out types of fewer than 4 bits as those of 4.
    pub(super) const fn of_window_without_grid(
        chip: &'a ChipFacts,
        dtype: Dtype,
    ) -> Result<Self, PaddingError> {
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
    /// [`PaddingError::NoTile`], as for a window, and on a chip without
    /// SparseCores.
    ///
    /// ```
    /// use mosaic_memspace::fit::Layout;
    /// use mosaic_memspace::{Chip, Dtype};
    /// let chip = Chip::Tpu7x.facts();
    /// assert_eq!(Layout::of_sparse_core(chip, Dtype::Int8, true)?.bytes(&[9, 5])?, 16 * 128);
    /// assert_eq!(Layout::of_sparse_core(chip, Dtype::Int8, false)?.bytes(&[9, 5])?, 9 * 32);
    /// # Ok::<(), mosaic_memspace::fit::PaddingError>(())
    /// ```
    pub const fn of_sparse_core(
        chip: &'a ChipFacts,
        dtype: Dtype,
        tc_tiling: bool,
    ) -> Result<Self, PaddingError> {
        let granule = match chip.require_sparse_core() {
            Ok(sparse_core) => sparse_core.dma_granule_size_bytes,
            Err(absent) => return Err(PaddingError::NoTile(TilingFault::NoSparseCores(absent))),
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
    /// [`PaddingError::TooLarge`] beyond 64 bits.
    ///
    /// ```
    /// use mosaic_memspace::fit::{Layout, PaddingError};
    /// use mosaic_memspace::{Chip, ChipFacts, Dtype};
    ///
    /// const V5E: &ChipFacts = Chip::V5e.facts();
    /// const BYTES: Result<u64, PaddingError> = match Layout::of_window(V5E, Dtype::Int8) {
    ///     Ok(layout) => layout.bytes(&[2, 3, 200]),
    ///     Err(error) => Err(error),
    /// };
    /// assert_eq!(BYTES, Ok(2 * 4 * 256));
    /// let layout = Layout::of_window(V5E, Dtype::Int8)?;
    /// assert_eq!(layout.bytes(&[u64::MAX, u64::MAX, 1]), Err(PaddingError::TooLarge));
    /// # Ok::<(), mosaic_memspace::fit::PaddingError>(())
    /// ```
    pub const fn bytes(self, shape: &[u64]) -> Result<u64, PaddingError> {
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
    ) -> Result<u64, PaddingError> {
        let lanes = extents.next_back().unwrap_or(1);
        let rows = extents.next_back();
        self.padded(extents.try_fold(1, u64::checked_mul), rows, lanes)
    }

    const fn padded(
        self,
        outer: Option<u64>,
        rows: Option<u64>,
        lanes: u64,
    ) -> Result<u64, PaddingError> {
        let [tile_rows, tile_lanes] = self.tile(rows);
        let rows = if let Some(rows) = rows { rows } else { 1 };
        let rows = rows.checked_next_multiple_of(tile_rows);
        let lanes = lanes.checked_next_multiple_of(tile_lanes);
        // Whole words, so that no bits are left over.
        let bits = product(product(outer, rows), product(lanes, Some(self.bits as u64)));
        match bits {
            Some(bits) => Ok(bits >> 3),
            None => Err(PaddingError::TooLarge),
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

/// Why a buffer has no size.
///
/// ```
/// use mosaic_memspace::error::{Code, Fault};
/// use mosaic_memspace::fit::PaddingError;
/// assert_eq!(PaddingError::TooLarge.code(), Code::SizeOverflow);
/// assert_eq!(PaddingError::TooLarge.to_string(), "more bytes than 64 bits can count");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PaddingError {
    /// A size beyond 64 bits.
    #[error("more bytes than 64 bits can count")]
    TooLarge,
    /// A type of which a 32-bit word does not hold a whole number.
    #[error(transparent)]
    NoTile(#[from] TilingFault),
}

impl Fault for PaddingError {
    fn code(&self) -> Code {
        match self {
            Self::TooLarge => Code::SizeOverflow,
            Self::NoTile(error) => error.code(),
        }
    }

    fn help(&self) -> String {
        match self {
            Self::TooLarge => self.code().mend().to_owned(),
            Self::NoTile(error) => error.help(),
        }
    }
}
