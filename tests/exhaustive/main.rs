//! The promise that a forgotten core type or memory space does not compile,
//! held against the compiler itself.
//!
//! `MOSAIC_BLESS=1` rewrites the lists of places that must decide.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::unnecessary_debug_formatting,
    reason = "a test, whose failures are panics; Debug quotes a path as TOML wants it"
)]

#[path = "../pass/mod.rs"]
mod pass;

use pass::{pass, root};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

const NON_EXHAUSTIVE: &str = "E0004";

#[test]
fn a_pass_that_forgets_a_core_type_does_not_compile() {
    let complete = "
        use mosaic_memspace::CoreType;
        pub fn lower(core_type: CoreType) -> u32 {
            match core_type {
                CoreType::Tc => 0,
                CoreType::ScScalarSubcore => 1,
                CoreType::ScVectorSubcore => 2,
            }
        }";
    let forgetful = complete.replace("CoreType::ScVectorSubcore => 2,", "");
    assert_eq!(errors_of_pass("core_type_complete", complete), [""; 0]);
    assert_eq!(errors_of_pass("core_type_forgotten", &forgetful), [NON_EXHAUSTIVE]);
}

#[test]
fn a_pass_that_forgets_a_resolved_space_does_not_compile() {
    let complete = "
        use mosaic_memspace::{MemrefSpace, Resolved};
        pub fn lower(resolved: Resolved) -> u32 {
            match resolved {
                Resolved::VMEM | Resolved::VMEM_SHARED => 0,
                Resolved::SMEM | Resolved::CMEM => 1,
                Resolved::SEMAPHORE_MEM => 2,
                Resolved::HBM => 3,
                Resolved::ANY | Resolved::HOST => 4,
                Resolved::Memref(MemrefSpace::Core(_)) => 5,
                Resolved::Acc(_) => 6,
            }
        }";
    let forgetful = complete.replace("Resolved::HBM => 3,", "");
    assert_eq!(errors_of_pass("space_complete", complete), [""; 0]);
    assert_eq!(errors_of_pass("space_forgotten", &forgetful), [NON_EXHAUSTIVE]);
}

#[test]
fn an_accumulator_has_no_attribute_to_ask_for() {
    let asking = "
        use mosaic_memspace::{MemorySpaceAttr, Resolved};
        pub fn lower(resolved: Resolved) -> bool {
            MemorySpaceAttr::new(resolved).is_ok()
        }";
    assert_eq!(errors_of_pass("accumulator", asking), ["E0308"]);
}

#[test]
fn an_accumulator_is_freed_once() {
    let once = "
        use mosaic_memspace::rules::{AccumulatorAllocator, Allocation};
        pub fn free(allocator: &mut AccumulatorAllocator<'_>, placed: Allocation) -> bool {
            allocator.free(placed).is_ok()
        }";
    let twice = once.replace(".is_ok()", ".is_ok() && allocator.free(placed).is_ok()");
    assert_eq!(errors_of_pass("freed_once", once), [""; 0]);
    assert_eq!(errors_of_pass("freed_twice", &twice), ["E0382"]);
}

#[test]
fn a_logical_space_other_than_any_does_not_exist_once_resolved() {
    let asking = "
        use mosaic_memspace::{MemrefSpace, Resolved};
        pub const DEFAULT: Resolved = Resolved::Memref(MemrefSpace::Default);";
    assert_eq!(errors_of_pass("logical", asking), ["E0599"]);
}

#[test]
fn a_new_core_type_stops_every_place_that_must_decide() {
    let core_type = Growth {
        name: "core_type",
        file: "src/core_type.rs",
        last: "        ScVectorSubcore,\n    }",
    };
    assert!(core_type.places_that_stop().contains("src/resolve.rs rule\n"));
}

#[test]
fn a_new_tpu_space_stops_every_place_that_must_decide() {
    let space =
        Growth { name: "tpu_space", file: "src/memory_space/mod.rs", last: "        Hbm,\n    }" };
    assert!(space.places_that_stop().contains("src/attribute.rs text\n"));
}

#[test]
fn a_new_plain_space_stops_every_place_that_must_decide() {
    let space = Growth {
        name: "plain_space",
        file: "src/memory_space/mod.rs",
        last: "        Host,\n    }",
    };
    assert!(space.places_that_stop().contains("src/resolve.rs rule\n"));
}

#[test]
fn a_new_written_space_stops_every_place_that_must_decide() {
    let space =
        Growth { name: "memory_space", file: "src/memory_space/mod.rs", last: "    Acc(u8),\n}" };
    assert!(space.places_that_stop().contains("src/resolve.rs rule\n"));
}

