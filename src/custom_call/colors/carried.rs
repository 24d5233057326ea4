//! How aliases carry colors between their two ends.

use super::alias::{Alias, AliasColors, AliasFault};
use super::color::{Color, ColorFault, InputColor, color, jax_color};
use crate::core_type::CoreType;
use crate::error::Faults;
use crate::memory_space::{MemorySpace, Resolved};
use crate::operand::Role;
use crate::resolve::resolve;
use std::collections::{HashMap, HashSet};

/// The spaces that an author gave an input or an output.
///
/// ```
/// use mosaic_memspace::MemorySpace;
/// use mosaic_memspace::custom_call::Placed;
/// assert_eq!(Placed::on_value(Some(MemorySpace::HBM)).block_spec, None);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Placed {
    /// The space annotated on the value itself; JAX colors by it alone.
    pub annotated: Option<MemorySpace>,
    /// The space of its block spec.
    pub block_spec: Option<MemorySpace>,
}

impl Placed {
    /// A value with this annotation, and no space in its block spec.
    ///
    /// ```
    /// use mosaic_memspace::custom_call::Placed;
    /// assert_eq!(Placed::on_value(None), Placed::default());
    /// ```
    pub const fn on_value(annotated: Option<MemorySpace>) -> Self {
        Self { annotated, block_spec: None }
    }
}

/// What a block spec of hbm does on a value that nothing places.
///
/// ```
/// use mosaic_memspace::custom_call::HbmSpecs;
/// assert_eq!(HbmSpecs::default(), HbmSpecs::LeaveUncolored);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum HbmSpecs {
    /// Nothing, as in JAX: the compiler may place the value elsewhere. There is a
    /// warning.
    #[default]
    LeaveUncolored,
    /// It colors the value, and what it is aliased with, hbm (requested in JAX's issues
    /// 39744 and 39838).
    Color,
}

/// The colors of a kernel's inputs and outputs: those of their annotations, carried
/// through the aliases from inputs to outputs and then from outputs to inputs; and every
/// fault: of the inputs, the outputs, then the aliases, in their order, and at last the
/// warnings.
///
/// The colors are those of [`color`], which asks the same of every space, and every alias
/// must name an input and an output that no other alias names. In addition there is a
/// warning for every space that JAX loses silently. A refused alias carries no color, and
/// in a conflict each value keeps its own.
///
/// ```
/// use mosaic_memspace::custom_call::{
///     Alias, Color, HbmSpecs, InputColor, Placed, alias_colors,
/// };
/// use mosaic_memspace::{CoreType, MemorySpace};
///
/// let inputs = [Placed::default(), Placed::on_value(Some(MemorySpace::VMEM))];
/// let outputs = [Placed::default()];
/// let aliases = [Alias { input: 1, output: 0 }];
/// let tc = CoreType::Tc;
/// let (colors, faults) =
///     alias_colors(&inputs, &outputs, &aliases, tc, HbmSpecs::LeaveUncolored);
/// assert_eq!(colors.inputs, Some(vec![None, Some(InputColor::Vmem)]));
/// assert_eq!(colors.outputs, Some(vec![Some(Color::Vmem)]));
/// assert!(faults.is_empty());
///
/// let aliases = [Alias { input: 2, output: 0 }, Alias { input: 0, output: 4 }];
/// let (_, faults) = alias_colors(&inputs, &outputs, &aliases, tc, HbmSpecs::LeaveUncolored);
/// assert_eq!(
///     faults.to_string(),
///     "alias 2->0 names input 2 of 2\nalias 0->4 names output 4 of 1"
/// );
/// ```
pub fn alias_colors(
    inputs: &[Placed],
    outputs: &[Placed],
    aliases: &[Alias],
    core_type: CoreType,
    hbm_specs: HbmSpecs,
) -> (AliasColors, Faults<AliasFault>) {
    let of_space = |space| color(space, core_type);
    alias_colors_by(of_space, inputs, outputs, aliases, core_type, hbm_specs)
}

