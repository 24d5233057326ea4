//! Aliases, and the colors that they carry.

use super::Pass;
use crate::custom_call::{
    Alias, AliasFault, Color, HbmSpecs, InputColor, Placed, alias_colors_by, jax_color,
};
use crate::dtype::Dtype;
use crate::kernel::fault::KernelFault;
use crate::kernel::place::Place;
use crate::operand::{Form, Role};
use crate::word::Spelled;
use std::collections::HashMap;

/// A value that XLA knows: an argument of the prefetch, an input or an output.
struct Value<'k> {
    /// Its place in the report's list of operands.
    listed: usize,
    place: Place,
    placed: Placed,
    shape: &'k [u64],
    dtype: Option<Dtype>,
}

impl<'k> Pass<'k> {
    pub(super) fn aliases(&mut self) {
        let Some(core_type) = self.target.core_type else { return };
        let (inputs, outputs) = (self.values(Role::Input), self.values(Role::Output));
        let mut aliases = Vec::new();
        let mut places = HashMap::new();
        for (number, (input, output)) in self.kernel.aliases.iter().enumerate() {
            let place = Place::list("aliases").index(number);
            match (usize::try_from(*input), usize::try_from(*output)) {
                (Ok(input), Ok(output)) => {
                    let alias = Alias { input, output };
                    let types = (inputs.get(input), outputs.get(output));
                    if let Err(fault) = check_types(alias, types) {
                        self.push(fault, place.clone());
                    }
                    aliases.push(alias);
                    places.insert(alias, place); // of a repeated one, the later
                }
                (Err(_), _) | (_, Err(_)) => {
                    let fault = KernelFault::NegativeAlias { input: *input, output: *output };
                    self.push(fault, place);
                }
            }
        }
        let ends =
            |values: &[Value<'_>]| -> Vec<_> { values.iter().map(|value| value.placed).collect() };
        let (colors, faults) = alias_colors_by(
            |space| jax_color(space, core_type),
            &ends(&inputs),
            &ends(&outputs),
            &aliases,
            core_type,
            HbmSpecs::LeaveUncolored,
        );
        let of_value = |role, index: usize, field| {
            let values = match role {
                Role::Input => &inputs,
                Role::Output => &outputs,
            };
            let place = values.get(index).map(|value| value.place.clone().field(field));
            place.unwrap_or_default()
        };
        let of_alias = |alias: &Alias| places.get(alias).cloned().unwrap_or_default();
        for (value, color) in inputs.iter().zip(colors.inputs.iter().flatten()) {
            self.color(value.listed, color.map(InputColor::color));
        }
        for (value, color) in outputs.iter().zip(colors.outputs.iter().flatten()) {
            self.color(value.listed, *color);
        }
        self.colors = colors;
        for fault in faults {
            let place = match &fault {
                AliasFault::Color { role, index, .. } => of_value(*role, *index, "annotated"),
                AliasFault::HbmSpecUncolored { role, index } => of_value(*role, *index, "space"),
                AliasFault::OutOfRange { alias, .. }
                | AliasFault::Repeated { alias, .. }
                | AliasFault::Conflict { alias, .. }
                | AliasFault::Mismatch { alias, .. }
                | AliasFault::SpaceLost { alias, .. } => of_alias(alias),
            };
            self.push(fault, place);
        }
    }

    fn color(&mut self, listed: usize, color: Option<Color>) {
        if let Some(operand) = self.report.operands.get_mut(listed) {
            operand.color = color;
        }
    }

    /// The values of one side, in the order in which aliases count them.
    fn values(&self, role: Role) -> Vec<Value<'k>> {
        let mut values = Vec::new();
        let listed = |index| self.report.operands.get(index);
        if role == Role::Input {
            for (index, prefetch) in self.kernel.scalar_prefetch.iter().enumerate() {
                let name = listed(index).map(|operand| operand.name.as_str()).unwrap_or_default();
                values.push(Value {
                    listed: index,
                    place: Place::list("scalar_prefetch").named(index, name),
                    placed: Placed::default(),
                    shape: &prefetch.shape,
                    dtype: prefetch.dtype.known().copied(),
                });
            }
        }
        let before = self.kernel.scalar_prefetch.len();
        for (index, operand) in self.kernel.operands.iter().enumerate() {
            if operand.role != role {
                continue;
            }
            let at = before.saturating_add(index);
            let name = listed(at).map(|operand| operand.name.as_str()).unwrap_or_default();
            let known = |space: &Option<Spelled<_>>| space.as_ref()?.known().copied();
            values.push(Value {
                listed: at,
                place: Place::list("operands").named(index, name),
                placed: Placed {
                    annotated: known(&operand.annotated),
                    block_spec: match self.target.form {
                        // A body has the space, and not whether it was written.
                        Form::Pipelined if self.kernel.spaces_as_written => known(&operand.space),
                        Form::Pipelined | Form::Unpipelined => None,
                    },
                },
                shape: &operand.array_shape,
                dtype: operand.dtype.known().copied(),
            });
        }
        values
    }
}

fn check_types(
    alias: Alias,
    ends: (Option<&Value<'_>>, Option<&Value<'_>>),
) -> Result<(), AliasFault> {
    if let (Some(input), Some(output)) = ends
        && let (Some(from), Some(to)) = (input.dtype, output.dtype)
    {
        return alias.check_types((input.shape, from), (output.shape, to));
    }
    Ok(())
}
