//! A lowering pass: a crate of one file that depends on this one.

use std::fs;
use std::path::{Path, PathBuf};

/// Writes the pass `name` into a folder of its own in `scratch`.
pub(crate) fn pass(scratch: &Path, name: &str, file: &str, source: &str) -> PathBuf {
    let pass = scratch.join(format!("pass_{name}"));
    fs::create_dir_all(pass.join("src")).unwrap();
    let manifest = format!(
        "[package]\nname = \"pass_{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\
         [workspace]\n[dependencies]\nmosaic-memspace = {{ path = {:?} }}\n",
        root()
    );
    fs::write(pass.join("Cargo.toml"), manifest).unwrap();
    fs::copy(root().join("Cargo.lock"), pass.join("Cargo.lock")).unwrap();
    fs::write(pass.join(file), source).unwrap();
    pass
}

pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}
