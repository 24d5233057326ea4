//! Blocks: which shapes JAX takes for the part of an array that a kernel sees at once.

use crate::chip::ChipFacts;
use crate::dtype::Dtype;
use crate::error::{Code, Fault};
use crate::memory_space::{Resolved, TpuSpace};
use std::fmt;

/// One dimension of a block (JAX's `BlockDim`).
///
/// ```
/// use mosaic_memspace::rules::BlockDim;
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
    ///
    /// ```
    /// use mosaic_memspace::rules::BlockDim;
    /// const ROWS: u64 = BlockDim::Element(8).extent();
    /// assert_eq!(ROWS, 8);
    /// ```
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

/// The block of an operand, of a pipelined kernel.
///
/// ```
/// use mosaic_memspace::rules::{Block, BlockDim};
/// use mosaic_memspace::error::Fault;
/// use mosaic_memspace::{Chip, Dtype, Resolved};
///
/// let block = Block {
///     array_shape: &[512, 300],
///     block_shape: Some(&[BlockDim::Blocked(100), BlockDim::Blocked(300)]),
///     element_shape: &[],
///     dtype: Dtype::Float32,
///     space: Resolved::VMEM,
///     trivial_window: false,
/// };
/// let fault = block.check(Some(Chip::V5e.facts())).unwrap_err();
/// assert_eq!(
///     fault.to_string(),
///     "block extent 100 in dimension 0 is neither a multiple of 8 nor the array's 512"
/// );
/// assert_eq!(fault.help(), "in dimension 0 use 96 or 104; tiles are 8 × 128 elements");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block<'a> {
    /// The array's extents.
    pub array_shape: &'a [u64],
    /// One entry for each of them; `None` is the whole array.
    pub block_shape: Option<&'a [BlockDim]>,
    /// The shape of one element of an extended dtype, as `[2]` for a `threefry`
    /// key; empty for every other dtype.
    pub element_shape: &'a [u64],
    /// The element type; of an extended dtype, that of its physical elements.
    pub dtype: Dtype,
    /// Where the block lies.
    pub space: Resolved,
    /// Whether the block is the whole array and the index map is all zeros.
    pub trivial_window: bool,
}

impl<'a> Block<'a> {
    /// Extents of a tile that every chip's last two dimensions go by: neither
    /// the dtype nor a chip of 16 sublanes changes them.
    const TILE: [u64; 2] = [8, 128];

    /// Whether JAX takes the block. Without a chip, a block of rank 1 passes.
    ///
    /// # Errors
    /// [`BlockFault`], the first in JAX's order (`_check_block_mappings`).
    ///
    /// ```
    /// use mosaic_memspace::rules::{Block, BlockDim, BlockFault};
    /// use mosaic_memspace::{Chip, Dtype, Resolved};
    ///
    /// let block = Block {
    ///     array_shape: &[4096],
    ///     block_shape: Some(&[BlockDim::Blocked(128)]),
    ///     element_shape: &[],
    ///     dtype: Dtype::Bfloat16,
    ///     space: Resolved::VMEM,
    ///     trivial_window: false,
    /// };
    /// let chip = Chip::V5e.facts();
    /// assert!(matches!(block.check(Some(chip)), Err(BlockFault::Rank1Infeasible { .. })));
    /// let block = Block { dtype: Dtype::Float32, ..block };
    /// assert_eq!(block.check(Some(chip)), Ok(()));
    /// ```
    pub fn check(&self, chip: Option<&ChipFacts>) -> Result<(), BlockFault> {
        let (block, array) = (self.dims().count(), self.array_shape.len());
        if block != array {
            return Err(BlockFault::RankMismatch { block, array });
        }
        let freedom = self.freedom();
        if let Freedom::AnyShape = freedom {
            return Ok(());
        }
        let Some(minor) = self.extents(0) else {
            return Err(BlockFault::RankZero { space: self.space });
        };
        if let Freedom::WholeArray = freedom
            && !self.trivial_window
        {
            return Err(BlockFault::InAnyOrHbm { space: self.space });
        }
        match self.extents(1) {
            Some(second_minor) => self.check_tiles(second_minor, minor),
            None => match chip {
                Some(chip) => self.check_rank_1(minor, chip),
                None => Ok(()),
            },
        }
    }