/// A copy of this crate whose enum has a variant more after its last one.
struct Growth {
    name: &'static str,
    file: &'static str,
    last: &'static str,
}

impl Growth {
    /// Where the compiler complains of the copy, held against the committed list.
    fn places_that_stop(&self) -> String {
        let copy = scratch().join(format!("grown_{}", self.name));
        copy_crate(&copy);
        let source = fs::read_to_string(copy.join(self.file)).unwrap();
        assert!(source.contains(self.last), "{} has no {:?} any more", self.file, self.last);
        let grown = self.last.replace('}', "    /// New.\n    New,\n}");
        fs::write(copy.join(self.file), source.replacen(self.last, &grown, 1)).unwrap();

        let mut places = BTreeSet::new();
        for error in check(&copy) {
            assert_eq!(error.code, NON_EXHAUSTIVE, "{} at {}", error.message, error.file);
            places.insert(format!("{} {}\n", error.file, enclosing(&copy, &error)));
        }
        let got: String = places.into_iter().collect();

        let list = root().join(format!("tests/exhaustive/{}.txt", self.name));
        if env::var_os("MOSAIC_BLESS").is_some() {
            fs::write(&list, &got).unwrap();
        }
        let expected = fs::read_to_string(&list).unwrap_or_default();
        assert_eq!(expected, got, "{}: see the places that decide", list.display());
        got
    }
}

/// The codes of the errors of a lowering pass that depends on this crate.
fn errors_of_pass(name: &str, source: &str) -> Vec<String> {
    let pass = pass(&scratch(), name, "src/lib.rs", source);
    check(&pass).into_iter().map(|error| error.code).collect()
}

struct CompileError {
    code: String,
    message: String,
    file: String,
    line: usize,
}

/// What `cargo check` has against the library in `folder`.
fn check(folder: &Path) -> Vec<CompileError> {
    let output = Command::new(env!("CARGO"))
        .args(["check", "--quiet", "--lib", "--message-format=json"])
        .current_dir(folder)
        .env("CARGO_TARGET_DIR", scratch().join("target"))
        .env_remove("RUSTFLAGS")
        .output()
        .unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    let errors: Vec<_> = stdout
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|line| line["message"]["level"] == "error")
        .filter_map(|line| compile_error(&line["message"]))
        .collect();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.success(), errors.is_empty(), "{stderr}");
    errors
}

/// An error with a place; "could not compile" and its like have none.
fn compile_error(message: &Value) -> Option<CompileError> {
    let span = message["spans"].as_array()?.iter().find(|span| span["is_primary"] == true)?;
    Some(CompileError {
        code: message["code"]["code"].as_str().unwrap_or_default().to_owned(),
        message: message["message"].as_str()?.to_owned(),
        file: span["file_name"].as_str()?.to_owned(),
        line: usize::try_from(span["line_start"].as_u64()?).ok()?,
    })
}

/// The function that the error is in.
fn enclosing(copy: &Path, error: &CompileError) -> String {
    let source = fs::read_to_string(copy.join(&error.file)).unwrap();
    let above: Vec<_> = source.lines().take(error.line).collect();
    let name =
        above.iter().rev().find_map(|line| line.split_once("fn ")?.1.split(['(', '<']).next());
    name.expect("an error outside every function").to_owned()
}

const NOT_COPIED: [&str; 3] = ["[test]]", "[bench]]", "[example]]"];

fn copy_crate(copy: &Path) {
    if copy.exists() {
        fs::remove_dir_all(copy).unwrap();
    }
    copy_folder(&root().join("src"), &copy.join("src"));
    copy_folder(&root().join("docs"), &copy.join("docs"));
    fs::copy(root().join("Cargo.lock"), copy.join("Cargo.lock")).unwrap();
    fs::copy(root().join("README.md"), copy.join("README.md")).unwrap();
    // Without the targets whose files are not copied, and with a name of its own:
    // cargo tells packages in one target folder apart by their names.
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let library_only: String = manifest
        .split_inclusive("\n[")
        .filter(|section| !NOT_COPIED.iter().any(|target| section.starts_with(target)))
        .collect();
    let name = copy.file_name().and_then(|name| name.to_str()).unwrap();
    let renamed = library_only.replacen("\"mosaic-memspace\"", &format!("\"{name}\""), 1);
    fs::write(copy.join("Cargo.toml"), renamed + "\n[workspace]\n").unwrap();
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy_folder(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}

fn scratch() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("exhaustive")
}
