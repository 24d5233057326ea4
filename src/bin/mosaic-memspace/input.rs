//! What there is to read: files and standard input, gzipped or not.

use crate::failure::Failure;
use flate2::bufread::MultiGzDecoder;
use mosaic_memspace::bytecode::Bytecode;
use std::fs;
use std::io::{self, Read};

/// A text, and what to call it.
pub(crate) struct Input {
    pub(crate) name: String,
    pub(crate) text: String,
}

/// What a file holds, told by its content.
pub(crate) enum Content {
    /// Descriptions of kernels, or what is none of the others.
    Json(Input),
    /// StableHLO or HLO.
    Dump(Input),
    /// A kernel's module in bytecode.
    Module { name: String, bytes: Vec<u8> },
}

/// More than this is not unpacked: a dump of 100 MB is far below it, and so little input
/// must not take all memory.
const MOST_UNPACKED: u64 = 1 << 30;

impl Content {
    /// What is in a file, or in standard input for `-`.
    pub(crate) fn read(file: &str) -> Result<Self, Failure> {
        let (name, bytes) = bytes(file)?;
        if Bytecode::is_bytecode(&bytes) {
            return Ok(Self::Module { name, bytes });
        }
        let text = String::from_utf8(bytes).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            Failure::Unusable(format!(": {name}: byte {at} is not UTF-8"))
        })?;
        let input = Input { name, text };
        Ok(if is_dump(&input.text) { Self::Dump(input) } else { Self::Json(input) })
    }
}

/// What MLIR and HLO have and no description.
fn is_dump(text: &str) -> bool {
    let start = text.trim_start();
    if start.starts_with(['{', '[']) {
        // A backend config by itself.
        return text.contains("\"custom_call_config\"");
    }
    let begins = ["module", "HloModule", "#loc", "#map", "\"builtin.module\"", "func.func"];
    begins.iter().any(|begin| start.starts_with(begin)) || text.contains("tpu_custom_call")
}

fn bytes(file: &str) -> Result<(String, Vec<u8>), Failure> {
    let (name, bytes) = if file == "-" {
        let mut bytes = Vec::new();
        ("<stdin>", io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes))
    } else {
        (file, fs::read(file))
    };
    let unusable = |error| Failure::Unusable(format!(": {name}: {error}"));
    let bytes = bytes.map_err(unusable)?;
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return Ok((name.to_owned(), bytes));
    }
    let mut unpacked = Vec::new();
    let mut reader = MultiGzDecoder::new(bytes.as_slice()).take(MOST_UNPACKED.saturating_add(1));
    reader.read_to_end(&mut unpacked).map_err(unusable)?;
    if unpacked.len() as u64 > MOST_UNPACKED {
        let message = format!(": {name}: more than {MOST_UNPACKED} bytes when unpacked");
        return Err(Failure::Unusable(message));
    }
    Ok((name.to_owned(), unpacked))
}
