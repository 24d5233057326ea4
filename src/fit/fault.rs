//! What is wrong when a kernel does not fit, or hardly does.

use super::kernel::{CountFault, Part, TcKernel};
use super::padding::Layout;
use super::remedy::{self, Remedy};
use super::smem::SmemPlan;
use super::sparse_core::{Kept, ScKernel, ScPlan};
use super::vmem::{Memory, Taken, VmemLimit, VmemPlan, most};
use crate::error::{Code, faults};
use crate::operand::ResolvedScratch;
use crate::word::List;
use std::fmt;

/// A memory that is exceeded.
///
/// ```
/// use mosaic_memspace::fit::Overflow;
/// let over = Overflow { needed: 5000, there: 4096, largest: vec![], remedies: vec![] };
/// assert_eq!(over.bytes_over(), 904);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overflow {
    /// Bytes that the declarations need.
    pub needed: u64,
    /// Bytes that there are.
    pub there: u64,
    /// The largest parts, at most [`LARGEST`](Self::LARGEST), the largest first.
    pub largest: Vec<Part<'static>>,
    /// Changes that would make it fit by its declarations; each would do alone.
    pub remedies: Vec<Remedy>,
}

impl Overflow {
    /// Parts shown.
    pub const LARGEST: usize = 3;

    /// Remedies that a help text shows.
    const SHOWN: usize = 4;

    fn new(needed: u64, there: u64, parts: &[Part<'_>], remedies: Vec<Remedy>) -> Self {
        Self { needed, there, largest: largest(parts), remedies }
    }

    /// By how much the memory is exceeded.
    pub const fn bytes_over(&self) -> u64 {
        self.needed.saturating_sub(self.there)
    }

    /// The remedies, or where there are none, another way out.
    fn help(&self, otherwise: &str) -> String {
        let remedies: Vec<_> =
            self.remedies.iter().take(Self::SHOWN).map(ToString::to_string).collect();
        if remedies.is_empty() { otherwise.to_owned() } else { remedies.join("; or ") }
    }
}

impl fmt::Display for Overflow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { needed, there, largest, remedies: _ } = self;
        let (over, largest) = (self.bytes_over(), List(largest));
        write!(f, "{needed} bytes needed, {there} there, {over} too many; the largest: {largest}")
    }
}

