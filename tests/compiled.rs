//! The custom call that this crate prints, compiled by libtpu for a TensorCore and a
//! SparseCore. Needs the oracle (Linux, Python and, once, PyPI), so it runs only when
//! it is asked for, as `.ci/run` does: `cargo test --test compiled -- --ignored`.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use mosaic_memspace::Dtype;
use mosaic_memspace::custom_call::{
    BackendConfig, CallOperand, Color, CostEstimate, CustomCall, LibtpuVersion, SideEffects,
    TensorType, ValueName,
};
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::{env, thread};

const DOUBLE: &str = include_str!("kernels/double.mlir");
const MOVE: &str = include_str!("kernels/move.mlir");

const ROWS: TensorType<'static> = TensorType::new(&[512, 256], Dtype::Float32);
const LINE: TensorType<'static> = TensorType::new(&[1024], Dtype::Int32);

#[test]
#[ignore = "asks libtpu's compiler"]
fn what_is_printed_is_compiled() {
    let wrong = DOUBLE.replace("arith.addf", "arith.no_such_operation");
    let questions = [
        ("v5e", tensor_core(DOUBLE)),
        ("v6e", tensor_core(DOUBLE)),
        ("7x", tensor_core(DOUBLE)),
        ("v6e", sparse_core()),
        ("7x", sparse_core()),
        ("v5e", tensor_core(&wrong)),
    ];
    let answers = compile(&questions);
    assert_eq!(answers.len(), questions.len());
    for ((chip, module), answer) in questions[..5].iter().zip(&answers) {
        assert_eq!(*answer, json!({"ok": null}), "{chip}: {module}");
    }
    let refusal = answers[5]["error"].as_str().unwrap();
    assert!(refusal.contains("no_such_operation"), "{refusal}");
}

#[test]
fn the_listing_of_the_readme_is_the_example() {
    let readme = include_str!("../README.md");
    let lowering = readme.split_once("## Lower with it").unwrap().1;
    let listing = lowering.split_once("```rust\n").unwrap().1.split_once("```").unwrap().0;
    let (_, example) = include_str!("../examples/lower.rs").split_once("\n\n").unwrap();
    assert_eq!(listing, example);
}

#[test]
#[ignore = "asks libtpu's compiler"]
fn the_example_of_the_readme_is_compiled() {
    let example = Command::new(env!("CARGO"))
        .args(["run", "--quiet", "--example", "lower", "--manifest-path"])
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml"))
        .output()
        .unwrap();
    assert!(example.status.success(), "{}", String::from_utf8_lossy(&example.stderr));
    let printed = String::from_utf8(example.stdout).unwrap();
    let wrong = printed
        .replace("needs_layout_passes", "serialization_format\\22: 1, \\22needs_layout_passes");
    assert_ne!(printed, wrong);
    let answers = compile(&[("v5e", printed), ("v6e", wrong)]);
    assert_eq!(answers[0], json!({"ok": null}));
    let refusal = answers[1]["error"].as_str().unwrap();
    assert!(refusal.contains("Missing or invalid version attribute"), "{refusal}");
}

fn tensor_core(kernel: &str) -> String {
    let mut config = BackendConfig::new(kernel.as_bytes());
    config.needs_layout_passes = true;
    config.set_vmem_limit_bytes(Some(1 << 21));
    config.set_output_colors(&[Some(Color::Hbm)]);
    let mut cost = CostEstimate::default();
    cost.flops = 512 * 256;
    config.cost_estimate = Some(cost);
    module(ROWS, |operands| call(&config, operands, "double"))
}

fn sparse_core() -> String {
    let mut config = BackendConfig::new(MOVE.as_bytes());
    config.set_sparse_core(None, None, Some(LibtpuVersion::NEWEST.one_core_mark()));
    module(LINE, |operands| call(&config, operands, "move"))
}

fn call(config: &BackendConfig<'_>, operands: &[CallOperand<'_>], kernel_name: &str) -> String {
    let results = [operands[0].array];
    let mut call = CustomCall::new(config, operands, &results, &[]).unwrap();
    call.kernel_name = Some(kernel_name);
    call.kernel_metadata = Some("{\"say\": \"\\\"hi\\\" — it's\"}");
    call.side_effects = SideEffects::DataflowSideEffecting;
    call.to_string()
}

/// A module whose function calls a kernel of one array that gives one like it.
fn module(array: TensorType<'_>, call: impl FnOnce(&[CallOperand<'_>]) -> String) -> String {
    let call = call(&[CallOperand::new(ValueName::new("%x").unwrap(), array)]);
    format!(
        "module @compiled {{\n  func.func public @main(%x: {array}) -> {array} {{\n    {call}\n    \
         return %0 : {array}\n  }}\n}}\n"
    )
}

/// What libtpu says to each module, asked in a process of its own.
fn compile(questions: &[(&str, String)]) -> Vec<Value> {
    let mut oracle = Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oracle/run"))
        .arg("libtpu/compile_call")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = oracle.stdin.take().unwrap();
    let line =
        |(chip, module): &(&str, String)| json!({"chip": chip, "module": module}).to_string();
    let lines = questions.iter().map(line).collect::<Vec<_>>().join("\n");
    let asking = thread::spawn(move || input.write_all(lines.as_bytes()));
    let output = oracle.wait_with_output().unwrap();
    asking.join().unwrap().unwrap();
    let answers = String::from_utf8(output.stdout).unwrap();
    answers.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
