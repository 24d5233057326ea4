//! What a fit is asked about: the flat description of a TensorCore kernel.

use super::padding::{Layout, PaddingError};
use crate::chip::ChipFacts;
use crate::dtype::Dtype;
use crate::error::{Code, Fault};
use crate::memory_space::Resolved;
use crate::rules::{BlockDim, GridAxis, Operand, Role};
use std::fmt;

/// A TensorCore kernel, as far as its bytes go.
///
/// ```
/// use mosaic_memspace::rules::{BlockDim, GridAxis, IndexEntry, Operand, Role};
/// use mosaic_memspace::fit::{TcKernel, Scratch};
/// use mosaic_memspace::{Chip, Dtype, Resolved};
///
/// let x = Operand {
///     role: Role::Input,
///     array_shape: &[512, 256],
///     block_shape: Some(&[BlockDim::Blocked(128), BlockDim::Blocked(256)]),
///     element_shape: &[],
///     dtype: Dtype::Float32,
///     index_map: Some(&[IndexEntry::Axis(0), IndexEntry::Zero]),
///     space: Resolved::VMEM,
///     buffers: None,
/// };
/// let sum = Scratch::new(&[128, 256], Dtype::Float32, Resolved::VMEM);
/// let kernel = TcKernel {
///     grid: &[GridAxis::new(4)],
///     operands: &[x.into(), Operand { role: Role::Output, ..x }.into()],
///     scratch: &[sum],
///     ..TcKernel::new(Chip::V5e.facts())
/// };
/// let mut parts = Vec::new();
/// let plan = kernel.vmem_plan_into(&mut parts)?;
/// assert_eq!(plan.bytes(), 5 * 128 * 256 * 4);
/// assert_eq!(plan.remaining_bytes(), Some((16 << 20) - 655_360));
/// # Ok::<(), mosaic_memspace::fit::FitError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct TcKernel<'a> {
    /// The chip.
    pub chip: &'a ChipFacts,
    /// The axes of the grid.
    pub grid: &'a [GridAxis],
    /// Scalar prefetch, which lies in smem whatever its space says.
    pub prefetch: &'a [Scratch<'a>],
    /// Inputs and outputs.
    pub operands: &'a [FitOperand<'a>],
    /// Scratch, what the body allocates by `run_scoped` at its peak, and the
    /// buffers of `emit_pipeline`.
    pub scratch: &'a [Scratch<'a>],
    /// `vmem_limit_bytes`, when the author gives one.
    pub vmem_limit_bytes: Option<i64>,
}

impl<'a> TcKernel<'a> {
    /// A kernel of nothing, to fill in.
    ///
    /// ```
    /// use mosaic_memspace::{Chip, fit::TcKernel};
    /// let kernel = TcKernel::new(Chip::V6e.facts());
    /// assert_eq!(kernel.vmem_plan_into(&mut Vec::new()).map(|plan| plan.bytes()), Ok(0));
    /// ```
    pub const fn new(chip: &'a ChipFacts) -> Self {
        Self { chip, grid: &[], prefetch: &[], operands: &[], scratch: &[], vmem_limit_bytes: None }
    }

    /// TensorCores that share the grid's parallel axes.
    pub(crate) fn cores(&self) -> u32 {
        self.chip.num_cores.max(self.chip.compiler.default_num_cores).get()
    }
}

/// An operand, and what of it only a fit asks.
///
/// ```
/// use mosaic_memspace::rules::{Operand, Role};
/// use mosaic_memspace::fit::FitOperand;
/// use mosaic_memspace::{Dtype, Resolved};
///
/// let scale = Operand {
///     role: Role::Input,
///     array_shape: &[1],
///     block_shape: None,
///     element_shape: &[],
///     dtype: Dtype::Float32,
///     index_map: None,
///     space: Resolved::ANY,
///     buffers: None,
/// };
/// let unused = FitOperand { untouched: true, ..scale.into() };
/// assert!(!FitOperand::from(scale).untouched && unused.untouched);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FitOperand<'a> {
    /// The operand.
    pub operand: Operand<'a>,
    /// Whether the array itself lies in vmem (it is colored so): then its window
    /// costs nothing, and the array counts beside the scoped limit.
    pub array_in_vmem: bool,
    /// Whether the body never touches it: then an array of one element costs
    /// nothing.
    pub untouched: bool,
}

impl<'a> From<Operand<'a>> for FitOperand<'a> {
    fn from(operand: Operand<'a>) -> Self {
        Self { operand, array_in_vmem: false, untouched: false }
    }
}

impl FitOperand<'_> {
    /// The operand with a single buffer to its window.
    pub(crate) fn buffered_once(&self) -> Self {
        Self { operand: Operand { buffers: Some(1), ..self.operand }, ..*self }
    }

    /// An input array of a single element, which the compiler keeps in VMEM by
    /// itself, wherever its block lies but smem.
    pub(super) fn is_kept_element(&self) -> bool {
        let array = self.operand.array_shape.iter().chain(self.operand.element_shape);
        let input = match self.operand.role {
            Role::Input => true,
            Role::Output => false,
        };
        input && array.copied().all(|extent| extent == 1)
    }

    /// Bytes of one buffer of the window.
    pub(super) fn buffer_bytes(&self, kernel: &TcKernel<'_>) -> Result<u64, PaddingError> {
        let Operand { dtype, element_shape, .. } = self.operand;
        let extents = self.operand.block().dims().map(BlockDim::extent);
        let extents = extents.chain(element_shape.iter().copied());
        let layout = if kernel.grid.is_empty() && extents.clone().nth(1).is_some() {
            Layout::of_window_without_grid(kernel.chip, dtype)
        } else {
            Layout::of_window(kernel.chip, dtype)
        };
        layout?.bytes_of(extents)
    }

    /// The array, as a memref.
    pub(super) fn array(&self) -> impl DoubleEndedIterator<Item = u64> {
        self.operand.array_shape.iter().chain(self.operand.element_shape).copied()
    }
}

