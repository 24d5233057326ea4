//! The schemas say of JSON what the reader and the printer do.

#![allow(clippy::expect_used, clippy::indexing_slicing, clippy::unwrap_used, reason = "a test")]

use jsonschema::Validator;
use mosaic_memspace::kernel::output_schema;
use mosaic_memspace::read::{Kernels, input_schema};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

#[test]
fn the_schemas_are_schemas() {
    for schema in [input_schema(), output_schema().to_value()] {
        assert!(jsonschema::meta::validate(&schema).is_ok());
        for (name, definition) in schema["$defs"].as_object().unwrap() {
            assert!(!name.ends_with("Draft"), "{name} is no word of a user's");
            let is_documented = definition.get("description").is_some()
                || definition.get("enum").is_some()
                || definition.get("anyOf").is_some()
                || definition["type"] == "array";
            assert!(is_documented, "{name} says nothing");
        }
    }
}

#[test]
fn each_kernel_here_and_each_report_on_it_is_as_the_schemas_say() {
    let (input, output) = (validator(&input_schema()), closed_output());
    for file in kernel_files() {
        let text = fs::read_to_string(&file).unwrap();
        for kernel in serde_json::Deserializer::from_str(&text).into_iter::<Value>() {
            assert_valid(&input, &kernel.unwrap(), &file);
        }
        for report in reports(&file) {
            assert_valid(&output, &report, &file);
        }
    }
}

#[test]
fn what_the_input_schema_admits_is_what_is_read() {
    let schema = validator(&input_schema());
    let mut admitted = [0_u32; 2];
    for kernel in [pipelined(), scalar_mesh(), vector_mesh()] {
        assert_eq!((schema.is_valid(&kernel), reads(&kernel)), (true, true));
        for pointer in pointers(&kernel) {
            for wrong in mutants(&kernel, &pointer) {
                let read = reads(&wrong);
                assert_eq!(schema.is_valid(&wrong), read, "{pointer}: {wrong}");
                admitted[usize::from(read)] += 1;
            }
        }
    }
    assert!(admitted.iter().all(|count| *count > 200), "{admitted:?} are too few to tell");
}

#[test]
fn a_list_has_a_kernel() {
    let schema = validator(&input_schema());
    assert!(schema.is_valid(&json!([pipelined(), vector_mesh()])));
    assert!(!schema.is_valid(&json!([])));
    assert!(!schema.is_valid(&json!([pipelined(), 3])));
}

#[test]
fn the_output_schema_refuses_what_no_report_is() {
    let schema = validator(&output_schema().to_value());
    let text = pipelined().to_string();
    let report = Kernels::new(&text).next().unwrap().unwrap().kernel.check();
    let report = serde_json::to_value(report).unwrap();
    assert!(schema.is_valid(&report));
    for (pointer, wrong) in [
        ("/name", json!(3)),
        ("/operands/0/resolved", json!("default")),
        ("/operands/0/bytes", json!(-1)),
        ("/operands/0/color", json!("red")),
        ("/scratch/0/attribute", json!("#tpu.memory_space<acc>")),
        ("/config", json!({})),
        ("/diagnostics", json!([{}])),
        ("/fit", json!(0)),
    ] {
        let mut broken = report.clone();
        *broken.pointer_mut(pointer).unwrap() = wrong;
        assert!(!schema.is_valid(&broken), "{pointer}");
    }
    for field in report.as_object().unwrap().keys() {
        let mut broken = report.clone();
        broken.as_object_mut().unwrap().remove(field);
        assert!(!schema.is_valid(&broken), "without {field}");
    }
}

/// A kernel with every field of one.
fn pipelined() -> Value {
    json!({
        "name": "scale", "chip": "v5e", "core_type": "tc", "mesh": null, "grid": [4, null],
        "scalar_prefetch": [{"name": "n", "shape": [4], "dtype": "int32"}],
        "operands": [
            {"name": "x", "role": "in", "array_shape": [512, 8, 256],
             "block_shape": [128, null, {"element": 256}], "index_map": [0, null, "other"],
             "dtype": "float32", "space": "vmem", "buffers": 2, "annotated": "hbm"},
            {"role": "out", "array_shape": [512], "dtype": "float32"},
        ],
        "scratch": [
            {"name": "t", "space": "vmem", "shape": [128, 256], "dtype": "float32"},
            {"name": "sem", "semaphore": "dma", "shape": [2]},
        ],
        "aliases": [[1, 0]],
        "params": {
            "dimension_semantics": ["parallel", "arbitrary"], "allow_input_fusion": [true],
            "vmem_limit_bytes": 33_554_432, "collective_id": 3,
            "has_side_effects": "dataflow_side_effecting", "flags": {"xla_x": 1},
            "internal_scratch_in_bytes": 0, "serialization_format": 1,
            "disable_bounds_checks": true, "disable_semaphore_checks": true,
            "skip_device_barrier": true, "allow_collective_id_without_custom_barrier": true,
            "shape_invariant_numerics": true, "use_tc_tiling_on_sc": true,
            "needs_layout_passes": true, "fuse_transposed_lhs_in_matmul": true,
            "opt_level": "O2",
        },
        "custom_barrier": true, "has_communication": true,
        "cost_estimate": {
            "flops": 1, "transcendentals": 2, "bytes_accessed": 3, "remote_bytes_transferred": 4,
        },
        "accesses": [
            {"op": "load", "ref": "x", "shape": "vector"},
            {"op": "dma", "src": "x", "dst": "t", "mode": "gather", "add": false, "indices": "n"},
        ],
        "body_base64": "bW9kdWxl",
    })
}

