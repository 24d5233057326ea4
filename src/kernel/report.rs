//! What a kernel comes to, and everything that is wrong with it.

use super::fault::KernelFault;
use super::place::Place;
use crate::attribute::MemorySpaceAttr;
use crate::core_type::CoreType;
use crate::custom_call::Color;
use crate::error::{Code, Fault, Faults, Severity};
use crate::fit::Part;
use crate::memory_space::Resolved;
use crate::operand::Semaphore;
use std::fmt;

/// Everything about a kernel, as far as it could be found out.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Report {
    /// The kernel's name.
    pub name: Option<String>,
    /// The core type it is lowered for; `None` when its word is unknown.
    pub core_type: Option<CoreType>,
    /// The scalar prefetch and then the operands, in order.
    pub operands: Vec<OperandReport>,
    /// The scratch, in order.
    pub scratch: Vec<ScratchReport>,
    /// The bytes used and the bytes there; `None` without a chip.
    pub fit: Option<Fit>,
    /// What fills each memory, the fullest detail behind [`fit`](Self::fit).
    #[cfg_attr(feature = "serde", serde(skip))]
    pub memories: Vec<Memory>,
    /// The custom call's backend config; `None` when there is an error.
    pub config: Option<String>,
    /// Faults, in the order of the description.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<Diagnostic>"))]
    pub diagnostics: Diagnostics,
    /// What in the kernel's body is not understood, by name; it is left out of all else.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty", default))]
    pub not_understood: Vec<String>,
}

impl Report {
    /// Notes the bytes of the ref of this number: operands, then scratch.
    pub(super) fn note(&mut self, number: usize, bytes: Option<u64>) {
        let operands = self.operands.len();
        if let Some(operand) = self.operands.get_mut(number) {
            // What the compiler keeps of an array left in place is no buffer of its own.
            let in_place = operand.resolved.is_some_and(Resolved::is_left_in_place);
            operand.bytes = bytes.filter(|_| !in_place);
        } else if let Some(scratch) = self.scratch.get_mut(number.saturating_sub(operands)) {
            scratch.bytes = bytes;
        }
    }

    /// The color of the operand of this number.
    pub(super) fn color(&self, number: usize) -> Option<Color> {
        self.operands.get(number).and_then(|operand| operand.color)
    }
}

/// What an operand, or an argument of the scalar prefetch, comes to.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct OperandReport {
    /// Its name, given or made up.
    pub name: String,
    /// The memory space as written.
    pub written: Option<String>,
    /// The memory space; `None` when the written word, or the core type, is unknown.
    pub resolved: Option<Resolved>,
    /// Mosaic's attribute; `None` when there is none.
    pub attribute: Option<MemorySpaceAttr>,
    /// Whether it moves through a window.
    pub windowed: bool,
    /// Buffers of the window.
    pub buffers: Option<u32>,
    /// Bytes of one buffer, padded; `None` where it takes none on the chip.
    pub bytes: Option<u64>,
    /// The color that XLA is handed.
    pub color: Option<Color>,
}

impl OperandReport {
    /// Of a ref that has no window.
    pub(super) fn new(name: &str, written: Option<String>, resolved: Option<Resolved>) -> Self {
        Self {
            name: name.to_owned(),
            written,
            resolved,
            attribute: resolved.and_then(attribute),
            windowed: false,
            buffers: None,
            bytes: None,
            color: None,
        }
    }
}

/// Mosaic's attribute, where there is one.
pub(super) fn attribute(resolved: Resolved) -> Option<MemorySpaceAttr> {
    resolved.memref().and_then(|space| MemorySpaceAttr::new(space).ok())
}

/// What scratch comes to.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ScratchReport {
    /// Its name, given or made up.
    pub name: String,
    /// The kind of the semaphores, if it holds any.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub semaphore: Option<Semaphore>,
    /// The memory space; `None` when the written word, or the core type, is unknown.
    pub resolved: Option<Resolved>,
    /// Mosaic's attribute; `None` for an accumulator.
    pub attribute: Option<MemorySpaceAttr>,
    /// Bytes, padded; `None` for semaphores and accumulators.
    pub bytes: Option<u64>,
}

/// The bytes that a kernel's declarations take, beside those there are.
///
/// What the compiler adds of its own, as for spilled registers, is not in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Fit {
    /// Bytes of VMEM of a TensorCore kernel.
    pub vmem_bytes: Option<u64>,
    /// The limit on them that the compiler goes by.
    pub vmem_limit_bytes: Option<u64>,
    /// Bytes of VMEM that the compiler took, where the kernel comes from a dump that was
    /// made after it had run.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub used_vmem_bytes: Option<u64>,
    /// Bytes of SMEM.
    pub smem_bytes: Option<u64>,
    /// The SMEM that the core has. Some of it is the program's own: how much is left
    /// is the limit of [`Memory`], and what [`Code::SmemOverflow`] goes by.
    pub smem_limit_bytes: Option<u64>,
    /// Bytes of the SparseCore's pool: vmem of all subcores, and vmem_shared.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub sparse_core_bytes: Option<u64>,
    /// The size of that pool.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub sparse_core_limit_bytes: Option<u64>,
}

/// A memory, and what fills it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Memory {
    /// Which memory it is.
    pub kind: MemoryKind,
    /// Bytes that the declarations take.
    pub bytes: u64,
    /// Bytes that there are.
    pub limit: u64,
    /// What they are taken by, the largest first.
    pub parts: Vec<Part<'static>>,
}

/// A memory that can be filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MemoryKind {
    /// The VMEM of a TensorCore.
    Vmem,
    /// The SMEM of a core.
    Smem,
    /// The pool of a SparseCore: vmem of its subcores, and vmem_shared.
    SparseCorePool,
}

impl MemoryKind {
    /// What people call it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Vmem => "VMEM",
            Self::Smem => "SMEM",
            Self::SparseCorePool => "SparseCore pool",
        }
    }
}

/// A fault of a kernel: what, where, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Diagnostic {
    /// Its stable code.
    pub code: Code,
    /// Whether the kernel is refused for it.
    pub severity: Severity,
    /// Where in the description it is.
    pub at: Place,
    /// What is wrong.
    pub message: String,
    /// What would be right.
    pub help: String,
    /// The fault itself, to be matched; of memory that does not suffice, with its remedies.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub fault: KernelFault,
}

impl Diagnostic {
    /// The diagnostic of a fault that is at this place.
    pub fn new(fault: impl Into<KernelFault>, at: Place) -> Self {
        let fault = fault.into();
        let code = fault.code();
        let (message, help) = (fault.to_string(), fault.help());
        Self { code, severity: code.severity(), at, message, help, fault }
    }
}

impl Diagnostic {
    /// The same, at the field of this place that the fault is about.
    pub(super) fn within(fault: impl Into<KernelFault>, place: Place) -> Self {
        let fault = fault.into();
        let at = match fault.field() {
            Some(field) => place.field(field),
            None => place,
        };
        Self::new(fault, at)
    }
}

impl std::error::Error for Diagnostic {}

impl Fault for Diagnostic {
    fn code(&self) -> Code {
        self.code
    }

    fn help(&self) -> String {
        self.help.clone()
    }

    fn field(&self) -> Option<&'static str> {
        self.fault.field()
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { code, severity, at, message, help, fault: _ } = self;
        let at = at.to_string();
        let colon = if at.is_empty() { "" } else { ": " };
        write!(f, "{severity}[{code}]: {at}{colon}{message} ({help})")
    }
}

/// Every fault of a kernel, in the order of its description.
pub type Diagnostics = Faults<Diagnostic>;