/// Memory that a kernel allocates.
///
/// ```
/// use mosaic_memspace::fit::Scratch;
/// use mosaic_memspace::{Dtype, Resolved};
/// let sum = Scratch::new(&[8, 128], Dtype::Float32, Resolved::VMEM);
/// assert!(!sum.scoped && sum.in_scope().scoped);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scratch<'a> {
    /// Its extents.
    pub shape: &'a [u64],
    /// Its element type.
    pub dtype: Dtype,
    /// Where it lies.
    pub space: Resolved,
    /// Whether the body allocates it, for a part of its run (`run_scoped`, and
    /// the buffers of `emit_pipeline`), and not the kernel (`scratch_shapes`).
    pub scoped: bool,
}

impl<'a> Scratch<'a> {
    /// Scratch of the kernel.
    ///
    /// ```
    /// use mosaic_memspace::fit::Scratch;
    /// use mosaic_memspace::{Dtype, Resolved};
    /// const SUM: Scratch<'_> = Scratch::new(&[8, 128], Dtype::Float32, Resolved::VMEM);
    /// assert_eq!(SUM.shape, [8, 128]);
    /// ```
    pub const fn new(shape: &'a [u64], dtype: Dtype, space: Resolved) -> Self {
        Self { shape, dtype, space, scoped: false }
    }

    /// The same, allocated by the body.
    ///
    /// ```
    /// use mosaic_memspace::fit::Scratch;
    /// use mosaic_memspace::{Dtype, Resolved};
    /// let buffer = Scratch::new(&[2, 8, 128], Dtype::Int4, Resolved::VMEM).in_scope();
    /// assert!(buffer.scoped);
    /// ```
    #[must_use]
    pub const fn in_scope(self) -> Self {
        Self { scoped: true, ..self }
    }

    /// How the compiler lays it out: the body's own as it does windows.
    pub(super) const fn layout<'c>(&self, chip: &'c ChipFacts) -> Result<Layout<'c>, PaddingError> {
        if self.scoped {
            Layout::of_window(chip, self.dtype)
        } else {
            Layout::of_scratch(chip, self.dtype)
        }
    }
}

/// A ref of a kernel, by its number among its like, from 0.
///
/// ```
/// assert_eq!(mosaic_memspace::fit::RefId::Scratch(2).to_string(), "scratch 2");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RefId {
    /// Scalar prefetch.
    Prefetch(usize),
    /// An input or output.
    Operand(usize),
    /// Scratch.
    Scratch(usize),
}

impl fmt::Display for RefId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Prefetch(number) => write!(f, "prefetch {number}"),
            Self::Operand(number) => write!(f, "operand {number}"),
            Self::Scratch(number) => write!(f, "scratch {number}"),
        }
    }
}

/// What one ref takes of a memory.
///
/// ```
/// use mosaic_memspace::fit::{Part, RefId};
/// let part = Part { of: RefId::Operand(0), buffer_bytes: 4096, buffers: 2, bytes: 8192 };
/// assert_eq!(part.to_string(), "operand 0 (2 × 4096 bytes)");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Part {
    /// The ref.
    pub of: RefId,
    /// Bytes of one buffer, with its padding.
    pub buffer_bytes: u64,
    /// How many there are.
    pub buffers: u32,
    /// Bytes of them all, rounded up and aligned as the memory asks.
    pub bytes: u64,
}

impl Part {
    /// The part with the ref's name in place of its number.
    pub(super) fn named(self, name: &str) -> String {
        match self.buffers {
            1 => format!("{name} ({} bytes)", self.bytes),
            buffers => format!("{name} ({buffers} × {} bytes)", self.buffer_bytes),
        }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.named(&self.of.to_string()))
    }
}

/// A kernel whose bytes cannot be told.
///
/// ```
/// use mosaic_memspace::error::{Code, Fault};
/// use mosaic_memspace::fit::{FitError, PaddingError, RefId};
///
/// let error = FitError { of: Some(RefId::Scratch(1)), cause: PaddingError::TooLarge };
/// assert_eq!(error.to_string(), "scratch 1: more bytes than 64 bits can count");
/// assert_eq!(error.code(), Code::SizeOverflow);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {cause}", Whose(*of))]
pub struct FitError {
    /// The ref at fault; `None` when only all of them together are.
    pub of: Option<RefId>,
    /// Why.
    pub cause: PaddingError,
}

impl Fault for FitError {
    fn code(&self) -> Code {
        self.cause.code()
    }

    fn help(&self) -> String {
        self.cause.help()
    }
}

struct Whose(Option<RefId>);

impl fmt::Display for Whose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(id) => id.fmt(f),
            None => f.write_str("all refs together"),
        }
    }
}
