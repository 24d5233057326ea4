//! Bytes: what each ref takes, and whether all of them fit.

use super::Pass;
use crate::chip::ChipFacts;
use crate::core_type::CoreType;
use crate::custom_call::{Color, Tiling, VmemLimitBytes};
use crate::error::{Code, Fault};
use crate::fit::{
    FitError, FitFault, FitOperand, PaddingError, Part, RefId, ScKernel, ScWindow, Scratch,
    TcKernel, smem_fault,
};
use crate::kernel::description::{Holds, Kept, RefAccess};
use crate::kernel::place::Place;
use crate::kernel::report::{Fit, Memory, MemoryKind, MemoryPart};
use crate::memory_space::Resolved;
use crate::rules;
use crate::word::Shown;
use std::collections::HashSet;

/// The refs that may lie where they do, and whose bytes can be counted.
#[derive(Default)]
struct Counted<'k> {
    prefetch: Vec<Scratch<'k>>,
    operands: Vec<FitOperand<'k>>,
    scratch: Vec<Scratch<'k>>,
    /// Of each of these lists, which ref of the description it is.
    ids: [Vec<usize>; 3],
}

impl<'k> Pass<'k> {
    pub(super) fn memory(&mut self) {
        let (Some(chip), Some(core_type)) = (self.target.chip, self.target.core_type) else {
            return;
        };
        let counted = self.counted(chip, core_type);
        let mut parts = Vec::new();
        let fit = if core_type.is_sparse_core() {
            self.sparse_core(chip, core_type, &counted, &mut parts)
        } else {
            self.tensor_core(chip, &counted, &mut parts)
        };
        match fit {
            Ok(fit) => self.report.fit = Some(fit),
            Err(fault) => self.push(&fault, Place::kernel()),
        }
    }

    fn tensor_core(
        &mut self,
        chip: &'k ChipFacts,
        counted: &Counted<'k>,
        parts: &mut Vec<Part>,
    ) -> Result<Fit, FitError> {
        let grid = self.grid.clone();
        let kernel = TcKernel {
            grid: &grid,
            prefetch: &counted.prefetch,
            operands: &counted.operands,
            scratch: &counted.scratch,
            vmem_limit_bytes: self.kernel.params.sound.vmem_limit_bytes.map(VmemLimitBytes::to_i64),
            ..TcKernel::new(chip)
        };
        let once: Vec<_> = counted.operands.iter().map(|operand| operand.buffered_once()).collect();
        let short = self.buffers_once() && {
            let vmem = kernel.vmem_plan_into(parts)?;
            vmem.bytes() > vmem.bytes_there()
        };
        let kernel = if short { TcKernel { operands: &once, ..kernel } } else { kernel };
        let vmem = kernel.vmem_plan_into(parts)?;
        for fault in kernel.vmem_faults(&vmem) {
            self.fit_fault(&fault, vmem.parts(), counted);
        }
        self.filled(MemoryKind::Vmem, vmem.bytes(), vmem.bytes_there(), vmem.parts(), counted);
        let mut fit = Fit {
            vmem_bytes: Some(vmem.bytes()),
            vmem_limit_bytes: vmem.limit().effective,
            ..Fit::default()
        };
        let smem = kernel.smem_plan_into(parts)?;
        if let Some(fault) = smem_fault(&smem) {
            self.fit_fault(&fault, smem.parts(), counted);
        }
        self.filled(MemoryKind::Smem, smem.bytes(), smem.bytes_there(), smem.parts(), counted);
        fit.smem_bytes = Some(smem.bytes());
        fit.smem_limit_bytes = Some(smem.capacity_bytes());
        if let Some(fault) = kernel.colored_operands_fault()? {
            self.fit_fault(&fault, &[], counted);
        }
        Ok(fit)
    }

    /// Whether the compiler buffers windows once when memory does not suffice for two, as
    /// it does for bodies of old versions.
    fn buffers_once(&self) -> bool {
        self.kernel.from_body.as_ref().is_some_and(|body| body.buffers_once)
    }

