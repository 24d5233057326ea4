//! Aliases and collective ids against models that are too simple to be wrong in the
//! same way.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test"
)]

use mosaic_memspace::custom_call::{
    Alias, AliasColors, AutoAssign, Bound, CollectiveId, Color, DimensionSemantics, Flags,
    HbmSpecs, IdCall, IdOptions, IdOrder, IdPolicy, InputColor, IterationSpace, ModuleFunction,
    Placed, active_core_count, alias_colors, collective_ids, device_type, jax_active_core_count,
    jax_alias_colors, jax_color,
};
use mosaic_memspace::error::{Code, Fault};
use mosaic_memspace::{CoreType, MemorySpace};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use std::collections::{BTreeMap, BTreeSet};

fn core_type() -> impl Strategy<Value = CoreType> {
    select(CoreType::ALL)
}

fn placed() -> impl Strategy<Value = Placed> {
    let spaces = || option::weighted(0.5, select(MemorySpace::ALL));
    (spaces(), spaces()).prop_map(|(annotated, block_spec)| Placed { annotated, block_spec })
}

fn alias(below: usize) -> impl Strategy<Value = Alias> {
    (0..below, 0..below).prop_map(|(input, output)| Alias { input, output })
}

/// Aliases that name no input and no output twice.
fn sound_aliases() -> impl Strategy<Value = Vec<Alias>> {
    let numbers = || Just((0..6).collect::<Vec<usize>>()).prop_shuffle();
    (numbers(), numbers(), 0..=6_usize).prop_map(|(inputs, outputs, n)| {
        let pairs = inputs.into_iter().zip(outputs).take(n);
        pairs.map(|(input, output)| Alias { input, output }).collect()
    })
}

/// The colors without passes: both ends of a pair have the one that either has.
fn by_pairs(
    inputs: &[Placed],
    outputs: &[Placed],
    aliases: &[Alias],
    core_type: CoreType,
) -> Result<AliasColors, Code> {
    let colors = |values: &[Placed]| -> Result<Vec<Option<Color>>, Code> {
        let color = |value: &Placed| jax_color(value.annotated, core_type);
        values.iter().map(|value| color(value).map_err(|fault| fault.code())).collect()
    };
    let (mut of_outputs, mut of_inputs) = (colors(outputs)?, colors(inputs)?);
    let annotated = |value: &Placed| value.annotated.is_some();
    let beside_host =
        |value: &Placed| annotated(value) && value.annotated != Some(MemorySpace::HOST);
    let (mut list_inputs, mut list_outputs) =
        (inputs.iter().any(beside_host), outputs.iter().any(annotated));
    if !list_inputs {
        of_inputs.fill(None);
    }
    for Alias { input, output } in aliases {
        let shared = match (of_inputs[*input], of_outputs[*output]) {
            (Some(one), Some(other)) if one != other => return Err(Code::AliasMemorySpaceConflict),
            (one, other) => one.or(other),
        };
        if shared.is_some() {
            (of_inputs[*input], of_outputs[*output]) = (shared, shared);
            (list_inputs, list_outputs) = (true, true);
        }
    }
    let kept = |color: Option<Color>| color.and_then(|color| InputColor::new(color).ok());
    Ok(AliasColors {
        inputs: list_inputs.then(|| of_inputs.into_iter().map(kept).collect()),
        outputs: list_outputs.then_some(of_outputs),
    })
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct OwnedCall {
    module: Vec<u8>,
    tag: Option<String>,
    skip_device_barrier: bool,
    collective_id: Option<u32>,
    has_custom_barrier: bool,
    allow: bool,
}

impl OwnedCall {
    fn call(&self) -> IdCall<'_> {
        IdCall {
            module: &self.module,
            tag: self.tag.as_deref(),
            skip_device_barrier: self.skip_device_barrier,
            collective_id: self.collective_id.map(CollectiveId::from),
            has_custom_barrier: self.has_custom_barrier,
            allow_collective_id_without_custom_barrier: self.allow,
        }
    }
}

fn call() -> impl Strategy<Value = OwnedCall> {
    let ids = option::weighted(0.3, prop_oneof![0..4_u32, 6998..7004_u32, Just(u32::MAX)]);
    (vec(0..3_u8, 0..3), option::weighted(0.3, "[ab]?"), any::<[bool; 3]>(), ids).prop_map(
        |(module, tag, [skip_device_barrier, has_custom_barrier, allow], collective_id)| {
            OwnedCall { module, tag, skip_device_barrier, collective_id, has_custom_barrier, allow }
        },
    )
}

