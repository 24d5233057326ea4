//! Which changes would make a kernel fit.

use super::kernel::{FitOperand, Part, RefId, TcKernel};
use super::padding::Layout;
use super::vmem::{most, window_of};
use crate::rules::{Block, BlockDim};
use std::fmt;

/// One change to a kernel.
///
/// ```
/// use mosaic_memspace::fit::{Change, RefId};
///
/// let change = Change::Halve { of: RefId::Operand(1), dimension: 0, times: 2, extent: 64 };
/// assert_eq!(change.to_string(), "halve dimension 0 of operand 1 twice, to 64");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Change {
    /// Ask for more VMEM.
    RaiseLimit {
        /// The least `vmem_limit_bytes` that would do.
        to: u64,
    },
    /// Use one buffer for a window (`pl.Buffered(1)`).
    SingleBuffer {
        /// The operand.
        of: RefId,
    },
    /// Halve a dimension of a block, or of scratch.
    Halve {
        /// The operand or scratch.
        of: RefId,
        /// The dimension, counted from the first.
        dimension: usize,
        /// How many times.
        times: u32,
        /// Its extent then.
        extent: u64,
    },
}

impl Change {
    /// The change, with the ref's name in place of its number.
    pub(super) fn named(self, name: &dyn Fn(RefId) -> String) -> String {
        match self {
            Self::RaiseLimit { to } => format!("raise vmem_limit_bytes to {to} or more"),
            Self::SingleBuffer { of } => format!("use one buffer for {}", name(of)),
            Self::Halve { of, dimension, times, extent } => {
                let times = match times {
                    1 => String::new(),
                    2 => " twice".to_owned(),
                    times => format!(" {times} times"),
                };
                format!("halve dimension {dimension} of {}{times}, to {extent}", name(of))
            }
        }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.named(&|id| id.to_string()))
    }
}

/// Changes that together make the kernel fit by its declarations.
///
/// ```
/// use mosaic_memspace::fit::{Change, RefId, Remedy};
/// let remedy = Remedy { changes: vec![Change::SingleBuffer { of: RefId::Operand(0) }] };
/// assert_eq!(remedy.to_string(), "use one buffer for operand 0");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Remedy {
    /// All of them are needed.
    pub changes: Vec<Change>,
}

impl Remedy {
    pub(super) fn named(&self, name: &dyn Fn(RefId) -> String) -> String {
        let changes: Vec<_> = self.changes.iter().map(|change| change.named(name)).collect();
        changes.join(" and ")
    }
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.named(&|id| id.to_string()))
    }
}

impl From<Change> for Remedy {
    fn from(change: Change) -> Self {
        Self { changes: vec![change] }
    }
}

/// Dimensions of a shape that are tried, so that no description takes long.
const DIMENSIONS: usize = 16;

/// Refs that are tried, the largest first, for the same reason.
const REFS: usize = 32;

/// Steps of a remedy of many changes, for the same reason.
const STEPS: usize = 512;

/// The remedies of a kernel that needs `needed` bytes of VMEM, where there are
/// `there`: those of a single change, and when there is none, one of several.
pub(super) fn of_vmem(
    kernel: &TcKernel<'_>,
    parts: &[Part],
    needed: u64,
    there: u64,
) -> Vec<Remedy> {
    let mut remedies = Vec::new();
    if needed <= most(kernel.chip) {
        remedies.push(Change::RaiseLimit { to: needed }.into());
    }
    let mut refs: Vec<_> =
        largest(parts).take(REFS).filter_map(|part| Shrinkable::new(kernel, *part)).collect();
    let over = needed.saturating_sub(there);
    let mut singles: Vec<_> = refs.iter().filter_map(|shrinkable| shrinkable.alone(over)).collect();
    singles.sort_by_key(|change| match change {
        Change::RaiseLimit { .. } | Change::SingleBuffer { .. } => 0,
        Change::Halve { times, .. } => *times,
    });
    remedies.extend(singles.into_iter().map(Remedy::from));
    if remedies.is_empty() {
        remedies.extend(together(&mut refs, over));
    }
    remedies
}

