//! The command `inspect`, run as people run it.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use flate2::Compression;
use flate2::write::GzEncoder;
use mosaic_memspace::Dtype;
use mosaic_memspace::custom_call::{
    BackendConfig, CallOperand, Color, CustomCall, FlagConfig, FlagName, FlagValue, InputColor,
    LibtpuVersion, OptLevel, TensorType, ValueName,
};
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const BODY: &[u8] = b"ML\xefR #tpu.memory_space<vmem> #tpu.memory_space<hbm>";

/// A folder of its own for a test.
fn folder(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn inspect(arguments: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_mosaic-memspace"))
        .arg("inspect")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    child.wait_with_output().unwrap()
}

fn json_of(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A module with a SparseCore kernel that says all that can be said.
fn module() -> String {
    let mut config = BackendConfig::new(BODY);
    let mark = LibtpuVersion::NEWEST.one_core_mark();
    config.set_sparse_core(None, Some(OptLevel::O2), Some(mark));
    config.has_communication = true;
    config.collective_id = Some(3.into());
    config.set_vmem_limit_bytes(Some(4096));
    config.set_output_colors(&[None, Some(Color::Vmem)]);
    config.set_input_colors(&[Some(InputColor::Hbm), None]);
    config.serialization_format = Some(1);
    let flag = FlagConfig::new(FlagName::new("xla_a").unwrap(), FlagValue::Bool(true));
    config.flag_configs = Some(vec![flag]);

    let array = TensorType::new(&[8, 128], Dtype::Float32);
    let names = ["%a", "%b"].map(|name| ValueName::new(name).unwrap());
    let operands = names.map(|name| CallOperand::new(name, array));
    let results = [array, array];
    let mut call = CustomCall::new(&config, &operands, &results, &[]).unwrap();
    call.kernel_name = Some("a/kernel");
    format!("module {{\n{call}\n}}\n")
        .replace("\\22collective_id", "\\22new\\22: 1, \\22collective_id")
}

#[test]
fn json_has_what_a_call_says() {
    let folder = folder("json");
    let file = folder.join("module.mlir");
    fs::write(&file, module()).unwrap();
    let file = file.to_str().unwrap();
    let output = inspect(&["--format", "json", file], b"");
    assert!(output.status.success());
    assert_eq!(
        json_of(&output),
        json!([{
            "file": file,
            "line": 2,
            "kernel_name": "a/kernel",
            "device_type": "sparsecore",
            "has_communication": true,
            "collective_id": 3,
            "vmem_limit_bytes": 4096,
            "cost_estimate": null,
            "flags": {"xla_a": true},
            "tiling": "TILING_COMPACT",
            "opt_level": "O2",
            "input_memory_spaces": ["hbm", null],
            "output_memory_spaces": [null, "vmem"],
            "serialization_format": 1,
            "body_bytes": BODY.len(),
            "body_memory_spaces": ["#tpu.memory_space<hbm>", "#tpu.memory_space<vmem>"],
            "unknown": ["custom_call_config.new"],
        }])
    );
}

#[test]
fn gzipped_text_is_read_from_a_file_and_from_standard_input() {
    let folder = folder("gzip");
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(module().as_bytes()).unwrap();
    let gzipped = encoder.finish().unwrap();
    let file = folder.join("module.mlir.gz");
    fs::write(&file, &gzipped).unwrap();

    for output in [
        inspect(&["--format", "json", file.to_str().unwrap()], b""),
        inspect(&["--format", "json"], &gzipped),
        inspect(&["--format", "json", "-"], module().as_bytes()),
    ] {
        assert!(output.status.success());
        assert_eq!(json_of(&output)[0]["kernel_name"], "a/kernel");
    }
}

#[test]
fn bodies_are_written_out() {
    let folder = folder("bodies");
    let bodies = folder.join("new");
    let output = inspect(&["--body", bodies.to_str().unwrap()], module().as_bytes());
    assert!(output.status.success());
    assert_eq!(fs::read(bodies.join("001-a_kernel.mlirbc")).unwrap(), BODY);
}

#[test]
fn a_table_names_the_kernel_and_its_spaces() {
    let output = inspect(&["--color", "never"], module().as_bytes());
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(table.contains("a/kernel") && table.contains("hbm vmem"), "{table}");
}

#[test]
fn a_call_that_cannot_be_read_is_told_and_the_others_are_shown() {
    let module = module();
    let cut = module.lines().nth(1).unwrap().split_at(90).0;
    let output = inspect(&["--format", "json"], format!("{cut}\n{module}").as_bytes());
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(json_of(&output).as_array().map(Vec::len), Some(1));
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("[InvalidConfig]: -:1: backend config, at "), "{told}");

    let output = inspect(&["--format", "json", "no-such-file"], b"");
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(json_of(&output), json!([]));
    assert!(String::from_utf8(output.stderr).unwrap().contains("no-such-file"));
}

#[test]
fn a_text_without_calls_gives_none() {
    let output = inspect(&["--format", "json"], b"module {}\n");
    assert!(output.status.success());
    assert_eq!(json_of(&output), json!([]));
}
