//! How a chip tiles arrays, and the vector shapes of its SparseCores.

use super::cores::NoSparseCores;
use super::facts::ChipFacts;
use crate::dtype::Dtype;
use crate::error::faults;
use crate::word::List;

impl ChipFacts {
    /// The first generation on which XLA tiles 16-bit types by twice the sublanes.
    const FIRST_OF_LARGE_16_BIT_TILES: u32 = 7;

    /// Rows of XLA's tile of an array of `dtype`: sublanes × packing, and
    /// sublanes alone for 16-bit types before generation 7.
    ///
    /// # Errors
    /// [`TilingFault::UnsupportedDtype`] when a 32-bit word does not hold a whole
    /// number of elements; JAX answers with a 0 there, or rounds.
    ///
    /// ```
    /// use mosaic_memspace::{Chip, Dtype, TilingFault};
    /// const ROWS: Result<u64, TilingFault> = Chip::V5e.facts().sublane_tiling(Dtype::Int8);
    /// assert_eq!(ROWS, Ok(32));
    /// assert_eq!(Chip::V6e.facts().sublane_tiling(Dtype::Bfloat16), Ok(8));
    /// assert_eq!(Chip::Tpu7x.facts().sublane_tiling(Dtype::Bfloat16), Ok(16));
    /// assert!(Chip::V5e.facts().sublane_tiling(Dtype::Int64).is_err());
    /// ```
    pub const fn sublane_tiling(&self, dtype: Dtype) -> Result<u64, TilingFault> {
        match dtype.packing() {
            Some(_) => Ok(self.jax_sublane_tiling(dtype)),
            None => Err(TilingFault::UnsupportedDtype { dtype }),
        }
    }

    /// What JAX answers for [`sublane_tiling`](Self::sublane_tiling)
    /// (`TpuInfo.get_sublane_tiling`): 0 for types wider than 32 bits, and 40 for
    /// `float6` on most chips, where no tile is meant.
    ///
    /// ```
    /// use mosaic_memspace::{Chip, Dtype};
    /// assert_eq!(Chip::V5e.facts().jax_sublane_tiling(Dtype::Int64), 0);
    /// ```
    pub const fn jax_sublane_tiling(&self, dtype: Dtype) -> u64 {
        let doubles_16_bits = self.generation >= Self::FIRST_OF_LARGE_16_BIT_TILES;
        let packing = match dtype.bits() {
            16 if !doubles_16_bits => 1,
            bits => match 32_u32.checked_div(bits) {
                Some(packing) => packing,
                None => 0,
            },
        };
        times(self.num_sublanes.get(), packing)
    }

    /// Rows of the compact tile of an array whose second-minor extent is
    /// `extent`, in elements of which `packing` share a 32-bit word: the packing,
    /// twice that on v2 and v3, doubled while it is below the extent and the
    /// sublanes.
    ///
    /// JAX: `_get_tiling_factor`; Mosaic lays memrefs out by the same rule.
    ///
    /// ```
    /// use mosaic_memspace::Chip;
    /// const ROWS: u64 = Chip::V5e.facts().compact_rows(3, 1);
    /// assert_eq!(ROWS, 4);
    /// assert_eq!(Chip::V5e.facts().compact_rows(1000, 4), 8);
    /// assert_eq!(Chip::V3.facts().compact_rows(1, 8), 16);
    /// ```
    pub const fn compact_rows(&self, extent: u64, packing: u32) -> u64 {
        let sublanes = self.num_sublanes.get() as u64;
        let most = if extent < sublanes { extent } else { sublanes };
        let mut rows = self.least_rows(packing);
        while 0 < rows && rows < most {
            rows = rows.saturating_mul(2); // below 2³³
        }
        rows
    }

    /// Rows of the least tile; a shape of rank 1 is tiled as so many rows of lanes.
    pub(crate) const fn least_rows(&self, packing: u32) -> u64 {
        times(packing, if self.doubles_tiles() { 2 } else { 1 })
    }

    /// The compact tiling of a shape: its last two dimensions in tiles of
    /// [`compact_rows`](Self::compact_rows) × lanes; a shape of rank 1 in tiles of
    /// packing × lanes, twice that on v2 and v3.
    ///
    /// # Errors
    /// [`TilingFault::Rank`] for rank 0, [`TilingFault::UnsupportedDtype`] for
    /// types wider than 32 bits, on which JAX hangs, and for `float6`.
    ///
    /// ```
    /// use mosaic_memspace::{Chip, ChipFacts, Dtype, InferredTiling, TilingFault};
    ///
    /// const V6E: &ChipFacts = Chip::V6e.facts();
    /// const TILING: Result<InferredTiling, TilingFault> =
    ///     V6E.compact_tiling(&[3, 5, 100], Dtype::Int8);
    /// assert_eq!(TILING?.extents().collect::<Vec<_>>(), [1, 8, 128]);
    ///
    /// let line = V6E.compact_tiling(&[100], Dtype::Bfloat16)?;
    /// assert_eq!(line.tile(), [256]);
    /// # Ok::<(), mosaic_memspace::TilingFault>(())
    /// ```
    pub const fn compact_tiling(
        &self,
        shape: &[u64],
        dtype: Dtype,
    ) -> Result<InferredTiling, TilingFault> {
        match dtype.packing() {
            Some(packing) => self.compact(shape, packing),
            None => Err(TilingFault::UnsupportedDtype { dtype }),
        }
    }

