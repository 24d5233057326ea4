//! The SMEM of a TensorCore kernel.

use super::kernel::{CountFault, Part, TcKernel};
use super::padding::{Layout, PaddingFault};
use super::vmem::{Memory, Taken};
use crate::chip::ChipFacts;
use crate::dtype::Dtype;
use crate::memory_space::TpuSpace;
use crate::operand::{Ref, ResolvedOperand, ResolvedScratch, one_step_a_core};

/// What a kernel declares of SMEM, part by part: scalar prefetch, operands and
/// windows in smem, scratch.
///
/// **A lower bound**: scalars that the compiler spills take 1024 bytes more, from
/// about three moving windows on.
///
/// ```
/// use mosaic_memspace::fit::TcKernel;
/// use mosaic_memspace::operand::ResolvedScratch;
/// use mosaic_memspace::{Chip, Dtype};
///
/// let table = ResolvedScratch::prefetch("table", &[300_000], Dtype::Int32);
/// let kernel = TcKernel { refs: &[table.into()], ..TcKernel::new(Chip::V5e.facts()) };
/// let mut parts = Vec::new();
/// let plan = kernel.smem_plan_into(&mut parts)?;
/// assert_eq!(plan.bytes(), 1_200_128);
/// assert_eq!(plan.capacity_bytes(), 1 << 20);
/// assert_eq!(plan.usable_bytes(), Some((1 << 20) - 2048));
/// assert!(!plan.fits_by_its_declarations());
/// # Ok::<(), mosaic_memspace::fit::CountFault>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct SmemPlan<'b> {
    parts: &'b [Part<'b>],
    bytes: u64,
    capacity: u64,
    usable: Option<u64>,
}

impl<'b> SmemPlan<'b> {
    /// Bytes that spilt scalars may yet ask for.
    pub const SPILL_BYTES: u64 = 2048;

    /// What each ref takes.
    pub const fn parts(&self) -> &'b [Part<'b>] {
        self.parts
    }

    /// Bytes of all the parts.
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Bytes of SMEM on the chip.
    pub const fn capacity_bytes(&self) -> u64 {
        self.capacity
    }

    /// Bytes that the program leaves a kernel; `None` where nobody has measured.
    pub const fn usable_bytes(&self) -> Option<u64> {
        self.usable
    }

    /// Bytes that the kernel may use: what is usable, or else all that there are.
    pub const fn bytes_there(&self) -> u64 {
        match self.usable {
            Some(usable) => usable,
            None => self.capacity,
        }
    }

    /// Whether the declarations do not exceed what is there.
    pub const fn fits_by_its_declarations(&self) -> bool {
        self.bytes <= self.bytes_there()
    }

    /// Whether it fits with less than [`SPILL_BYTES`](Self::SPILL_BYTES) to spare.
    pub const fn is_tight(&self) -> bool {
        match self.bytes_there().checked_sub(self.bytes) {
            Some(left) => left < Self::SPILL_BYTES,
            None => false,
        }
    }
}

/// Bytes that an operand of this shape takes of SMEM.
///
/// # Errors
/// [`PaddingFault`]: beyond 64 bits, or an element type that no word holds whole.
///
/// ```
/// use mosaic_memspace::fit::smem_operand_bytes;
/// use mosaic_memspace::{Chip, Dtype};
/// assert_eq!(smem_operand_bytes(Chip::V5e.facts(), &[1000, 1000], Dtype::Int32), Ok(4_096_000));
/// ```
pub const fn smem_operand_bytes(
    chip: &ChipFacts,
    shape: &[u64],
    dtype: Dtype,
) -> Result<u64, PaddingFault> {
    match Layout::of_window(chip, dtype) {
        Ok(layout) => layout.bytes(shape),
        Err(error) => Err(error),
    }
}

impl<'a> TcKernel<'a> {
    /// What the kernel declares of SMEM; `parts` is emptied and filled, and
    /// nothing is allocated when it has room for an entry a ref.
    ///
    /// # Errors
    /// [`CountFault`]: a size beyond 64 bits, an element type that no word holds
    /// whole.
    pub fn smem_plan_into<'b>(
        &self,
        parts: &'b mut Vec<Part<'a>>,
    ) -> Result<SmemPlan<'b>, CountFault> {
        parts.clear();
        let mut memory = Memory { parts, bytes: 0, unit: 1 };
        let one_step = one_step_a_core(self.grid, self.cores());
        for of in self.refs {
            let taken = match of {
                Ref::Operand(operand) => self.operand_in_smem(operand, one_step),
                Ref::Scratch(scratch) => self.scratch_in_smem(scratch),
            };
            if let Some(taken) = taken.transpose() {
                memory.add(of.name(), taken)?;
            }
        }
        let Memory { parts, bytes, unit: _ } = memory;
        Ok(SmemPlan {
            parts,
            bytes,
            capacity: self.chip.smem_capacity_bytes,
            usable: self.chip.compiler.usable_smem_bytes,
        })
    }

    /// What an operand takes of the SMEM, if its window lies there.
    pub(super) fn operand_in_smem(
        &self,
        operand: &ResolvedOperand<'_>,
        one_step: bool,
    ) -> Result<Option<Taken>, PaddingFault> {
        if !operand.space.is(TpuSpace::Smem) {
            return Ok(None);
        }
        let buffers = operand.buffers_where(one_step, self.grid);
        Taken::times(self.window_bytes(operand)?, buffers).map(Some)
    }

    /// What scratch, or scalar prefetch, takes of the SMEM, if it lies there.
    pub(super) fn scratch_in_smem(
        &self,
        scratch: &ResolvedScratch<'_>,
    ) -> Result<Option<Taken>, PaddingFault> {
        if !scratch.space.is(TpuSpace::Smem) {
            return Ok(None);
        }
        let bytes = Layout::of(scratch, self.chip)?.bytes(scratch.shape)?;
        Ok(Some(Taken::once(bytes)))
    }
}