/// Parts, the largest first.
pub(super) fn largest(parts: &[Part]) -> impl Iterator<Item = &Part> {
    let mut parts: Vec<_> = parts.iter().collect();
    parts.sort_by_key(|part| std::cmp::Reverse(part.bytes));
    parts.into_iter()
}

/// The fewest halvings of one dimension of scratch, measured by `bytes`, that
/// leave at most `room` bytes.
pub(super) fn halve_scratch(
    of: RefId,
    shape: &[u64],
    room: u64,
    bytes: impl Fn(&[u64]) -> Option<u64>,
) -> Option<Change> {
    let small_enough = |extents: &[u64], _| bytes(extents).is_some_and(|bytes| bytes <= room);
    fewest_halvings(of, shape, small_enough)
}

/// Changes to many refs: the largest gives way first, until it is enough.
fn together(refs: &mut [Shrinkable<'_>], over: u64) -> Option<Remedy> {
    let mut over = over;
    for _ in 0..STEPS {
        let largest = refs.iter_mut().filter(|it| it.can_shrink).max_by_key(|it| it.bytes)?;
        over = over.saturating_sub(largest.shrink());
        if over == 0 {
            let changes = refs.iter().flat_map(Shrinkable::changes).collect();
            return Some(Remedy { changes });
        }
    }
    None
}

/// A ref whose bytes can be made fewer.
struct Shrinkable<'a> {
    kernel: &'a TcKernel<'a>,
    of: RefId,
    /// The operand; scratch has none.
    operand: Option<FitOperand<'a>>,
    original: Vec<u64>,
    extents: Vec<u64>,
    /// Buffers at first, and now.
    buffers: [u32; 2],
    bytes: u64,
    can_shrink: bool,
}

impl<'a> Shrinkable<'a> {
    fn new(kernel: &'a TcKernel<'a>, part: Part) -> Option<Self> {
        let (operand, original): (_, Vec<u64>) = match part.of {
            RefId::Prefetch(_) => return None,
            RefId::Scratch(number) => (None, kernel.scratch.get(number)?.shape.to_vec()),
            RefId::Operand(number) => {
                let operand = *kernel.operands.get(number)?;
                if operand.is_kept_element() || operand.array_in_vmem {
                    return None;
                }
                let dims = operand.operand.block().dims();
                (Some(operand), dims.map(BlockDim::extent).collect())
            }
        };
        // Without the gap before it, which stays when it shrinks.
        let bytes = match operand {
            Some(_) => window_of(part.buffer_bytes, part.buffers).ok()?.bytes,
            None => part.buffer_bytes,
        };
        Some(Self {
            kernel,
            of: part.of,
            operand,
            extents: original.clone(),
            original,
            buffers: [part.buffers; 2],
            bytes,
            can_shrink: true,
        })
    }

    /// The one change to this ref that saves as much.
    fn alone(&self, over: u64) -> Option<Change> {
        let room = self.bytes.checked_sub(over)?;
        let enough = |bytes: Option<u64>| bytes.is_some_and(|bytes| bytes <= room);
        if self.buffers[1] > 1 && enough(self.measure(&self.extents, 1)) {
            return Some(Change::SingleBuffer { of: self.of });
        }
        fewest_halvings(self.of, &self.extents, |extents, _| {
            self.is_legal(extents) && enough(self.measure(extents, self.buffers_when_halved()))
        })
    }

    /// Makes it smaller by the least change that does; how many bytes that saves.
    fn shrink(&mut self) -> u64 {
        let before = self.bytes;
        let single = self.measure(&self.extents, 1).filter(|bytes| *bytes < before);
        if let (true, Some(bytes)) = (self.buffers[1] > 1, single) {
            self.buffers[1] = 1;
            self.bytes = bytes;
            return before.saturating_sub(bytes);
        }
        let buffers = self.buffers_when_halved();
        for dimension in halvable(&self.extents) {
            let mut extents = self.extents.clone();
            let mut least = halve(&mut extents, dimension);
            while least > 1 && !self.is_legal(&extents) {
                least = halve(&mut extents, dimension);
            }
            let bytes = self.measure(&extents, buffers);
            if let Some(bytes) = bytes.filter(|bytes| *bytes < before)
                && self.is_legal(&extents)
            {
                self.extents = extents;
                self.bytes = bytes;
                return before.saturating_sub(bytes);
            }
        }
        self.can_shrink = false;
        0
    }