    /// Everything that is wrong with the block: what [`check`](Self::check)
    /// finds, and besides an extent of zero, which JAX takes here, and dimensions
    /// that do not go together, which it refuses later.
    ///
    /// ```
    /// use mosaic_memspace::rules::{Block, BlockDim};
    /// use mosaic_memspace::{Dtype, Resolved};
    ///
    /// let block = Block {
    ///     array_shape: &[64, 64],
    ///     block_shape: Some(&[BlockDim::Blocked(0), BlockDim::Blocked(7)]),
    ///     element_shape: &[],
    ///     dtype: Dtype::Float32,
    ///     space: Resolved::VMEM,
    ///     trivial_window: false,
    /// };
    /// assert_eq!(block.faults(None).count(), 2);
    /// ```
    pub fn faults(&self, chip: Option<&ChipFacts>) -> impl Iterator<Item = BlockFault> + use<> {
        let zero = self.dims().position(|dim| dim.extent() == 0);
        let zero = zero.map(|dimension| BlockFault::ExtentZero { dimension });
        let mixed = self.dims().any(|dim| matches!(dim, BlockDim::Element(_)))
            && self.dims().any(|dim| matches!(dim, BlockDim::Blocked(_)));
        let mixed = mixed.then_some(BlockFault::DimsMixed);
        [self.check(chip).err(), zero, mixed].into_iter().flatten()
    }

    /// How much of the block's shape the memory space leaves free.
    const fn freedom(&self) -> Freedom {
        let space = self.space;
        let smem_whole = space.is(TpuSpace::Smem) && self.trivial_window;
        if smem_whole || space.is(TpuSpace::SemaphoreMem) {
            Freedom::AnyShape
        } else if space.is_left_in_place() {
            Freedom::WholeArray
        } else {
            Freedom::Tiles
        }
    }

    fn check_tiles(&self, second_minor: Extents, minor: Extents) -> Result<(), BlockFault> {
        let [rows, lanes] = Self::TILE;
        let second_minor = Misaligned::new(second_minor, rows);
        let minor = Misaligned::new(minor, lanes);
        if second_minor.is_none() && minor.is_none() {
            return Ok(());
        }
        Err(BlockFault::NotTileAligned { second_minor, minor, dtype: self.dtype })
    }

    fn check_rank_1(&self, extents: Extents, chip: &ChipFacts) -> Result<(), BlockFault> {
        let lanes = u64::from(chip.num_lanes.get());
        // No element of more than 32 bits fits a word, so any power of two will do.
        let in_a_word = 32_u32.checked_div(self.dtype.memref_bits()).unwrap_or(0);
        let rule = Rank1 {
            extent: extents.block,
            array_extent: extents.array,
            multiple: lanes.saturating_mul(chip.num_sublanes.get().into()),
            least_power: lanes.saturating_mul(in_a_word.into()),
            dtype: self.dtype,
        };
        if rule.allows(rule.extent) { Ok(()) } else { Err(BlockFault::Rank1Infeasible(rule)) }
    }

    /// The entries of the block shape; of a whole array, its extents.
    ///
    /// ```
    /// # use mosaic_memspace::{Dtype, Resolved, rules::{Block, BlockDim}};
    /// let block = Block {
    ///     array_shape: &[3, 4],
    ///     block_shape: None,
    ///     element_shape: &[],
    ///     dtype: Dtype::Float32,
    ///     space: Resolved::VMEM,
    ///     trivial_window: true,
    /// };
    /// assert_eq!(block.dims().last(), Some(BlockDim::Blocked(4)));
    /// ```
    pub fn dims(&self) -> impl DoubleEndedIterator<Item = BlockDim> + Clone + use<'a> {
        let given = self.block_shape.unwrap_or_default().iter().copied();
        let whole = if self.block_shape.is_none() { self.array_shape } else { &[] };
        given.chain(whole.iter().copied().map(BlockDim::Blocked))
    }

    /// Of the dimension that stands `from_last` before the last, those of the
    /// element's own shape counted.
    fn extents(&self, from_last: usize) -> Option<Extents> {
        let own = || self.element_shape.iter().rev().copied();
        let block = own().chain(self.dims().rev().map(BlockDim::extent)).nth(from_last)?;
        let array = own().chain(self.array_shape.iter().rev().copied()).nth(from_last)?;
        let rank = self.array_shape.len().checked_add(self.element_shape.len())?;
        let dimension = rank.checked_sub(from_last)?.checked_sub(1)?;
        Some(Extents { dimension, block, array })
    }
}

enum Freedom {
    AnyShape,
    WholeArray,
    Tiles,
}

