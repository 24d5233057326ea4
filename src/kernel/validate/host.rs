//! Which values lie in the host's memory.

use crate::kernel::description::Kernel;
use crate::memory_space::MemorySpace;
use crate::operand::Role;
use crate::word::Spelled;

/// Of each operand, whether its value is in the host's memory: it is annotated so, or
/// shares the place of one that is, and neither is annotated with another space.
pub(super) fn in_host(kernel: &Kernel) -> Vec<bool> {
    let annotated = |number: usize| {
        let operand = kernel.operands.get(number)?;
        operand.annotated.as_ref().and_then(Spelled::known).copied()
    };
    let is_host = |space| space == Some(MemorySpace::HOST);
    let mut there: Vec<_> = (0..kernel.operands.len()).map(|it| is_host(annotated(it))).collect();
    if !there.contains(&true) {
        return there;
    }
    let numbers = |role| {
        let all = kernel.operands.iter().enumerate();
        let of_role = all.filter(|(_, operand)| operand.role == role);
        of_role.map(|(number, _)| number).collect::<Vec<_>>()
    };
    let (inputs, outputs) = (numbers(Role::Input), numbers(Role::Output));
    for (input, output) in &kernel.aliases {
        let input = usize::try_from(*input).ok();
        let input = input.and_then(|it| it.checked_sub(kernel.scalar_prefetch.len()));
        let output = usize::try_from(*output).ok();
        if let (Some(input), Some(output)) = (
            input.and_then(|it| inputs.get(it).copied()),
            output.and_then(|it| outputs.get(it).copied()),
        ) {
            let spaces = [annotated(input), annotated(output)];
            let there_both = spaces.into_iter().flatten().all(|space| is_host(Some(space)))
                && spaces.into_iter().any(is_host);
            for end in [input, output] {
                if let Some(end) = there.get_mut(end) {
                    *end = there_both;
                }
            }
        }
    }
    there
}
