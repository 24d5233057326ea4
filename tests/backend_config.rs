//! The backend config both ways: what is written is JSON, and is read back as it was.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "tests")]

use mosaic_memspace::custom_call::{
    BackendConfig, Body, Color, ColoredInput, CostEstimate, Finite, FlagName, FlagValue, Flags,
    InputColor, OneCoreMark, Open, OptLevel, Tiling,
};
use mosaic_memspace::error::{Code, Fault};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// What JAX wrote, from the vectors; a published crate has no room for them.
fn written_by_jax() -> Option<Vec<String>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors/backend_config.jsonl");
    let lines = fs::read_to_string(path).ok()?;
    let line = |line: &str| serde_json::from_str::<Value>(line).unwrap();
    let written = |line: Value| Some(line["expect"]["ok"].as_str()?.to_owned());
    Some(lines.lines().map(line).filter_map(written).collect())
}

#[test]
fn what_jax_writes_is_read_and_written_again_as_it_was() {
    let Some(written) = written_by_jax() else { return };
    assert!(written.len() > 1000);
    for json in written {
        let config = BackendConfig::from_json(&json).unwrap();
        assert_eq!(config.to_json(), json);
        assert_eq!(config.unknown(), []);
    }
}

#[test]
fn unknown_keys_of_every_object_survive_where_they_stand() {
    let json = r#"{"_0": 0, "custom_call_config": {"_1": [ ], "body": "TUw=", "_2": {"a":1 }, "cost_estimate": {
"_3":1,
"bytes_accessed":1,
"flops":2,
"remote_bytes_transferred":3,
"_4":null,
"transcendentals":4
}, "output_memory_space_colors": [{"color":1,"_5":1,"shape_index":[1]}], "input_memory_space_colors": [{"_6":1,"operand_index":1,"color":1}]}, "sparse_core_config": {
"comp_env":{
"backend_opt_level":"O2",
"_7":1
},
"core_ids":[
"0"
],
"_8":"\u0041",
"tiling":"TILING_NEW"
}, "device_type": "DEVICE_TYPE_NEW", "scoped_memory_configs": [{"memory_space":1, "offset": 0, "size": 1, "_9": 1}], "flag_configs": [{"flag_type": "a", "value": {"string_value": "s"}, "_10": 1}], "megachip_parallelism_config": {"cores": ["0"], "_11": 1}, "_12\"": 1}"#;
    let config = BackendConfig::from_json(json).unwrap();
    assert_eq!(config.to_json(), json.replace(r#""_12\"""#, r#""_12\u0022""#));
    let unknown = config.unknown();
    let paths: Vec<_> = unknown.iter().map(|unknown| unknown.path.as_str()).collect();
    assert_eq!(
        paths,
        [
            "_0",
            "[\"_12\\\"\"]",
            "custom_call_config._1",
            "custom_call_config._2",
            "custom_call_config.cost_estimate._3",
            "custom_call_config.cost_estimate._4",
            "custom_call_config.output_memory_space_colors[0]._5",
            "custom_call_config.input_memory_space_colors[0]._6",
            "sparse_core_config._8",
            "sparse_core_config.comp_env._7",
            "scoped_memory_configs[0]._9",
            "flag_configs[0]._10",
            "flag_configs[0].value.string_value",
            "megachip_parallelism_config._11",
        ]
    );
    assert_eq!(unknown[2].value.as_str(), "[ ]");
}

#[test]
fn what_xla_prints_is_known() {
    let json = r#"{"flag_configs":[],"scoped_memory_configs":[{"memory_space":"1","offset":"0","size":"33554432"}],
        "custom_call_config":{"cost_estimate":{"flops":"10","transcendentals":"0","bytes_accessed":"20","remote_bytes_transferred":"0"},
        "needs_layout_passes":true,"allow_input_fusion":[],"serialization_format":"1","output_memory_colors":[],
        "output_memory_space_colors":[{"color":"0","shape_index":[]}],
        "input_memory_space_colors":[{"operand_index":"5","color":"77","shape_index":[]}],"operand_to_metadata":[],"body":"TUw="},
        "used_scoped_memory_configs":[{"memory_space":"1","offset":"0","size":"524288"}],
        "retry_config":{"retry_count":"0"},"aliasing_operands":{"lists":[]}}"#;
    let config = BackendConfig::from_json(json).unwrap();
    assert_eq!(config.unknown(), []);
    assert_eq!(config.vmem_limit_bytes(), Some(33_554_432));
    assert_eq!(config.serialization_format, Some(1));
    assert_eq!(config.cost_estimate.as_ref().map(|cost| cost.bytes_accessed), Some(20));
    assert_eq!(config.output_memory_space_colors[0].result(), Some(0));
    assert_eq!(config.input_memory_space_colors[0].operand_index, 5);
    assert_eq!(config.input_memory_space_colors[0].color.number(), 77);
    assert_eq!(config.flag_configs, Some(vec![]));
    assert_eq!(config.body.decode().unwrap(), b"ML".as_slice());
    // What it adds is kept too.
    let again = config.to_json();
    assert!(again.contains(
        r#""used_scoped_memory_configs": [{"memory_space":1, "offset": 0, "size": 524288}]"#
    ));
    assert_eq!(config.used_vmem_bytes(), Some(524_288));
    assert_eq!(BackendConfig::from_json(&again).unwrap().to_json(), again);
}

