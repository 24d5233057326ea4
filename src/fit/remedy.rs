//! Which changes would make a kernel fit.

use super::kernel::TcKernel;
use super::padding::Layout;
use super::vmem::{Taken, most, window_of};
use crate::operand::{BlockDim, Operand, ResolvedOperand, ResolvedScratch, one_step_a_core};
use crate::rules::check_block;
use crate::word::Shown;
use std::cmp::Reverse;
use std::fmt;

/// One change to a kernel.
///
/// ```
/// use mosaic_memspace::fit::Change;
/// let change = Change::Halve { of: "x".into(), dimension: 0, times: 2, extent: 64 };
/// assert_eq!(change.to_string(), "halve dimension 0 of x twice, to 64");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Change {
    /// Ask for more VMEM.
    RaiseLimit {
        /// The least `vmem_limit_bytes` that would do.
        to: u64,
    },
    /// Use one buffer for a window (`pl.Buffered(1)`).
    SingleBuffer {
        /// The operand's name.
        of: Box<str>,
    },
    /// Halve a dimension of a block, or of scratch.
    Halve {
        /// The name of the operand or scratch.
        of: Box<str>,
        /// The dimension, counted from the first.
        dimension: usize,
        /// How many times.
        times: u32,
        /// Its extent then.
        extent: u64,
    },
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RaiseLimit { to } => write!(f, "raise vmem_limit_bytes to {to} or more"),
            Self::SingleBuffer { of } => write!(f, "use one buffer for {}", Shown(of)),
            Self::Halve { of, dimension, times, extent } => {
                write!(f, "halve dimension {dimension} of {}", Shown(of))?;
                match times {
                    1 => {}
                    2 => f.write_str(" twice")?,
                    times => write!(f, " {times} times")?,
                }
                write!(f, ", to {extent}")
            }
        }
    }
}

/// Changes that together make the kernel fit by its declarations.
///
/// ```
/// use mosaic_memspace::fit::{Change, Remedy};
/// let remedy = Remedy { changes: vec![Change::SingleBuffer { of: "x".into() }] };
/// assert_eq!(remedy.to_string(), "use one buffer for x");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Remedy {
    /// All of them are needed.
    pub changes: Vec<Change>,
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let changes: Vec<_> = self.changes.iter().map(ToString::to_string).collect();
        f.write_str(&changes.join(" and "))
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
pub(super) fn of_vmem(kernel: &TcKernel<'_>, needed: u64, there: u64) -> Vec<Remedy> {
    let mut remedies = Vec::new();
    if needed <= most(kernel.chip) {
        remedies.push(Change::RaiseLimit { to: needed }.into());
    }
    let mut refs = Shrinkable::all(kernel);
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

/// For the largest scratch, the fewest halvings of one dimension that save `over` bytes;
/// `bytes` measures scratch with a shape, if it lies there.
pub(super) fn of_scratch<'a>(
    scratch: impl Iterator<Item = &'a ResolvedScratch<'a>>,
    over: u64,
    bytes: impl Fn(&ResolvedScratch<'_>, &[u64]) -> Option<u64>,
) -> Vec<Remedy> {
    let measured = scratch.filter_map(|it| Some((bytes(it, it.shape)?, it)));
    let mut measured: Vec<_> = measured.collect();
    measured.sort_by_key(|(bytes, _)| Reverse(*bytes));
    let remedies = measured.into_iter().filter_map(|(now, scratch)| {
        let room = now.checked_sub(over)?;
        fewest_halvings(scratch.name, scratch.shape, |extents| {
            bytes(scratch, extents).is_some_and(|bytes| bytes <= room)
        })
    });
    remedies.map(Remedy::from).take(super::Overflow::LARGEST).collect()
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
    of: Sized<'a>,
    original: Vec<u64>,
    extents: Vec<u64>,
    /// Buffers at first, and now.
    buffers: [u32; 2],
    bytes: u64,
    can_shrink: bool,
}

#[derive(Clone, Copy)]
enum Sized<'a> {
    Window(&'a ResolvedOperand<'a>),
    Scratch(&'a ResolvedScratch<'a>),
}

