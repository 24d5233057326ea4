//! Blocks: which shapes JAX takes for the part of an array that a kernel sees at once.

use crate::chip::ChipFacts;
use crate::dtype::Dtype;
use crate::error::faults;
use crate::memory_space::{Resolved, TpuSpace};
use crate::operand::{BlockDim, ResolvedOperand};
use std::fmt;

/// Extents of a tile that every chip's last two dimensions go by: neither the dtype nor
/// a chip of 16 sublanes changes them.
const TILE: [u64; 2] = [8, 128];

/// Whether JAX takes the block of an operand of a pipelined kernel. Without a chip, a
/// block of rank 1 passes. `trivial_window`: whether the block is the whole array and
/// the index map is all zeros, see [`ResolvedOperand::has_trivial_window`].
///
/// # Errors
/// [`BlockFault`], the first in JAX's order (`_check_block_mappings`).
///
/// ```
/// use mosaic_memspace::error::Fault;
/// use mosaic_memspace::operand::Operand;
/// use mosaic_memspace::rules::{BlockFault, check_block};
/// use mosaic_memspace::{Chip, Dtype, Resolved};
///
/// let chip = Some(Chip::V5e.facts());
/// let x = Operand::input("x", [512, 300], Dtype::Float32).block([100, 300]);
/// let fault = check_block(&x.in_space(Resolved::VMEM), false, chip).unwrap_err();
/// assert_eq!(
///     fault.to_string(),
///     "block extent 100 in dimension 0 is neither a multiple of 8 nor the array's 512"
/// );
/// assert_eq!(fault.help(), "in dimension 0 use 96 or 104; tiles are 8 × 128 elements");
///
/// let x = Operand::input("x", [4096], Dtype::Bfloat16).block([128]);
/// let answer = check_block(&x.in_space(Resolved::VMEM), false, chip);
/// assert!(matches!(answer, Err(BlockFault::Rank1Infeasible { .. })));
/// ```
pub fn check_block(
    operand: &ResolvedOperand<'_>,
    trivial_window: bool,
    chip: Option<&ChipFacts>,
) -> Result<(), BlockFault> {
    let space = operand.space;
    let (block, array) = (operand.dims().count(), operand.operand.array_shape.len());
    if block != array {
        return Err(BlockFault::RankMismatch { block, array });
    }
    let smem_whole = space.is(TpuSpace::Smem) && trivial_window;
    if smem_whole || space.is(TpuSpace::SemaphoreMem) {
        return Ok(());
    }
    let Some(minor) = extents(operand, 0) else {
        return Err(BlockFault::RankZero { space });
    };
    if space.is_left_in_place() && !trivial_window {
        return Err(BlockFault::InAnyOrHbm { space });
    }
    match (extents(operand, 1), chip) {
        (Some(second_minor), _) => check_tiles(second_minor, minor, operand.dtype),
        (None, Some(chip)) => check_rank_1(minor, operand.dtype, chip),
        (None, None) => Ok(()),
    }
}

/// Everything that is wrong with the block: what [`check_block`] finds, and besides an
/// extent of zero, which JAX takes here, and dimensions that do not go together, which
/// it refuses later.
///
/// ```
/// use mosaic_memspace::operand::Operand;
/// use mosaic_memspace::rules::block_faults;
/// use mosaic_memspace::{Dtype, Resolved};
///
/// let x = Operand::input("x", [64, 64], Dtype::Float32).block([0, 7]);
/// assert_eq!(block_faults(&x.in_space(Resolved::VMEM), None).count(), 2);
/// ```
pub fn block_faults(
    operand: &ResolvedOperand<'_>,
    chip: Option<&ChipFacts>,
) -> impl Iterator<Item = BlockFault> + use<> {
    let zero = operand.dims().position(|dim| dim.extent() == 0);
    let zero = zero.map(|dimension| BlockFault::ExtentZero { dimension });
    let mixed = operand.dims().any(|dim| matches!(dim, BlockDim::Element(_)))
        && operand.dims().any(|dim| matches!(dim, BlockDim::Blocked(_)));
    let mixed = mixed.then_some(BlockFault::DimsMixed);
    let refused = check_block(operand, operand.has_trivial_window(), chip).err();
    [refused, zero, mixed].into_iter().flatten()
}

