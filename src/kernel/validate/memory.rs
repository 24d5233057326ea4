//! Bytes: what each ref takes, and whether all of them fit.

use super::Pass;
use super::refs::{Described, Entered, Refs};
use crate::custom_call::{Color, Tiling, VmemLimitBytes};
use crate::error::{Code, Fault};
use crate::fit::{CountFault, FitFault, PaddingFault, Part, ScKernel, TcKernel, smem_fault};
use crate::kernel::description::RefAccess;
use crate::kernel::place::Place;
use crate::kernel::report::{Fit, Memory, MemoryKind};
use crate::operand::{Ref, ResolvedScratch};
use std::cmp::Reverse;
use std::collections::HashSet;

/// How bytes are counted on this core.
enum Counter<'c> {
    /// With whether every core is left with one step of the grid.
    Tc(TcKernel<'c>, bool),
    Sc(ScKernel<'c>),
}

impl Counter<'_> {
    /// Bytes of one of a ref's buffers, if it takes memory of the core.
    fn buffer_bytes(&self, of: &Ref<'_>) -> Result<Option<u64>, PaddingFault> {
        match self {
            Self::Tc(kernel, one_step) => kernel.buffer_bytes(of, *one_step),
            Self::Sc(kernel) => kernel.buffer_bytes(of),
        }
    }
}

impl<'k> Pass<'k> {
    pub(super) fn memory(&mut self) {
        let (Some(chip), Some(core_type)) = (self.target.chip, self.target.core_type) else {
            return;
        };
        let (refs, grid) = (std::mem::take(&mut self.refs), self.grid.clone());
        let fit = if core_type.is_sparse_core() {
            let params = &self.kernel.params.sound;
            let tiling = Tiling::resolve(params.use_tc_tiling_on_sc, core_type);
            let tc_tiling = tiling != Ok(Some(Tiling::SparseCore));
            let form = self.target.form;
            let empty = ScKernel { chip, core_type, tc_tiling, form, grid: &grid, refs: &[] };
            let counted = self.counted(&Counter::Sc(empty), &refs);
            self.sparse_core(&ScKernel { refs: &counted, ..empty }, &refs)
        } else {
            let [one_step, _] = self.one_step;
            let limit = self.kernel.params.sound.vmem_limit_bytes.map(VmemLimitBytes::to_i64);
            let empty = TcKernel { grid: &grid, vmem_limit_bytes: limit, ..TcKernel::new(chip) };
            let counted = self.counted(&Counter::Tc(empty, one_step), &refs);
            self.tensor_core(&TcKernel { refs: &counted, ..empty }, &refs)
        };
        self.refs = refs;
        match fit {
            Ok(fit) => self.report.fit = Some(fit),
            Err(fault) => self.push(fault, Place::kernel()),
        }
    }

    fn tensor_core(&mut self, kernel: &TcKernel<'_>, refs: &Refs<'_>) -> Result<Fit, CountFault> {
        let (mut parts, mut once) = (Vec::new(), Vec::new());
        let mut kernel = *kernel;
        let body = self.kernel.from_body.as_ref();
        if body.is_some_and(|body| body.buffers_once) {
            let vmem = kernel.vmem_plan_into(&mut parts)?;
            if vmem.bytes() > vmem.bytes_there() {
                once.extend(kernel.refs.iter().copied().map(Ref::buffered_once));
                kernel.refs = &once;
            }
        }
        let mut parts = Vec::new();
        let vmem = kernel.vmem_plan_into(&mut parts)?;
        for fault in kernel.vmem_faults(&vmem) {
            self.fit_fault(&fault, vmem.parts(), refs);
        }
        self.filled(MemoryKind::Vmem, vmem.bytes(), vmem.bytes_there(), vmem.parts());
        let mut fit = Fit {
            vmem_bytes: Some(vmem.bytes()),
            vmem_limit_bytes: vmem.limit().effective,
            used_vmem_bytes: body.and_then(|body| body.used_vmem_bytes),
            ..Fit::default()
        };
        let smem = kernel.smem_plan_into(&mut parts)?;
        if let Some(fault) = smem_fault(&smem) {
            self.fit_fault(&fault, smem.parts(), refs);
        }
        self.filled(MemoryKind::Smem, smem.bytes(), smem.bytes_there(), smem.parts());
        fit.smem_bytes = Some(smem.bytes());
        fit.smem_limit_bytes = Some(smem.capacity_bytes());
        if let Some(fault) = kernel.colored_operands_fault()? {
            self.fit_fault(&fault, &[], refs);
        }
        Ok(fit)
    }

