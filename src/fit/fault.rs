//! What is wrong when a kernel does not fit, or hardly does.

use super::kernel::{FitError, Part, RefId, TcKernel};
use super::padding::Layout;
use super::remedy::{self, Remedy};
use super::smem::SmemPlan;
use super::sparse_core::{ScKernel, ScPlan};
use super::vmem::{Memory, Taken, VmemLimit, VmemPlan, most};
use crate::error::{Code, Fault};

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
    pub largest: Vec<Part>,
    /// Changes that would make it fit by its declarations; each would do alone.
    pub remedies: Vec<Remedy>,
}

impl Overflow {
    /// Parts shown.
    pub const LARGEST: usize = 3;

    /// Remedies that a help text shows.
    const SHOWN: usize = 4;

    fn new(needed: u64, there: u64, parts: &[Part], remedies: Vec<Remedy>) -> Self {
        let largest = remedy::largest(parts).take(Self::LARGEST).copied().collect();
        Self { needed, there, largest, remedies }
    }

    /// By how much the memory is exceeded.
    pub const fn bytes_over(&self) -> u64 {
        self.needed.saturating_sub(self.there)
    }

    fn named(&self, what: &str, name: &dyn Fn(RefId) -> String) -> String {
        let largest: Vec<_> = self.largest.iter().map(|part| part.named(&name(part.of))).collect();
        format!(
            "{what}: {} bytes needed, {} there, {} too many; the largest: {}",
            self.needed,
            self.there,
            self.bytes_over(),
            largest.join(", ")
        )
    }

    fn help(&self, mend: &str, name: &dyn Fn(RefId) -> String) -> String {
        let remedies: Vec<_> =
            self.remedies.iter().take(Self::SHOWN).map(|remedy| remedy.named(name)).collect();
        if remedies.is_empty() { mend.to_owned() } else { remedies.join("; or ") }
    }
}

/// What is wrong with a kernel's bytes.
///
/// The text names refs by number; [`message`](Self::message) and
/// [`help_naming`](Self::help_naming) take names.
///
/// ```
/// use mosaic_memspace::error::{Code, Fault};
/// use mosaic_memspace::fit::{Scratch, TcKernel};
/// use mosaic_memspace::{Chip, Dtype, Resolved};
///
/// let sum = Scratch::new(&[40_000, 128], Dtype::Float32, Resolved::VMEM);
/// let kernel = TcKernel { scratch: &[sum], ..TcKernel::new(Chip::V5e.facts()) };
/// let faults = kernel.faults()?;
/// assert_eq!(faults[0].code(), Code::VmemOverflow);
/// assert_eq!(
///     faults[0].to_string(),
///     "VMEM: 20480000 bytes needed, 16777216 there, 3702784 too many; \
///      the largest: scratch 0 (20480000 bytes)"
/// );
/// assert_eq!(
///     faults[0].help_naming(|_| "sum".to_owned()),
///     "raise vmem_limit_bytes to 20480000 or more; or halve dimension 0 of sum, to 20000"
/// );
/// # Ok::<(), mosaic_memspace::fit::FitError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.message(|id| id.to_string()))]
#[non_exhaustive]
pub enum FitFault {
    /// Windows and scratch exceed the VMEM that the kernel may use.
    VmemOverflow(Overflow),
    /// Scalar operands, windows and scratch exceed the SMEM that it may use.
    SmemOverflow(Overflow),
    /// Subcores' vmem and vmem_shared exceed the SparseCore's pool.
    SparseCorePoolOverflow(Overflow),
    /// Operands in VMEM and the scoped limit exceed what the chip gives.
    ColoredOperandsOverflow {
        /// Bytes of the operands.
        arrays: u64,
        /// The kernel's effective limit.
        limit: u64,
        /// Bytes that there are for both.
        there: u64,
        /// The largest operands.
        largest: Vec<Part>,
    },
    /// A limit of zero or less.
    VmemLimitNotPositive {
        /// `vmem_limit_bytes`.
        asked: i64,
    },
    /// A limit that the compiler cuts.
    VmemLimitClamped {
        /// `vmem_limit_bytes`.
        asked: i64,
        /// What it becomes.
        becomes: u64,
    },
    /// VMEM that fits with less than a twentieth to spare.
    VmemTight {
        /// Bytes that the declarations need.
        needed: u64,
        /// Bytes that there are.
        there: u64,
    },
    /// SMEM that fits with less than 2048 bytes to spare.
    SmemTight {
        /// Bytes that the declarations need.
        needed: u64,
        /// Bytes that there are.
        there: u64,
    },
}