fn scalar_mesh() -> Value {
    json!({
        "mesh": {"core_type": "sc_scalar_subcore", "axis": "c", "num_cores": 2},
        "operands": [],
        "accesses": [{"op": "store", "ref": "x", "shape": "scalar"}],
        "params": {"has_side_effects": true, "flags": null},
        "body_base64": "bW9kdQ==",
    })
}

fn vector_mesh() -> Value {
    json!({
        "mesh": {
            "core_type": "sc_vector_subcore", "core_axis": "c", "subcore_axis": "s",
            "num_cores": 2, "num_subcores": 16,
        },
        "operands": [],
        "body_base64": "bW9kdWw=",
    })
}

/// Where the parts of a value are.
fn pointers(value: &Value) -> Vec<String> {
    let below = |(step, part): (String, &Value)| {
        pointers(part).into_iter().map(move |rest| format!("/{step}{rest}"))
    };
    let parts: Vec<(String, &Value)> = match value {
        Value::Object(fields) => fields.iter().map(|(key, part)| (key.clone(), part)).collect(),
        Value::Array(parts) => {
            parts.iter().enumerate().map(|(i, part)| (i.to_string(), part)).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    };
    [String::new()].into_iter().chain(parts.into_iter().flat_map(below)).collect()
}

/// The kernel with another value in one place, or without it, or with a field more.
fn mutants(kernel: &Value, pointer: &str) -> Vec<Value> {
    let others = [
        json!(null),
        json!(true),
        json!(0),
        json!(-1),
        json!(1.5),
        json!(u64::MAX),
        json!(1e30),
        json!("vmem"),
        json!("tc"),
        json!("sc_scalar_subcore"),
        json!("sc_vector_subcore"),
        json!("acc(3)"),
        json!("other"),
        json!("parallel"),
        json!("pure"),
        json!("O3"),
        json!("dma"),
        json!("store"),
        json!("scalar"),
        json!("bW9=kdWx"),
        json!("bW9kdWxr"),
        json!("bW9kdX=="),
        json!([]),
        json!([1]),
        json!([1, 2]),
        json!([null]),
        json!({}),
        json!({"element": 3}),
        json!({"element": 3, "of": 1}),
        json!({"element": -3}),
    ];
    let with = |edit: &dyn Fn(&mut Value)| {
        let mut mutant = kernel.clone();
        edit(mutant.pointer_mut(pointer).unwrap());
        mutant
    };
    let mut mutants: Vec<_> = others.iter().map(|other| with(&|at| *at = other.clone())).collect();
    let more = with(&|at| {
        if let Some(fields) = at.as_object_mut() {
            fields.insert("spcae".to_owned(), json!("vmem"));
        }
    });
    mutants.push(more);
    // As serde writes structs and variants in other formats.
    mutants.push(with(&|at| {
        if let Value::Object(fields) = at {
            *at = fields.values().cloned().collect();
        }
    }));
    mutants.push(with(&|at| {
        if let Value::String(word) = at {
            *at = json!({ &*word: null });
        }
    }));
    // What is true of lists of kernels is another test.
    mutants.retain(|mutant| !mutant.is_array());
    if let Some((parent, field)) = pointer.rsplit_once('/') {
        let mut mutant = kernel.clone();
        let parent = mutant.pointer_mut(parent).unwrap();
        match parent.as_object_mut() {
            Some(fields) => drop(fields.remove(field)),
            None => drop(parent.as_array_mut().unwrap().remove(field.parse().unwrap())),
        }
        mutants.push(mutant);
    }
    mutants
}

fn reads(kernel: &Value) -> bool {
    Kernels::new(&kernel.to_string()).all(|kernel| kernel.is_ok())
}

fn validator(schema: &Value) -> Validator {
    jsonschema::validator_for(schema).unwrap()
}

/// The output schema, without room for fields that it does not name.
fn closed_output() -> Validator {
    fn close(schema: &mut Value) {
        if let Value::Object(fields) = schema {
            if fields.contains_key("properties") {
                fields.insert("additionalProperties".to_owned(), false.into());
            }
            fields.values_mut().for_each(close);
        }
    }
    let mut schema = output_schema().to_value();
    close(&mut schema);
    validator(&schema)
}

fn assert_valid(schema: &Validator, value: &Value, file: &Path) {
    let errors: Vec<_> = schema
        .iter_errors(value)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{}: {errors:?}", file.display());
}

/// What `check --format json` prints.
fn reports(file: &Path) -> Vec<Value> {
    let output = Command::new(env!("CARGO_BIN_EXE_mosaic-memspace"))
        .args(["check", "--format", "json"])
        .arg(file)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let reports: Vec<_> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(!reports.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    reports
}

fn kernel_files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernels");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let is_json = |path: &PathBuf| path.extension().is_some_and(|it| it == "json" || it == "jsonl");
    let files: Vec<_> = files.filter(is_json).collect();
    assert!(!files.is_empty());
    files
}