    fn sparse_core(&mut self, kernel: &ScKernel<'_>, refs: &Refs<'_>) -> Result<Fit, CountFault> {
        let mut parts = Vec::new();
        let plan = kernel.plan_into(&mut parts)?;
        for fault in kernel.faults(&plan) {
            let smem = fault.code() == Code::SmemOverflow;
            let parts = if smem { plan.smem_parts() } else { plan.parts() };
            self.fit_fault(&fault, parts, refs);
        }
        let kind = MemoryKind::SparseCorePool;
        self.filled(kind, plan.bytes(), plan.bytes_there(), plan.parts());
        if let Some(there) = plan.smem_bytes_there() {
            self.filled(MemoryKind::Smem, plan.smem_bytes(), there, plan.smem_parts());
        }
        Ok(Fit {
            smem_bytes: Some(plan.smem_bytes()),
            smem_limit_bytes: plan.smem_bytes_there(),
            sparse_core_bytes: Some(plan.bytes()),
            sparse_core_limit_bytes: Some(plan.bytes_there()),
            ..Fit::default()
        })
    }

    /// The refs that may lie where they do, and whose bytes can be counted; one that
    /// cannot be counted is reported, and does not keep the others from it.
    fn counted<'r>(&mut self, counter: &Counter<'_>, refs: &'r Refs<'k>) -> Vec<Ref<'r>> {
        let named = self.accessed();
        let mut all = Vec::new();
        for (number, entered) in refs.iter().enumerate() {
            let Some((one, is_kept)) = self.placed(entered, number, counter, &named) else {
                continue;
            };
            match counter.buffer_bytes(&one) {
                Ok(bytes) => {
                    self.report.note(number, bytes);
                    all.extend(is_kept.then_some(one));
                }
                Err(fault) => {
                    let of_dtype = fault.code() == Code::UnsupportedDtype;
                    let place = entered.place.clone();
                    self.push(fault, if of_dtype { place.field("dtype") } else { place });
                }
            }
        }
        all
    }

    /// A ref in its memory, and whether the compiler keeps memory for it.
    fn placed<'r>(
        &self,
        entered: &'r Entered<'k>,
        number: usize,
        counter: &Counter<'_>,
        named: &HashSet<&str>,
    ) -> Option<(Ref<'r>, bool)> {
        let (space, dtype) = (entered.resolved?, entered.dtype?);
        let name = entered.name.as_str();
        let placed = match &entered.described {
            _ if !entered.sound => return None,
            Described::Prefetch(prefetch) => {
                (ResolvedScratch::prefetch(name, &prefetch.shape, dtype).into(), true)
            }
            // Nobody has measured semaphores.
            Described::Operand(operand) if operand.semaphore.is_some() => return None,
            Described::Operand(operand) => {
                let mut placed = operand.in_space(space);
                placed.name = name;
                placed.array_in_vmem = self.report.color(number) == Some(Color::Vmem);
                placed.untouched = space.is_left_in_place() && !named.contains(name);
                (placed.into(), true)
            }
            Described::Scratch(scratch) => {
                let mut placed = scratch.in_space(space)?;
                placed.name = name;
                let used = match counter {
                    Counter::Tc(..) => true,
                    // The compiler leaves out what the body does not use.
                    Counter::Sc(_) => named.is_empty() || named.contains(name),
                };
                (placed.into(), used && scratch.kept)
            }
            Described::Buffer(shape) => {
                (ResolvedScratch::new(name, shape, dtype, space).in_scope().into(), true)
            }
        };
        Some(placed)
    }

    /// The names that accesses mention.
    fn accessed(&self) -> HashSet<&'k str> {
        self.kernel.accesses.iter().flat_map(RefAccess::names).collect()
    }

    /// Reports a fault of all refs together at the largest of them.
    fn fit_fault(&mut self, fault: &FitFault, parts: &[Part<'_>], refs: &Refs<'_>) {
        let at_largest = |parts: &[Part<'_>]| {
            let largest = parts.iter().max_by_key(|part| part.bytes);
            let found = largest.and_then(|part| refs.find(&part.name));
            found.map_or_else(Place::kernel, |found| found.place.clone())
        };
        match fault {
            FitFault::VmemLimitClamped { .. } | FitFault::VmemLimitNotPositive { .. } => {
                self.push_in(fault.clone(), &Place::list("params"));
            }
            FitFault::ColoredOperandsOverflow { largest, .. } => {
                self.push_in(fault.clone(), &at_largest(largest));
            }
            FitFault::VmemOverflow { .. }
            | FitFault::SmemOverflow { .. }
            | FitFault::SparseCorePoolOverflow { .. }
            | FitFault::VmemTight { .. }
            | FitFault::SmemTight { .. } => self.push(fault.clone(), at_largest(parts)),
        }
    }

    fn filled(&mut self, kind: MemoryKind, bytes: u64, limit: u64, parts: &[Part<'_>]) {
        let mut parts: Vec<_> = parts.iter().map(Part::to_owned).collect();
        parts.sort_by_key(|part| Reverse(part.bytes));
        self.report.memories.push(Memory { kind, bytes, limit, parts });
    }
}
