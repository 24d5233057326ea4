//! Any bytes as a dump: every call is found without a panic, and read or refused.

#![no_main]

use libfuzzer_sys::fuzz_target;
use mosaic_memspace::custom_call::Dump;

fuzz_target!(|bytes: &[u8]| {
    let mut dump = Dump::new(bytes);
    let mut line = 0;
    while let Some(call) = dump.next_call().expect("a slice has no errors") {
        assert!(call.line >= line);
        line = call.line;
        if let Ok(config) = call.config() {
            let _ = config.to_json();
        }
    }
});
