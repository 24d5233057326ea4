//! The SMEM of a TensorCore kernel.

use super::kernel::{FitError, FitOperand, Part, RefId, TcKernel};
use super::padding::{Layout, PaddingError};
use super::vmem::{Memory, Taken};
use crate::chip::ChipFacts;
use crate::dtype::Dtype;
use crate::memory_space::TpuSpace;
use crate::rules::one_step_a_core;

/// What a kernel declares of SMEM, part by part: scalar prefetch, operands and
/// windows in smem, scratch.
///
/// **A lower bound**: scalars that the compiler spills take 1024 bytes more, from
/// about three moving windows on.
///
/// ```
/// use mosaic_memspace::fit::{Scratch, TcKernel};
/// use mosaic_memspace::{Chip, Dtype, Resolved};
///
/// let table = Scratch::new(&[300_000], Dtype::Int32, Resolved::SMEM);
/// let kernel = TcKernel { prefetch: &[table], ..TcKernel::new(Chip::V5e.facts()) };
/// let mut parts = Vec::new();
/// let plan = kernel.smem_plan_into(&mut parts)?;
/// assert_eq!(plan.bytes(), 1_200_128);
/// assert_eq!(plan.capacity_bytes(), 1 << 20);
/// assert_eq!(plan.usable_bytes(), Some((1 << 20) - 2048));
/// assert!(!plan.fits_by_its_declarations());
/// # Ok::<(), mosaic_memspace::fit::FitError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct SmemPlan<'b> {
    parts: &'b [Part],
    bytes: u64,
    capacity: u64,
    usable: Option<u64>,
}

impl<'b> SmemPlan<'b> {
    /// Bytes that spilt scalars may yet ask for.
    pub const SPILL_BYTES: u64 = 2048;

    /// What each ref takes.
    pub const fn parts(&self) -> &'b [Part] {
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
/// [`PaddingError`]: beyond 64 bits, or an element type that no word holds whole.
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
) -> Result<u64, PaddingError> {
    match Layout::of_window(chip, dtype) {
        Ok(layout) => layout.bytes(shape),
        Err(error) => Err(error),
    }
}

impl TcKernel<'_> {
    /// What the kernel declares of SMEM; `parts` is emptied and filled, and
    /// nothing is allocated when it has room for an entry a ref.
    ///
    /// # Errors
    /// [`FitError`]: a size beyond 64 bits, an element type that no word holds
    /// whole.
    pub fn smem_plan_into<'b>(&self, parts: &'b mut Vec<Part>) -> Result<SmemPlan<'b>, FitError> {
        parts.clear();
        let mut memory = Memory { parts, bytes: 0, unit: 1 };
        for (number, prefetch) in self.prefetch.iter().enumerate() {
            let bytes = smem_operand_bytes(self.chip, prefetch.shape, prefetch.dtype);
            memory.add(RefId::Prefetch(number), bytes.map(Taken::once))?;
        }
        let one_step = one_step_a_core(self.grid, self.cores());
        for (number, operand) in self.operands.iter().enumerate() {
            if let Some(taken) = operand.smem(self, one_step).transpose() {
                memory.add(RefId::Operand(number), taken)?;
            }
        }
        for (number, scratch) in self.scratch.iter().enumerate() {
            if scratch.space.is(TpuSpace::Smem) {
                let layout = scratch.layout(self.chip);
                let bytes = layout.and_then(|layout| layout.bytes(scratch.shape));
                memory.add(RefId::Scratch(number), bytes.map(Taken::once))?;
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
}

impl FitOperand<'_> {
    /// What it takes of the SMEM, if its window lies there.
    fn smem(&self, kernel: &TcKernel<'_>, one_step: bool) -> Result<Option<Taken>, PaddingError> {
        if !self.operand.space.is(TpuSpace::Smem) {
            return Ok(None);
        }
        let buffer_bytes = self.buffer_bytes(kernel)?;
        let buffers = self.operand.buffers_where(one_step, kernel.grid);
        let bytes = buffer_bytes.checked_mul(buffers.into()).ok_or(PaddingError::TooLarge)?;
        Ok(Some(Taken { buffer_bytes, buffers, bytes }))
    }

    /// Bytes of one of its buffers, in VMEM or SMEM; `None` if it has none there.
    /// `one_step`: [`one_step_a_core`] of the kernel's grid.
    pub(crate) fn buffer(
        &self,
        kernel: &TcKernel<'_>,
        one_step: bool,
    ) -> Result<Option<u64>, PaddingError> {
        let taken = match self.vmem(kernel, one_step)? {
            Some(taken) => Some(taken),
            None => self.smem(kernel, one_step)?,
        };
        Ok(taken.map(|taken| taken.buffer_bytes))
    }
}