    /// What JAX answers for [`compact_tiling`](Self::compact_tiling)
    /// (`infer_tiling`): it counts every type narrower than a byte as a byte,
    /// `int4` alone excepted.
    ///
    /// # Errors
    /// [`TilingFault::Rank`] for rank 0, [`TilingFault::UnsupportedDtype`] for
    /// types wider than 32 bits, on which it hangs.
    ///
    /// ```
    /// use mosaic_memspace::{Chip, Dtype};
    /// let v6e = Chip::V6e.facts();
    /// assert_eq!(v6e.jax_compact_tiling(&[100], Dtype::Uint4)?.tile(), [512]);
    /// assert_eq!(v6e.compact_tiling(&[100], Dtype::Uint4)?.tile(), [1024]);
    /// # Ok::<(), mosaic_memspace::TilingFault>(())
    /// ```
    pub const fn jax_compact_tiling(
        &self,
        shape: &[u64],
        dtype: Dtype,
    ) -> Result<InferredTiling, TilingFault> {
        match jax_tiling_packing(dtype) {
            Some(packing) => self.compact(shape, packing),
            None => Err(TilingFault::UnsupportedDtype { dtype }),
        }
    }

    /// The SparseCore tiling of a shape: its last dimension in tiles of a vector
    /// subcore's lanes × packing.
    ///
    /// # Errors
    /// [`TilingFault::NoSparseCores`], then those of
    /// [`compact_tiling`](Self::compact_tiling).
    ///
    /// ```
    /// use mosaic_memspace::{Chip, Dtype};
    /// let tiling = Chip::Tpu7x.facts().sparse_core_tiling(&[2, 3, 8], Dtype::Bfloat16)?;
    /// assert_eq!(tiling.extents().collect::<Vec<_>>(), [1, 1, 32]);
    /// assert!(Chip::V5e.facts().sparse_core_tiling(&[8], Dtype::Bfloat16).is_err());
    /// # Ok::<(), mosaic_memspace::TilingFault>(())
    /// ```
    pub const fn sparse_core_tiling(
        &self,
        shape: &[u64],
        dtype: Dtype,
    ) -> Result<InferredTiling, TilingFault> {
        let lanes = match self.require_sparse_core() {
            Ok(sparse_core) => sparse_core.num_lanes.get(),
            Err(absent) => return Err(TilingFault::NoSparseCores(absent)),
        };
        match dtype.packing() {
            Some(packing) => line(shape, lanes, packing),
            None => Err(TilingFault::UnsupportedDtype { dtype }),
        }
    }

    /// What JAX answers for [`sparse_core_tiling`](Self::sparse_core_tiling)
    /// (`infer_tiling`): it takes a chip without SparseCores to have 8 lanes, and
    /// counts every type narrower than a byte as a byte, `int4` alone excepted.
    ///
    /// # Errors
    /// Those of [`jax_compact_tiling`](Self::jax_compact_tiling); for types wider
    /// than 32 bits JAX answers with a tile of 0.
    ///
    /// ```
    /// use mosaic_memspace::{Chip, Dtype};
    /// let tiling = Chip::V5e.facts().jax_sparse_core_tiling(&[100], Dtype::Int8)?;
    /// assert_eq!(tiling.tile(), [32]);
    /// # Ok::<(), mosaic_memspace::TilingFault>(())
    /// ```
    pub const fn jax_sparse_core_tiling(
        &self,
        shape: &[u64],
        dtype: Dtype,
    ) -> Result<InferredTiling, TilingFault> {
        let lanes = match &self.sparse_core {
            Some(sparse_core) => sparse_core.num_lanes.get(),
            None => 8,
        };
        match jax_tiling_packing(dtype) {
            Some(packing) => line(shape, lanes, packing),
            None => Err(TilingFault::UnsupportedDtype { dtype }),
        }
    }

