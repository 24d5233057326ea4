//! Copies, waits and semaphores: part of the walk.

use super::operations::SemaphoreAction;
use super::refs::BodyRefId;
use super::uses::{BodyCopy, BodySemaphoreUse, CopyOffsets, IndirectCopy};
use super::walk::Walk;
use crate::bytecode::{Attribute, Operation, Value};
use crate::memory_space::MemrefSpace;

impl<'m, 'a> Walk<'_, 'm, 'a> {
    /// Source, its semaphore, target, its semaphore, device, core, subcore.
    fn copy_operands(&self, operation: Operation<'m, 'a>) -> Option<[Option<Value<'m, 'a>>; 7]> {
        let mut operands = [None; 7];
        if let Some(groups) = self.groups(operation).ok()? {
            if groups.count > operands.len() {
                return None;
            }
            for (group, place) in operands.iter_mut().enumerate() {
                let mut own = groups.of(operation, group);
                *place = own.next();
                if own.next().is_some() {
                    return None;
                }
            }
            return Some(operands);
        }
        let all: Vec<_> = operation.operands().take(8).map(Some).collect();
        match *all.as_slice() {
            [source, target, semaphore] => {
                Some([source, None, target, semaphore, None, None, None])
            }
            [source, source_semaphore, target, semaphore, device] => {
                Some([source, source_semaphore, target, semaphore, device, None, None])
            }
            _ => None,
        }
    }

    pub(super) fn copy(
        &mut self,
        operation: Operation<'m, 'a>,
        name: &'static str,
        is_dead: bool,
    ) -> Option<()> {
        let [source, source_semaphore, target, target_semaphore, device, core, subcore] =
            self.copy_operands(operation)?;
        let scalar = |value: Option<Value<'m, 'a>>| value.map(|value| self.scalars.get(value));
        let copy = BodyCopy {
            operation,
            name,
            source: self.ref_of(source)?,
            target: self.ref_of(target)?,
            indirect: None,
            source_semaphore: self.ref_of(source_semaphore),
            target_semaphore: self.ref_of(target_semaphore),
            device: scalar(device),
            core: scalar(core),
            subcore: scalar(subcore),
            priority: operation.attribute("priority").and_then(Attribute::as_integer),
            segments: self.integers(operation, "operandSegmentSizes"),
            is_dead,
        };
        self.kernel.copies.push(copy);
        Some(())
    }

    /// Source, target, offsets, semaphore, perhaps a filter.
    pub(super) fn indirect_copy(
        &mut self,
        operation: Operation<'m, 'a>,
        name: &'static str,
        is_dead: bool,
    ) -> Option<()> {
        let [source, target, offsets, semaphore] =
            [0, 1, 2, 3].map(|place| operation.operand(place));
        let (source, target) = (self.ref_of(source)?, self.ref_of(target)?);
        let offsets = offsets?;
        let offsets = match self.refs.of(offsets) {
            Some(offsets) => CopyOffsets::Ref(offsets),
            None => CopyOffsets::Vector(offsets.type_id()),
        };
        let is_vmem = |id: BodyRefId| {
            self.refs.get(id).and_then(|of| of.space.known()) == Some(MemrefSpace::VMEM)
        };
        let indirect = IndirectCopy {
            gathers: is_vmem(target),
            offsets,
            adds: Self::flag(operation, "add"),
            has_filter: operation.operands().len() > 4,
        };
        let copy = BodyCopy {
            operation,
            name,
            source,
            target,
            indirect: Some(indirect),
            source_semaphore: None,
            target_semaphore: self.ref_of(semaphore),
            device: None,
            core: None,
            subcore: None,
            priority: None,
            segments: None,
            is_dead,
        };
        self.kernel.copies.push(copy);
        Some(())
    }

    fn semaphore_use(
        &mut self,
        operation: Operation<'m, 'a>,
        name: &'static str,
        action: SemaphoreAction,
        (semaphore, copy, is_remote): (BodyRefId, [Option<BodyRefId>; 2], bool),
    ) {
        self.kernel.semaphore_uses.push(BodySemaphoreUse {
            operation,
            name,
            action,
            semaphore,
            copy,
            is_remote,
        });
    }

    /// As the copy has them; in old modules, without groups, semaphore and ref.
    pub(super) fn wait(&mut self, operation: Operation<'m, 'a>, name: &'static str) -> Option<()> {
        let action = SemaphoreAction::WaitCopy;
        if self.integers(operation, "operandSegmentSizes").is_none() {
            let semaphore = self.ref_of(operation.operand(0))?;
            let target = self.ref_of(operation.operand(1));
            self.semaphore_use(operation, name, action, (semaphore, [None, target], false));
            return Some(());
        }
        let [source, source_semaphore, target, target_semaphore, device, ..] =
            self.copy_operands(operation)?;
        let copy = [self.ref_of(source), self.ref_of(target)];
        let waits_for_target = Self::flag(operation, "wait_target");
        let semaphore = if waits_for_target { target_semaphore } else { source_semaphore };
        // Without a semaphore there is nothing to wait for.
        if let Some(semaphore) = self.ref_of(semaphore) {
            self.semaphore_use(operation, name, action, (semaphore, copy, device.is_some()));
        }
        Some(())
    }

    /// Semaphore, source, target, and perhaps a device and a core.
    pub(super) fn wait_three(
        &mut self,
        operation: Operation<'m, 'a>,
        name: &'static str,
    ) -> Option<()> {
        let groups = self.groups(operation).ok()?;
        let is_remote = groups.is_some_and(|groups| !groups.is_empty(3));
        let semaphore = self.ref_of(operation.operand(0))?;
        let copy = [self.ref_of(operation.operand(1)), self.ref_of(operation.operand(2))];
        let action = SemaphoreAction::WaitCopy;
        self.semaphore_use(operation, name, action, (semaphore, copy, is_remote));
        Some(())
    }

    pub(super) fn semaphore(
        &mut self,
        operation: Operation<'m, 'a>,
        name: &'static str,
        action: SemaphoreAction,
    ) -> Option<()> {
        let groups = self.groups(operation).ok()?;
        let is_remote = groups.is_some_and(|groups| !groups.is_empty(2));
        if operation.operands().len() == 0 {
            return Some(());
        }
        let semaphore = self.ref_of(operation.operand(0))?;
        self.semaphore_use(operation, name, action, (semaphore, [None; 2], is_remote));
        Some(())
    }
}