/// The same, by other colors: what JAX hands over, with all faults, is by [`jax_color`].
pub(crate) fn alias_colors_by(
    of_space: impl Fn(Option<MemorySpace>) -> Result<Option<Color>, ColorFault>,
    inputs: &[Placed],
    outputs: &[Placed],
    aliases: &[Alias],
    core_type: CoreType,
    hbm_specs: HbmSpecs,
) -> (AliasColors, Faults<AliasFault>) {
    let mut faults = Vec::new();
    let own = Own::new(inputs, outputs, of_space, |it| faults.push(it));
    let sound = sound(inputs.len(), outputs.len(), aliases, &mut faults);

    let mut sides = own.listed(inputs, outputs);
    faults.extend(sides.carry_both_ways(inputs.len(), outputs.len(), &sound));

    let unplaced = sides.unplaced(inputs, outputs, core_type);
    match hbm_specs {
        HbmSpecs::LeaveUncolored => faults.extend(
            unplaced.iter().map(|&(role, index)| AliasFault::HbmSpecUncolored { role, index }),
        ),
        HbmSpecs::Color => sides.color_hbm(inputs.len(), outputs.len(), &unplaced, &sound),
    }
    faults.extend(sides.lost(inputs, outputs, &own, &sound));
    (sides.handed_over(), faults.into_iter().collect())
}

/// The colors as JAX has them (`_resolve_memory_spaces`), which lets an input or an
/// output be aliased twice.
///
/// Python would count negative numbers from the end; here numbers are never negative.
///
/// # Errors
/// The first [`AliasFault`] that JAX meets: an alias out of range, an output's color,
/// an input's color, then a conflict in the order of the two passes.
///
/// ```
/// use mosaic_memspace::custom_call::{Alias, Placed, jax_alias_colors};
/// use mosaic_memspace::error::{Code, Fault};
/// use mosaic_memspace::{CoreType, MemorySpace};
///
/// let vmem = [Placed::on_value(Some(MemorySpace::VMEM))];
/// let hbm = [Placed::on_value(Some(MemorySpace::HBM))];
/// let aliases = [Alias { input: 0, output: 0 }];
/// let error = jax_alias_colors(&vmem, &hbm, &aliases, CoreType::Tc).unwrap_err();
/// assert_eq!(error.code(), Code::AliasMemorySpaceConflict);
/// assert_eq!(
///     error.to_string(),
///     "memory space conflict for alias 0->0: input 0 is in vmem, output 0 in hbm"
/// );
/// ```
pub fn jax_alias_colors(
    inputs: &[Placed],
    outputs: &[Placed],
    aliases: &[Alias],
    core_type: CoreType,
) -> Result<AliasColors, AliasFault> {
    for alias in aliases {
        in_range(*alias, inputs.len(), outputs.len())?;
    }
    let mut errors = Vec::new();
    let of_space = |space| jax_color(space, core_type);
    let own = Own::new(inputs, outputs, of_space, |error| errors.push(error));
    // JAX checks the outputs first.
    errors.sort_by_key(|error| error.role() != Some(Role::Output));
    let mut sides = own.listed(inputs, outputs);
    errors.extend(sides.carry_both_ways(inputs.len(), outputs.len(), aliases));
    match errors.into_iter().next() {
        None => Ok(sides.handed_over()),
        Some(first) => Err(first),
    }
}

/// The colors of the annotations, before any alias.
struct Own {
    inputs: Vec<Option<Color>>,
    outputs: Vec<Option<Color>>,
}

impl Own {
    fn new(
        inputs: &[Placed],
        outputs: &[Placed],
        of_space: impl Fn(Option<MemorySpace>) -> Result<Option<Color>, ColorFault>,
        mut error: impl FnMut(AliasFault),
    ) -> Self {
        let mut colors = |role, values: &[Placed]| {
            let color = |(index, value): (usize, &Placed)| {
                of_space(value.annotated).unwrap_or_else(|fault| {
                    error(AliasFault::Color { role, index, fault });
                    None
                })
            };
            values.iter().enumerate().map(color).collect()
        };
        let inputs = colors(Role::Input, inputs);
        let outputs = colors(Role::Output, outputs);
        Self { inputs, outputs }
    }