    /// The vector shapes of the SparseCores: one row of packing × lanes, and
    /// where several elements share a 32-bit word, packing rows of lanes.
    ///
    /// libtpu 0.0.52 compiles these, and no others, for types narrower than a byte
    /// too, where the vector comes from a bitcast; it loads none of those types,
    /// and no bool, from a ref.
    ///
    /// # Errors
    /// [`TilingFault::NoSparseCores`], then [`TilingFault::UnsupportedDtype`] when
    /// a 32-bit word does not hold a whole number of elements.
    ///
    /// ```
    /// use mosaic_memspace::{Chip, Dtype, ScVectorShapes};
    /// let shapes = Chip::V6e.facts().sc_supported_shapes(Dtype::Bfloat16)?;
    /// assert_eq!(shapes, ScVectorShapes { row: [16], rows: Some([2, 8]) });
    /// # Ok::<(), mosaic_memspace::TilingFault>(())
    /// ```
    pub const fn sc_supported_shapes(&self, dtype: Dtype) -> Result<ScVectorShapes, TilingFault> {
        self.sc_shapes(dtype, dtype.packing())
    }

    /// What JAX answers for [`sc_supported_shapes`](Self::sc_supported_shapes)
    /// (`sc_core.supported_shapes`): it counts types narrower than a byte as a byte.
    ///
    /// # Errors
    /// [`TilingFault::NoSparseCores`], then [`TilingFault::UnsupportedDtype`] for
    /// types wider than 32 bits.
    ///
    /// ```
    /// use mosaic_memspace::{Chip, Dtype};
    /// let v6e = Chip::V6e.facts();
    /// assert_eq!(v6e.jax_sc_supported_shapes(Dtype::Int4)?.row, [32]);
    /// assert_eq!(v6e.sc_supported_shapes(Dtype::Int4)?.row, [64]);
    /// # Ok::<(), mosaic_memspace::TilingFault>(())
    /// ```
    pub const fn jax_sc_supported_shapes(
        &self,
        dtype: Dtype,
    ) -> Result<ScVectorShapes, TilingFault> {
        self.sc_shapes(dtype, jax_byte_packing(dtype))
    }

    const fn compact(&self, shape: &[u64], packing: u32) -> Result<InferredTiling, TilingFault> {
        let lanes = self.num_lanes.get() as u64;
        let tile = match shape {
            [] => return Err(TilingFault::Rank),
            [_] => Tile::Line([self.least_rows(packing).saturating_mul(lanes)]), // below 2³⁸
            [.., extent, _] => Tile::Sheet([self.compact_rows(*extent, packing), lanes]),
        };
        Ok(InferredTiling { rank: shape.len(), tile })
    }

    const fn sc_shapes(
        &self,
        dtype: Dtype,
        packing: Option<u32>,
    ) -> Result<ScVectorShapes, TilingFault> {
        let lanes = match self.require_sparse_core() {
            Ok(sparse_core) => sparse_core.num_lanes.get(),
            Err(absent) => return Err(TilingFault::NoSparseCores(absent)),
        };
        match packing {
            Some(1) => Ok(ScVectorShapes { row: [lanes as u64], rows: None }),
            Some(packing) => Ok(ScVectorShapes {
                row: [times(lanes, packing)],
                rows: Some([packing as u64, lanes as u64]),
            }),
            None => Err(TilingFault::UnsupportedDtype { dtype }),
        }
    }
}

const fn line(shape: &[u64], lanes: u32, packing: u32) -> Result<InferredTiling, TilingFault> {
    match shape {
        [] => Err(TilingFault::Rank),
        [..] => Ok(InferredTiling { rank: shape.len(), tile: Tile::Line([times(lanes, packing)]) }),
    }
}

/// Elements to a word as `infer_tiling` counts them.
const fn jax_tiling_packing(dtype: Dtype) -> Option<u32> {
    if dtype.is(Dtype::Int4) { Some(8) } else { jax_byte_packing(dtype) }
}

/// Elements to a word when none is narrower than a byte.
const fn jax_byte_packing(dtype: Dtype) -> Option<u32> {
    match 4_u32.checked_div(dtype.itemsize_bytes()) {
        Some(0) | None => None,
        Some(packing) => Some(packing),
    }
}

#[allow(clippy::arithmetic_side_effects, reason = "two 32-bit factors")]
const fn times(a: u32, b: u32) -> u64 {
    a as u64 * b as u64
}

/// A tiling of a shape: 1 for each leading dimension, then the tile.
///
/// ```
/// use mosaic_memspace::{Chip, Dtype};
/// let tiling = Chip::Tpu8t.facts().compact_tiling(&[128, 1000, 31], Dtype::Int32)?;
/// assert_eq!(tiling.rank(), 3);
/// assert_eq!(tiling.tile(), [16, 128]);
/// assert_eq!(tiling.extents().collect::<Vec<_>>(), [1, 16, 128]);
/// # Ok::<(), mosaic_memspace::TilingFault>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct InferredTiling {
    rank: usize,
    tile: Tile,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Tile {
    Line([u64; 1]),
    Sheet([u64; 2]),
}