impl<'a> Shrinkable<'a> {
    /// Those of the kernel's refs that may be tried.
    fn all(kernel: &'a TcKernel<'a>) -> Vec<Self> {
        let scratch = kernel.scratch().filter_map(|scratch| {
            let taken = kernel.scratch_in_vmem(scratch, scratch.shape).ok()??;
            Some(Self::new(kernel, Sized::Scratch(scratch), taken, scratch.shape.to_vec()))
        });
        let one_step = one_step_a_core(kernel.grid, kernel.cores());
        let windows = kernel.operands().filter_map(|operand| {
            if operand.is_kept_element() || operand.array_in_vmem {
                return None;
            }
            let taken = kernel.operand_in_vmem(operand, one_step).ok()??;
            let extents = operand.dims().map(BlockDim::extent).collect();
            Some(Self::new(kernel, Sized::Window(operand), taken, extents))
        });
        let mut all: Vec<_> = scratch.chain(windows).collect();
        all.sort_by_key(|it| Reverse(it.bytes));
        all.truncate(REFS);
        all
    }

    fn new(kernel: &'a TcKernel<'a>, of: Sized<'a>, taken: Taken, extents: Vec<u64>) -> Self {
        let (buffers, bytes) = ([taken.buffers; 2], taken.bytes);
        let original = extents.clone();
        Self { kernel, of, original, extents, buffers, bytes, can_shrink: true }
    }

    fn name(&self) -> Box<str> {
        match self.of {
            Sized::Window(operand) => operand.name.into(),
            Sized::Scratch(scratch) => scratch.name.into(),
        }
    }