    /// What was changed.
    fn changes(&self) -> Vec<Change> {
        let [first, now] = self.buffers;
        let single = (now < first).then_some(Change::SingleBuffer { of: self.of });
        let halved = self.original.iter().zip(&self.extents).enumerate().filter_map(
            |(dimension, (original, extent))| {
                let mut halved = *original;
                let mut times = 0_u32;
                while halved > *extent {
                    halved = halved.div_ceil(2);
                    times = times.saturating_add(1);
                }
                let halve = Change::Halve { of: self.of, dimension, times, extent: *extent };
                (times > 0).then_some(halve)
            },
        );
        single.into_iter().chain(halved).collect()
    }

    /// A block that is halved has to move, and is then buffered as asked, if not
    /// made to have a single buffer before.
    fn buffers_when_halved(&self) -> u32 {
        match self.operand {
            Some(operand) if self.buffers[0] == self.buffers[1] => {
                operand.operand.buffers.unwrap_or(2)
            }
            Some(_) | None => 1,
        }
    }

    /// Bytes with other extents and buffers.
    fn measure(&self, extents: &[u64], buffers: u32) -> Option<u64> {
        let chip = self.kernel.chip;
        let slack = self.kernel.vmem_alignment();
        match (self.of, self.operand) {
            (RefId::Scratch(number), _) => {
                let taken = self.kernel.scratch.get(number)?.vmem(chip, extents).ok()?;
                taken.bytes.checked_next_multiple_of(slack)
            }
            (_, Some(operand)) => {
                let own = operand.operand.element_shape;
                let layout = Layout::of_window(chip, operand.operand.dtype).ok()?;
                let bytes = layout.bytes_of(extents.iter().chain(own).copied()).ok()?;
                window_of(bytes, buffers).ok()?.bytes.checked_next_multiple_of(slack)
            }
            (_, None) => None,
        }
    }

    fn is_legal(&self, extents: &[u64]) -> bool {
        let Some(operand) = self.operand else { return true };
        let block = operand.operand.block();
        let dims: Vec<_> =
            block.dims().zip(extents).map(|(dim, extent)| dim.with(*extent)).collect();
        let block = Block { block_shape: Some(&dims), trivial_window: false, ..block };
        block.check(Some(self.kernel.chip)).is_ok()
    }
}

/// The change of one dimension that satisfies, with the fewest halvings.
fn fewest_halvings(
    of: RefId,
    shape: &[u64],
    satisfies: impl Fn(&[u64], usize) -> bool,
) -> Option<Change> {
    let mut best: Option<(u32, Change)> = None;
    for dimension in halvable(shape) {
        let mut extents = shape.to_vec();
        let limit = best.map_or(u64::BITS, |(times, _)| times.saturating_sub(1));
        for times in 1..=limit {
            let extent = halve(&mut extents, dimension);
            if satisfies(&extents, dimension) {
                best = Some((times, Change::Halve { of, dimension, times, extent }));
                break;
            }
            if extent <= 1 {
                break;
            }
        }
    }
    best.map(|(_, change)| change)
}

/// The dimensions of more than one element, the first of them.
fn halvable(shape: &[u64]) -> impl Iterator<Item = usize> + use<> {
    let halvable = shape.iter().enumerate().filter(|(_, extent)| **extent > 1);
    let halvable: Vec<_> = halvable.map(|(dimension, _)| dimension).take(DIMENSIONS).collect();
    halvable.into_iter()
}

/// Halves an extent, rounding up; what it becomes.
fn halve(extents: &mut [u64], dimension: usize) -> u64 {
    match extents.get_mut(dimension) {
        Some(extent) => {
            *extent = extent.div_ceil(2);
            *extent
        }
        None => 1,
    }
}