impl FitFault {
    /// The message, with refs by the names that `name` gives.
    pub fn message(&self, name: impl Fn(RefId) -> String) -> String {
        match self {
            Self::VmemOverflow(over) => over.named("VMEM", &name),
            Self::SmemOverflow(over) => over.named("SMEM", &name),
            Self::SparseCorePoolOverflow(over) => over.named("the SparseCore's pool", &name),
            Self::ColoredOperandsOverflow { arrays, limit, there, largest } => {
                let largest: Vec<_> =
                    largest.iter().map(|part| part.named(&name(part.of))).collect();
                format!(
                    "operands in VMEM take {arrays} bytes and the scoped limit {limit}, of {there} \
                     for both; the largest: {}",
                    largest.join(", ")
                )
            }
            Self::VmemLimitNotPositive { asked } => format!("a vmem limit of {asked} bytes"),
            Self::VmemLimitClamped { asked, becomes } => {
                format!("a vmem limit of {asked} bytes, which the compiler cuts to {becomes}")
            }
            Self::VmemTight { needed, there } => {
                format!("VMEM: {needed} bytes of {there} declared, which leaves less than 5 %")
            }
            Self::SmemTight { needed, there } => {
                format!("SMEM: {needed} bytes of {there} declared, which leaves less than 2048")
            }
        }
    }

    /// What would be right, with refs by the names that `name` gives.
    pub fn help_naming(&self, name: impl Fn(RefId) -> String) -> String {
        let mend = self.code().mend();
        match self {
            Self::VmemOverflow(over)
            | Self::SmemOverflow(over)
            | Self::SparseCorePoolOverflow(over) => over.help(mend, &name),
            Self::ColoredOperandsOverflow { arrays, there, .. } => {
                match there.checked_sub(*arrays) {
                    Some(limit) if limit > 0 => format!(
                        "ask for a vmem_limit_bytes of {limit} or less, or leave an operand in hbm"
                    ),
                    Some(_) | None => "leave an operand in hbm".to_owned(),
                }
            }
            Self::VmemLimitClamped { becomes, .. } => {
                format!("ask for {becomes} or less")
            }
            Self::VmemLimitNotPositive { .. } | Self::VmemTight { .. } | Self::SmemTight { .. } => {
                mend.to_owned()
            }
        }
    }
}

impl Fault for FitFault {
    fn code(&self) -> Code {
        match self {
            Self::VmemOverflow(_) => Code::VmemOverflow,
            Self::SmemOverflow(_) => Code::SmemOverflow,
            Self::SparseCorePoolOverflow(_) => Code::SparseCorePoolOverflow,
            Self::ColoredOperandsOverflow { .. } => Code::ColoredOperandsOverflow,
            Self::VmemLimitNotPositive { .. } => Code::VmemLimitNotPositive,
            Self::VmemLimitClamped { .. } => Code::VmemLimitClamped,
            Self::VmemTight { .. } => Code::VmemTight,
            Self::SmemTight { .. } => Code::SmemTight,
        }
    }

    fn help(&self) -> String {
        self.help_naming(|id| id.to_string())
    }
}

impl TcKernel<'_> {
    /// Everything that is wrong with the kernel's bytes.
    ///
    /// # Errors
    /// [`FitError`] when they cannot be told.
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
    /// # Ok::<(), mosaic_memspace::fit::FitError>(())
    /// ```
    pub fn faults(&self) -> Result<Vec<FitFault>, FitError> {
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
    /// # Ok::<(), mosaic_memspace::fit::FitError>(())
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
            let remedies = remedy::of_vmem(self, plan.parts(), needed, there);
            let over = Overflow::new(needed, there, plan.parts(), remedies);
            faults.push(FitFault::VmemOverflow(over));
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
    /// [`FitError`] when their bytes cannot be told.
    ///
    /// ```
    /// use mosaic_memspace::rules::{Operand, Role};
    /// use mosaic_memspace::fit::{FitOperand, TcKernel};
    /// use mosaic_memspace::{Chip, Dtype, Resolved};
    ///
    /// let table = Operand {
    ///     role: Role::Input,
    ///     array_shape: &[8192, 1024],
    ///     block_shape: None,
    ///     element_shape: &[],
    ///     dtype: Dtype::Float32,
    ///     index_map: None,
    ///     space: Resolved::ANY,
    ///     buffers: None,
    /// };
    /// let table = FitOperand { array_in_vmem: true, ..table.into() };
    /// let kernel = TcKernel { operands: &[table], ..TcKernel::new(Chip::Tpu7x.facts()) };
    /// let fault = kernel.colored_operands_fault()?.map(|fault| fault.to_string());
    /// assert_eq!(
    ///     fault.as_deref(),
    ///     Some(
    ///         "operands in VMEM take 33554432 bytes and the scoped limit 33554432, \
    ///          of 67043328 for both; the largest: operand 0 (33554432 bytes)"
    ///     )
    /// );
    /// # Ok::<(), mosaic_memspace::fit::FitError>(())
    /// ```
    pub fn colored_operands_fault(&self) -> Result<Option<FitFault>, FitError> {
        const ARRAY_UNIT: u64 = 4096;
        let mut parts = Vec::new();
        let mut memory = Memory { parts: &mut parts, bytes: 0, unit: ARRAY_UNIT };
        for (number, operand) in self.operands.iter().enumerate() {
            if operand.array_in_vmem {
                let layout = Layout::of_window(self.chip, operand.operand.dtype);
                let bytes = layout.and_then(|layout| layout.bytes_of(operand.array()));
                memory.add(RefId::Operand(number), bytes.map(Taken::once))?;
            }
        }
        let arrays = memory.bytes.checked_next_multiple_of(ARRAY_UNIT).unwrap_or(memory.bytes);
        let limit = VmemLimit::new(self.chip, self.vmem_limit_bytes);
        let there = most(self.chip);
        let Some(limit) = limit.effective.filter(|_| arrays > 0) else { return Ok(None) };
        if arrays.checked_add(limit).is_some_and(|together| together <= there) {
            return Ok(None);
        }
        let largest = remedy::largest(&parts).take(Overflow::LARGEST).copied().collect();
        Ok(Some(FitFault::ColoredOperandsOverflow { arrays, limit, there, largest }))
    }
}

