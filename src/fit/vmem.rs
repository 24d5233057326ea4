//! The VMEM of a TensorCore kernel: its windows and its scratch.

use super::kernel::{FitError, FitOperand, Part, RefId, Scratch, TcKernel};
use super::padding::{Layout, PaddingError};
use crate::chip::ChipFacts;
use crate::memory_space::TpuSpace;
use crate::rules::one_step_a_core;

/// What a kernel declares of VMEM, part by part, beside what it may use.
///
/// **A lower bound.** The compiler adds what no declaration shows: 4096 bytes a
/// vector register that it spills (large bodies, any chip), 36864 bytes of
/// internal scratch where it changes layouts (mostly v4), and 4096 for narrowing
/// casts on v4. More than the limit certainly fails; anything else
/// [fits by its declarations](Self::fits_by_its_declarations), and no more.
///
/// An example is at [`TcKernel`].
#[derive(Clone, Copy, Debug)]
pub struct VmemPlan<'b> {
    parts: &'b [Part],
    bytes: u64,
    limit: VmemLimit,
    capacity: u64,
}

impl<'b> VmemPlan<'b> {
    /// What each ref takes, in the order that the compiler allocates them:
    /// scratch, then windows, then what the body allocates.
    pub const fn parts(&self) -> &'b [Part] {
        self.parts
    }

    /// Bytes of all the parts.
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// What the kernel may use.
    pub const fn limit(&self) -> VmemLimit {
        self.limit
    }

    /// Bytes that the kernel may use: the effective limit, or where nobody has
    /// measured one, all that the chip has.
    pub const fn bytes_there(&self) -> u64 {
        match self.limit.effective {
            Some(limit) => limit,
            None => self.capacity,
        }
    }

    /// Bytes that the declarations leave of the effective limit; `None` when they
    /// exceed it, or it is not known.
    pub const fn remaining_bytes(&self) -> Option<u64> {
        match self.limit.effective {
            Some(limit) => limit.checked_sub(self.bytes),
            None => None,
        }
    }

    /// Whether the declarations do not exceed what is there. That the kernel
    /// compiles does not follow, see above.
    pub const fn fits_by_its_declarations(&self) -> bool {
        self.bytes <= self.bytes_there()
    }

    /// Whether less than a twentieth of the effective limit is left.
    pub const fn is_tight(&self) -> bool {
        match (self.remaining_bytes(), self.limit.effective) {
            (Some(left), Some(limit)) => left.saturating_mul(20) < limit,
            (_, _) => false,
        }
    }
}

/// The VMEM that a kernel may use, in bytes.
///
/// ```
/// use mosaic_memspace::Chip;
/// use mosaic_memspace::fit::VmemLimit;
///
/// const LIMIT: VmemLimit = VmemLimit::new(Chip::V6e.facts(), Some(1 << 30));
/// assert_eq!(LIMIT.default, Some(32 << 20));
/// assert_eq!(LIMIT.effective, Some(134_152_192));
/// assert!(LIMIT.is_clamped());
/// assert_eq!(VmemLimit::new(Chip::V6e.facts(), Some(0)).effective, None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct VmemLimit {
    /// What a kernel may use that does not ask; `None` where nobody has measured.
    pub default: Option<u64>,
    /// What the author asks for (`vmem_limit_bytes`).
    pub asked: Option<i64>,
    /// What it becomes: the request, cut to what the chip gives; `None` when the
    /// request is not positive, or there is none and the default is not known.
    pub effective: Option<u64>,
}

impl VmemLimit {
    /// The limit on this chip, for this request.
    pub const fn new(chip: &ChipFacts, asked: Option<i64>) -> Self {
        let default = chip.compiler.default_vmem_limit_bytes;
        let effective = match asked {
            None => default,
            Some(asked) if asked <= 0 => None,
            Some(asked) => {
                let (asked, most) = (asked.unsigned_abs(), most(chip));
                Some(if asked < most { asked } else { most })
            }
        };
        Self { default, asked, effective }
    }

    /// Whether the compiler gives less than was asked for, in silence.
    pub const fn is_clamped(self) -> bool {
        match (self.asked, self.effective) {
            (Some(asked), Some(effective)) => effective < asked.unsigned_abs(),
            (_, _) => false,
        }
    }
}

/// The most that a kernel can have, operands in VMEM included.
pub(super) const fn most(chip: &ChipFacts) -> u64 {
    match chip.compiler.max_vmem_limit_bytes {
        Some(most) => most,
        None => chip.vmem_capacity_bytes,
    }
}