fn check_tiles(second_minor: Extents, minor: Extents, dtype: Dtype) -> Result<(), BlockFault> {
    let [rows, lanes] = TILE;
    let second_minor = Misaligned::new(second_minor, rows);
    let minor = Misaligned::new(minor, lanes);
    if second_minor.is_none() && minor.is_none() {
        return Ok(());
    }
    Err(BlockFault::NotTileAligned { second_minor, minor, dtype })
}

fn check_rank_1(extents: Extents, dtype: Dtype, chip: &ChipFacts) -> Result<(), BlockFault> {
    let lanes = u64::from(chip.num_lanes.get());
    // No element of more than 32 bits fits a word, so any power of two will do.
    let in_a_word = 32_u32.checked_div(dtype.memref_bits()).unwrap_or(0);
    let rule = Rank1 {
        extent: extents.block,
        array_extent: extents.array,
        multiple: lanes.saturating_mul(chip.num_sublanes.get().into()),
        least_power: lanes.saturating_mul(in_a_word.into()),
        dtype,
    };
    if rule.allows(rule.extent) { Ok(()) } else { Err(BlockFault::Rank1Infeasible { rule }) }
}

/// Of the dimension that stands `from_last` before the last, those of the element's own
/// shape counted.
fn extents(operand: &ResolvedOperand<'_>, from_last: usize) -> Option<Extents> {
    let block = operand.block().rev().nth(from_last)?;
    let array = operand.array().rev().nth(from_last)?;
    let dimension = operand.array().count().checked_sub(from_last)?.checked_sub(1)?;
    Some(Extents { dimension, block, array })
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

faults! {
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
    #[derive(Clone, Copy)]
    pub enum BlockFault {
        /// Not one entry for each dimension of the array.
        RankMismatch {
            /// Entries of the block shape.
            block: usize,
            /// The array's rank.
            array: usize,
        } => RankMismatch at "block_shape"
          ("a block shape of {block} entries for an array of rank {array}")
          help "write an entry for each dimension of the array, {array} in all; None squeezes one away";
        /// An extent of zero.
        ExtentZero {
            /// The first dimension that has it, counted from the first.
            dimension: usize,
        } => BlockExtentZero at "block_shape" ("block extent 0 in dimension {dimension}")
          help "make dimension {dimension} at least 1";
        /// `Element` dimensions beside `Blocked` ones.
        DimsMixed => BlockDimsMixed at "block_shape"
          ("a block with both element and blocked dimensions")
          help "make every dimension pl.Element, or none; None goes with both";
        /// Rank 0 in another space than smem, or in smem without a trivial window.
        RankZero {
            /// Where the block lies.
            space: Resolved,
        } => BlockRankZero at "array_shape" ("a block of rank 0 in {space}");
        /// Not a trivial window, in any or hbm.
        InAnyOrHbm {
            /// Where the block lies.
            space: Resolved,
        } => BlockedInAnyOrHbm at "block_shape"
          ("a block in {space} is not the whole array at index 0");
        /// The last two extents are neither whole tiles nor the array's.
        NotTileAligned {
            /// The second-last extent, when that is at fault.
            second_minor: Option<Misaligned>,
            /// The last extent, when that is at fault.
            minor: Option<Misaligned>,
            /// The element type.
            dtype: Dtype,
        } => BlockNotTileAligned at "block_shape" ("{}", Both(*second_minor, *minor, "; "))
          help {
              let instead = Both(second_minor.map(UseInstead), minor.map(UseInstead), ", ");
              let [rows, lanes] = TILE;
              format!("{instead}; tiles are {rows} × {lanes} elements{}", Packed(*dtype))
          };
        /// The one extent is nothing that the tiling allows.
        Rank1Infeasible {
            /// The extent, and what it may be instead.
            rule: Rank1,
        } => Rank1BlockInfeasible at "block_shape" ("{rule}")
          help { format!("use {}{}", rule.nearest(), Packed(rule.dtype)) };
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

struct UseInstead(Misaligned);

impl fmt::Display for UseInstead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "in dimension {} use {}", self.0.dimension, self.0.nearest())
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
    use crate::error::{Code, Fault};
    use crate::operand::Operand;
    use proptest::prelude::*;

    fn of(array_shape: &[u64], dtype: Dtype) -> Operand {
        Operand::input("x", array_shape, dtype)
    }

    #[test]
    fn each_fault_says_what_would_be_right() {
        let array = of(&[64, 300], Dtype::Int8);
        let block = array.clone().block([7, 100]).index_map([Some(0), None]);
        let wrong = [
            (
                of(&[64], Dtype::Int8).block([7, 100]),
                Resolved::VMEM,
                Code::RankMismatch,
                "a block shape of 2 entries for an array of rank 1",
                "write an entry for each dimension of the array, 1 in all; None squeezes one away",
            ),
            (
                of(&[1, 9], Dtype::Int8).block_dims([BlockDim::Squeezed, BlockDim::Blocked(0)]),
                Resolved::VMEM,
                Code::BlockExtentZero,
                "block extent 0 in dimension 1",
                "make dimension 1 at least 1",
            ),
            (
                array.block_dims([BlockDim::Element(8), BlockDim::Blocked(128)]),
                Resolved::VMEM,
                Code::BlockDimsMixed,
                "a block with both element and blocked dimensions",
                "make every dimension pl.Element, or none; None goes with both",
            ),
            (
                of(&[], Dtype::Int8),
                Resolved::VMEM,
                Code::BlockRankZero,
                "a block of rank 0 in vmem",
                "put a scalar in smem, in a kernel without a grid, or give the array a dimension",
            ),
            (
                block.clone(),
                Resolved::ANY,
                Code::BlockedInAnyOrHbm,
                "a block in any is not the whole array at index 0",
                "use the whole array there, or put the block in vmem or smem",
            ),
            (
                block,
                Resolved::VMEM,
                Code::BlockNotTileAligned,
                "block extent 7 in dimension 0 is neither a multiple of 8 nor the array's 64; \
              block extent 100 in dimension 1 is neither a multiple of 128 nor the array's 300",
                "in dimension 0 use 8, in dimension 1 use 128; tiles are 8 × 128 elements; \
              int8 packs 4 elements to a word",
            ),
            (
                of(&[5000], Dtype::Bfloat16).block([1000]),
                Resolved::VMEM,
                Code::Rank1BlockInfeasible,
                "block extent 1000 is neither a multiple of 1024, nor a power of two from 256, \
              nor the array's 5000",
                "use 512 or 1024; bfloat16 packs 2 elements to a word",
            ),
        ];
        for (operand, space, code, message, help) in wrong {
            let faults = block_faults(&operand.in_space(space), Some(Chip::V5e.facts()));
            let said: Vec<_> =
                faults.map(|fault| (fault.code(), fault.to_string(), fault.help())).collect();
            assert_eq!(said, [(code, message.to_owned(), help.to_owned())]);
        }
    }

    #[test]
    fn an_elements_own_dimensions_are_the_last() {
        // A threefry key is two words: the rows are the array's last dimension.
        let keys = of(&[64], Dtype::Uint32).element([2]);
        let check = |rows| {
            let keys = keys.clone().block([rows]);
            let answer = check_block(&keys.in_space(Resolved::VMEM), false, None);
            answer.map_err(|fault| fault.to_string())
        };
        let message = "block extent 4 in dimension 0 is neither a multiple of 8 nor the array's 64";
        assert_eq!(check(4), Err(message.to_owned()));
        assert_eq!(check(8), Ok(()));
    }

    #[test]
    fn jaxs_holes_are_kept() {
        let check = |array: &[u64], dtype, block: &[u64], space| {
            let operand = of(array, dtype).block(block.iter().copied());
            check_block(&operand.in_space(space), false, Some(Chip::V5e.facts()))
        };
        let (int8, vmem) = (Dtype::Int8, Resolved::VMEM);
        assert_eq!(check(&[100], int8, &[0], vmem), Ok(()), "0 is a multiple of everything");
        assert_eq!(check(&[100], Dtype::Float64, &[2], vmem), Ok(()), "64 bits fit no word");
        let accumulator = check(&[64, 300], int8, &[64, 256], Resolved::Acc(0));
        assert_eq!(accumulator, Ok(()), "JAX has no rule of its own for it");
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
            let operand = of(&array, dtype).block_dims(block);
            for fault in block_faults(&operand.in_space(Resolved::VMEM), Some(chip.facts())) {
                prop_assert!(!fault.to_string().is_empty() && !fault.help().is_empty());
                match fault {
                    BlockFault::Rank1Infeasible { rule } => {
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
