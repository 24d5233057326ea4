//! Scalar prefetch and operands: spaces, blocks, windows.

use super::Pass;
use super::refs::Ref;
use crate::attribute::MemorySpaceAttr;
use crate::check::{self, BlockFault, Form, WindowFault, check_place};
use crate::core_type::CoreType;
use crate::dtype::Dtype;
use crate::error::Fault;
use crate::kernel::description::{Operand, Prefetch};
use crate::kernel::fault::KernelFault;
use crate::kernel::place::Place;
use crate::kernel::report::OperandReport;
use crate::kernel::spelled::Spelled;
use crate::memory_space::{MemorySpace, Resolved};
use std::str::FromStr;

impl<'k> Pass<'k> {
    pub(super) fn operands(&mut self) {
        for (index, prefetch) in self.kernel.scalar_prefetch.iter().enumerate() {
            self.prefetch(index, prefetch);
        }
        for (index, operand) in self.kernel.operands.iter().enumerate() {
            self.operand(index, operand);
        }
    }

    fn prefetch(&mut self, index: usize, prefetch: &'k Prefetch) {
        let name = named(prefetch.name.as_ref(), "prefetch", index);
        let place = Place::list("scalar_prefetch").named(index, &name);
        let dtype = self.known(&prefetch.dtype, &place, "dtype");
        let resolved = self.target.core_type.map(|_| Resolved::SMEM);
        let entered =
            Ref { name: name.clone(), rank: prefetch.shape.len(), dtype, resolved, sound: true };
        self.enter(entered, &place);
        self.report.operands.push(OperandReport {
            name,
            written: None,
            resolved,
            attribute: resolved.and_then(attribute),
            windowed: false,
            buffers: None,
            bytes: None,
            color: None,
        });
    }

    fn operand(&mut self, index: usize, operand: &'k Operand) {
        let name = named(operand.name.as_ref(), "operand", index);
        let place = Place::list("operands").named(index, &name);
        let dtype = self.known(&operand.dtype, &place, "dtype");
        let written = operand.space.as_ref().map(|space| self.known(space, &place, "space"));
        if let Some(annotated) = &operand.annotated {
            self.known(annotated, &place, "annotated");
        }
        let resolved = match written {
            Some(None) => None,
            Some(space) => self.resolved(space),
            None => self.resolved(None),
        };
        let sound = match (resolved, self.target.core_type) {
            (Some(space), Some(core_type)) => {
                let ruled = operand.ruled(space, dtype.unwrap_or(Dtype::Int32));
                self.rules(&ruled, core_type, &place, dtype.is_some())
            }
            (None, _) | (_, None) => false,
        };
        let windowed = match (resolved, self.target.core_type) {
            (Some(space), Some(core_type)) => self.target.form.has_window(space, core_type),
            (None, _) | (_, None) => false,
        };
        let rank = operand.array_shape.len();
        let entered = Ref { name: name.clone(), rank, dtype, resolved, sound };
        self.enter(entered, &place);
        self.report.operands.push(OperandReport {
            name,
            written: operand.space.as_ref().map(|space| match space {
                Spelled::Known(space) => space.to_string(),
                Spelled::Unknown(fault) => fault.word().to_owned(),
            }),
            resolved,
            attribute: resolved.and_then(attribute),
            windowed,
            buffers: None,
            bytes: None,
            color: None,
        });
    }

    /// The space as written, resolved for the kernel's core type.
    pub(super) fn resolved(&self, written: Option<MemorySpace>) -> Option<Resolved> {
        let core_type = self.target.core_type?;
        Some(self.target.call_site().resolve(written, core_type))
    }

    /// One fault, one code, the first that applies. Whether there is none.
    fn rules(
        &mut self,
        operand: &check::Operand<'_>,
        core_type: CoreType,
        place: &Place,
        dtype_is_known: bool,
    ) -> bool {
        if let Err(fault) = check_place(operand.space, core_type, self.target.chip) {
            self.push(&fault, place.clone().field("space"));
            return false;
        }
        match operand.space {
            Resolved::Acc(_) => {
                let fault = KernelFault::NoMemref { space: operand.space };
                self.push(&fault, place.clone().field("space"));
                return false;
            }
            Resolved::Memref(space) => {
                if let Err(fault) = MemorySpaceAttr::new(space) {
                    self.push(&fault, place.clone().field("space"));
                    return false;
                }
            }
        }
        let chip = self.target.chip.filter(|_| dtype_is_known);
        let blocks: Vec<_> = match self.target.form {
            Form::Pipelined => operand.block().faults(chip).collect(),
            Form::Unpipelined => Vec::new(),
        };
        let mut told = !blocks.is_empty();
        let mut sound = blocks.is_empty();
        for fault in &blocks {
            self.push(fault, place.clone().field(field_of_block(fault)));
        }
        let windows: Vec<_> =
            operand.window_faults(&self.grid, self.target.form, core_type).collect();
        for fault in &windows {
            // A block that is refused is not refused for its place too.
            let of_block = is_about_block_or_place(fault);
            if !(told && of_block) {
                self.push(fault, place.clone().field(field_of_window(fault)));
                sound = false;
                told |= of_block;
            }
        }
        sound
    }

    /// The value of a word, or the fault of one that is unknown.
    pub(super) fn known<T>(
        &mut self,
        word: &Spelled<T>,
        place: &Place,
        field: &'static str,
    ) -> Option<T>
    where
        T: FromStr<Err: Fault> + Copy,
    {
        match word {
            Spelled::Known(value) => Some(*value),
            Spelled::Unknown(fault) => {
                self.push(fault, place.clone().field(field));
                None
            }
        }
    }

    pub(super) fn push(&mut self, fault: &dyn Fault, at: Place) {
        self.report.diagnostics.push(fault, at);
    }
}

/// The name that was given, or one made up.
pub(super) fn named(given: Option<&String>, kind: &str, index: usize) -> String {
    given.cloned().unwrap_or_else(|| format!("{kind}{index}"))
}

pub(super) fn attribute(resolved: Resolved) -> Option<MemorySpaceAttr> {
    resolved.memref().and_then(|space| MemorySpaceAttr::new(space).ok())
}

/// The field that the fault is about.
const fn field_of_block(fault: &BlockFault) -> &'static str {
    match fault {
        BlockFault::RankZero { .. } => "array_shape",
        BlockFault::RankMismatch { .. }
        | BlockFault::ExtentZero { .. }
        | BlockFault::DimsMixed
        | BlockFault::InAnyOrHbm { .. }
        | BlockFault::NotTileAligned { .. }
        | BlockFault::Rank1Infeasible(_) => "block_shape",
    }
}

const fn field_of_window(fault: &WindowFault) -> &'static str {
    match fault {
        WindowFault::RankMismatch { .. } | WindowFault::AxisOutOfRange { .. } => "index_map",
        WindowFault::BlockedWithoutGrid => "block_shape",
        WindowFault::Space { .. } | WindowFault::SemaphoreOutput => "space",
        WindowFault::BufferCount { .. } => "buffers",
    }
}

/// Whether it is about the block or where it lies: of these, the first counts.
const fn is_about_block_or_place(fault: &WindowFault) -> bool {
    match fault {
        WindowFault::RankMismatch { .. }
        | WindowFault::AxisOutOfRange { .. }
        | WindowFault::BufferCount { .. } => false,
        WindowFault::BlockedWithoutGrid
        | WindowFault::Space { .. }
        | WindowFault::SemaphoreOutput => true,
    }
}