    /// The lists that JAX begins with.
    fn listed(&self, inputs: &[Placed], outputs: &[Placed]) -> Sides {
        let inputs = inputs.iter().any(|value| value.annotated.is_some_and(counts_among_inputs));
        let outputs = outputs.iter().any(|value| value.annotated.is_some());
        Sides {
            inputs: inputs.then(|| self.inputs.clone()),
            outputs: outputs.then(|| self.outputs.clone()),
        }
    }
}

/// Whether an input with this annotation makes JAX list the inputs' colors.
const fn counts_among_inputs(space: MemorySpace) -> bool {
    match space {
        MemorySpace::HOST => false,
        MemorySpace::ANY
        | MemorySpace::DEFAULT
        | MemorySpace::ERROR
        | MemorySpace::INDEX
        | MemorySpace::KEY
        | MemorySpace::Tpu(_)
        | MemorySpace::Core(_)
        | MemorySpace::Acc(_) => true,
    }
}

/// Whether a value annotated so lies in a memory, which is lost when it gets the
/// color of another.
const fn is_a_memory(space: MemorySpace) -> bool {
    match space {
        MemorySpace::HOST | MemorySpace::Tpu(_) | MemorySpace::Core(_) => true,
        MemorySpace::ANY
        | MemorySpace::DEFAULT
        | MemorySpace::ERROR
        | MemorySpace::INDEX
        | MemorySpace::KEY
        | MemorySpace::Acc(_) => false,
    }
}

type Colors = Vec<Option<Color>>;

/// The colors while they are carried.
struct Sides {
    inputs: Option<Colors>,
    outputs: Option<Colors>,
}

impl Sides {
    /// JAX's two passes. Each conflict is reported once, in the order in which it is found.
    fn carry_both_ways(
        &mut self,
        inputs: usize,
        outputs: usize,
        aliases: &[Alias],
    ) -> Vec<AliasFault> {
        let mut conflicts = Vec::new();
        // The second pass meets the first one's conflicts again.
        let mut met = HashSet::new();
        let mut conflict = |number: usize, input, output| {
            if let Some(&alias) = aliases.get(number)
                && met.insert(alias)
            {
                conflicts.push(AliasFault::Conflict { alias, input, output });
            }
        };
        if let Some(from) = &self.inputs {
            let pairs = aliases.iter().map(|alias| (alias.input, alias.output));
            carry(from, &mut self.outputs, outputs, pairs, &mut conflict);
        }
        if let Some(from) = &self.outputs {
            let pairs = aliases.iter().map(|alias| (alias.output, alias.input));
            let mut conflict = |number, output, input| conflict(number, input, output);
            carry(from, &mut self.inputs, inputs, pairs, &mut conflict);
        }
        conflicts
    }

    /// The values that nothing places but a block spec of hbm.
    fn unplaced(
        &self,
        inputs: &[Placed],
        outputs: &[Placed],
        core_type: CoreType,
    ) -> Vec<(Role, usize)> {
        let mut unplaced = Vec::new();
        for (role, values, colors) in [
            (Role::Input, inputs, self.inputs.as_ref()),
            (Role::Output, outputs, self.outputs.as_ref()),
        ] {
            for (index, value) in values.iter().enumerate() {
                let in_hbm = value
                    .block_spec
                    .is_some_and(|space| resolve(space, core_type) == Resolved::HBM);
                let elsewhere = value.annotated.is_some_and(is_a_memory);
                if in_hbm && !elsewhere && color_at(colors, index).is_none() {
                    unplaced.push((role, index));
                }
            }
        }
        unplaced
    }

    fn color_hbm(
        &mut self,
        inputs: usize,
        outputs: usize,
        unplaced: &[(Role, usize)],
        aliases: &[Alias],
    ) {
        for &(role, index) in unplaced {
            match role {
                Role::Input => set(&mut self.inputs, inputs, index, Color::Hbm),
                Role::Output => set(&mut self.outputs, outputs, index, Color::Hbm),
            }
        }
        // This causes no conflict: both ends of an alias have the same color by now.
        self.carry_both_ways(inputs, outputs, aliases);
    }

