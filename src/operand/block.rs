//! A dimension of a block, and of the index map that says which block it is.

use super::grid::GridAxis;

/// One dimension of a block (JAX's `BlockDim`).
///
/// ```
/// use mosaic_memspace::operand::BlockDim;
/// assert_eq!(BlockDim::Squeezed.extent(), 1);
/// assert_eq!(BlockDim::Blocked(128).extent(), 128);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BlockDim {
    /// A number of elements; the index map counts in blocks (`pl.Blocked`).
    Blocked(u64),
    /// One element, and no dimension of the ref (`pl.Squeezed`, `None`).
    Squeezed,
    /// A number of elements; the index map counts in elements (`pl.Element`).
    Element(u64),
}

impl BlockDim {
    /// Elements along the dimension.
    pub const fn extent(self) -> u64 {
        match self {
            Self::Blocked(extent) | Self::Element(extent) => extent,
            Self::Squeezed => 1,
        }
    }

    /// The same kind of dimension, of another extent.
    pub(crate) const fn with(self, extent: u64) -> Self {
        match self {
            Self::Blocked(_) => Self::Blocked(extent),
            Self::Element(_) => Self::Element(extent),
            Self::Squeezed => Self::Squeezed,
        }
    }
}

/// One entry of an index map: the block's index along a dimension.
///
/// ```
/// use mosaic_memspace::operand::{GridAxis, IndexEntry};
/// let grid = [GridAxis::new(1), GridAxis::new(4)];
/// assert!(!IndexEntry::Axis(0).moves(&grid) && IndexEntry::Axis(1).moves(&grid));
/// assert!(IndexEntry::Axis(0).moves(&[GridAxis::DYNAMIC]) && IndexEntry::Other.moves(&[]));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IndexEntry {
    /// Always 0.
    Zero,
    /// The index along this axis of the grid.
    Axis(usize),
    /// Anything else: it moves, and may read scalar prefetch.
    Other,
}

impl IndexEntry {
    /// Whether the index changes from one step of the grid to another, as far as
    /// the compiler sees: a grid axis longer than 1 is read.
    pub fn moves(self, grid: &[GridAxis]) -> bool {
        match self {
            Self::Zero => false,
            Self::Axis(axis) => grid.get(axis).is_none_or(|axis| axis.is_long()),
            Self::Other => true,
        }
    }
}