#[cfg(test)]
#[allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "small kernels, and changes of refs that they have"
)]
mod tests {
    use super::super::kernel::Scratch;
    use super::super::{FitFault, TcKernel};
    use super::*;
    use crate::chip::Chip;
    use crate::dtype::Dtype;
    use crate::memory_space::Resolved;
    use crate::rules::{GridAxis, IndexEntry, Operand, Role};
    use proptest::prelude::*;

    /// A kernel that owns its shapes, so that it can be changed.
    #[derive(Clone, Debug)]
    struct Owned {
        chip: Chip,
        grid: Vec<GridAxis>,
        operands: Vec<OwnedOperand>,
        scratch: Vec<(Vec<u64>, Dtype)>,
        limit: Option<i64>,
    }

    #[derive(Clone, Debug)]
    struct OwnedOperand {
        array: Vec<u64>,
        block: Vec<BlockDim>,
        index_map: Vec<IndexEntry>,
        dtype: Dtype,
        buffers: Option<u32>,
    }

    impl Owned {
        fn with<T>(&self, answer: impl FnOnce(&TcKernel<'_>) -> T) -> T {
            let operand = |operand: &OwnedOperand| -> (Vec<u64>, Vec<BlockDim>, Vec<IndexEntry>) {
                (operand.array.clone(), operand.block.clone(), operand.index_map.clone())
            };
            let shapes: Vec<_> = self.operands.iter().map(operand).collect();
            let operands: Vec<FitOperand<'_>> = self
                .operands
                .iter()
                .zip(&shapes)
                .map(|(owned, (array, block, index_map))| {
                    let operand = Operand {
                        role: Role::Output,
                        array_shape: array,
                        block_shape: Some(block),
                        element_shape: &[],
                        dtype: owned.dtype,
                        index_map: Some(index_map),
                        space: Resolved::VMEM,
                        buffers: owned.buffers,
                    };
                    operand.into()
                })
                .collect();
            let scratch: Vec<_> = self
                .scratch
                .iter()
                .map(|(shape, dtype)| Scratch::new(shape, *dtype, Resolved::VMEM))
                .collect();
            answer(&TcKernel {
                grid: &self.grid,
                operands: &operands,
                scratch: &scratch,
                vmem_limit_bytes: self.limit,
                ..TcKernel::new(self.chip.facts())
            })
        }

        fn overflow(&self) -> Option<super::super::Overflow> {
            let faults = self.with(|kernel| kernel.faults().unwrap_or_default());
            faults.into_iter().find_map(|fault| {
                if let FitFault::VmemOverflow(over) = fault { Some(over) } else { None }
            })
        }

        fn change(&mut self, change: Change) {
            match change {
                Change::RaiseLimit { to } => self.limit = i64::try_from(to).ok(),
                Change::SingleBuffer { of: RefId::Operand(number) } => {
                    self.operands[number].buffers = Some(1);
                }
                Change::Halve { of: RefId::Operand(number), dimension, extent, .. } => {
                    let operand = &mut self.operands[number];
                    operand.block[dimension] = operand.block[dimension].with(extent);
                    operand.index_map[dimension] = IndexEntry::Axis(self.grid.len());
                    self.grid.push(GridAxis::new(2));
                }
                Change::Halve { of: RefId::Scratch(number), dimension, extent, .. } => {
                    self.scratch[number].0[dimension] = extent;
                }
                Change::SingleBuffer { of } | Change::Halve { of, .. } => {
                    panic!("{of} has nothing to change")
                }
            }
        }
    }

    fn operand() -> impl Strategy<Value = OwnedOperand> {
        let block = (1..4_u64, 1..40_u64, 1..12_u64);
        let dtype =
            prop::sample::select(&[Dtype::Float32, Dtype::Bfloat16, Dtype::Int8, Dtype::Int4]);
        let buffers = prop::sample::select(&[None, Some(1), Some(2)]);
        (block, dtype, buffers, any::<bool>(), any::<bool>()).prop_map(
            |((major, rows, lanes), dtype, buffers, moves, line)| {
                let dims =
                    if line { vec![lanes * 8192] } else { vec![major, rows * 8, lanes * 128] };
                let mut index_map = vec![IndexEntry::Zero; dims.len()];
                index_map[0] = if moves { IndexEntry::Axis(0) } else { IndexEntry::Zero };
                OwnedOperand {
                    array: dims.iter().map(|extent| extent * 2).collect(),
                    block: dims.into_iter().map(BlockDim::Blocked).collect(),
                    index_map,
                    dtype,
                    buffers,
                }
            },
        )
    }