impl InferredTiling {
    /// The rank of the shape.
    ///
    /// ```
    /// use mosaic_memspace::{Chip, Dtype};
    /// let tiling = Chip::V4.facts().compact_tiling(&[0; 64], Dtype::Int8);
    /// assert_eq!(tiling.map(|tiling| tiling.rank()), Ok(64));
    /// ```
    pub const fn rank(&self) -> usize {
        self.rank
    }

    /// The tile of the last one or two dimensions.
    ///
    /// ```
    /// use mosaic_memspace::{Chip, Dtype};
    /// let tiling = Chip::V2.facts().compact_tiling(&[100], Dtype::Float32)?;
    /// assert_eq!(tiling.tile(), [256]);
    /// # Ok::<(), mosaic_memspace::TilingFault>(())
    /// ```
    pub const fn tile(&self) -> &[u64] {
        match &self.tile {
            Tile::Line(tile) => tile,
            Tile::Sheet(tile) => tile,
        }
    }

    /// An extent for each dimension of the shape. An iterator, so not `const`.
    ///
    /// ```
    /// use mosaic_memspace::{Chip, Dtype};
    /// let tiling = Chip::V4.facts().compact_tiling(&[7, 7, 7], Dtype::Float32)?;
    /// assert_eq!(tiling.extents().collect::<Vec<_>>(), [1, 8, 128]);
    /// # Ok::<(), mosaic_memspace::TilingFault>(())
    /// ```
    pub fn extents(&self) -> impl Iterator<Item = u64> + '_ {
        let leading = self.rank.saturating_sub(self.tile().len());
        std::iter::repeat_n(1, leading).chain(self.tile().iter().copied())
    }
}

/// The vector shapes that a SparseCore has for an element type.
///
/// ```
/// use mosaic_memspace::ScVectorShapes;
/// let shapes = ScVectorShapes { row: [64], rows: Some([4, 16]) };
/// assert!(shapes.contains(&[4, 16]) && !shapes.contains(&[16, 4]));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ScVectorShapes {
    /// Elements of the vector of one dimension.
    pub row: [u64; 1],
    /// Elements to a word, and lanes; `None` where an element fills a word.
    pub rows: Option<[u64; 2]>,
}

impl ScVectorShapes {
    /// Whether a vector may have this shape.
    ///
    /// ```
    /// use mosaic_memspace::ScVectorShapes;
    /// const SHAPES: ScVectorShapes = ScVectorShapes { row: [16], rows: None };
    /// const FITS: bool = SHAPES.contains(&[16]);
    /// assert!(FITS && !SHAPES.contains(&[32]));
    /// ```
    pub const fn contains(&self, shape: &[u64]) -> bool {
        match (shape, self.rows) {
            ([length], _) => *length == self.row[0],
            ([packing, lanes], Some(rows)) => *packing == rows[0] && *lanes == rows[1],
            (_, _) => false,
        }
    }

    /// The shapes, the row first. An iterator, so not `const`.
    ///
    /// ```
    /// use mosaic_memspace::ScVectorShapes;
    /// let shapes = ScVectorShapes { row: [16], rows: Some([2, 8]) };
    /// assert_eq!(shapes.iter().collect::<Vec<_>>(), [&[16][..], &[2, 8]]);
    /// ```
    pub fn iter(&self) -> impl Iterator<Item = &[u64]> {
        std::iter::once(self.row.as_slice()).chain(self.rows.as_ref().map(<[u64; 2]>::as_slice))
    }
}

faults! {
    /// Why there is no tiling, and no vector shape.
    ///
    /// ```
    /// use mosaic_memspace::error::Fault;
    /// use mosaic_memspace::{Chip, Dtype};
    ///
    /// let error = Chip::V5e.facts().sc_supported_shapes(Dtype::Int8).unwrap_err();
    /// assert_eq!(error.to_string(), "v5e has no SparseCores");
    /// assert_eq!(
    ///     error.help(),
    ///     "run it on the TensorCore, or on a chip with SparseCores: v5p, v6e, 7, 7x, 8i, 8t"
    /// );
    /// ```
    #[derive(Clone, Copy)]
    pub enum TilingFault {
        /// A type of which a 32-bit word does not hold a whole number.
        UnsupportedDtype {
            /// The type.
            dtype: Dtype,
        } => UnsupportedDtype
          ("{dtype} has no tile: {bits} bits do not divide a word of 32", bits = .dtype.bits())
          help {
              let whole = Dtype::ALL.iter().filter(|dtype| dtype.packing().is_some());
              format!("use one of {}", List(whole))
          };
        /// A shape of rank 0.
        Rank => TilingRank ("a shape of rank 0 has no tile");
        /// A SparseCore asked of a chip without one.
        NoSparseCores[absent: NoSparseCores];
    }
}