#[derive(Clone, Copy)]
struct Extents {
    dimension: usize,
    block: u64,
    array: u64,
}

/// An extent that is neither whole tiles nor the array's.
///
/// ```
/// use mosaic_memspace::rules::{Misaligned, Nearest};
/// let rows = Misaligned { dimension: 0, extent: 100, array_extent: 103, multiple: 8 };
/// assert_eq!(rows.nearest(), Nearest { below: Some(96), above: Some(103) });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Misaligned {
    /// The dimension, counted from the first.
    pub dimension: usize,
    /// The block's extent.
    pub extent: u64,
    /// The array's.
    pub array_extent: u64,
    /// What the block's may be a multiple of.
    pub multiple: u64,
}

impl Misaligned {
    const fn new(extents: Extents, multiple: u64) -> Option<Self> {
        let Extents { dimension, block, array } = extents;
        if block == array || block.is_multiple_of(multiple) {
            return None;
        }
        Some(Self { dimension, extent: block, array_extent: array, multiple })
    }

    /// The legal extents next to it.
    ///
    /// ```
    /// use mosaic_memspace::rules::Misaligned;
    /// let lanes = Misaligned { dimension: 1, extent: 100, array_extent: 512, multiple: 128 };
    /// assert_eq!(lanes.nearest().below, None);
    /// assert_eq!(lanes.nearest().above, Some(128));
    /// ```
    pub const fn nearest(self) -> Nearest {
        Nearest::of_multiples(self.extent, self.multiple).or(self.array_extent, self.extent)
    }
}

impl fmt::Display for Misaligned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { dimension, extent, array_extent, multiple } = self;
        write!(
            f,
            "block extent {extent} in dimension {dimension} is neither a multiple of {multiple} \
             nor the array's {array_extent}"
        )
    }
}

/// A rank-1 block's extent, and what it may be instead.
///
/// ```
/// use mosaic_memspace::rules::{Nearest, Rank1};
/// use mosaic_memspace::Dtype;
///
/// let rule = Rank1 {
///     extent: 1000,
///     array_extent: 5000,
///     multiple: 1024,
///     least_power: 256,
///     dtype: Dtype::Bfloat16,
/// };
/// assert!(!rule.allows(1000) && rule.allows(256) && rule.allows(3072) && rule.allows(5000));
/// assert_eq!(rule.nearest(), Nearest { below: Some(512), above: Some(1024) });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rank1 {
    /// The block's extent.
    pub extent: u64,
    /// The array's.
    pub array_extent: u64,
    /// What the block's may be a multiple of: sublanes × lanes of the chip.
    pub multiple: u64,
    /// The least power of two that it may be: lanes × the dtype's elements in a
    /// 32-bit word. 0 for wider elements, for which JAX takes any power of two.
    pub least_power: u64,
    /// The element type.
    pub dtype: Dtype,
}

impl Rank1 {
    /// Whether JAX takes a block of this extent. An extent of 0 is a multiple.
    ///
    /// ```
    /// # use mosaic_memspace::{Dtype, rules::Rank1};
    /// let dtype = Dtype::Float64;
    /// let rule = Rank1 { extent: 3, array_extent: 9, multiple: 1024, least_power: 0, dtype };
    /// assert!(rule.allows(2) && !rule.allows(3));
    /// ```
    pub const fn allows(self, extent: u64) -> bool {
        extent == self.array_extent
            || extent.is_multiple_of(self.multiple)
            || extent >= self.least_power && extent.is_power_of_two()
    }

    /// The legal extents next to the block's.
    ///
    /// ```
    /// # use mosaic_memspace::{Dtype, rules::Rank1};
    /// let dtype = Dtype::Int8;
    /// let rule = Rank1 { extent: 3, array_extent: 9, multiple: 1024, least_power: 512, dtype };
    /// assert_eq!(rule.nearest().above, Some(9));
    /// ```
    pub const fn nearest(self) -> Nearest {
        let Nearest { below, above } = Nearest::of_multiples(self.extent, self.multiple);
        // Where a word holds five elements, the least power is itself none.
        let least = if self.extent < self.least_power { self.least_power } else { self.extent };
        let power_above = match least.checked_next_power_of_two() {
            Some(power) => power,
            None => 0,
        };
        let power_below = match self.extent.checked_ilog2() {
            Some(exponent) if 1 << exponent >= self.least_power => 1 << exponent,
            Some(_) | None => 0,
        };
        Nearest { below, above }
            .or(power_above, self.extent)
            .or(power_below, self.extent)
            .or(self.array_extent, self.extent)
    }
}