impl TcKernel<'_> {
    /// What the kernel declares of VMEM; `parts` is emptied and filled, and
    /// nothing is allocated when it has room for an entry a ref.
    ///
    /// # Errors
    /// [`FitError`]: a size beyond 64 bits, an element type that no word holds
    /// whole.
    pub fn vmem_plan_into<'b>(&self, parts: &'b mut Vec<Part>) -> Result<VmemPlan<'b>, FitError> {
        parts.clear();
        let mut memory = Memory { parts, bytes: 0, unit: self.vmem_alignment() };
        self.add_scratch(&mut memory, false)?;
        let one_step = one_step_a_core(self.grid, self.cores());
        for (number, operand) in self.operands.iter().enumerate() {
            if let Some(taken) = operand.vmem(self, one_step).transpose() {
                memory.add(RefId::Operand(number), taken)?;
            }
        }
        self.add_scratch(&mut memory, true)?;
        let Memory { parts, bytes, unit: _ } = memory;
        Ok(VmemPlan {
            parts,
            bytes,
            limit: VmemLimit::new(self.chip, self.vmem_limit_bytes),
            capacity: self.chip.vmem_capacity_bytes,
        })
    }

    /// The kernel's scratch, or what the body allocates.
    fn add_scratch(&self, memory: &mut Memory<'_>, scoped: bool) -> Result<(), FitError> {
        let scratch = self.scratch.iter().enumerate();
        let here =
            |scratch: &Scratch<'_>| scratch.scoped == scoped && scratch.space.is(TpuSpace::Vmem);
        for (number, scratch) in scratch.filter(|(_, scratch)| here(scratch)) {
            memory.add(RefId::Scratch(number), scratch.vmem(self.chip, scratch.shape))?;
        }
        Ok(())
    }

    /// Each part starts at a multiple of this.
    pub(super) const fn vmem_alignment(&self) -> u64 {
        if self.chip.doubles_tiles() { 4096 } else { 1 }
    }
}

impl FitOperand<'_> {
    /// A window's buffers together are rounded up to this, and so is what the body
    /// allocates.
    const WINDOW_UNIT: u64 = 1024;

    /// What it takes of VMEM, if it lies there at all.
    pub(super) fn vmem(
        &self,
        kernel: &TcKernel<'_>,
        one_step: bool,
    ) -> Result<Option<Taken>, PaddingError> {
        let windowed = self.operand.space.is(TpuSpace::Vmem);
        if self.is_kept_element() && (windowed || self.operand.space.is_left_in_place()) {
            if self.untouched || (self.array_in_vmem && !windowed) {
                return Ok(None);
            }
            let layout = Layout::of_scratch(kernel.chip, self.operand.dtype)?;
            return Ok(Some(self.beside_array(Taken::once(layout.bytes_of(self.array())?))));
        }
        if !windowed {
            return Ok(None);
        }
        let buffers = self.operand.buffers_where(one_step, kernel.grid);
        Ok(Some(self.beside_array(window_of(self.buffer_bytes(kernel)?, buffers)?)))
    }

    /// A window on an array in vmem is the array's own memory.
    const fn beside_array(&self, taken: Taken) -> Taken {
        if self.array_in_vmem { Taken { bytes: 0, ..taken } } else { taken }
    }
}

impl Scratch<'_> {
    /// What it would take of VMEM with this shape.
    pub(super) fn vmem(&self, chip: &ChipFacts, shape: &[u64]) -> Result<Taken, PaddingError> {
        let bytes = self.layout(chip)?.bytes(shape)?;
        if self.scoped { window_of(bytes, 1) } else { Ok(Taken::once(bytes)) }
    }
}

/// A window of so many buffers.
pub(super) fn window_of(buffer_bytes: u64, buffers: u32) -> Result<Taken, PaddingError> {
    let bytes = buffer_bytes.checked_mul(buffers.into());
    let bytes = bytes.and_then(|bytes| bytes.checked_next_multiple_of(FitOperand::WINDOW_UNIT));
    let bytes = bytes.ok_or(PaddingError::TooLarge)?;
    Ok(Taken { buffer_bytes, buffers, bytes })
}

/// What a ref takes of a memory, before it is placed.
#[derive(Clone, Copy)]
pub(super) struct Taken {
    pub(super) buffer_bytes: u64,
    pub(super) buffers: u32,
    pub(super) bytes: u64,
}

impl Taken {
    pub(super) const fn once(bytes: u64) -> Self {
        Self { buffer_bytes: bytes, buffers: 1, bytes }
    }
}

/// A memory that is filled from its start.
pub(super) struct Memory<'b> {
    pub(super) parts: &'b mut Vec<Part>,
    pub(super) bytes: u64,
    /// Each part starts at a multiple of this.
    pub(super) unit: u64,
}

impl Memory<'_> {
    pub(super) fn add(
        &mut self,
        of: RefId,
        taken: Result<Taken, PaddingError>,
    ) -> Result<(), FitError> {
        let Taken { buffer_bytes, buffers, bytes } =
            taken.map_err(|cause| FitError { of: Some(of), cause })?;
        let before = self.bytes;
        if bytes > 0 {
            let start = before.checked_next_multiple_of(self.unit);
            let end = start.and_then(|start| start.checked_add(bytes));
            self.bytes = end.ok_or(FitError { of: None, cause: PaddingError::TooLarge })?;
        }
        let bytes = self.bytes.saturating_sub(before);
        self.parts.push(Part { of, buffer_bytes, buffers, bytes });
        Ok(())
    }
}
