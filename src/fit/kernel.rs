//! What a fit is asked about, and what each ref takes.

use super::padding::{Layout, PaddingFault};
use crate::chip::ChipFacts;
use crate::error::{Code, Fault};
use crate::operand::{GridAxis, Ref, ResolvedOperand, ResolvedScratch};
use crate::word::Shown;
use std::borrow::Cow;
use std::fmt;

/// A TensorCore kernel, as far as its bytes go.
///
/// ```
/// use mosaic_memspace::fit::TcKernel;
/// use mosaic_memspace::operand::{GridAxis, Operand, ResolvedScratch};
/// use mosaic_memspace::{Chip, Dtype, Resolved};
///
/// let block = |x: Operand| x.block([128, 256]).index_map([Some(0), None]);
/// let x = block(Operand::input("x", [512, 256], Dtype::Float32));
/// let o = block(Operand::output("o", [512, 256], Dtype::Float32));
/// let sum = ResolvedScratch::new("sum", &[128, 256], Dtype::Float32, Resolved::VMEM);
/// let [x, o] = [&x, &o].map(|operand| operand.in_space(Resolved::VMEM));
/// let kernel = TcKernel {
///     grid: &[GridAxis::new(4)],
///     refs: &[x.into(), o.into(), sum.into()],
///     ..TcKernel::new(Chip::V5e.facts())
/// };
/// let mut parts = Vec::new();
/// let plan = kernel.vmem_plan_into(&mut parts)?;
/// assert_eq!(plan.bytes(), 5 * 128 * 256 * 4);
/// assert_eq!(plan.parts()[1].to_string(), "x (2 × 131072 bytes)");
/// # Ok::<(), mosaic_memspace::fit::CountFault>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct TcKernel<'a> {
    /// The chip.
    pub chip: &'a ChipFacts,
    /// The axes of the grid.
    pub grid: &'a [GridAxis],
    /// Scalar prefetch, operands, scratch, what the body allocates by `run_scoped` at
    /// its peak, and the buffers of `emit_pipeline`.
    pub refs: &'a [Ref<'a>],
    /// `vmem_limit_bytes`, when the author gives one.
    pub vmem_limit_bytes: Option<i64>,
}

impl<'a> TcKernel<'a> {
    /// A kernel of nothing, to fill in.
    pub const fn new(chip: &'a ChipFacts) -> Self {
        Self { chip, grid: &[], refs: &[], vmem_limit_bytes: None }
    }

    /// TensorCores that share the grid's parallel axes.
    pub(crate) fn cores(&self) -> u32 {
        self.chip.num_cores.max(self.chip.compiler.default_num_cores).get()
    }

    pub(super) fn operands(&self) -> impl Iterator<Item = &'a ResolvedOperand<'a>> {
        self.refs.iter().filter_map(|it| match it {
            Ref::Operand(operand) => Some(operand),
            Ref::Scratch(_) => None,
        })
    }

    pub(super) fn scratch(&self) -> impl Iterator<Item = &'a ResolvedScratch<'a>> {
        scratch(self.refs)
    }

    /// Bytes of one buffer of a ref, in VMEM or SMEM; `None` if it has none there.
    /// `one_step`: [`one_step_a_core`](crate::operand::one_step_a_core) of the grid.
    pub(crate) fn buffer_bytes(
        &self,
        of: &Ref<'_>,
        one_step: bool,
    ) -> Result<Option<u64>, PaddingFault> {
        let taken = match of {
            Ref::Operand(operand) => match self.operand_in_vmem(operand, one_step)? {
                Some(taken) => Some(taken),
                None => self.operand_in_smem(operand, one_step)?,
            },
            Ref::Scratch(scratch) => match self.scratch_in_vmem(scratch, scratch.shape)? {
                Some(taken) => Some(taken),
                None => self.scratch_in_smem(scratch)?,
            },
        };
        Ok(taken.map(|taken| taken.buffer_bytes))
    }

    /// Bytes of one buffer of an operand's window.
    pub(super) fn window_bytes(&self, operand: &ResolvedOperand<'_>) -> Result<u64, PaddingFault> {
        let extents = operand.block();
        let layout = if self.grid.is_empty() && extents.clone().nth(1).is_some() {
            Layout::of_window_without_grid(self.chip, operand.dtype)
        } else {
            Layout::of_window(self.chip, operand.dtype)
        };
        layout?.bytes_of(extents)
    }
}

pub(super) fn scratch<'a>(refs: &'a [Ref<'a>]) -> impl Iterator<Item = &'a ResolvedScratch<'a>> {
    refs.iter().filter_map(|it| match it {
        Ref::Scratch(scratch) => Some(scratch),
        Ref::Operand(_) => None,
    })
}

/// What one ref takes of a memory.
///
/// ```
/// use mosaic_memspace::fit::Part;
/// let part = Part { name: "x".into(), buffer_bytes: 4096, buffers: 2, bytes: 8192 };
/// assert_eq!(part.to_string(), "x (2 × 4096 bytes)");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Part<'a> {
    /// The ref's name.
    pub name: Cow<'a, str>,
    /// Bytes of one buffer, with its padding.
    pub buffer_bytes: u64,
    /// Buffers of its window, or subcores that each have one.
    pub buffers: u32,
    /// Bytes of them all, rounded up and aligned as the memory asks.
    pub bytes: u64,
}

impl Part<'_> {
    /// The same, of a name of its own.
    pub(crate) fn to_owned(&self) -> Part<'static> {
        let Self { buffer_bytes, buffers, bytes, .. } = *self;
        Part { name: Cow::Owned(self.name.as_ref().to_owned()), buffer_bytes, buffers, bytes }
    }
}

impl fmt::Display for Part<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Shown(&self.name);
        match self.buffers {
            1 => write!(f, "{name} ({} bytes)", self.bytes),
            buffers => write!(f, "{name} ({buffers} × {} bytes)", self.buffer_bytes),
        }
    }
}

/// A kernel whose bytes cannot be told.
///
/// ```
/// use mosaic_memspace::error::{Code, Fault};
/// use mosaic_memspace::fit::TcKernel;
/// use mosaic_memspace::operand::ResolvedScratch;
/// use mosaic_memspace::{Chip, Dtype, Resolved};
///
/// let vast = ResolvedScratch::new("t", &[u64::MAX, 8], Dtype::Int8, Resolved::VMEM);
/// let kernel = TcKernel { refs: &[vast.into()], ..TcKernel::new(Chip::V5e.facts()) };
/// let fault = kernel.faults().unwrap_err();
/// assert_eq!(fault.to_string(), "t: more bytes than 64 bits can count");
/// assert_eq!(fault.code(), Code::SizeOverflow);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {cause}", Whose(of.as_deref()))]
#[non_exhaustive]
pub struct CountFault {
    /// The name of the ref at fault; `None` when only all of them together are.
    pub of: Option<Box<str>>,
    /// Why.
    pub cause: PaddingFault,
}

impl Fault for CountFault {
    fn code(&self) -> Code {
        self.cause.code()
    }

    fn help(&self) -> String {
        self.cause.help()
    }

    fn field(&self) -> Option<&'static str> {
        self.cause.field()
    }
}

struct Whose<'a>(Option<&'a str>);

impl fmt::Display for Whose<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(name) => Shown(name).fmt(f),
            None => f.write_str("all refs together"),
        }
    }
}