#[test]
fn old_payloads_are_read() {
    let config = BackendConfig::from_json(r#"{"custom_call_config": {"body": "TUw="}}"#).unwrap();
    assert_eq!(config, {
        let mut alone = BackendConfig::default();
        alone.body = config.body.clone();
        alone
    });
    assert_eq!(BackendConfig::from_json("{}").unwrap(), BackendConfig::default());
    let nulls = r#"{"custom_call_config": null, "flag_configs": null, "device_type": null}"#;
    assert_eq!(BackendConfig::from_json(nulls).unwrap(), BackendConfig::default());
}

#[test]
fn a_body_is_borrowed_and_only_escapes_are_copied() {
    let json = r#"{"custom_call_config": {"body": "TUw="}}"#;
    let config = BackendConfig::from_json(json).unwrap();
    let Body::Base64(base64) = &config.body else { panic!("it was read") };
    assert!(json.as_bytes().as_ptr_range().contains(&base64.as_str().as_ptr()));

    let config =
        BackendConfig::from_json(r#"{"custom_call_config": {"body": "TUw\u003d"}}"#).unwrap();
    assert_eq!(config.body.decode().unwrap(), b"ML".as_slice());

    let config = BackendConfig::from_json(r#"{"custom_call_config": {"body": "\"\n"}}"#).unwrap();
    assert_eq!(config.body.decode().unwrap_err().code(), Code::InvalidConfig);
    assert_eq!(config.to_json(), r#"{"custom_call_config": {"body": "\u0022\u000a"}}"#);
}

#[test]
fn a_wrong_value_is_named_by_its_place() {
    let long = format!(r#"{{"custom_call_config": {{"cost_estimate": "{}"}}}}"#, "x".repeat(9999));
    for (json, path, reason) in [
        ("", ".", "EOF while parsing a value"),
        (r#"{"custom_call_config": {"", 1}}"#, "custom_call_config", "expected `:`"),
        (r#"{"": [1, }"#, "[\"\"]", "expected value"),
        ("[]", ".", "invalid type: sequence, expected an object"),
        ("{} x", ".", "trailing characters"),
        (
            r#"{"custom_call_config": {"body": 3}}"#,
            "custom_call_config.body",
            "invalid type: integer `3`, expected a string",
        ),
        (
            r#"{"custom_call_config": {"collective_id": "-1"}}"#,
            "custom_call_config.collective_id",
            "-1 is no number",
        ),
        (
            r#"{"custom_call_config": {"collective_id": 4294967296}}"#,
            "custom_call_config.collective_id",
            "4294967296 is no number",
        ),
        (
            r#"{"custom_call_config": {"has_communication": "true"}}"#,
            "custom_call_config.has_communication",
            "expected a boolean",
        ),
        (
            r#"{"custom_call_config": {"cost_estimate": {"flops": 1.5}}}"#,
            "custom_call_config.cost_estimate.flops",
            "floating point `1.5`, expected an integer",
        ),
        (
            r#"{"custom_call_config": {"input_memory_space_colors": [{}, {"color": "vmem"}]}}"#,
            "custom_call_config.input_memory_space_colors[1].color",
            "vmem is no number",
        ),
        (
            r#"{"custom_call_config": {"body": "", "body": ""}}"#,
            "custom_call_config",
            "`body` stands twice",
        ),
        (
            r#"{"flag_configs": [{"value": {"boolean_value": true}}]}"#,
            "flag_configs[0]",
            "missing field `flag_type`",
        ),
        (
            r#"{"flag_configs": [{"flag_type": "a\"b"}]}"#,
            "flag_configs[0].flag_type",
            "would break the JSON",
        ),
        (
            r#"{"flag_configs": [{"flag_type": "a", "value": {"double_value": "NaN"}}]}"#,
            "flag_configs[0].value.double_value",
            "NaN is no number",
        ),
        (
            r#"{"flag_configs": [{"flag_type": "a", "value": {"integer_value": 1, "boolean_value": true}}]}"#,
            "flag_configs[0].value",
            "a flag has one value",
        ),
        (&long, "custom_call_config.cost_estimate", "invalid type: string"),
    ] {
        let error = BackendConfig::from_json(json).unwrap_err();
        assert_eq!((error.path(), error.code()), (path, Code::InvalidConfig), "{error}");
        assert!(error.to_string().contains(reason), "{error}");
        assert!(error.to_string().len() < 500);
    }
}

#[test]
fn one_allocation_at_most_and_none_into_a_large_enough_buffer() {
    let config = BackendConfig::new(&[0; 1000]);
    let json = config.to_json();
    assert_eq!(json.capacity(), json.len());

    let mut buffer = String::with_capacity(json.len());
    let (place, capacity) = (buffer.as_ptr(), buffer.capacity());
    config.write_json(&mut buffer);
    assert_eq!((buffer.as_ptr(), buffer.capacity()), (place, capacity));
    assert_eq!(buffer, json);
}

#[derive(Clone, Debug)]
struct Parts {
    body: Vec<u8>,
    locations: Option<Vec<u8>>,
    booleans: [bool; 7],
    collective_id: Option<u32>,
    cost: Option<[i64; 4]>,
    serialization_format: Option<i64>,
    fusion: Option<Vec<bool>>,
    scratch: Option<i64>,
    outputs: Vec<Option<Color>>,
    inputs: Vec<Option<InputColor>>,
    other_input: Option<(u32, i64)>,
    sparse_core: Option<(Option<Tiling>, Option<OptLevel>, Option<OneCoreMark>)>,
    limit: Option<i64>,
    flags: Option<Vec<(FlagName, FlagValue)>>,
}

impl Parts {
    fn config(&self) -> BackendConfig<'_> {
        let mut config = BackendConfig::new(&self.body);
        config.debug_locations = self.locations.as_deref().map(Body::Bytes);
        [
            config.has_communication,
            config.needs_hlo_passes,
            config.needs_layout_passes,
            config.shape_invariant_numerics,
            config.disable_bounds_checks,
            config.disable_semaphore_checks,
            config.skip_device_barrier,
        ] = self.booleans;
        config.collective_id = self.collective_id.map(Into::into);
        config.cost_estimate = self.cost.map(|cost| {
            let mut estimate = CostEstimate::default();
            [
                estimate.flops,
                estimate.transcendentals,
                estimate.bytes_accessed,
                estimate.remote_bytes_transferred,
            ] = cost;
            estimate
        });
        config.serialization_format = self.serialization_format;
        config.allow_input_fusion.clone_from(&self.fusion);
        config.internal_scratch_in_bytes = self.scratch;
        config.set_output_colors(&self.outputs);
        config.set_input_colors(&self.inputs);
        if let Some((operand, color)) = self.other_input {
            let color = mosaic_memspace::custom_call::ColorNumber::new(color);
            config.input_memory_space_colors.push(ColoredInput::new(operand, color));
        }
        if let Some((tiling, opt_level, one_core)) = self.sparse_core {
            config.set_sparse_core(tiling, opt_level, one_core);
        }
        config.set_vmem_limit_bytes(self.limit);
        let flags = self.flags.as_ref().map(|given| {
            let mut flags = Flags::new();
            for (name, value) in given {
                flags.insert(name.clone(), *value);
            }
            flags
        });
        config.set_flags(flags.as_ref());
        config
    }
}

fn parts() -> impl Strategy<Value = Parts> {
    let name = "[ -~]{0,12}".prop_filter_map("unsafe", |name| FlagName::new(&name).ok());
    let value = prop_oneof![
        any::<bool>().prop_map(FlagValue::Bool),
        any::<i64>().prop_map(FlagValue::Int),
        any::<f64>().prop_filter_map("not finite", Finite::new).prop_map(FlagValue::Float),
    ];
    let color = select(Color::ALL);
    let input = select(vec![InputColor::Hbm, InputColor::Vmem, InputColor::Smem]);
    let mark = select(vec![OneCoreMark::CoreIds, OneCoreMark::Megachip]);
    let sparse_core =
        (option::of(select(Tiling::ALL)), option::of(select(OptLevel::ALL)), option::of(mark));
    let first = (
        vec(any::<u8>(), 0..100),
        option::of(vec(any::<u8>(), 0..9)),
        any::<[bool; 7]>(),
        any::<Option<u32>>(),
        any::<Option<[i64; 4]>>(),
        any::<Option<i64>>(),
        option::of(vec(any::<bool>(), 0..4)),
    );
    let second = (
        any::<Option<i64>>(),
        vec(option::of(color), 0..4),
        vec(option::of(input), 0..4),
        any::<Option<(u32, i64)>>(),
        option::of(sparse_core),
        any::<Option<i64>>(),
        option::of(vec((name, value), 0..4)),
    );
    (first, second).prop_map(|(first, second)| {
        let (body, locations, booleans, collective_id, cost, serialization_format, fusion) = first;
        let (scratch, outputs, inputs, other_input, sparse_core, limit, flags) = second;
        Parts {
            body,
            locations,
            booleans,
            collective_id,
            cost,
            serialization_format,
            fusion,
            scratch,
            outputs,
            inputs,
            other_input,
            sparse_core,
            limit,
            flags,
        }
    })
}

proptest! {
    #[test]
    fn whatever_can_be_built_is_json_and_is_read_back(parts in parts()) {
        let config = parts.config();
        let json = config.to_json();
        prop_assert_eq!(json.len(), config.json_len());

        let value: Value = serde_json::from_str(&json).unwrap();
        let base64 = base64_simd::STANDARD.encode_to_string(&parts.body);
        prop_assert_eq!(value["custom_call_config"]["body"].as_str(), Some(base64.as_str()));
        prop_assert_eq!(value["flag_configs"].as_array().map(Vec::len), config.flag_configs.as_ref().map(Vec::len));

        let read = BackendConfig::from_json(&json).unwrap();
        prop_assert_eq!(&read.to_json(), &json);
        prop_assert_eq!(read.body.decode().unwrap(), parts.body.as_slice());
        prop_assert_eq!(read.collective_id, config.collective_id);
        prop_assert_eq!(&read.cost_estimate, &config.cost_estimate);
        prop_assert_eq!(&read.flag_configs, &config.flag_configs);
        prop_assert_eq!(&read.input_memory_space_colors, &config.input_memory_space_colors);
        prop_assert_eq!(&read.output_memory_space_colors, &config.output_memory_space_colors);
        prop_assert_eq!(&read.sparse_core_config, &config.sparse_core_config);
        prop_assert_eq!(read.vmem_limit_bytes(), parts.limit);
    }
}

#[test]
fn a_word_that_is_none_of_the_set_is_kept() {
    let config = BackendConfig::from_json(r#"{"device_type": "DEVICE_TYPE_NEW"}"#).unwrap();
    let Some(Open::Other(word)) = &config.device_type else { panic!("it is not known") };
    assert_eq!(word.as_str(), r#""DEVICE_TYPE_NEW""#);
}