    /// The values that an alias moved out of their memory.
    fn lost(
        &self,
        inputs: &[Placed],
        outputs: &[Placed],
        own: &Own,
        aliases: &[Alias],
    ) -> Vec<AliasFault> {
        let mut lost = Vec::new();
        for &alias in aliases {
            for (role, value, own, color) in [
                (
                    Role::Input,
                    inputs.get(alias.input),
                    own.inputs.get(alias.input).copied().flatten(),
                    color_at(self.inputs.as_ref(), alias.input),
                ),
                (
                    Role::Output,
                    outputs.get(alias.output),
                    own.outputs.get(alias.output).copied().flatten(),
                    color_at(self.outputs.as_ref(), alias.output),
                ),
            ] {
                let memory = value.and_then(|value| value.annotated).filter(|at| is_a_memory(*at));
                if let (Some(space), Some(color)) = (memory, color)
                    && own != Some(color)
                {
                    lost.push(AliasFault::SpaceLost { alias, role, space, color });
                }
            }
        }
        lost
    }

    fn handed_over(self) -> AliasColors {
        let kept = |color: Option<Color>| color.and_then(|color| InputColor::new(color).ok());
        AliasColors {
            inputs: self.inputs.map(|colors| colors.into_iter().map(kept).collect()),
            outputs: self.outputs,
        }
    }
}

/// Carries colors from the first to the second place of each pair. The list of the second
/// places is made when a color is carried to it. A conflict is reported as the number of
/// the pair, the color carried and the color that was there.
fn carry(
    from: &[Option<Color>],
    to: &mut Option<Colors>,
    len: usize,
    pairs: impl Iterator<Item = (usize, usize)>,
    conflict: &mut impl FnMut(usize, Color, Color),
) {
    for (number, (here, there)) in pairs.enumerate() {
        let Some(color) = from.get(here).copied().flatten() else { continue };
        match color_at(to.as_ref(), there) {
            Some(other) if other != color => conflict(number, color, other),
            None | Some(_) => set(to, len, there, color),
        }
    }
}

fn color_at(colors: Option<&Colors>, index: usize) -> Option<Color> {
    colors?.get(index).copied().flatten()
}

fn set(colors: &mut Option<Colors>, len: usize, index: usize, color: Color) {
    if let Some(there) = colors.get_or_insert_with(|| vec![None; len]).get_mut(index) {
        *there = Some(color);
    }
}

fn in_range(alias: Alias, inputs: usize, outputs: usize) -> Result<(), AliasFault> {
    if alias.input >= inputs {
        return Err(AliasFault::OutOfRange { alias, role: Role::Input, count: inputs });
    }
    if alias.output >= outputs {
        return Err(AliasFault::OutOfRange { alias, role: Role::Output, count: outputs });
    }
    Ok(())
}

