//! Runs every vector below `tests/vectors`, or below the folder that
//! `MOSAIC_VECTORS` names: the recorded answers of JAX and of its compiler.
//!
//! A function is one line of `FUNCTIONS`; its family's module says how its
//! input is read and which of the crate's functions answers.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::needless_pass_by_value,
    clippy::unnecessary_wraps,
    reason = "every function has one shape here, and counts are small"
)]

mod accesses;
mod accumulators;
mod blocks;
mod custom_call;
mod fit;
mod handed_over;
mod hardware;
mod line;
mod meshes;
mod spaces;

use line::{Function, Line, function};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs, io};

fn functions() -> Vec<Function> {
    vec![
        function("accumulator", accumulators::accumulator),
        function("accumulator_alloc", accumulators::accumulator_alloc),
        function("backend_config", custom_call::backend_config),
        function("custom_call", custom_call::custom_call),
        function("device_kind", hardware::device_kind),
        function("dtype", hardware::dtype),
        function("infer_tiling", hardware::infer_tiling),
        function("resolve", spaces::resolve),
        function("matmul_pairs", hardware::matmul_pairs),
        function("mesh_compatible", meshes::mesh_compatible),
        function("mesh_memory_space", meshes::mesh_memory_space),
        function("mesh_new", meshes::mesh_new),
        function("mosaic_attribute", spaces::mosaic_attribute),
        function("color", handed_over::color),
        function("alias_memory_spaces", handed_over::alias_memory_spaces),
        function("tiling", handed_over::tiling),
        function("collective_ids", handed_over::collective_ids),
        function("collective_ids_from_base", handed_over::collective_ids_from_base),
        function("device_type", handed_over::device_type),
        function("active_core_count", handed_over::active_core_count),
        function("block_mapping", blocks::block_mapping),
        function("access", accesses::access),
        function("dma", accesses::dma),
        function("operand_space", accesses::operand_space),
        function("scratch_space", accesses::scratch_space),
        function("vmem_fit", fit::vmem_fit),
        function("smem_operand_bytes", fit::smem_bytes),
        function("sparse_core_pool", fit::sparse_core_pool),
        function("sc_supported_shapes", hardware::sc_supported_shapes),
        function("sublane_tiling", hardware::sublane_tiling),
        function("tpu_info", hardware::tpu_info),
    ]
}

/// Failures shown in full.
const SHOWN: usize = 10;

fn main() -> ExitCode {
    if env::args().any(|argument| argument == "--list") {
        println!("vectors: test");
        return ExitCode::SUCCESS;
    }
    let folder = env::var_os("MOSAIC_VECTORS").map_or_else(own_vectors, PathBuf::from);
    match run(&folder) {
        Ok(tally) => tally.report(),
        Err(error) => {
            eprintln!("{}: {error}", folder.display());
            ExitCode::FAILURE
        }
    }
}

fn own_vectors() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors")
}

fn run(folder: &Path) -> io::Result<Tally> {
    let functions = functions();
    let mut tally = Tally::default();
    for file in jsonl_files(folder)? {
        for (i, line) in fs::read_to_string(&file)?.lines().enumerate() {
            let at = format!("{}:{}", file.display(), i + 1);
            match Line::read(line).and_then(|line| line.check(&functions)) {
                Ok((name, verdict)) => tally.count(name, &at, verdict),
                Err(error) => tally.unreadable.push(format!("{at}: {error}")),
            }
        }
    }
    Ok(tally)
}

fn jsonl_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "jsonl") {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

#[derive(Default)]
struct Tally {
    /// Passed and all, by function.
    counts: BTreeMap<&'static str, (usize, usize)>,
    failures: Vec<String>,
    unreadable: Vec<String>,
}

impl Tally {
    fn count(&mut self, name: &'static str, at: &str, verdict: Result<(), line::Difference>) {
        let (passed, all) = self.counts.entry(name).or_default();
        *all += 1;
        match verdict {
            Ok(()) => *passed += 1,
            Err(difference) => self.failures.push(format!("{at}: {name}\n{difference}")),
        }
    }

    fn report(&self) -> ExitCode {
        for failure in self.failures.iter().take(SHOWN) {
            println!("{failure}");
        }
        for line in self.unreadable.iter().take(SHOWN) {
            println!("{line}");
        }
        for (name, (passed, all)) in &self.counts {
            println!("{name:26} {passed:>5} of {all:>5} passed");
        }
        let passed: usize = self.counts.values().map(|(passed, _)| passed).sum();
        let failed = self.failures.len() + self.unreadable.len();
        println!("{passed} passed, {failed} failed");
        if passed == 0 || failed > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
    }
}
