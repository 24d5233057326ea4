//! Refs of which it is known where they lie.

use super::{BlockDim, GridAxis, IndexEntry, Operand, Role, one_step_a_core};
use crate::dtype::Dtype;
use crate::memory_space::{Resolved, TpuSpace};

/// An operand in the memory where its block lies.
///
/// ```
/// use mosaic_memspace::operand::{GridAxis, Operand};
/// use mosaic_memspace::{Dtype, Resolved};
///
/// let x = Operand::input("x", [3], Dtype::Int8).index_map([Some(0)]);
/// let x = x.in_space(Resolved::VMEM);
/// assert!(x.moves(&[GridAxis::new(2)]) && !x.moves(&[GridAxis::new(1)]));
/// let grid = [GridAxis::new(2).in_parallel()];
/// assert_eq!(x.buffer_count(&grid, 1), 2);
/// assert_eq!(x.buffer_count(&grid, 2), 1);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ResolvedOperand<'a> {
    pub(crate) name: &'a str,
    pub(crate) operand: &'a Operand,
    pub(crate) dtype: Dtype,
    pub(crate) space: Resolved,
    pub(crate) array_in_vmem: bool,
    pub(crate) untouched: bool,
    pub(crate) once: bool,
}

impl<'a> ResolvedOperand<'a> {
    pub(super) fn new(operand: &'a Operand, space: Resolved) -> Self {
        Self {
            name: operand.name.as_deref().unwrap_or("operand"),
            operand,
            dtype: operand.dtype.or(Dtype::Int32),
            space,
            array_in_vmem: false,
            untouched: false,
            once: false,
        }
    }

    /// The operand of an array that lies in vmem itself (it is colored so): its window
    /// costs nothing, and the array counts beside the scoped limit.
    #[must_use]
    pub const fn with_array_in_vmem(self) -> Self {
        Self { array_in_vmem: true, ..self }
    }

    /// The operand, never touched by the body: an array of one element costs nothing
    /// then.
    #[must_use]
    pub const fn left_untouched(self) -> Self {
        Self { untouched: true, ..self }
    }

    /// The operand with a single buffer to its window.
    pub(crate) const fn buffered_once(self) -> Self {
        Self { once: true, ..self }
    }

    /// The entries of the block shape; of a whole array, its extents.
    pub fn dims(&self) -> impl DoubleEndedIterator<Item = BlockDim> + Clone + use<'a> {
        let Operand { block_shape, array_shape, .. } = self.operand;
        let whole = if block_shape.is_none() { array_shape.as_slice() } else { &[] };
        let given = block_shape.as_deref().unwrap_or_default().iter().copied();
        given.chain(whole.iter().copied().map(BlockDim::Blocked))
    }

    /// The block's extents, those of an element's own shape last.
    pub(crate) fn block(&self) -> impl DoubleEndedIterator<Item = u64> + Clone + use<'a> {
        let own = self.operand.element_shape.iter().copied();
        self.dims().map(BlockDim::extent).chain(own)
    }

    /// The array's extents, those of an element's own shape last.
    pub(crate) fn array(&self) -> impl DoubleEndedIterator<Item = u64> + Clone + use<'a> {
        let Operand { array_shape, element_shape, .. } = self.operand;
        array_shape.iter().chain(element_shape).copied()
    }

    /// Whether the block is the whole array and the index map is all zeros (JAX:
    /// `BlockMapping.has_trivial_window`). An axis of extent 1 is not zero here.
    pub fn has_trivial_window(&self) -> bool {
        let zero = |entry: &IndexEntry| matches!(entry, IndexEntry::Zero);
        let still = self.operand.index_map.as_ref().is_none_or(|map| map.iter().all(zero));
        still && (self.operand.block_shape.is_none() || self.block().eq(self.array()))
    }

    /// Whether the compiler sees the window move: its index map reads a grid axis
    /// longer than 1.
    pub fn moves(&self, grid: &[GridAxis]) -> bool {
        let map = self.operand.index_map.as_deref().unwrap_or_default();
        map.iter().any(|entry| entry.moves(grid))
    }

    /// Buffers that the compiler gives the window, whatever JAX wrote: 1 when it
    /// does not move, or when every core is left with one step; else as asked,
    /// else 2. `cores`: the TensorCores that share the grid's parallel axes.
    pub fn buffer_count(&self, grid: &[GridAxis], cores: u32) -> u32 {
        self.buffers_where(one_step_a_core(grid, cores), grid)
    }

    /// The same, where it is known of the grid whether every core is left with one step.
    pub(crate) fn buffers_where(&self, one_step: bool, grid: &[GridAxis]) -> u32 {
        if one_step || !self.moves(grid) { 1 } else { self.buffers_when_moving() }
    }

    /// Buffers of a window that moves; a number that is refused does not count.
    pub(crate) const fn buffers_when_moving(&self) -> u32 {
        match self.operand.buffers {
            _ if self.once => 1,
            Some(1) => 1,
            Some(_) | None => 2,
        }
    }

    /// Whether JAX writes one buffer, whatever was asked: of a trivial window in vmem.
    pub(crate) fn is_forced_to_one_buffer(&self) -> bool {
        self.space.is(TpuSpace::Vmem) && self.has_trivial_window()
    }

    /// An input array of a single element, which the compiler keeps in VMEM by
    /// itself, wherever its block lies but smem.
    pub(crate) fn is_kept_element(&self) -> bool {
        let input = match self.operand.role {
            Role::Input => true,
            Role::Output => false,
        };
        input && self.array().all(|extent| extent == 1)
    }
}

