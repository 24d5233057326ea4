//! One ref of a kernel: an operand with its array, block, index map and buffers;
//! scratch; scalar prefetch; and the grid that they are stepped through by.

mod block;
mod form;
mod grid;
mod pipeline;
mod resolved;
mod scratch;

pub use block::{BlockDim, GridAxes, IndexEntry};
pub use form::{Form, Role};
pub use grid::{GridAxis, one_step_a_core};
pub use pipeline::Pipeline;
#[cfg(feature = "read")]
pub(crate) use pipeline::PipelineOperand;
pub(crate) use resolved::Allocated;
pub use resolved::{Ref, ResolvedOperand, ResolvedScratch};
pub(crate) use scratch::Holds;
pub use scratch::{Prefetch, Scratch, Semaphore};

use crate::dtype::Dtype;
use crate::memory_space::{MemorySpace, Resolved};
use crate::word::Spelled;

/// An input or an output of a kernel: an array, and the part of it that a step sees.
///
/// ```
/// use mosaic_memspace::operand::{GridAxis, Operand};
/// use mosaic_memspace::{Dtype, Resolved};
///
/// let x = Operand::input("x", [512, 256], Dtype::Float32)
///     .block([128, 256])
///     .index_map([Some(0), None]);
/// // Its rules and its bytes depend on where it lies.
/// let x = x.in_space(Resolved::VMEM);
/// assert!(!x.has_trivial_window());
/// assert_eq!(x.buffer_count(&[GridAxis::new(4)], 1), 2);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Operand {
    pub(crate) name: Option<String>,
    pub(crate) role: Role,
    /// In elements.
    pub(crate) array_shape: Vec<u64>,
    /// The shape of one element of an extended dtype; empty for every other.
    pub(crate) element_shape: Vec<u64>,
    /// The element type; of an extended dtype, that of its physical elements.
    pub(crate) dtype: Spelled<Dtype>,
    /// What a step sees, an entry a dimension; without one, the whole array.
    pub(crate) block_shape: Option<Vec<BlockDim>>,
    /// Which block a step sees, an entry a dimension; without one, all zeros.
    pub(crate) index_map: Option<Vec<IndexEntry>>,
    /// The memory space of the block spec.
    pub(crate) space: Option<Spelled<MemorySpace>>,
    /// How often the window is buffered: 1 or 2.
    pub(crate) buffers: Option<i64>,
    /// The memory space that is put on the value itself; only it colors it.
    pub(crate) annotated: Option<Spelled<MemorySpace>>,
    /// The kind, if the operand is semaphores that another kernel makes or takes.
    pub(crate) semaphore: Option<Semaphore>,
}

impl Operand {
    fn new(name: &str, role: Role, array_shape: Vec<u64>, dtype: Dtype) -> Self {
        Self {
            name: Some(name.to_owned()),
            role,
            array_shape,
            element_shape: Vec::new(),
            dtype: dtype.into(),
            block_shape: None,
            index_map: None,
            space: None,
            buffers: None,
            annotated: None,
            semaphore: None,
        }
    }

    /// An input: an array of this shape, in elements.
    pub fn input(name: &str, array_shape: impl Into<Vec<u64>>, dtype: Dtype) -> Self {
        Self::new(name, Role::Input, array_shape.into(), dtype)
    }

    /// An output: an array of this shape, in elements.
    pub fn output(name: &str, array_shape: impl Into<Vec<u64>>, dtype: Dtype) -> Self {
        Self::new(name, Role::Output, array_shape.into(), dtype)
    }

    /// Sets the shape of one element of an extended dtype, as `[2]` for a `threefry` key.
    #[must_use]
    pub fn element(mut self, element_shape: impl Into<Vec<u64>>) -> Self {
        self.element_shape = element_shape.into();
        self
    }

    /// Sets the block: the elements along each dimension that a step sees.
    #[must_use]
    pub fn block(self, block_shape: impl IntoIterator<Item = u64>) -> Self {
        self.block_dims(block_shape.into_iter().map(BlockDim::Blocked))
    }

    /// Sets the block with squeezed and element dimensions.
    #[must_use]
    pub fn block_dims(mut self, block_shape: impl IntoIterator<Item = BlockDim>) -> Self {
        self.block_shape = Some(block_shape.into_iter().collect());
        self
    }

    /// Sets the index map: for each dimension the grid axis that it follows, or
    /// `None` for 0. Without one, it is all zeros.
    #[must_use]
    pub fn index_map(self, axes: impl IntoIterator<Item = Option<usize>>) -> Self {
        let entry = |axis: Option<usize>| axis.map_or(IndexEntry::Zero, IndexEntry::Axis);
        self.index_entries(axes.into_iter().map(entry))
    }

    /// Sets an index map with entries that are more than a grid axis.
    #[must_use]
    pub fn index_entries(mut self, entries: impl IntoIterator<Item = IndexEntry>) -> Self {
        self.index_map = Some(entries.into_iter().collect());
        self
    }

    /// Sets the memory space of the block spec.
    #[must_use]
    pub fn space(mut self, space: impl Into<Option<MemorySpace>>) -> Self {
        self.space = space.into().map(Spelled::from);
        self
    }

    /// Sets the number of buffers of the window (`pl.Buffered`).
    #[must_use]
    pub fn buffers(mut self, buffers: impl Into<Option<u32>>) -> Self {
        self.buffers = buffers.into().map(i64::from);
        self
    }

    /// Sets the memory space that is put on the value itself
    /// (`pltpu.with_memory_space_constraint`); only it colors the operand.
    #[must_use]
    pub fn annotated(mut self, space: impl Into<Option<MemorySpace>>) -> Self {
        self.annotated = space.into().map(Spelled::from);
        self
    }

    /// Makes it semaphores that another kernel makes or takes, as those of an asynchronous
    /// start and done pair.
    #[must_use]
    pub fn semaphores(mut self, kind: Semaphore) -> Self {
        self.semaphore = Some(kind);
        self
    }

    /// The operand in the memory that its space has been resolved to.
    pub fn in_space(&self, space: Resolved) -> ResolvedOperand<'_> {
        ResolvedOperand::new(self, space)
    }
}
