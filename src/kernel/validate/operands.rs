//! Scalar prefetch and operands: spaces, blocks, windows.

use super::Pass;
use super::refs::Ref;
use crate::attribute::MemorySpaceAttr;
use crate::chip::ChipFacts;
use crate::core_type::CoreType;
use crate::dtype::Dtype;
use crate::error::Fault;
use crate::fit::ScWindow;
use crate::kernel::description::{Operand, Prefetch};
use crate::kernel::fault::KernelFault;
use crate::kernel::place::Place;
use crate::kernel::report::OperandReport;
use crate::kernel::spelled::Spelled;
use crate::memory_space::{MemorySpace, Resolved};
use crate::rules::{
    self, BlockFault, Form, WindowFault, check_host_operand, check_mesh_operand, check_place,
};
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
        let entered = Ref {
            name: name.clone(),
            rank: prefetch.shape.len(),
            dtype,
            resolved,
            sound: !self.target.lacks_core,
        };
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
        let in_host = self.in_host.get(index) == Some(&true);
        let resolved = match (&operand.space, self.target.form) {
            // A mesh kernel's refs lie where their values do.
            (None, Form::Unpipelined) if in_host => Some(Resolved::HOST),
            (space, _) => self.resolved(space.as_ref(), &place),
        };
        if let Some(annotated) = &operand.annotated {
            self.known(annotated, &place, "annotated");
        }
        let (mut sound, mut windowed, mut buffers) = (false, false, None);
        if let (Some(space), Some(core_type)) = (resolved, self.target.core_type) {
            let ruled = operand.ruled(space, dtype.unwrap_or(Dtype::Int32));
            sound =
                self.rules(&ruled, operand.buffers, in_host, core_type, &place, dtype.is_some());
            windowed = self.target.form.has_window(space, core_type);
            buffers = self.buffers(&ruled.with_counted_buffers(), core_type).filter(|_| windowed);
        }
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
            buffers,
            bytes: None,
            color: None,
        });
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
    fn buffers(&self, operand: &rules::Operand<'_>, core_type: CoreType) -> Option<u32> {
        if core_type.is_sparse_core() {
            return Some(ScWindow::new(*operand, &self.grid, self.target.form).buffers);
        }
        let [one, other] =
            self.one_step.map(|one_step| operand.buffers_where(one_step, &self.grid));
        (one == other).then_some(one)
    }

    /// One fault, one code, the first that applies. Whether it may lie where it does.
    fn rules(
        &mut self,
        operand: &rules::Operand<'_>,
        asked_buffers: Option<i64>,
        in_host: bool,
        core_type: CoreType,
        place: &Place,
        dtype_is_known: bool,
    ) -> bool {
        let mut told = self.target.lacks_core || self.place_fault(operand, core_type, place);
        if self.kernel.from_body.is_some() {
            // Its blocks and windows were checked when the body was made.
            return !told && self.is_window_of_body(operand, core_type, place);
        }
        if !told {
            let chip = self.target.chip.filter(|_| dtype_is_known);
            for fault in self.block_faults(operand, chip) {
                self.push(&fault, place.clone().field(field_of_block(&fault)));
                told = true;
            }
        }
        let mut sound = !told;
        let on_mesh = match self.target.form {
            Form::Pipelined => Ok(()),
            Form::Unpipelined => {
                let cores = self.target.mesh_cores;
                check_mesh_operand(operand.space, operand.role, core_type, cores, self.target.chip)
            }
        };
        let of_host = check_host_operand(operand.space, operand.role, in_host, self.target.chip);
        let windows: Vec<_> =
            operand.window_faults(&self.grid, self.target.form, core_type).collect();
        let on_mesh_or_host = [on_mesh.err(), of_host.err()].into_iter().flatten();
        for fault in windows.iter().copied().chain(on_mesh_or_host) {
            // A block that is refused is not refused for its place too.
            let of_block = is_about_block_or_place(&fault);
            if told && of_block {
                continue;
            }
            told |= of_block;
            sound &= !of_block;
            let field = field_of_window(&fault);
            let fault = match (fault, asked_buffers) {
                (WindowFault::BufferCount { .. }, Some(buffers)) => {
                    WindowFault::BufferCount { buffers }
                }
                (fault, _) => fault,
            };
            self.push(&fault, place.clone().field(field));
        }
        sound
    }

    /// Whether a body's window may lie where it does; where it may not is reported.
    fn is_window_of_body(
        &mut self,
        operand: &rules::Operand<'_>,
        core_type: CoreType,
        place: &Place,
    ) -> bool {
        let faults = operand.window_faults(&self.grid, self.target.form, core_type);
        let of_space = |fault: &WindowFault| match fault {
            WindowFault::Space { .. } => true,
            WindowFault::RankMismatch { .. }
            | WindowFault::AxisOutOfRange { .. }
            | WindowFault::Scalar
            | WindowFault::BlockedWithoutGrid
            | WindowFault::SemaphoreOutput
            | WindowFault::SeveralCores { .. }
            | WindowFault::NotOnMesh { .. }
            | WindowFault::NotInHost
            | WindowFault::OfHostValue { .. }
            | WindowFault::BufferCount { .. } => false,
        };
        let fault = faults.into_iter().find(of_space);
        if let Some(fault) = &fault {
            self.push(fault, place.clone().field(field_of_window(fault)));
        }
        fault.is_none()
    }

    /// Whether its space is none of this core's, or no memref's; that is reported.
    fn place_fault(
        &mut self,
        operand: &rules::Operand<'_>,
        core_type: CoreType,
        place: &Place,
    ) -> bool {
        let refused: Option<Box<dyn Fault>> =
            match check_place(operand.space, core_type, self.target.chip) {
                Err(fault) => Some(Box::new(fault)),
                Ok(()) => match operand.space {
                    Resolved::Acc(_) => {
                        Some(Box::new(KernelFault::NoMemref { space: operand.space }))
                    }
                    Resolved::Memref(space) => match MemorySpaceAttr::new(space) {
                        Err(fault) => Some(Box::new(fault)),
                        Ok(_) => None,
                    },
                },
            };
        if let Some(fault) = &refused {
            self.push(&**fault, place.clone().field("space"));
        }
        refused.is_some()
    }

    /// Only a pipelined kernel has blocks.
    fn block_faults(
        &self,
        operand: &rules::Operand<'_>,
        chip: Option<&ChipFacts>,
    ) -> Vec<BlockFault> {
        match self.target.form {
            Form::Pipelined => operand.block().faults(chip).collect(),
            Form::Unpipelined => Vec::new(),
        }
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
        WindowFault::Scalar => "array_shape",
        WindowFault::BlockedWithoutGrid => "block_shape",
        WindowFault::Space { .. }
        | WindowFault::SemaphoreOutput
        | WindowFault::SeveralCores { .. }
        | WindowFault::NotInHost
        | WindowFault::OfHostValue { .. }
        | WindowFault::NotOnMesh { .. } => "space",
        WindowFault::BufferCount { .. } => "buffers",
    }
}

/// Whether it is about the block or where it lies: of these, the first counts.
const fn is_about_block_or_place(fault: &WindowFault) -> bool {
    match fault {
        WindowFault::RankMismatch { .. }
        | WindowFault::AxisOutOfRange { .. }
        | WindowFault::BufferCount { .. } => false,
        WindowFault::Scalar
        | WindowFault::BlockedWithoutGrid
        | WindowFault::Space { .. }
        | WindowFault::SemaphoreOutput
        | WindowFault::SeveralCores { .. }
        | WindowFault::NotInHost
        | WindowFault::OfHostValue { .. }
        | WindowFault::NotOnMesh { .. } => true,
    }
}