    fn kernel() -> impl Strategy<Value = Owned> {
        let chip = prop::sample::select(&[Chip::V3, Chip::V4, Chip::V5e, Chip::V5p, Chip::V6e]);
        let scratch = prop::collection::vec(
            (prop::collection::vec(1..200_u64, 0..4), prop::sample::select(Dtype::ALL)),
            0..3,
        );
        let limit = prop::option::of(20_000..4_000_000_i64);
        (chip, prop::collection::vec(operand(), 0..5), scratch, limit, 1..4_u64).prop_map(
            |(chip, operands, scratch, limit, steps)| {
                let grid = vec![GridAxis::new(steps)];
                let scratch = scratch
                    .into_iter()
                    .filter(|(_, dtype)| dtype.memref_packing().is_some())
                    .collect();
                Owned { chip, grid, operands, scratch, limit }
            },
        )
    }

    proptest! {
        #[test]
        fn a_kernel_with_the_changes_of_a_remedy_fits(kernel in kernel()) {
            let Some(over) = kernel.overflow() else { return Ok(()) };
            for remedy in &over.remedies {
                let mut changed = kernel.clone();
                for change in &remedy.changes {
                    changed.change(*change);
                }
                let left = changed.overflow();
                prop_assert!(left.is_none(), "{remedy} leaves {left:?}");
            }
        }
    }

    fn window(rows: u64, buffers: Option<u32>) -> OwnedOperand {
        OwnedOperand {
            array: vec![rows * 4, 1024],
            block: vec![BlockDim::Blocked(rows), BlockDim::Blocked(1024)],
            index_map: vec![IndexEntry::Axis(0), IndexEntry::Zero],
            dtype: Dtype::Float32,
            buffers,
        }
    }

    fn remedies(kernel: &Owned) -> Vec<String> {
        let over = kernel.overflow();
        over.iter().flat_map(|over| &over.remedies).map(ToString::to_string).collect()
    }

    #[test]
    fn the_fewest_changes_come_first() {
        let kernel = Owned {
            chip: Chip::V5e,
            grid: vec![GridAxis::new(4)],
            operands: vec![window(1024, None), window(1600, None)],
            scratch: vec![],
            limit: None,
        };
        // 8 MiB and 12.5 MiB of 16.
        assert_eq!(
            remedies(&kernel),
            [
                "raise vmem_limit_bytes to 21495808 or more",
                "use one buffer for operand 1",
                "halve dimension 0 of operand 0 twice, to 256"
            ]
        );
    }

    #[test]
    fn a_block_that_never_moved_is_not_helped_by_one_halving() {
        // 20 MiB, once; halved it moves, and is there twice.
        let mut still = window(5120, None);
        still.index_map = vec![IndexEntry::Zero; 2];
        let kernel = Owned {
            chip: Chip::V4,
            grid: vec![GridAxis::new(4)],
            operands: vec![still],
            scratch: vec![],
            limit: None,
        };
        assert_eq!(remedies(&kernel), ["halve dimension 0 of operand 0 twice, to 1280"]);
    }

    #[test]
    fn where_no_change_will_do_alone_several_are_named() {
        let kernel = Owned {
            chip: Chip::V4,
            grid: vec![GridAxis::new(4)],
            operands: vec![window(4096, None), window(4096, Some(1))],
            scratch: vec![(vec![4096, 1024], Dtype::Float32)],
            limit: None,
        };
        // 32, 16 and 16 MiB of 16.
        assert_eq!(
            remedies(&kernel),
            ["use one buffer for operand 0 and halve dimension 0 of operand 0, to 2048 and \
              halve dimension 0 of scratch 0 twice, to 1024 and \
              halve dimension 0 of operand 1 twice, to 1024"]
        );
    }
}