    /// The one change to this ref that saves as much.
    fn alone(&self, over: u64) -> Option<Change> {
        let room = self.bytes.checked_sub(over)?;
        let enough = |bytes: Option<u64>| bytes.is_some_and(|bytes| bytes <= room);
        if self.buffers[1] > 1 && enough(self.measure(&self.extents, 1)) {
            return Some(Change::SingleBuffer { of: self.name() });
        }
        fewest_halvings(&self.name(), &self.extents, |extents| {
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
        let single = (now < first).then_some(Change::SingleBuffer { of: self.name() });
        let halved = self.original.iter().zip(&self.extents).enumerate().filter_map(
            |(dimension, (original, extent))| {
                let mut halved = *original;
                let mut times = 0_u32;
                while halved > *extent {
                    halved = halved.div_ceil(2);
                    times = times.saturating_add(1);
                }
                let halve = Change::Halve { of: self.name(), dimension, times, extent: *extent };
                (times > 0).then_some(halve)
            },
        );
        single.into_iter().chain(halved).collect()
    }

    /// A block that is halved has to move, and is then buffered as asked, if not
    /// made to have a single buffer before.
    fn buffers_when_halved(&self) -> u32 {
        match self.of {
            Sized::Window(operand) if self.buffers[0] == self.buffers[1] => {
                operand.buffers_when_moving()
            }
            Sized::Window(_) | Sized::Scratch(_) => 1,
        }
    }

    /// Bytes with other extents and buffers.
    fn measure(&self, extents: &[u64], buffers: u32) -> Option<u64> {
        let taken = match self.of {
            Sized::Scratch(scratch) => self.kernel.scratch_in_vmem(scratch, extents).ok()??,
            Sized::Window(operand) => {
                let own = &operand.operand.element_shape;
                let layout = Layout::of_window(self.kernel.chip, operand.dtype).ok()?;
                let bytes = layout.bytes_of(extents.iter().chain(own).copied()).ok()?;
                window_of(bytes, buffers).ok()?
            }
        };
        taken.bytes.checked_next_multiple_of(self.kernel.vmem_alignment())
    }

    fn is_legal(&self, extents: &[u64]) -> bool {
        match self.of {
            Sized::Scratch(_) => true,
            Sized::Window(operand) => {
                let dims = operand.dims().zip(extents).map(|(dim, extent)| dim.with(*extent));
                let halved =
                    Operand { block_shape: Some(dims.collect()), ..operand.operand.clone() };
                let halved = ResolvedOperand { operand: &halved, ..*operand };
                check_block(&halved, false, Some(self.kernel.chip)).is_ok()
            }
        }
    }
}

/// The change of one dimension that satisfies, with the fewest halvings.
fn fewest_halvings(of: &str, shape: &[u64], satisfies: impl Fn(&[u64]) -> bool) -> Option<Change> {
    let mut best: Option<(u32, Change)> = None;
    for dimension in halvable(shape) {
        let mut extents = shape.to_vec();
        let limit = best.as_ref().map_or(u64::BITS, |(times, _)| times.saturating_sub(1));
        for times in 1..=limit {
            let extent = halve(&mut extents, dimension);
            if satisfies(&extents) {
                best = Some((times, Change::Halve { of: of.into(), dimension, times, extent }));
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
    clippy::unwrap_used,
    reason = "small kernels, and changes of refs that they have"
)]
mod tests {
    use super::super::{FitFault, Overflow, TcKernel};
    use super::*;
    use crate::chip::Chip;
    use crate::dtype::Dtype;
    use crate::memory_space::{MemorySpace, Resolved};
    use crate::operand::{GridAxis, IndexEntry, Ref, Scratch};
    use proptest::prelude::*;

    #[derive(Clone, Debug)]
    struct Owned {
        chip: Chip,
        grid: Vec<GridAxis>,
        operands: Vec<Operand>,
        scratch: Vec<Scratch>,
        limit: Option<i64>,
    }

    impl Owned {
        fn overflow(&self) -> Option<Overflow> {
            let operands = self.operands.iter().map(|it| Ref::from(it.in_space(Resolved::VMEM)));
            let scratch = self.scratch.iter().filter_map(|it| it.in_space(Resolved::VMEM));
            let refs: Vec<_> = operands.chain(scratch.map(Ref::from)).collect();
            let kernel = TcKernel {
                grid: &self.grid,
                refs: &refs,
                vmem_limit_bytes: self.limit,
                ..TcKernel::new(self.chip.facts())
            };
            kernel.faults().unwrap_or_default().into_iter().find_map(|fault| {
                if let FitFault::VmemOverflow { over } = fault { Some(over) } else { None }
            })
        }

        fn change(&mut self, change: &Change) {
            match change {
                Change::RaiseLimit { to } => self.limit = i64::try_from(*to).ok(),
                Change::SingleBuffer { of } => self.operand(of).unwrap().buffers = Some(1),
                Change::Halve { of, dimension, extent, .. } => {
                    let axis = self.grid.len();
                    if let Some(operand) = self.operand(of) {
                        let block = operand.block_shape.as_mut().unwrap();
                        block[*dimension] = block[*dimension].with(*extent);
                        operand.index_map.as_mut().unwrap()[*dimension] = IndexEntry::Axis(axis);
                        self.grid.push(GridAxis::new(2));
                    } else {
                        let mut all = self.scratch.iter_mut();
                        let scratch = all.find(|it| it.name.as_deref() == Some(&**of)).unwrap();
                        scratch.shape[*dimension] = *extent;
                    }
                }
            }
        }

        fn operand(&mut self, name: &str) -> Option<&mut Operand> {
            self.operands.iter_mut().find(|it| it.name.as_deref() == Some(name))
        }
    }

    fn numbered(mut operands: Vec<Operand>) -> Vec<Operand> {
        for (number, operand) in operands.iter_mut().enumerate() {
            operand.name = Some(format!("operand {number}"));
        }
        operands
    }

    fn scratch(number: usize, shape: Vec<u64>, dtype: Dtype) -> Scratch {
        Scratch::new(&format!("scratch {number}"), MemorySpace::VMEM, shape, dtype)
    }

    fn operand() -> impl Strategy<Value = Operand> {
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
                let array: Vec<_> = dims.iter().map(|extent| extent * 2).collect();
                let operand = Operand::output("", array, dtype).block(dims);
                operand.index_entries(index_map).buffers(buffers)
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
                    .enumerate()
                    .map(|(number, (shape, dtype))| self::scratch(number, shape, dtype))
                    .collect();
                Owned { chip, grid, operands: numbered(operands), scratch, limit }
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
                    changed.change(change);
                }
                let left = changed.overflow();
                prop_assert!(left.is_none(), "{remedy} leaves {left:?}");
            }
        }
    }

    fn window(rows: u64, buffers: Option<u32>) -> Operand {
        let window = Operand::output("", [rows * 4, 1024], Dtype::Float32).block([rows, 1024]);
        window.index_map([Some(0), None]).buffers(buffers)
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
            operands: numbered(vec![window(1024, None), window(1600, None)]),
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
        let still = window(5120, None).index_map([None, None]);
        let kernel = Owned {
            chip: Chip::V4,
            grid: vec![GridAxis::new(4)],
            operands: numbered(vec![still]),
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
            operands: numbered(vec![window(4096, None), window(4096, Some(1))]),
            scratch: vec![scratch(0, vec![4096, 1024], Dtype::Float32)],
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