/// Scratch, or scalar prefetch, in the memory where it lies.
///
/// ```
/// use mosaic_memspace::operand::ResolvedScratch;
/// use mosaic_memspace::{Dtype, Resolved};
/// const SUM: ResolvedScratch<'_> =
///     ResolvedScratch::new("sum", &[8, 128], Dtype::Float32, Resolved::VMEM);
/// assert_ne!(SUM, SUM.in_scope());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResolvedScratch<'a> {
    pub(crate) name: &'a str,
    pub(crate) shape: &'a [u64],
    pub(crate) dtype: Dtype,
    pub(crate) space: Resolved,
    pub(crate) allocated: Allocated,
}

/// Who allocates a ref that is no operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Allocated {
    /// The runtime, before the first step: scalar prefetch.
    Before,
    /// The kernel, for its run: scratch.
    ByKernel,
    /// The body, for a part of its run.
    ByBody,
}

impl<'a> ResolvedScratch<'a> {
    /// Scratch of the kernel (`scratch_shapes`): its extents, in elements.
    pub const fn new(name: &'a str, shape: &'a [u64], dtype: Dtype, space: Resolved) -> Self {
        Self { name, shape, dtype, space, allocated: Allocated::ByKernel }
    }

    /// Scalar prefetch, which lies in smem.
    pub const fn prefetch(name: &'a str, shape: &'a [u64], dtype: Dtype) -> Self {
        Self { name, shape, dtype, space: Resolved::SMEM, allocated: Allocated::Before }
    }

    /// The same, allocated by the body for a part of its run (`run_scoped`, and the
    /// buffers of `emit_pipeline`).
    #[must_use]
    pub const fn in_scope(self) -> Self {
        Self { allocated: Allocated::ByBody, ..self }
    }
}

/// A ref that may take memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Ref<'a> {
    /// An input or an output.
    Operand(ResolvedOperand<'a>),
    /// Scratch, or scalar prefetch.
    Scratch(ResolvedScratch<'a>),
}

impl<'a> Ref<'a> {
    /// The ref with a single buffer to its window.
    pub(crate) const fn buffered_once(self) -> Self {
        match self {
            Self::Operand(operand) => Self::Operand(operand.buffered_once()),
            Self::Scratch(_) => self,
        }
    }

    /// What reports call it.
    pub const fn name(&self) -> &'a str {
        match self {
            Self::Operand(operand) => operand.name,
            Self::Scratch(scratch) => scratch.name,
        }
    }

    /// Where it lies.
    pub const fn space(&self) -> Resolved {
        match self {
            Self::Operand(operand) => operand.space,
            Self::Scratch(scratch) => scratch.space,
        }
    }
}

impl<'a> From<ResolvedOperand<'a>> for Ref<'a> {
    fn from(operand: ResolvedOperand<'a>) -> Self {
        Self::Operand(operand)
    }
}

impl<'a> From<ResolvedScratch<'a>> for Ref<'a> {
    fn from(scratch: ResolvedScratch<'a>) -> Self {
        Self::Scratch(scratch)
    }
}