/// What is wrong with the SMEM of a kernel.
///
/// ```
/// use mosaic_memspace::fit::{Scratch, TcKernel, smem_fault};
/// use mosaic_memspace::{Chip, Dtype, Resolved};
///
/// let table = Scratch::new(&[261_500], Dtype::Int32, Resolved::SMEM);
/// let kernel = TcKernel { prefetch: &[table], ..TcKernel::new(Chip::V5e.facts()) };
/// let mut parts = Vec::new();
/// let fault = smem_fault(&kernel.smem_plan_into(&mut parts)?).map(|fault| fault.to_string());
/// assert_eq!(
///     fault.as_deref(),
///     Some("SMEM: 1046016 bytes of 1046528 declared, which leaves less than 2048")
/// );
/// # Ok::<(), mosaic_memspace::fit::FitError>(())
/// ```
pub fn smem_fault(plan: &SmemPlan<'_>) -> Option<FitFault> {
    let (needed, there) = (plan.bytes(), plan.bytes_there());
    if !plan.fits_by_its_declarations() {
        let over = Overflow::new(needed, there, plan.parts(), Vec::new());
        return Some(FitFault::SmemOverflow(over));
    }
    plan.is_tight().then_some(FitFault::SmemTight { needed, there })
}

impl ScKernel<'_> {
    /// What is wrong with the bytes of a SparseCore kernel.
    ///
    /// ```
    /// use mosaic_memspace::fit::{ScKernel, Scratch};
    /// use mosaic_memspace::{Chip, CoreType, Dtype, Resolved};
    ///
    /// let table = Scratch::new(&[200_000], Dtype::Float32, Resolved::VMEM);
    /// let kernel = ScKernel {
    ///     chip: Chip::Tpu7x.facts(),
    ///     core_type: CoreType::ScVectorSubcore,
    ///     tc_tiling: true,
    ///     windows: &[],
    ///     scratch: &[table],
    /// };
    /// let mut parts = Vec::new();
    /// let plan = kernel.plan_into(&mut parts)?;
    /// let faults = kernel.faults(&plan);
    /// assert_eq!(
    ///     faults[0].to_string(),
    ///     "the SparseCore's pool: 12804096 bytes needed, 8388608 there, 4415488 too many; \
    ///      the largest: scratch 0 (16 × 800256 bytes)"
    /// );
    /// # Ok::<(), mosaic_memspace::fit::FitError>(())
    /// ```
    pub fn faults(&self, plan: &ScPlan<'_>) -> Vec<FitFault> {
        let mut faults = Vec::new();
        if !plan.fits_by_its_declarations() {
            let (needed, there) = (plan.bytes(), plan.bytes_there());
            let over = needed.saturating_sub(there);
            let remedies = remedy::largest(plan.parts()).filter_map(|part| {
                let RefId::Scratch(number) = part.of else { return None };
                let scratch = self.scratch.get(number)?;
                let room = part.bytes.checked_sub(over)?;
                remedy::halve_scratch(part.of, scratch.shape, room, |shape| {
                    self.pool_bytes_of(scratch, shape)
                })
            });
            let remedies = remedies.map(Remedy::from).take(Overflow::LARGEST).collect();
            let over = Overflow::new(needed, there, plan.parts(), remedies);
            faults.push(FitFault::SparseCorePoolOverflow(over));
        }
        let needed = plan.smem_bytes();
        if let Some(there) = plan.smem_bytes_there().filter(|there| needed > *there) {
            let over = Overflow::new(needed, there, plan.smem_parts(), Vec::new());
            faults.push(FitFault::SmemOverflow(over));
        }
        faults
    }
}
