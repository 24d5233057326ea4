//! The command `inspect`, run as people run it.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use flate2::Compression;
use flate2::write::GzEncoder;
use mosaic_memspace::Dtype;
use mosaic_memspace::custom_call::{
    BackendConfig, CallOperand, Color, CustomCall, FlagConfig, FlagName, FlagValue, InputColor,
    LONGEST_LINE, LibtpuVersion, OptLevel, TensorType, ValueName,
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
            "vmem_limit_bytes": 4096, "used_vmem_bytes": null,
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
fn each_cell_of_a_table_has_a_heading() {
    let output = inspect(&["--format", "markdown"], module().as_bytes());
    let table = String::from_utf8(output.stdout).unwrap();
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split(" | ").collect()).collect();
    assert!(rows.len() == 3 && rows.iter().all(|row| row.len() == 13), "{table}");
    let below = |heading: &str| {
        let column = rows[0].iter().position(|cell| cell.trim_matches(['|', ' ']) == heading);
        rows[2][column.unwrap()].trim_matches(['|', ' '])
    };
    assert_eq!(below("kernel"), "a/kernel");
    assert_eq!(below("runs on"), "sparsecore TILING_COMPACT O2");
    assert_eq!(below("inputs"), "0:hbm");
    assert_eq!(below("outputs"), "1:vmem");
    assert_eq!(below("vmem limit"), "4096");
    assert_eq!(below("collective id"), "3");
    assert_eq!(below("communicates"), "yes");
    assert_eq!(below("flags"), "xla_a=true");
    assert_eq!(below("unknown"), "custom_call_config.new");
}

/// Gzip makes 1 MiB of one letter a thousand bytes, and may be put together from parts.
#[test]
fn a_line_too_long_to_hold_is_told_and_the_calls_around_it_are_shown() {
    let gzipped = |text: &[u8]| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    };
    let (call, part) = (gzipped(module().as_bytes()), gzipped(&vec![b'a'; 1 << 20]));
    let long = part.repeat((LONGEST_LINE >> 20) + 1);
    let output = inspect(&["--format", "json"], &[&*call, &long, &gzipped(b"\n"), &call].concat());
    assert_eq!(output.status.code(), Some(2));
    let lines: Vec<Value> =
        json_of(&output).as_array().unwrap().iter().map(|call| call["line"].clone()).collect();
    assert_eq!(lines, [2, 6]);
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        "error: -:4: the line is longer than 128 MiB and is passed over\n  \
         = help: no kernel's call is so long; print the module without its large constants\n"
    );
    let output = inspect(&[], &long);
    assert_eq!(output.status.code(), Some(2));
    assert!(!String::from_utf8(output.stderr).unwrap().contains("no tpu_custom_call in it"));
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
