//! The promise that resolving what is known costs nothing, held against the
//! compiler's assembly.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::unnecessary_debug_formatting,
    reason = "a test, whose failures are panics; Debug quotes a path as TOML wants it"
)]

mod pass;

use pass::pass;
use std::fs;
use std::path::Path;
use std::process::Command;

const SOURCE: &str = "
    use mosaic_memspace::{CallSite, CoreType, MemorySpace, Resolved, resolve};
    use std::hint::black_box;

    #[unsafe(no_mangle)]
    fn literal() -> Resolved {
        Resolved::SMEM
    }

    #[unsafe(no_mangle)]
    fn constant() -> Resolved {
        resolve(MemorySpace::INDEX, CoreType::ScVectorSubcore)
    }

    #[unsafe(no_mangle)]
    fn constant_default() -> Resolved {
        CallSite::BlockSpec.resolve(None, CoreType::ScScalarSubcore)
    }

    #[unsafe(no_mangle)]
    fn unknown(space: MemorySpace, core_type: CoreType) -> Resolved {
        resolve(space, core_type)
    }

    fn main() {
        black_box((literal as fn() -> _, constant as fn() -> _, constant_default as fn() -> _));
        black_box(unknown as fn(_, _) -> _);
    }";

#[test]
fn resolving_constants_is_the_answer_itself() {
    let assembly = assembly();
    let literal = instructions(&assembly, "literal");
    assert!(!literal.is_empty(), "{assembly}");
    assert_eq!(instructions(&assembly, "constant"), literal);
    assert_eq!(instructions(&assembly, "constant_default"), literal);
    assert_ne!(instructions(&assembly, "unknown"), literal);
    assert!(!assembly.contains("7resolve"), "a call to the resolver is left");
}

/// What the compiler makes of the pass: optimized as for a release, but in the
/// profile whose macro crates the other tests have built.
fn assembly() -> String {
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR")).join("exhaustive");
    let assembly = scratch.join("constant.s");
    let output = Command::new(env!("CARGO"))
        .args(["rustc", "--quiet"])
        .args(["--config", "profile.dev.opt-level=3", "--config", "profile.dev.debug=false"])
        .args(["--config", "profile.dev.debug-assertions=false"])
        .args(["--config", "profile.dev.incremental=false"])
        .args(["--", "-C", "codegen-units=1", "--emit"])
        .arg(format!("asm={}", assembly.display()))
        .current_dir(pass(&scratch, "constant", "src/main.rs", SOURCE))
        .env("CARGO_TARGET_DIR", scratch.join("target"))
        .env_remove("RUSTFLAGS")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    fs::read_to_string(assembly).unwrap()
}

/// The instructions of a function, or of the equal one that it was merged with.
fn instructions<'a>(assembly: &'a str, name: &str) -> Vec<&'a str> {
    let merged = format!("{name} = ");
    if let Some(other) = assembly.lines().find_map(|line| line.strip_prefix(&merged)) {
        return instructions(assembly, other);
    }
    let label = format!("{name}:");
    assembly
        .lines()
        .skip_while(|line| *line != label)
        .take_while(|line| !line.starts_with(".Lfunc_end"))
        .filter_map(|line| line.strip_prefix('\t'))
        .filter(|line| !line.starts_with('.'))
        .collect()
}
