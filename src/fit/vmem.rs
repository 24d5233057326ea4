//! The VMEM of a TensorCore kernel: its windows and its scratch.

use super::kernel::{CountFault, Part, TcKernel};
use super::padding::{Layout, PaddingFault};
use crate::chip::ChipFacts;
use crate::memory_space::TpuSpace;
use crate::operand::{Allocated, ResolvedOperand, ResolvedScratch, one_step_a_core};

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
    parts: &'b [Part<'b>],
    bytes: u64,
    limit: VmemLimit,
    capacity: u64,
}

impl<'b> VmemPlan<'b> {
    /// What each ref takes, in the order that the compiler allocates them:
    /// scratch, then windows, then what the body allocates.
    pub const fn parts(&self) -> &'b [Part<'b>] {
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

impl<'a> TcKernel<'a> {
    /// What the kernel declares of VMEM; `parts` is emptied and filled, and
    /// nothing is allocated when it has room for an entry a ref.
    ///
    /// # Errors
    /// [`CountFault`]: a size beyond 64 bits, an element type that no word holds
    /// whole.
    pub fn vmem_plan_into<'b>(
        &self,
        parts: &'b mut Vec<Part<'a>>,
    ) -> Result<VmemPlan<'b>, CountFault> {
        parts.clear();
        let mut memory = Memory { parts, bytes: 0, unit: self.vmem_alignment() };
        self.add_scratch(&mut memory, Allocated::ByKernel)?;
        let one_step = one_step_a_core(self.grid, self.cores());
        for operand in self.operands() {
            if let Some(taken) = self.operand_in_vmem(operand, one_step).transpose() {
                memory.add(operand.name, taken)?;
            }
        }
        self.add_scratch(&mut memory, Allocated::ByBody)?;
        let Memory { parts, bytes, unit: _ } = memory;
        Ok(VmemPlan {
            parts,
            bytes,
            limit: VmemLimit::new(self.chip, self.vmem_limit_bytes),
            capacity: self.chip.vmem_capacity_bytes,
        })
    }

    fn add_scratch(
        &self,
        memory: &mut Memory<'_, 'a>,
        allocated: Allocated,
    ) -> Result<(), CountFault> {
        for scratch in self.scratch().filter(|scratch| scratch.allocated == allocated) {
            if let Some(taken) = self.scratch_in_vmem(scratch, scratch.shape).transpose() {
                memory.add(scratch.name, taken)?;
            }
        }
        Ok(())
    }

    /// What an operand takes of VMEM, if it lies there at all.
    pub(super) fn operand_in_vmem(
        &self,
        operand: &ResolvedOperand<'_>,
        one_step: bool,
    ) -> Result<Option<Taken>, PaddingFault> {
        let windowed = operand.space.is(TpuSpace::Vmem);
        let taken = if operand.is_kept_element() && (windowed || operand.space.is_left_in_place()) {
            if operand.untouched || (operand.array_in_vmem && !windowed) {
                return Ok(None);
            }
            let layout = Layout::of_scratch(self.chip, operand.dtype)?;
            Taken::once(layout.bytes_of(operand.array())?)
        } else if windowed {
            let buffers = operand.buffers_where(one_step, self.grid);
            window_of(self.window_bytes(operand)?, buffers)?
        } else {
            return Ok(None);
        };
        // A window on an array in vmem is the array's own memory.
        Ok(Some(if operand.array_in_vmem { Taken { bytes: 0, ..taken } } else { taken }))
    }

    /// What scratch would take of VMEM with this shape, if it lies there.
    pub(super) fn scratch_in_vmem(
        &self,
        scratch: &ResolvedScratch<'_>,
        shape: &[u64],
    ) -> Result<Option<Taken>, PaddingFault> {
        if !scratch.space.is(TpuSpace::Vmem) {
            return Ok(None);
        }
        Ok(Some(match scratch.allocated {
            Allocated::ByBody => window_of(Layout::of(scratch, self.chip)?.bytes(shape)?, 1)?,
            Allocated::ByKernel | Allocated::Before => {
                Taken::once(Layout::of(scratch, self.chip)?.bytes(shape)?)
            }
        }))
    }

    /// Each part starts at a multiple of this.
    pub(super) const fn vmem_alignment(&self) -> u64 {
        if self.chip.doubles_tiles() { 4096 } else { 1 }
    }
}

/// A window's buffers together are rounded up to this, and so is what the body
/// allocates.
const WINDOW_UNIT: u64 = 1024;

/// A window of so many buffers.
pub(super) fn window_of(buffer_bytes: u64, buffers: u32) -> Result<Taken, PaddingFault> {
    let bytes = buffer_bytes.checked_mul(buffers.into());
    let bytes = bytes.and_then(|bytes| bytes.checked_next_multiple_of(WINDOW_UNIT));
    let bytes = bytes.ok_or(PaddingFault::TooLarge)?;
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

    /// So many buffers.
    pub(super) fn times(buffer_bytes: u64, buffers: u32) -> Result<Self, PaddingFault> {
        let bytes = buffer_bytes.checked_mul(buffers.into()).ok_or(PaddingFault::TooLarge)?;
        Ok(Self { buffer_bytes, buffers, bytes })
    }

    /// Its bytes, rounded up.
    pub(super) fn in_units(self, unit: u64) -> Result<Self, PaddingFault> {
        let bytes = self.bytes.checked_next_multiple_of(unit).ok_or(PaddingFault::TooLarge)?;
        Ok(Self { bytes, ..self })
    }
}

/// A memory that is filled from its start.
pub(super) struct Memory<'b, 'a> {
    pub(super) parts: &'b mut Vec<Part<'a>>,
    pub(super) bytes: u64,
    /// Each part starts at a multiple of this.
    pub(super) unit: u64,
}

impl<'a> Memory<'_, 'a> {
    pub(super) fn add(
        &mut self,
        name: &'a str,
        taken: Result<Taken, PaddingFault>,
    ) -> Result<(), CountFault> {
        let Taken { buffer_bytes, buffers, bytes } =
            taken.map_err(|cause| CountFault { of: Some(name.into()), cause })?;
        let before = self.bytes;
        if bytes > 0 {
            let start = before.checked_next_multiple_of(self.unit);
            let end = start.and_then(|start| start.checked_add(bytes));
            self.bytes = end.ok_or(CountFault { of: None, cause: PaddingFault::TooLarge })?;
        }
        let bytes = self.bytes.saturating_sub(before);
        self.parts.push(Part { name: name.into(), buffer_bytes, buffers, bytes });
        Ok(())
    }
}
