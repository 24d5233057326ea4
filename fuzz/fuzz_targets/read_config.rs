//! Any text: it is refused, or what is written again is JSON that says the same.

#![no_main]

use libfuzzer_sys::fuzz_target;
use mosaic_memspace::custom_call::{BackendConfig, body_memory_spaces};

fuzz_target!(|text: &str| {
    let config = match BackendConfig::from_json(text) {
        Ok(config) => config,
        Err(error) => {
            assert!(!error.path().is_empty());
            return;
        }
    };
    let json = config.to_json();
    assert_eq!(json.len(), config.json_len());
    assert!(serde_json::from_str::<serde::de::IgnoredAny>(&json).is_ok(), "{json}");

    let again = BackendConfig::from_json(&json).expect("it was written by us");
    assert_eq!(again.to_json(), json);
    assert_eq!(again.unknown().len(), config.unknown().len());
    assert_eq!(again.vmem_limit_bytes(), config.vmem_limit_bytes());
    assert_eq!(again.body.decode().ok(), config.body.decode().ok());
    if let Ok(body) = config.body.decode() {
        let _ = body_memory_spaces(&body);
    }
});