fn options() -> impl Strategy<Value = IdOptions> {
    (select(IdPolicy::ALL), select(AutoAssign::ALL), 0..30_usize).prop_map(
        |(policy, auto_assign, limit)| IdOptions::new(policy).auto_assign(auto_assign).limit(limit),
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn two_passes_come_to_what_pairs_do(
        inputs in vec(placed(), 6),
        outputs in vec(placed(), 6),
        aliases in sound_aliases(),
        core_type in core_type(),
    ) {
        let jax = jax_alias_colors(&inputs, &outputs, &aliases, core_type);
        let strict =
            alias_colors(&inputs, &outputs, &aliases, core_type, HbmSpecs::LeaveUncolored);
        match by_pairs(&inputs, &outputs, &aliases, core_type) {
            Ok(colors) => {
                prop_assert_eq!(jax.as_ref(), Ok(&colors));
                prop_assert_eq!(strict.map(|(colors, _)| colors), Ok(colors));
            }
            Err(code) => {
                prop_assert_eq!(jax.map_err(|fault| fault.code()), Err(code));
                let faults = strict.unwrap_err();
                prop_assert!(faults.errors.iter().any(|fault| fault.code() == code));
            }
        }
    }

    #[test]
    fn hbm_specs_add_colors_and_change_none(
        inputs in vec(placed(), 6),
        outputs in vec(placed(), 6),
        aliases in sound_aliases(),
        core_type in core_type(),
    ) {
        let ask = |hbm_specs| alias_colors(&inputs, &outputs, &aliases, core_type, hbm_specs);
        match (ask(HbmSpecs::LeaveUncolored), ask(HbmSpecs::Color)) {
            (Ok((left, warnings)), Ok((colored, after))) => {
                let is_unplaced = |code| code == Code::HbmSpecUncolored;
                let some = left.outputs.into_iter().flatten().zip(colored.outputs.into_iter().flatten());
                for (left, colored) in some {
                    prop_assert!(left == colored || (left.is_none() && colored == Some(Color::Hbm)));
                }
                let unplaced = warnings.iter().filter(|warning| is_unplaced(warning.code()));
                let none = unplaced.count() == 0;
                prop_assert!(!after.iter().any(|warning| is_unplaced(warning.code())));
                prop_assert!(!none || left.inputs == colored.inputs);
            }
            (left, colored) => prop_assert_eq!(
                left.map_err(|faults| faults.errors).unwrap_err(),
                colored.map_err(|faults| faults.errors).unwrap_err()
            ),
        }
    }

    #[test]
    fn no_alias_panics_and_the_strict_answer_is_jaxs_where_both_answer(
        inputs in vec(placed(), 0..5),
        outputs in vec(placed(), 0..5),
        aliases in vec(prop_oneof![alias(6), alias(usize::MAX)], 0..8),
        core_type in core_type(),
    ) {
        let jax = jax_alias_colors(&inputs, &outputs, &aliases, core_type);
        let strict =
            alias_colors(&inputs, &outputs, &aliases, core_type, HbmSpecs::LeaveUncolored);
        match strict {
            Ok((colors, _)) => prop_assert_eq!(jax, Ok(colors)),
            Err(faults) => {
                prop_assert!(!faults.errors.is_empty());
                let is_repeat = |code| code == Code::AliasRepeated;
                if !faults.errors.iter().any(|fault| is_repeat(fault.code())) {
                    prop_assert!(jax.is_err());
                }
            }
        }
    }

    #[test]
    fn ids_by_key_do_not_depend_on_the_order(
        (calls, shuffled) in vec(call(), 0..12)
            .prop_flat_map(|calls| (Just(calls.clone()), Just(calls).prop_shuffle())),
        options in options(),
    ) {
        let assign = |calls: &[OwnedCall]| {
            let calls: Vec<_> = calls.iter().map(OwnedCall::call).collect();
            collective_ids(options.order(IdOrder::ByKey), &calls)
        };
        let answers = |calls: &[OwnedCall]| -> BTreeMap<_, _> {
            calls.iter().cloned().zip(assign(calls)).collect()
        };
        prop_assert_eq!(answers(&calls), answers(&shuffled));
        // A call has one answer, wherever it comes.
        for (call, answer) in calls.iter().zip(assign(&calls)) {
            prop_assert_eq!(&answers(&shuffled)[call], &answer);
        }
    }

    #[test]
    fn calls_share_an_id_only_if_they_share_a_key(
        calls in vec(call(), 0..12),
        options in options(),
        by_key in any::<bool>(),
    ) {
        let order = if by_key { IdOrder::ByKey } else { IdOrder::AsTheyCome };
        let options = options.order(order);
        let borrowed: Vec<_> = calls.iter().map(OwnedCall::call).collect();
        let ids = collective_ids(options, &borrowed);
        let given: Vec<_> = calls.iter().zip(&ids).filter_map(|(call, id)| {
            let own = options.auto_assign != AutoAssign::Override && call.collective_id.is_some();
            let id = id.as_ref().ok()?.as_ref()?;
            (!own).then_some((call, *id))
        }).collect();
        let key = |call: &OwnedCall| {
            let tag = call.tag.clone().filter(|_| options.policy == IdPolicy::FirstFree);
            let module = tag.is_none().then(|| call.module.clone());
            (tag, module, call.skip_device_barrier)
        };
        for (call, id) in &given {
            for (other, other_id) in &given {
                prop_assert_eq!(key(call) == key(other), id == other_id);
            }
        }
        // From a base an author's id may come too late to be kept clear of.
        if options.policy == IdPolicy::FirstFree || by_key {
            let own: BTreeSet<_> = match options.auto_assign {
                AutoAssign::Override => BTreeSet::new(),
                AutoAssign::No | AutoAssign::Yes => {
                    borrowed.iter().filter_map(|call| call.collective_id).collect()
                }
            };
            prop_assert!(given.iter().all(|(_, id)| !own.contains(id)));
        }
    }

    #[test]
    fn cores_are_counted_as_jax_does_where_no_function_is_silent(
        functions in vec((vec((-2..4_i64, select(DimensionSemantics::ALL)), 0..4), core_and_length()), 0..5),
    ) {
        let functions: Vec<_> = functions.iter().map(|(dimensions, (core_type, cut))| {
            let bounds: Vec<_> = dimensions.iter().map(|(bound, _)| match bound {
                -2 => Bound::Dynamic,
                bound => Bound::Static(*bound),
            }).collect();
            let mut semantics: Vec<_> = dimensions.iter().map(|(_, semantics)| *semantics).collect();
            semantics.truncate(*cut);
            (*core_type, bounds, semantics)
        }).collect();
        let functions: Vec<_> = functions.iter().map(|(core_type, bounds, semantics)| ModuleFunction {
            core_type: *core_type,
            iteration_space: Some(IterationSpace { bounds, semantics }),
        }).collect();
        let says_nothing = |function: &ModuleFunction| function
            .iteration_space
            .is_some_and(|space| !space.semantics.contains(&DimensionSemantics::CoreParallel));
        let (even, jax) = (active_core_count(&functions), jax_active_core_count(&functions));
        if !functions.iter().any(says_nothing) {
            prop_assert_eq!(even, jax);
        }
        let talking: Vec<_> =
            functions.iter().copied().filter(|function| !says_nothing(function)).collect();
        if even.is_ok() {
            prop_assert_eq!(even, jax_active_core_count(&talking));
        }
        let _ = device_type(&functions);
    }

    #[test]
    fn flags_that_are_let_in_are_json(names in vec((".{0,6}", proptest::num::f64::ANY), 0..4)) {
        let written = names.iter().map(|(name, value)| (name.as_str(), (*value).into()));
        match Flags::from_written(written) {
            Ok(flags) => for (name, _) in flags.iter() {
                let json = format!("\"{name}\"");
                prop_assert_eq!(serde_json::from_str::<String>(&json).ok(), Some(name.to_string()));
            },
            Err(errors) => for error in errors {
                prop_assert!(matches!(error.code(), Code::FlagNameUnsafe | Code::NonFiniteFlag));
            },
        }
    }
}

fn core_and_length() -> impl Strategy<Value = (Option<CoreType>, usize)> {
    (option::of(core_type()), prop_oneof![9 => Just(9_usize), 1 => 0..4_usize])
}

#[test]
fn a_module_of_many_kernels_and_aliases_takes_no_longer_than_it_is() {
    let bodies: Vec<_> = (0..100_000_u32).map(u32::to_le_bytes).collect();
    let calls: Vec<_> = bodies
        .iter()
        .zip(0..)
        .flat_map(|(body, id): (_, u32)| {
            let call = IdCall { has_custom_barrier: true, ..IdCall::new(body) };
            [call, IdCall { collective_id: Some((id + 7000).into()), ..call }]
        })
        .collect();
    for policy in [IdPolicy::FirstFree, IdPolicy::FromBase] {
        for order in [IdOrder::AsTheyCome, IdOrder::ByKey] {
            let options = IdOptions::new(policy).auto_assign(AutoAssign::Yes).order(order);
            let ids = collective_ids(options.limit(usize::MAX), &calls);
            assert_eq!(ids.len(), calls.len());
        }
    }
    let values = vec![Placed::on_value(Some(MemorySpace::HBM)); 100_000];
    let aliases: Vec<_> = (0..100_000).map(|i| Alias { input: i, output: i }).collect();
    let colors = alias_colors(&values, &values, &aliases, CoreType::Tc, HbmSpecs::Color);
    assert!(colors.is_ok());
}
