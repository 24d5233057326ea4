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
    /// Always this, which is not 0.
    Constant(i64),
    /// The index along this axis of the grid.
    Axis(usize),
    /// Arithmetic on these axes of the grid.
    Of(GridAxes),
    /// Anything else: it moves, and may read scalar prefetch.
    Other,
}

impl IndexEntry {
    /// Whether the index changes from one step of the grid to another, as far as
    /// the compiler sees: a grid axis longer than 1 is read.
    pub fn moves(self, grid: &[GridAxis]) -> bool {
        match self {
            Self::Zero | Self::Constant(_) => false,
            Self::Axis(axis) => grid.get(axis).is_none_or(|axis| axis.is_long()),
            Self::Of(axes) => {
                let is_long = |axis: usize| grid.get(axis).is_none_or(|axis| axis.is_long());
                axes.iter().any(is_long)
            }
            Self::Other => true,
        }
    }
}

/// Axes of a grid, of which an index is computed. Those above the 63rd are one.
///
/// ```
/// use mosaic_memspace::operand::{GridAxes, GridAxis, IndexEntry};
/// let both: GridAxes = [0, 1].into_iter().collect();
/// assert!(both.iter().eq([0, 1]));
/// assert!(!IndexEntry::Of(both).moves(&[GridAxis::new(1), GridAxis::new(1)]));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct GridAxes(u64);

impl GridAxes {
    /// The axes, in order.
    pub fn iter(self) -> impl Iterator<Item = usize> {
        (0..Self::LAST.saturating_add(1)).filter(move |axis| self.0 & Self::bit(*axis) != 0)
    }

    const LAST: usize = 63;

    const fn bit(axis: usize) -> u64 {
        1 << if axis < Self::LAST { axis } else { Self::LAST }
    }
}

impl FromIterator<usize> for GridAxes {
    fn from_iter<I: IntoIterator<Item = usize>>(axes: I) -> Self {
        Self(axes.into_iter().fold(0, |all, axis| all | Self::bit(axis)))
    }
}