/// The aliases that name an input and an output that no alias before them names.
pub(in crate::custom_call) fn sound(
    inputs: usize,
    outputs: usize,
    aliases: &[Alias],
    errors: &mut Vec<AliasFault>,
) -> Vec<Alias> {
    let mut of_input = HashMap::new();
    let mut of_output = HashMap::new();
    let mut sound = Vec::with_capacity(aliases.len());
    for &alias in aliases {
        if let Err(error) = in_range(alias, inputs, outputs) {
            errors.push(error);
            continue;
        }
        let of_input = of_input.insert(alias.input, alias);
        let of_output = of_output.insert(alias.output, alias);
        if let Some(before) = of_input {
            errors.push(AliasFault::Repeated { alias, role: Role::Input, before });
            continue;
        }
        if let Some(before) = of_output {
            errors.push(AliasFault::Repeated { alias, role: Role::Output, before });
            continue;
        }
        sound.push(alias);
    }
    sound
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;
    use crate::error::{Code, Fault};
    use crate::memory_space::CoreMemorySpace;

    const NOTHING: Placed = Placed::on_value(None);
    const HBM: Placed = Placed::on_value(Some(MemorySpace::HBM));
    const VMEM: Placed = Placed::on_value(Some(MemorySpace::VMEM));
    const CMEM: Placed = Placed::on_value(Some(MemorySpace::CMEM));
    const HOST: Placed = Placed::on_value(Some(MemorySpace::HOST));
    const HBM_SPEC: Placed = Placed { annotated: None, block_spec: Some(MemorySpace::HBM) };
    const SAME: Alias = Alias { input: 0, output: 0 };

    fn placed(
        inputs: &[Placed],
        outputs: &[Placed],
        aliases: &[Alias],
        hbm_specs: HbmSpecs,
    ) -> (AliasColors, Vec<AliasFault>) {
        let (colors, faults) = alias_colors(inputs, outputs, aliases, CoreType::Tc, hbm_specs);
        assert!(!faults.has_errors(), "{faults}");
        (colors, faults.into_iter().collect())
    }

    fn refused(inputs: &[Placed], outputs: &[Placed], aliases: &[Alias]) -> Faults<AliasFault> {
        let specs = HbmSpecs::LeaveUncolored;
        let (_, faults) = alias_colors(inputs, outputs, aliases, CoreType::Tc, specs);
        assert!(faults.has_errors(), "{faults}");
        faults
    }

    fn codes(faults: &Faults<AliasFault>) -> Vec<Code> {
        faults.iter().map(Fault::code).collect()
    }

    #[test]
    fn a_memory_that_an_alias_takes_is_told_whichever_end_has_it() {
        for (memory, word) in [(CMEM, "cmem"), (HOST, "host")] {
            let (colors, warnings) = placed(&[memory], &[HBM], &[SAME], HbmSpecs::LeaveUncolored);
            assert_eq!(colors.inputs, Some(vec![Some(InputColor::Hbm)]));
            let messages: Vec<_> = warnings.iter().map(ToString::to_string).collect();
            let lost = format!("its alias 0->0 places it in hbm: {word} is lost");
            assert!(messages.iter().all(|message| message.ends_with(&lost)), "{messages:?}");
            assert_eq!(messages.len(), 1);
        }
        let (_, warnings) = placed(&[HBM], &[CMEM], &[SAME], HbmSpecs::LeaveUncolored);
        let warning = warnings.first().unwrap();
        assert_eq!(warning.code(), Code::AliasSpaceLost);
        assert!(warning.to_string().starts_with("output 0 is in cmem"));
        assert!(warning.help().contains("hbm"), "{}", warning.help());
    }

    #[test]
    fn host_conflicts_only_beside_an_annotated_input() {
        let (_, warnings) = placed(&[HOST, NOTHING], &[HBM], &[SAME], HbmSpecs::LeaveUncolored);
        assert_eq!(warnings.len(), 1);
        let faults = refused(&[HOST, HBM], &[HBM], &[SAME]);
        assert_eq!(codes(&faults), [Code::AliasMemorySpaceConflict]);
    }

    #[test]
    fn nothing_is_lost_where_nothing_is_moved() {
        for (input, output) in [(HOST, HOST), (CMEM, CMEM), (CMEM, NOTHING), (NOTHING, HBM)] {
            let (_, warnings) = placed(&[input], &[output], &[SAME], HbmSpecs::LeaveUncolored);
            assert_eq!(warnings, []);
        }
        let any = Placed::on_value(Some(MemorySpace::ANY));
        let (_, warnings) = placed(&[any], &[HBM], &[SAME], HbmSpecs::LeaveUncolored);
        assert_eq!(warnings, [], "any is wherever the compiler puts it");
    }

    #[test]
    fn an_hbm_spec_is_told_or_colored_where_nothing_else_places_the_value() {
        let inputs = [HBM_SPEC, NOTHING];
        let outputs = [NOTHING, NOTHING];
        let (colors, warnings) = placed(&inputs, &outputs, &[SAME], HbmSpecs::LeaveUncolored);
        assert_eq!(colors, AliasColors::default());
        assert_eq!(warnings.iter().map(Fault::code).collect::<Vec<_>>(), [Code::HbmSpecUncolored]);

        let (colors, warnings) = placed(&inputs, &outputs, &[SAME], HbmSpecs::Color);
        assert_eq!(colors.inputs, Some(vec![Some(InputColor::Hbm), None]));
        assert_eq!(colors.outputs, Some(vec![Some(Color::Hbm), None]), "its alias with it");
        assert_eq!(warnings, []);
    }

    #[test]
    fn an_hbm_spec_yields_to_an_alias_and_to_an_annotation() {
        let annotated = Placed { annotated: Some(MemorySpace::CMEM), ..HBM_SPEC };
        for hbm_specs in [HbmSpecs::LeaveUncolored, HbmSpecs::Color] {
            let (colors, warnings) = placed(&[HBM_SPEC], &[VMEM], &[SAME], hbm_specs);
            assert_eq!(colors.inputs, Some(vec![Some(InputColor::Vmem)]));
            assert_eq!(warnings, []);
            let (colors, warnings) = placed(&[annotated], &[], &[], hbm_specs);
            assert_eq!(colors.inputs, Some(vec![None]));
            assert_eq!(warnings, []);
        }
    }

    #[test]
    fn a_number_out_of_range_is_refused_with_the_range() {
        let faults = refused(&[HBM], &[HBM; 3], &[Alias { input: 1, output: 0 }]);
        assert_eq!(codes(&faults), [Code::AliasIndexOutOfRange]);
        let help = faults.first().unwrap().help();
        assert_eq!(
            help,
            "name an input from 0 to 0; scalar prefetch is counted first, then inputs"
        );
        let faults = refused(&[HBM], &[], &[SAME]);
        assert_eq!(faults.first().unwrap().help(), "leave the alias out: there is no output");
        let huge = Alias { input: usize::MAX, output: usize::MAX };
        assert_eq!(codes(&refused(&[HBM], &[], &[huge.shifted(3)])), [Code::AliasIndexOutOfRange]);
    }

    #[test]
    fn an_end_aliased_twice_is_refused_here_and_let_through_by_jax() {
        let twice = [
            [SAME, SAME],
            [SAME, Alias { input: 0, output: 1 }],
            [SAME, Alias { input: 1, output: 0 }],
        ];
        for aliases in twice {
            let faults = refused(&[HBM; 2], &[NOTHING; 2], &aliases);
            assert_eq!(codes(&faults), [Code::AliasRepeated]);
            let jax = jax_alias_colors(&[HBM; 2], &[NOTHING; 2], &aliases, CoreType::Tc);
            assert!(jax.is_ok());
        }
    }

    #[test]
    fn jax_meets_two_outputs_of_one_input_on_the_way_back() {
        let second = Alias { input: 0, output: 1 };
        let error = jax_alias_colors(&[NOTHING], &[HBM, VMEM], &[SAME, second], CoreType::Tc);
        let conflict =
            AliasFault::Conflict { alias: second, input: Color::Hbm, output: Color::Vmem };
        assert_eq!(error, Err(conflict));
    }

    #[test]
    fn all_faults_come_at_once() {
        let uncolored =
            Placed::on_value(Some(MemorySpace::Core(CoreMemorySpace::VmemOfScVectorSubcore)));
        let faults = refused(
            &[HBM, VMEM, uncolored, CMEM],
            &[VMEM, HBM, NOTHING, HBM],
            &[
                SAME,
                Alias { input: 9, output: 2 },
                Alias { input: 1, output: 1 },
                Alias { input: 1, output: 2 },
                Alias { input: 3, output: 3 },
            ],
        );
        let expected = [
            Code::VmemColorUnsupported,
            Code::AliasIndexOutOfRange,
            Code::AliasRepeated,
            Code::AliasMemorySpaceConflict,
            Code::AliasMemorySpaceConflict,
            Code::AliasSpaceLost,
        ];
        assert_eq!(codes(&faults), expected);
    }

    #[test]
    fn a_conflict_names_its_pair_and_what_would_do() {
        let alias = Alias { input: 1, output: 0 };
        let error = jax_alias_colors(&[NOTHING, VMEM], &[HBM], &[alias], CoreType::Tc).unwrap_err();
        let expected = AliasFault::Conflict { alias, input: Color::Vmem, output: Color::Hbm };
        assert_eq!(error, expected);
        assert_eq!(
            error.help(),
            "place input 1 in hbm, or output 0 in vmem, or leave one of them unplaced"
        );
    }
}