    fn sparse_core(
        &mut self,
        chip: &'k ChipFacts,
        core_type: CoreType,
        counted: &Counted<'k>,
        parts: &mut Vec<Part>,
    ) -> Result<Fit, FitError> {
        let windows: Vec<_> =
            counted.operands.iter().map(|operand| self.sc_window(operand.operand)).collect();
        let kernel = self.sc_kernel(chip, core_type, &windows, &counted.scratch);
        let plan = kernel.plan_into(parts)?;
        for fault in kernel.faults(&plan) {
            let smem = fault.code() == Code::SmemOverflow;
            let parts = if smem { plan.smem_parts() } else { plan.parts() };
            self.fit_fault(&fault, parts, counted);
        }
        let kind = MemoryKind::SparseCorePool;
        self.filled(kind, plan.bytes(), plan.bytes_there(), plan.parts(), counted);
        if let Some(there) = plan.smem_bytes_there() {
            self.filled(MemoryKind::Smem, plan.smem_bytes(), there, plan.smem_parts(), counted);
        }
        Ok(Fit {
            smem_bytes: Some(plan.smem_bytes()),
            smem_limit_bytes: plan.smem_bytes_there(),
            sparse_core_bytes: Some(plan.bytes()),
            sparse_core_limit_bytes: Some(plan.bytes_there()),
            ..Fit::default()
        })
    }

