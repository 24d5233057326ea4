//! What `mosaic-memspace chips` prints, and when it doesn't.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test")]

use mosaic_memspace::{Chip, CoreType, TpuSpace};
use serde_json::Value;
use std::process::{Command, Output};

fn chips(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_mosaic-memspace"))
        .arg("chips")
        .args(arguments)
        .env("NO_COLOR", "1")
        .output()
        .unwrap()
}

fn json(arguments: &[&str]) -> Vec<Value> {
    let output = chips(&[arguments, &["--format", "json"]].concat());
    assert!(output.status.success());
    serde_json::from_slice(&output.stdout).unwrap()
}

fn text(output: &[u8]) -> &str {
    str::from_utf8(output).unwrap()
}

#[test]
fn json_has_every_chip_and_what_each_of_its_cores_has() {
    let objects = json(&[]);
    assert_eq!(objects.len(), Chip::ALL.len());
    for (object, chip) in objects.iter().zip(Chip::ALL) {
        assert_eq!(object["name"], chip.as_str());
        assert_eq!(object["vmem_capacity_bytes"], chip.facts().vmem_capacity_bytes);
        for core_type in CoreType::ALL {
            for space in TpuSpace::ALL {
                let capacity = chip.facts().capacity(*space, *core_type);
                let written = object["capacities"][core_type.as_str()].get(space.as_str());
                assert_eq!(written.is_some(), capacity.is_present());
                assert_eq!(written.and_then(Value::as_u64), capacity.bytes());
            }
        }
    }
}

#[test]
fn a_chip_is_found_by_each_of_its_names() {
    for chip in Chip::ALL {
        let names = [chip.as_str()].into_iter().chain(chip.device_kinds().iter().copied());
        for name in names.chain(chip.topology()) {
            let objects = json(&[name]);
            assert_eq!(objects.len(), 1);
            assert_eq!(objects[0]["name"], chip.as_str(), "{name}");
        }
    }
}

#[test]
fn chips_that_are_named_stand_side_by_side() {
    let output = chips(&["v5e", "TPU7x", "--format", "markdown"]);
    let table = text(&output.stdout);
    assert!(table.starts_with("| fact | v5e | 7x |\n"), "{table}");
    assert!(table.contains("| vmem | 128 MiB | 64 MiB |\n"), "{table}");
    assert!(table.contains("| core | space | v5e | 7x |\n"), "{table}");
    assert!(table.contains("| sc_vector_subcore | vmem | - | 512 KiB |\n"), "{table}");
}

#[test]
fn an_unknown_chip_is_an_error_that_names_the_known_ones() {
    let output = chips(&["v5e", "v9"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
    let message = text(&output.stderr);
    assert!(message.starts_with("error[UnknownChip]: unknown chip: v9; expected one of v2, "));
    assert!(message.contains("help: "), "{message}");
}