/// The largest parts, the largest first.
fn largest(parts: &[Part<'_>]) -> Vec<Part<'static>> {
    let mut parts: Vec<_> = parts.iter().collect();
    parts.sort_by_key(|part| std::cmp::Reverse(part.bytes));
    parts.into_iter().take(Overflow::LARGEST).map(Part::to_owned).collect()
}

faults! {
    /// What is wrong with a kernel's bytes.
    ///
    /// ```
    /// use mosaic_memspace::error::{Code, Fault};
    /// use mosaic_memspace::fit::TcKernel;
    /// use mosaic_memspace::operand::ResolvedScratch;
    /// use mosaic_memspace::{Chip, Dtype, Resolved};
    ///
    /// let sum = ResolvedScratch::new("sum", &[40_000, 128], Dtype::Float32, Resolved::VMEM);
    /// let kernel = TcKernel { refs: &[sum.into()], ..TcKernel::new(Chip::V5e.facts()) };
    /// let faults = kernel.faults()?;
    /// assert_eq!(faults[0].code(), Code::VmemOverflow);
    /// assert_eq!(
    ///     faults[0].to_string(),
    ///     "VMEM: 20480000 bytes needed, 16777216 there, 3702784 too many; \
    ///      the largest: sum (20480000 bytes)"
    /// );
    /// assert_eq!(
    ///     faults[0].help(),
    ///     "raise vmem_limit_bytes to 20480000 or more; or halve dimension 0 of sum, to 20000"
    /// );
    /// # Ok::<(), mosaic_memspace::fit::CountFault>(())
    /// ```
    #[derive(Clone)]
    pub enum FitFault {
        /// Windows and scratch exceed the VMEM that the kernel may use.
        VmemOverflow {
            /// By how much, by what, and what would help.
            over: Overflow,
        } => VmemOverflow ("VMEM: {over}")
          help { over.help(Code::VmemOverflow.mend()) };
        /// Scalar operands, windows and scratch exceed the SMEM that it may use.
        SmemOverflow {
            /// By how much, and by what.
            over: Overflow,
        } => SmemOverflow ("SMEM: {over}");
        /// Subcores' vmem and vmem_shared exceed the SparseCore's pool.
        SparseCorePoolOverflow {
            /// By how much, by what, and what would help.
            over: Overflow,
        } => SparseCorePoolOverflow ("the SparseCore's pool: {over}")
          help { over.help(Code::SparseCorePoolOverflow.mend()) };
        /// Operands in VMEM and the scoped limit exceed what the chip gives.
        ColoredOperandsOverflow {
            /// Bytes of the operands.
            arrays: u64,
            /// The kernel's effective limit.
            limit: u64,
            /// Bytes that there are for both.
            there: u64,
            /// The largest operands.
            largest: Vec<Part<'static>>,
        } => ColoredOperandsOverflow at "annotated"
          ("operands in VMEM take {arrays} bytes and the scoped limit {limit}, of {there} \
            for both; the largest: {}", List(largest))
          help {
              match there.checked_sub(*arrays) {
                  Some(limit) if limit > 0 => format!(
                      "ask for a vmem_limit_bytes of {limit} or less, or leave an operand in hbm"
                  ),
                  Some(_) | None => "leave an operand in hbm".to_owned(),
              }
          };
        /// A limit of zero or less.
        VmemLimitNotPositive {
            /// `vmem_limit_bytes`.
            asked: i64,
        } => VmemLimitNotPositive at "vmem_limit_bytes" ("a vmem limit of {asked} bytes");
        /// A limit that the compiler cuts.
        VmemLimitClamped {
            /// `vmem_limit_bytes`.
            asked: i64,
            /// What it becomes.
            becomes: u64,
        } => VmemLimitClamped at "vmem_limit_bytes"
          ("a vmem limit of {asked} bytes, which the compiler cuts to {becomes}")
          help "ask for {becomes} or less";
        /// VMEM that fits with less than a twentieth to spare.
        VmemTight {
            /// Bytes that the declarations need.
            needed: u64,
            /// Bytes that there are.
            there: u64,
        } => VmemTight
          ("VMEM: {needed} bytes of {there} declared, which leaves less than 5 %");
        /// SMEM that fits with less than 2048 bytes to spare.
        SmemTight {
            /// Bytes that the declarations need.
            needed: u64,
            /// Bytes that there are.
            there: u64,
        } => SmemTight ("SMEM: {needed} bytes of {there} declared, which leaves less than 2048");
    }
}

impl TcKernel<'_> {
    /// Everything that is wrong with the kernel's bytes.
    ///
    /// # Errors
    /// [`CountFault`] when they cannot be told.
    ///
    /// ```
    /// use mosaic_memspace::Chip;
    /// use mosaic_memspace::error::{Code, Fault};
    /// use mosaic_memspace::fit::TcKernel;
    ///
    /// let kernel = TcKernel { vmem_limit_bytes: Some(1 << 40), ..TcKernel::new(Chip::V4.facts()) };
    /// let faults = kernel.faults()?;
    /// assert_eq!(faults[0].code(), Code::VmemLimitClamped);
    /// assert_eq!(faults[0].help(), "ask for 16777216 or less");
    /// # Ok::<(), mosaic_memspace::fit::CountFault>(())
    /// ```
    pub fn faults(&self) -> Result<Vec<FitFault>, CountFault> {
        let mut parts = Vec::new();
        let mut faults = Vec::new();
        faults.extend(self.vmem_faults(&self.vmem_plan_into(&mut parts)?));
        faults.extend(smem_fault(&self.smem_plan_into(&mut parts)?));
        faults.extend(self.colored_operands_fault()?);
        Ok(faults)
    }

    /// What is wrong with the limit, and with the kernel under it.
    ///
    /// ```
    /// use mosaic_memspace::{Chip, fit::TcKernel};
    /// let kernel = TcKernel { vmem_limit_bytes: Some(-1), ..TcKernel::new(Chip::V5e.facts()) };
    /// let mut parts = Vec::new();
    /// let plan = kernel.vmem_plan_into(&mut parts)?;
    /// let said: Vec<_> = kernel.vmem_faults(&plan).iter().map(|it| it.to_string()).collect();
    /// assert_eq!(said, ["a vmem limit of -1 bytes"]);
    /// # Ok::<(), mosaic_memspace::fit::CountFault>(())
    /// ```
    pub fn vmem_faults(&self, plan: &VmemPlan<'_>) -> Vec<FitFault> {
        let mut faults = Vec::new();
        let limit = plan.limit();
        match (limit.asked, limit.effective) {
            (Some(asked), None) => {
                faults.push(FitFault::VmemLimitNotPositive { asked });
                return faults;
            }
            (Some(asked), Some(becomes)) if limit.is_clamped() => {
                faults.push(FitFault::VmemLimitClamped { asked, becomes });
            }
            (Some(_) | None, _) => {}
        }
        let (needed, there) = (plan.bytes(), plan.bytes_there());
        if !plan.fits_by_its_declarations() {
            let remedies = remedy::of_vmem(self, needed, there);
            let over = Overflow::new(needed, there, plan.parts(), remedies);
            faults.push(FitFault::VmemOverflow { over });
        } else if plan.is_tight() {
            faults.push(FitFault::VmemTight { needed, there });
        }
        faults
    }

    /// Whether the arrays that lie in VMEM leave room for the kernel's limit.
    ///
    /// Each is padded as a window is, and rounded up to 4096 bytes. They and the
    /// limit together may take what the largest possible limit is.
    ///
    /// # Errors
    /// [`CountFault`] when their bytes cannot be told.
    ///
    /// ```
    /// use mosaic_memspace::fit::TcKernel;
    /// use mosaic_memspace::operand::Operand;
    /// use mosaic_memspace::{Chip, Dtype, Resolved};
    ///
    /// let table = Operand::input("table", [8192, 1024], Dtype::Float32);
    /// let table = table.in_space(Resolved::ANY).with_array_in_vmem();
    /// let kernel = TcKernel { refs: &[table.into()], ..TcKernel::new(Chip::Tpu7x.facts()) };
    /// let fault = kernel.colored_operands_fault()?.map(|fault| fault.to_string());
    /// assert_eq!(
    ///     fault.as_deref(),
    ///     Some(
    ///         "operands in VMEM take 33554432 bytes and the scoped limit 33554432, \
    ///          of 67043328 for both; the largest: table (33554432 bytes)"
    ///     )
    /// );
    /// # Ok::<(), mosaic_memspace::fit::CountFault>(())
    /// ```
    pub fn colored_operands_fault(&self) -> Result<Option<FitFault>, CountFault> {
        const ARRAY_UNIT: u64 = 4096;
        let mut parts = Vec::new();
        let mut memory = Memory { parts: &mut parts, bytes: 0, unit: ARRAY_UNIT };
        for operand in self.operands().filter(|operand| operand.array_in_vmem) {
            let layout = Layout::of_window(self.chip, operand.dtype);
            let bytes = layout.and_then(|layout| layout.bytes_of(operand.array()));
            memory.add(operand.name, bytes.map(Taken::once))?;
        }
        let arrays = memory.bytes.checked_next_multiple_of(ARRAY_UNIT).unwrap_or(memory.bytes);
        let limit = VmemLimit::new(self.chip, self.vmem_limit_bytes);
        let there = most(self.chip);
        let Some(limit) = limit.effective.filter(|_| arrays > 0) else { return Ok(None) };
        if arrays.checked_add(limit).is_some_and(|together| together <= there) {
            return Ok(None);
        }
        let largest = largest(&parts);
        Ok(Some(FitFault::ColoredOperandsOverflow { arrays, limit, there, largest }))
    }
}

/// What is wrong with the SMEM of a kernel.
///
/// ```
/// use mosaic_memspace::fit::{TcKernel, smem_fault};
/// use mosaic_memspace::operand::ResolvedScratch;
/// use mosaic_memspace::{Chip, Dtype};
///
/// let table = ResolvedScratch::prefetch("table", &[261_500], Dtype::Int32);
/// let kernel = TcKernel { refs: &[table.into()], ..TcKernel::new(Chip::V5e.facts()) };
/// let mut parts = Vec::new();
/// let fault = smem_fault(&kernel.smem_plan_into(&mut parts)?).map(|fault| fault.to_string());
/// assert_eq!(
///     fault.as_deref(),
///     Some("SMEM: 1046016 bytes of 1046528 declared, which leaves less than 2048")
/// );
/// # Ok::<(), mosaic_memspace::fit::CountFault>(())
/// ```
pub fn smem_fault(plan: &SmemPlan<'_>) -> Option<FitFault> {
    let (needed, there) = (plan.bytes(), plan.bytes_there());
    if !plan.fits_by_its_declarations() {
        let over = Overflow::new(needed, there, plan.parts(), Vec::new());
        return Some(FitFault::SmemOverflow { over });
    }
    plan.is_tight().then_some(FitFault::SmemTight { needed, there })
}

impl ScKernel<'_> {
    /// What is wrong with the bytes of a SparseCore kernel.
    ///
    /// ```
    /// use mosaic_memspace::fit::ScKernel;
    /// use mosaic_memspace::operand::ResolvedScratch;
    /// use mosaic_memspace::{Chip, CoreType, Dtype, Resolved};
    ///
    /// let table = ResolvedScratch::new("table", &[200_000], Dtype::Float32, Resolved::VMEM);
    /// let kernel = ScKernel {
    ///     refs: &[table.into()],
    ///     ..ScKernel::new(Chip::Tpu7x.facts(), CoreType::ScVectorSubcore)
    /// };
    /// let mut parts = Vec::new();
    /// let plan = kernel.plan_into(&mut parts)?;
    /// assert_eq!(
    ///     kernel.faults(&plan)[0].to_string(),
    ///     "the SparseCore's pool: 12804096 bytes needed, 8388608 there, 4415488 too many; \
    ///      the largest: table (16 × 800256 bytes)"
    /// );
    /// # Ok::<(), mosaic_memspace::fit::CountFault>(())
    /// ```
    pub fn faults(&self, plan: &ScPlan<'_>) -> Vec<FitFault> {
        let mut faults = Vec::new();
        if !plan.fits_by_its_declarations() {
            let (needed, there) = (plan.bytes(), plan.bytes_there());
            let bytes = |scratch: &ResolvedScratch<'_>, shape: &[u64]| {
                let taken = self.scratch(scratch, shape, Kept::Pool).ok()??;
                Some(taken.bytes)
            };
            let over = needed.saturating_sub(there);
            let remedies = remedy::of_scratch(self.scratches(), over, bytes);
            let over = Overflow::new(needed, there, plan.parts(), remedies);
            faults.push(FitFault::SparseCorePoolOverflow { over });
        }
        let needed = plan.smem_bytes();
        if let Some(there) = plan.smem_bytes_there().filter(|there| needed > *there) {
            let over = Overflow::new(needed, there, plan.smem_parts(), Vec::new());
            faults.push(FitFault::SmemOverflow { over });
        }
        faults
    }
}