impl fmt::Display for Rank1 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { extent, array_extent, multiple, least_power, dtype: _ } = self;
        write!(
            f,
            "block extent {extent} is neither a multiple of {multiple}, nor a power of two from \
             {least_power}, nor the array's {array_extent}"
        )
    }
}

/// The legal extents next to one that isn't, never 0.
///
/// ```
/// use mosaic_memspace::rules::Nearest;
/// assert_eq!(Nearest { below: Some(8), above: Some(16) }.to_string(), "8 or 16");
/// assert_eq!(Nearest { below: None, above: Some(16) }.to_string(), "16");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Nearest {
    /// The largest below it.
    pub below: Option<u64>,
    /// The smallest above it.
    pub above: Option<u64>,
}

impl Nearest {
    const fn of_multiples(extent: u64, multiple: u64) -> Self {
        let below = match extent.checked_div(multiple) {
            Some(0) | None => None,
            Some(times) => times.checked_mul(multiple),
        };
        Self { below, above: extent.checked_next_multiple_of(multiple) }
    }

    /// With one more legal extent beside `extent`; 0 is none.
    const fn or(self, legal: u64, extent: u64) -> Self {
        let Self { below, above } = self;
        if legal == 0 || legal == extent {
            self
        } else if legal < extent {
            let nearer = match below {
                Some(below) => below < legal,
                None => true,
            };
            Self { below: if nearer { Some(legal) } else { below }, above }
        } else {
            let nearer = match above {
                Some(above) => legal < above,
                None => true,
            };
            Self { below, above: if nearer { Some(legal) } else { above } }
        }
    }
}

impl fmt::Display for Nearest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.below, self.above) {
            (Some(below), Some(above)) => write!(f, "{below} or {above}"),
            (Some(extent), None) | (None, Some(extent)) => extent.fmt(f),
            (None, None) => f.write_str("the array's extent"),
        }
    }
}

/// What is wrong with a block.
///
/// ```
/// use mosaic_memspace::Resolved;
/// use mosaic_memspace::rules::BlockFault;
/// use mosaic_memspace::error::{Code, Fault};
///
/// let fault = BlockFault::InAnyOrHbm { space: Resolved::HBM };
/// assert_eq!(fault.code(), Code::BlockedInAnyOrHbm);
/// assert_eq!(fault.to_string(), "a block in hbm is not the whole array at index 0");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BlockFault {
    /// Not one entry for each dimension of the array.
    #[error("a block shape of {block} entries for an array of rank {array}")]
    RankMismatch {
        /// Entries of the block shape.
        block: usize,
        /// The array's rank.
        array: usize,
    },
    /// An extent of zero.
    #[error("block extent 0 in dimension {dimension}")]
    ExtentZero {
        /// The first dimension that has it, counted from the first.
        dimension: usize,
    },
    /// `Element` dimensions beside `Blocked` ones.
    #[error("a block with both element and blocked dimensions")]
    DimsMixed,
    /// Rank 0 in another space than smem, or in smem without a trivial window.
    #[error("a block of rank 0 in {space}")]
    RankZero {
        /// Where the block lies.
        space: Resolved,
    },
    /// Not a trivial window, in any or hbm.
    #[error("a block in {space} is not the whole array at index 0")]
    InAnyOrHbm {
        /// Where the block lies.
        space: Resolved,
    },
    /// The last two extents are neither whole tiles nor the array's.
    #[error("{}", Both(*second_minor, *minor, "; "))]
    NotTileAligned {
        /// The second-last extent, when that is at fault.
        second_minor: Option<Misaligned>,
        /// The last extent, when that is at fault.
        minor: Option<Misaligned>,
        /// The element type.
        dtype: Dtype,
    },
    /// The one extent is nothing that the tiling allows.
    #[error("{0}")]
    Rank1Infeasible(Rank1),
}

impl Fault for BlockFault {
    fn code(&self) -> Code {
        match self {
            Self::RankMismatch { .. } => Code::RankMismatch,
            Self::ExtentZero { .. } => Code::BlockExtentZero,
            Self::DimsMixed => Code::BlockDimsMixed,
            Self::RankZero { .. } => Code::BlockRankZero,
            Self::InAnyOrHbm { .. } => Code::BlockedInAnyOrHbm,
            Self::NotTileAligned { .. } => Code::BlockNotTileAligned,
            Self::Rank1Infeasible(_) => Code::Rank1BlockInfeasible,
        }
    }

