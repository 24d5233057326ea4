//! Scalar prefetch and operands: spaces, blocks, windows.

use super::Pass;
use super::refs::{Described, Entered};
use crate::attribute::MemorySpaceAttr;
use crate::core_type::CoreType;
use crate::error::UnknownWord;
use crate::kernel::fault::KernelFault;
use crate::kernel::place::Place;
use crate::kernel::report::{Diagnostic, OperandReport};
use crate::memory_space::{MemorySpace, Resolved};
use crate::operand::{Form, Operand, Prefetch, ResolvedOperand};
use crate::rules::{
    WindowFault, block_faults, check_host_operand, check_mesh_operand, check_place, window_faults,
};
use crate::word::Spelled;
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
        let (rank, sound) = (prefetch.shape.len(), !self.target.lacks_core);
        self.report.operands.push(OperandReport::new(&name, None, resolved));
        let described = Described::Prefetch(prefetch);
        self.enter(Entered { described, name, place, rank, dtype, resolved, sound });
    }

    fn operand(&mut self, index: usize, operand: &'k Operand) {
        let name = named(operand.name.as_ref(), "operand", index);
        let place = Place::list("operands").named(index, &name);
        let dtype = self.known(&operand.dtype, &place, "dtype");
        let in_host = self.in_host.get(index) == Some(&true);
        let resolved = match (&operand.space, self.target.form) {
            // A mesh kernel's refs lie where their values do.
            (None, Form::Unpipelined) if in_host => Some(Resolved::HOST),
            (space, _) => self.resolved(space.as_ref(), &place),
        };
        if let Some(annotated) = &operand.annotated {
            self.known(annotated, &place, "annotated");
        }
        let written = operand.space.as_ref().map(|space| match space {
            Spelled::Known(space) => space.to_string(),
            Spelled::Unknown(fault) => fault.word().to_owned(),
        });
        let mut report = OperandReport::new(&name, written, resolved);
        let mut sound = false;
        if let (Some(space), Some(core_type)) = (resolved, self.target.core_type) {
            let placed = operand.in_space(space);
            sound = self.rules(&placed, in_host, core_type, &place, dtype.is_some());
            report.windowed = self.target.form.has_window(space, core_type);
            report.buffers = self.buffers(&placed, core_type).filter(|_| report.windowed);
        }
        self.report.operands.push(report);
        let rank = operand.array_shape.len();
        let described = Described::Operand(operand);
        self.enter(Entered { described, name, place, rank, dtype, resolved, sound });
    }

    /// The space as written, if it was, resolved for the kernel's core type; an unknown
    /// word is reported.
    pub(super) fn resolved(
        &mut self,
        written: Option<&Spelled<MemorySpace>>,
        place: &Place,
    ) -> Option<Resolved> {
        let space = match written {
            Some(word) => Some(self.known(word, place, "space")?),
            None => None,
        };
        Some(self.target.call_site().resolve(space, self.target.core_type?))
    }

    /// The buffers of the operand's window, as far as the chip is known.
    fn buffers(&self, operand: &ResolvedOperand<'_>, core_type: CoreType) -> Option<u32> {
        if core_type.is_sparse_core() {
            return Some(self.target.form.sparse_core_buffers(operand, &self.grid));
        }
        let [one, other] =
            self.one_step.map(|one_step| operand.buffers_where(one_step, &self.grid));
        (one == other).then_some(one)
    }

    /// One fault, one code, the first that applies. Whether it may lie where it does.
    fn rules(
        &mut self,
        operand: &ResolvedOperand<'_>,
        in_host: bool,
        core_type: CoreType,
        place: &Place,
        dtype_is_known: bool,
    ) -> bool {
        let (form, chip) = (self.target.form, self.target.chip);
        let (space, role) = (operand.space, operand.operand.role);
        let mut told = self.target.lacks_core || self.place_fault(space, core_type, place);
        let windows = window_faults(operand, &self.grid, form, core_type);
        if self.kernel.from_body.is_some() {
            // Its blocks and windows were checked when the body was made, but for their space.
            let of_space = |fault: &WindowFault| matches!(fault, WindowFault::Space { .. });
            let fault = windows.into_iter().find(of_space).filter(|_| !told);
            let is_refused = fault.is_some();
            if let Some(fault) = fault {
                self.push_in(fault, place);
            }
            return !told && !is_refused;
        }
        let windows: Vec<_> = windows.collect();
        if !told && form == Form::Pipelined {
            for fault in block_faults(operand, chip.filter(|_| dtype_is_known)) {
                self.push_in(fault, place);
                told = true;
            }
        }
        let mut sound = !told;
        let on_mesh = match form {
            Form::Pipelined => Ok(()),
            Form::Unpipelined => {
                check_mesh_operand(space, role, core_type, self.target.mesh_cores, chip)
            }
        };
        let of_host = check_host_operand(space, role, in_host, chip);
        for fault in windows.into_iter().chain(on_mesh.err()).chain(of_host.err()) {
            // A block that is refused is not refused for its place too.
            let of_block = fault.is_about_block_or_place();
            if told && of_block {
                continue;
            }
            told |= of_block;
            sound &= !of_block;
            self.push_in(fault, place);
        }
        sound
    }

    /// Whether the space is none of this core's, or no memref's; that is reported.
    fn place_fault(&mut self, space: Resolved, core_type: CoreType, place: &Place) -> bool {
        let refused: Option<KernelFault> = match check_place(space, core_type, self.target.chip) {
            Err(fault) => Some(fault.into()),
            Ok(()) => match space {
                Resolved::Acc(_) => Some(KernelFault::NoMemref { space }),
                Resolved::Memref(space) => MemorySpaceAttr::new(space).err().map(Into::into),
            },
        };
        let is_refused = refused.is_some();
        if let Some(fault) = refused {
            self.push(fault, place.clone().field("space"));
        }
        is_refused
    }

    /// The value of a word, or the fault of one that is unknown.
    pub(super) fn known<T>(
        &mut self,
        word: &Spelled<T>,
        place: &Place,
        field: &'static str,
    ) -> Option<T>
    where
        T: FromStr<Err = UnknownWord> + Copy,
    {
        match word {
            Spelled::Known(value) => Some(*value),
            Spelled::Unknown(fault) => {
                self.push(fault.clone(), place.clone().field(field));
                None
            }
        }
    }

    pub(super) fn push(&mut self, fault: impl Into<KernelFault>, at: Place) {
        self.report.diagnostics.push(Diagnostic::new(fault, at));
    }

    /// Reports a fault at the field of this place that it is about.
    pub(super) fn push_in(&mut self, fault: impl Into<KernelFault>, place: &Place) {
        self.report.diagnostics.push(Diagnostic::within(fault, place.clone()));
    }
}

/// The name that was given, or one made up.
pub(super) fn named(given: Option<&String>, kind: &str, index: usize) -> String {
    given.cloned().unwrap_or_else(|| format!("{kind}{index}"))
}
