//! Texts to read: files and standard input.

use crate::failure::Failure;
use std::fs;
use std::io::{self, Read};

/// A text, and what to call it.
pub(crate) struct Input {
    pub(crate) name: String,
    pub(crate) text: String,
}

impl Input {
    /// The text of a file, or of standard input for `-`.
    pub(crate) fn read(file: &str) -> Result<Self, Failure> {
        let (name, bytes) = if file == "-" {
            let mut bytes = Vec::new();
            ("<stdin>", io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes))
        } else {
            (file, fs::read(file))
        };
        let bytes = bytes.map_err(|error| Failure::Unusable(format!(": {name}: {error}")))?;
        let text = String::from_utf8(bytes).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            Failure::Unusable(format!(": {name}: byte {at} is not UTF-8"))
        })?;
        Ok(Self { name: name.to_owned(), text })
    }
}