    fn help(&self) -> String {
        match self {
            Self::RankMismatch { array, .. } => {
                format!(
                    "write an entry for each dimension of the array, {array} in all; None squeezes one away"
                )
            }
            Self::ExtentZero { dimension } => {
                format!("make dimension {dimension} at least 1")
            }
            Self::DimsMixed => {
                "make every dimension pl.Element, or none; None goes with both".to_owned()
            }
            Self::RankZero { .. } | Self::InAnyOrHbm { .. } => self.code().mend().to_owned(),
            Self::NotTileAligned { second_minor, minor, dtype } => {
                let use_instead =
                    |extent: Misaligned| UseInstead(extent.dimension, extent.nearest());
                let instead = Both(second_minor.map(use_instead), minor.map(use_instead), ", ");
                let [rows, lanes] = Block::TILE;
                format!("{instead}; tiles are {rows} × {lanes} elements{}", Packed(*dtype))
            }
            Self::Rank1Infeasible(rule) => {
                format!("use {}{}", rule.nearest(), Packed(rule.dtype))
            }
        }
    }
}

/// One or both, with a separator between them.
struct Both<T>(Option<T>, Option<T>, &'static str);

impl<T: fmt::Display> fmt::Display for Both<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self(Some(first), Some(second), separator) => write!(f, "{first}{separator}{second}"),
            Self(Some(one), None, _) | Self(None, Some(one), _) => one.fmt(f),
            Self(None, None, _) => Ok(()),
        }
    }
}

struct UseInstead(usize, Nearest);

impl fmt::Display for UseInstead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "in dimension {} use {}", self.0, self.1)
    }
}

/// How many elements a word holds, where that is more than one.
struct Packed(Dtype);

impl fmt::Display for Packed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.memref_packing() {
            Some(1) | None => Ok(()),
            Some(elements) => write!(f, "; {} packs {elements} elements to a word", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chip::Chip;
    use proptest::prelude::*;

    const BLOCK: Block<'static> = Block {
        array_shape: &[64, 300],
        block_shape: Some(&[BlockDim::Blocked(7), BlockDim::Blocked(100)]),
        element_shape: &[],
        dtype: Dtype::Int8,
        space: Resolved::VMEM,
        trivial_window: false,
    };

    #[test]
    fn each_fault_says_what_would_be_right() {
        let rank_1 = Block {
            array_shape: &[5000],
            block_shape: Some(&[BlockDim::Blocked(1000)]),
            dtype: Dtype::Bfloat16,
            ..BLOCK
        };
        let wrong = [
            (
                Block { array_shape: &[64], ..BLOCK },
                Code::RankMismatch,
                "a block shape of 2 entries for an array of rank 1",
                "write an entry for each dimension of the array, 1 in all; None squeezes one away",
            ),
            (
                Block {
                    block_shape: Some(&[BlockDim::Squeezed, BlockDim::Blocked(0)]),
                    array_shape: &[1, 9],
                    ..BLOCK
                },
                Code::BlockExtentZero,
                "block extent 0 in dimension 1",
                "make dimension 1 at least 1",
            ),
            (
                Block {
                    block_shape: Some(&[BlockDim::Element(8), BlockDim::Blocked(128)]),
                    ..BLOCK
                },
                Code::BlockDimsMixed,
                "a block with both element and blocked dimensions",
                "make every dimension pl.Element, or none; None goes with both",
            ),
            (
                Block { array_shape: &[], block_shape: Some(&[]), ..BLOCK },
                Code::BlockRankZero,
                "a block of rank 0 in vmem",
                "put a scalar in smem, in a kernel without a grid, or give the array a dimension",
            ),
            (
                Block { space: Resolved::ANY, ..BLOCK },
                Code::BlockedInAnyOrHbm,
                "a block in any is not the whole array at index 0",
                "use the whole array there, or put the block in vmem or smem",
            ),
            (
                BLOCK,
                Code::BlockNotTileAligned,
                "block extent 7 in dimension 0 is neither a multiple of 8 nor the array's 64; \
              block extent 100 in dimension 1 is neither a multiple of 128 nor the array's 300",
                "in dimension 0 use 8, in dimension 1 use 128; tiles are 8 × 128 elements; \
              int8 packs 4 elements to a word",
            ),
            (
                rank_1,
                Code::Rank1BlockInfeasible,
                "block extent 1000 is neither a multiple of 1024, nor a power of two from 256, \
              nor the array's 5000",
                "use 512 or 1024; bfloat16 packs 2 elements to a word",
            ),
        ];
        for (block, code, message, help) in wrong {
            let faults: Vec<_> = block.faults(Some(Chip::V5e.facts())).collect();
            let said: Vec<_> = faults
                .iter()
                .map(|fault| (fault.code(), fault.to_string(), fault.help()))
                .collect();
            assert_eq!(said, [(code, message.to_owned(), help.to_owned())]);
        }
    }