    fn sc_kernel<'s>(
        &self,
        chip: &'s ChipFacts,
        core_type: CoreType,
        windows: &'s [ScWindow<'s>],
        scratch: &'s [Scratch<'s>],
    ) -> ScKernel<'s> {
        let tiling = Tiling::resolve(self.kernel.params.sound.use_tc_tiling_on_sc, core_type);
        let tc_tiling = tiling != Ok(Some(Tiling::SparseCore));
        ScKernel { chip, core_type, tc_tiling, windows, scratch }
    }

    fn sc_window<'s>(&self, operand: rules::Operand<'s>) -> ScWindow<'s> {
        ScWindow::new(operand, &self.grid, self.target.form)
    }

    /// Counts each ref by itself, so that one which cannot be counted is reported
    /// and does not keep the others from it.
    fn counted(&mut self, chip: &'k ChipFacts, core_type: CoreType) -> Counted<'k> {
        let kernel = self.kernel;
        let mut counted = Counted::default();
        let [prefetch_ids, operand_ids, scratch_ids] = &mut counted.ids;
        for (index, prefetch) in kernel.scalar_prefetch.iter().enumerate() {
            let Some(dtype) = prefetch.dtype.known() else { continue };
            let one = Scratch::new(&prefetch.shape, *dtype, Resolved::SMEM);
            let alone = TcKernel { prefetch: &[one], ..TcKernel::new(chip) };
            if self.count_alone(&alone, RefId::Prefetch(index)) {
                counted.prefetch.push(one);
                prefetch_ids.push(index);
            }
        }
        let named = self.accessed();
        let before = kernel.scalar_prefetch.len();
        for (index, operand) in kernel.operands.iter().enumerate() {
            let listed = before.saturating_add(index);
            let Some(found) = self.refs.nth(listed).filter(|found| found.sound) else { continue };
            let body = kernel.from_body.as_ref();
            if body.is_some_and(|body| body.semaphore_operands.get(index) == Some(&true)) {
                continue;
            }
            let (Some(space), Some(dtype)) = (found.resolved, found.dtype) else { continue };
            let touched = named.contains(found.name.as_str());
            let color = self.report.operands.get(listed).and_then(|operand| operand.color);
            let one = FitOperand {
                operand: operand.ruled(space, dtype).with_counted_buffers(),
                array_in_vmem: color == Some(Color::Vmem),
                untouched: space.is_left_in_place() && !touched,
            };
            let counts = if core_type.is_sparse_core() {
                let windows = [self.sc_window(one.operand)];
                let alone = self.sc_kernel(chip, core_type, &windows, &[]);
                self.count_sc_alone(&alone, RefId::Operand(index))
            } else {
                let kernel = TcKernel { grid: &self.grid, ..TcKernel::new(chip) };
                let [one_step, _] = self.one_step;
                let bytes = one.buffer(&kernel, one_step);
                self.counts(bytes, RefId::Operand(index))
            };
            if space.is_left_in_place() {
                // What the compiler keeps of it is no buffer of its own.
                self.note(listed, None);
            }
            if counts {
                counted.operands.push(one);
                operand_ids.push(index);
            }
        }
        let before = before.saturating_add(kernel.operands.len());
        for (index, scratch) in kernel.scratch.iter().enumerate() {
            let found = self.refs.nth(before.saturating_add(index));
            let Some(found) = found.filter(|found| found.sound) else { continue };
            let (Some(space), Some(dtype)) = (found.resolved, found.dtype) else { continue };
            let holds_elements = match scratch.holds {
                Holds::Elements { .. } => true,
                Holds::Semaphores(_) => false,
            };
            let kept = kernel.from_body.as_ref().and_then(|body| body.scratch.get(index).copied());
            let one = Scratch::new(&scratch.shape, dtype, space);
            let one = if kept == Some(Kept::Scoped) { one.in_scope() } else { one };
            let counts = if !holds_elements {
                false
            } else if core_type.is_sparse_core() {
                let alone = [one];
                let alone = self.sc_kernel(chip, core_type, &[], &alone);
                // The compiler leaves out what the body does not use.
                let used = named.is_empty() || named.contains(found.name.as_str());
                self.count_sc_alone(&alone, RefId::Scratch(index)) && used
            } else {
                let alone = TcKernel { scratch: &[one], ..TcKernel::new(chip) };
                self.count_alone(&alone, RefId::Scratch(index))
            };
            if counts && kept != Some(Kept::Removed) {
                counted.scratch.push(one);
                scratch_ids.push(index);
            }
        }
        counted
    }

    /// Whether the one ref of this kernel can be counted; what it takes is noted,
    /// and what keeps it from it reported.
    fn count_alone(&mut self, alone: &TcKernel<'_>, of: RefId) -> bool {
        let mut parts = Vec::new();
        let part = alone.vmem_plan_into(&mut parts).map(|plan| plan.parts().first().copied());
        let part = match part {
            Ok(None) => alone.smem_plan_into(&mut parts).map(|plan| plan.parts().first().copied()),
            Ok(Some(_)) | Err(_) => part,
        };
        self.counts(buffer_of(part), of)
    }

    fn count_sc_alone(&mut self, alone: &ScKernel<'_>, of: RefId) -> bool {
        let mut parts = Vec::new();
        let plan = alone.plan_into(&mut parts);
        let part = plan.map(|plan| plan.parts().iter().chain(plan.smem_parts()).copied().next());
        self.counts(buffer_of(part), of)
    }

    /// Notes the bytes of one buffer, or reports why there are none to tell.
    fn counts(&mut self, bytes: Result<Option<u64>, PaddingError>, of: RefId) -> bool {
        let bytes = match bytes {
            Ok(bytes) => bytes,
            Err(cause) => {
                let place = self.place_of(of);
                let of_dtype = cause.code() == Code::UnsupportedDtype;
                self.push(&cause, if of_dtype { place.field("dtype") } else { place });
                return false;
            }
        };
        match of {
            RefId::Prefetch(index) => self.note(index, bytes),
            RefId::Operand(index) => {
                self.note(self.kernel.scalar_prefetch.len().saturating_add(index), bytes);
            }
            RefId::Scratch(index) => {
                if let Some(report) = self.report.scratch.get_mut(index) {
                    report.bytes = bytes;
                }
            }
        }
        true
    }

    fn note(&mut self, listed: usize, bytes: Option<u64>) {
        if let Some(report) = self.report.operands.get_mut(listed) {
            report.bytes = bytes;
        }
    }

    /// The names that accesses mention.
    fn accessed(&self) -> HashSet<&'k str> {
        let mut names = HashSet::new();
        let touched = self.kernel.from_body.iter().flat_map(|body| &body.touched);
        names.extend(touched.map(String::as_str));
        for access in &self.kernel.accesses {
            match access {
                RefAccess::Local { r#ref, .. } => {
                    names.insert(r#ref.as_str());
                }
                RefAccess::Dma { src, dst, indices, .. } => {
                    names.extend([src.as_str(), dst.as_str()]);
                    names.extend(indices.as_deref());
                }
            }
        }
        names
    }

    /// Reports a fault of all refs together at the largest of them.
    fn fit_fault(&mut self, fault: &FitFault, parts: &[Part], counted: &Counted<'k>) {
        let largest = |parts: &[Part]| parts.iter().max_by_key(|part| part.bytes).copied();
        let at = match fault {
            FitFault::VmemLimitClamped { .. } | FitFault::VmemLimitNotPositive { .. } => {
                Place::list("params").field("vmem_limit_bytes")
            }
            FitFault::ColoredOperandsOverflow { largest: parts, .. } => match largest(parts) {
                Some(part) => self.place_of(counted.id(part.of)).field("annotated"),
                None => Place::kernel(),
            },
            FitFault::VmemOverflow(_)
            | FitFault::SmemOverflow(_)
            | FitFault::SparseCorePoolOverflow(_)
            | FitFault::VmemTight { .. }
            | FitFault::SmemTight { .. } => {
                largest(parts).map_or_else(Place::kernel, |part| self.place_of(counted.id(part.of)))
            }
        };
        let name = |of| Shown(self.name_of(counted.id(of))).to_string();
        let (message, help) = (fault.message(name), fault.help_naming(name));
        self.report.diagnostics.push_worded(fault, at, message, help);
    }

    fn filled(
        &mut self,
        kind: MemoryKind,
        bytes: u64,
        limit: u64,
        parts: &[Part],
        counted: &Counted<'k>,
    ) {
        let mut parts: Vec<_> = parts
            .iter()
            .map(|part| MemoryPart {
                name: self.name_of(counted.id(part.of)).to_owned(),
                buffers: part.buffers,
                bytes: part.bytes,
            })
            .collect();
        parts.sort_by_key(|part| std::cmp::Reverse(part.bytes));
        self.report.memories.push(Memory { kind, bytes, limit, parts });
    }

    fn name_of(&self, of: RefId) -> &str {
        let operand = |index: usize| self.report.operands.get(index).map(|it| it.name.as_str());
        match of {
            RefId::Prefetch(index) => operand(index),
            RefId::Operand(index) => {
                operand(self.kernel.scalar_prefetch.len().saturating_add(index))
            }
            RefId::Scratch(index) => self.report.scratch.get(index).map(|it| it.name.as_str()),
        }
        .unwrap_or_default()
    }

    fn place_of(&self, of: RefId) -> Place {
        let (list, index) = match of {
            RefId::Prefetch(index) => ("scalar_prefetch", index),
            RefId::Operand(index) => ("operands", index),
            RefId::Scratch(index) => ("scratch", index),
        };
        Place::list(list).named(index, self.name_of(of))
    }
}

fn buffer_of(part: Result<Option<Part>, FitError>) -> Result<Option<u64>, PaddingError> {
    part.map(|part| part.map(|part| part.buffer_bytes)).map_err(|error| error.cause)
}

impl Counted<'_> {
    /// The ref of the description that a part of a plan is of.
    fn id(&self, of: RefId) -> RefId {
        let [prefetch, operands, scratch] = &self.ids;
        let described = |ids: &[usize], index: usize| ids.get(index).copied().unwrap_or(index);
        match of {
            RefId::Prefetch(index) => RefId::Prefetch(described(prefetch, index)),
            RefId::Operand(index) => RefId::Operand(described(operands, index)),
            RefId::Scratch(index) => RefId::Scratch(described(scratch, index)),
        }
    }
}
