//! What is found in dumps: every call, whatever its strings hold.

#![allow(clippy::arithmetic_side_effects, clippy::unwrap_used, reason = "tests")]

use mosaic_memspace::Dtype;
use mosaic_memspace::custom_call::{
    BackendConfig, CallOperand, CustomCall, Dump, SideEffects, TensorType, ValueName,
    body_memory_spaces,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};

fn array(shape: &[u64]) -> TensorType<'_> {
    TensorType::new(shape, Dtype::Complex64)
}

proptest! {
    #[test]
    fn a_printed_call_is_found_with_all_that_it_says(
        body in vec(any::<u8>(), 0..60),
        kernel_name in option::of(any::<String>()),
        metadata in option::of(any::<String>()),
        arrays in vec(vec(any::<u64>(), 0..4), 0..4),
        results in 0_usize..4,
        repeated in 1_u64..4,
    ) {
        let mut config = BackendConfig::new(&body);
        config.set_vmem_limit_bytes(Some(1 << 20));
        let name = ValueName::new("%x").unwrap();
        let operands: Vec<_> = arrays.iter().map(|shape| CallOperand::new(name, array(shape))).collect();
        let shapes = vec![array(&[2, 3]); results];
        let mut call = CustomCall::new(&config, &operands, &shapes, &[]).unwrap();
        call.kernel_name = kernel_name.as_deref();
        call.kernel_metadata = metadata.as_deref();
        call.side_effects = SideEffects::DataflowSideEffecting;

        let text = format!("module {{\n  {call}\n}}\n").repeat(usize::try_from(repeated).unwrap());
        let mut dump = Dump::new(text.as_bytes());
        for i in 0_u64..repeated {
            let found = dump.next_call().unwrap().unwrap();
            prop_assert_eq!(found.line, 2 + 3 * i);
            prop_assert_eq!(found.kernel_name.as_deref(), kernel_name.as_deref());
            prop_assert_eq!((found.operands, found.results), (arrays.len(), results));
            prop_assert_eq!(found.config().unwrap().to_json(), config.to_json());
        }
        prop_assert!(dump.next_call().unwrap().is_none());
    }

    #[test]
    fn no_text_is_too_wild(text in "(tpu_custom_call|stablehlo.custom_call |@|\\(|\\)|\"|\\\\|=|backend_config|custom_call_target=|\\{|\\}|,| |->|é|\n)*") {
        let mut dump = Dump::new(text.as_bytes());
        while let Some(call) = dump.next_call().unwrap() {
            let _ = call.config().map(|config| config.to_json());
        }
    }
}

/// The dumps that lie beside the project, where there are any.
fn shared_dumps() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/dumps");
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    entries.map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn every_call_of_the_shared_dumps_is_found_and_wholly_known() {
    for path in shared_dumps() {
        let text = fs::read_to_string(&path).unwrap();
        let calls = text.matches("@tpu_custom_call(").count()
            + text.matches("custom_call_target=\"tpu_custom_call\"").count();
        let mut dump = Dump::new(BufReader::new(File::open(&path).unwrap()));
        let mut found = 0;
        while let Some(call) = dump.next_call().unwrap() {
            found += 1;
            let config = call.config().unwrap();
            assert_eq!(config.unknown(), [], "{}", path.display());
            assert!(!body_memory_spaces(&config.body.decode().unwrap()).unwrap().is_empty());
            assert!(call.operands > 0 && call.results == 1);
            let again = config.to_json();
            assert_eq!(BackendConfig::from_json(&again).unwrap().to_json(), again);
        }
        assert!(found > 0 && found == calls, "{}: {found} of {calls}", path.display());
    }
}

#[test]
fn stablehlo_and_hlo_agree_on_a_kernel() {
    for stablehlo in shared_dumps() {
        let name = stablehlo.to_string_lossy().replace(".stablehlo.mlir", ".hlo.txt");
        let hlo = PathBuf::from(name);
        if hlo == stablehlo || !hlo.exists() {
            continue;
        }
        let mut before = Dump::new(BufReader::new(File::open(&stablehlo).unwrap()));
        let mut after = Dump::new(BufReader::new(File::open(&hlo).unwrap()));
        let (before, after) =
            (before.next_call().unwrap().unwrap(), after.next_call().unwrap().unwrap());
        assert_eq!((before.operands, before.results), (after.operands, after.results));
        let (before, after) = (before.config().unwrap(), after.config().unwrap());
        assert_eq!(before.body.decode(), after.body.decode());
        assert_eq!(before.cost_estimate, after.cost_estimate);
        assert_eq!(before.vmem_limit_bytes(), after.vmem_limit_bytes());
        assert_eq!(before.collective_id, after.collective_id);
        assert_eq!(before.serialization_format, after.serialization_format);
        assert_eq!(before.flag_configs.unwrap_or_default(), after.flag_configs.unwrap_or_default());
    }
}