    #[test]
    fn an_elements_own_dimensions_are_the_last() {
        // A threefry key is two words: the rows are the array's last dimension.
        let keys = Block {
            array_shape: &[64],
            block_shape: Some(&[BlockDim::Blocked(4)]),
            element_shape: &[2],
            dtype: Dtype::Uint32,
            ..BLOCK
        };
        let said = keys.check(None).map_err(|fault| fault.to_string());
        let message = "block extent 4 in dimension 0 is neither a multiple of 8 nor the array's 64";
        assert_eq!(said, Err(message.to_owned()));
        let block_shape = Some(&[BlockDim::Blocked(8)][..]);
        assert_eq!(Block { block_shape, ..keys }.check(None), Ok(()));
    }

    #[test]
    fn jaxs_holes_are_kept() {
        let chip = Some(Chip::V5e.facts());
        let rank_1 =
            Block { array_shape: &[100], block_shape: Some(&[BlockDim::Blocked(0)]), ..BLOCK };
        assert_eq!(rank_1.check(chip), Ok(()), "0 is a multiple of everything");
        let block_shape = Some(&[BlockDim::Blocked(2)][..]);
        let wide = Block { block_shape, dtype: Dtype::Float64, ..rank_1 };
        assert_eq!(wide.check(chip), Ok(()), "no element of 64 bits fits a word");
        let accumulator = Block {
            space: Resolved::Acc(0),
            block_shape: Some(&[BlockDim::Blocked(64), BlockDim::Blocked(256)]),
            ..BLOCK
        };
        assert_eq!(accumulator.check(chip), Ok(()), "JAX has no rule of its own for it");
    }

    fn dim() -> impl Strategy<Value = BlockDim> {
        let extent = prop_oneof![0..3000_u64, any::<u64>()];
        prop_oneof![
            extent.clone().prop_map(BlockDim::Blocked),
            extent.prop_map(BlockDim::Element),
            Just(BlockDim::Squeezed),
        ]
    }

    proptest! {
        #[test]
        fn the_nearest_extents_are_legal_and_none_is_nearer(
            array in prop::collection::vec(prop_oneof![0..3000_u64, any::<u64>()], 0..4),
            block in prop::collection::vec(dim(), 0..4),
            dtype in prop::sample::select(Dtype::ALL),
            chip in prop::sample::select(Chip::ALL),
        ) {
            let block = Block { array_shape: &array, block_shape: Some(&block), dtype, ..BLOCK };
            for fault in block.faults(Some(chip.facts())) {
                prop_assert!(!fault.to_string().is_empty() && !fault.help().is_empty());
                match fault {
                    BlockFault::Rank1Infeasible(rule) => {
                        let Nearest { below, above } = rule.nearest();
                        for legal in below.into_iter().chain(above) {
                            prop_assert!(rule.allows(legal) && legal > 0);
                        }
                        let near = rule.extent.saturating_sub(200)..rule.extent.saturating_add(200);
                        for legal in near.filter(|extent| *extent > 0 && rule.allows(*extent)) {
                            prop_assert!(below >= Some(legal) || above.is_some_and(|it| it <= legal));
                        }
                    }
                    BlockFault::NotTileAligned { second_minor, minor, dtype: _ } => {
                        for side in second_minor.into_iter().chain(minor) {
                            let Nearest { below, above } = side.nearest();
                            prop_assert!(below < Some(side.extent));
                            prop_assert!(above.is_none_or(|above| above > side.extent));
                            for legal in below.into_iter().chain(above) {
                                let whole = legal.is_multiple_of(side.multiple);
                                prop_assert!(whole || legal == side.array_extent);
                            }
                        }
                    }
                    BlockFault::RankMismatch { .. }
                    | BlockFault::ExtentZero { .. }
                    | BlockFault::DimsMixed
                    | BlockFault::RankZero { .. }
                    | BlockFault::InAnyOrHbm { .. } => {}
                }
            }
        }
    }
}
