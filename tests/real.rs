//! Checks every dump of kernels in use below `../shared/real`, or below the folder
//! that `MOSAIC_REAL` names, as a user would: by the command line. `expect.tsv` there
//! says what the compiler made of each.
//!
//! A kernel that the compiler takes must be let through, and what is counted of VMEM
//! must never exceed what the compiler took. Described by `describe`, it must come to the
//! same.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test"
)]

use mosaic_memspace::read::Kernels;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{env, fs};

/// Refusals for these are for want of memory, which declarations foretell.
const MEMORY: [&str; 3] = ["vmem", "smem", "memory"];

/// Shares of what was found when the test was written, in percent: refusals for
/// memory foretold, and sums of VMEM that equal the compiler's.
const FORETOLD_PERCENT: usize = 81;
const EXACT_PERCENT: usize = 38;

fn main() -> ExitCode {
    let folder = env::var_os("MOSAIC_REAL").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/real"),
        PathBuf::from,
    );
    let Ok(expected) = fs::read_to_string(folder.join("expect.tsv")) else {
        println!("no dumps in {}: nothing to check", folder.display());
        return ExitCode::SUCCESS;
    };
    let mut tally = Tally::default();
    let rows: Vec<Row<'_>> = expected.lines().skip(1).filter_map(Row::of).collect();
    for row in &rows {
        tally.add(row, &folder);
    }
    tally.judge(rows.len())
}

/// A line of `expect.tsv`.
struct Row<'a> {
    file: &'a str,
    chip: &'a str,
    taken: bool,
    class: &'a str,
    vmem_bytes: Option<u64>,
    kernel: &'a str,
}

impl<'a> Row<'a> {
    fn of(line: &'a str) -> Option<Self> {
        let mut cells = line.split('\t');
        let mut next = || cells.next();
        Some(Self {
            file: next()?,
            chip: next()?,
            taken: next()? == "ok",
            class: next()?,
            vmem_bytes: next()?.parse().ok(),
            kernel: next()?,
        })
    }
}

/// What a kernel comes to: its name, its bytes and its errors.
fn verdict(kernel: &Value) -> (Value, Value, Vec<Value>) {
    let errors = kernel["diagnostics"].as_array().into_iter().flatten();
    let errors = errors.filter(|it| it["severity"] == "error").map(|it| it["code"].clone());
    (kernel["name"].clone(), kernel["fit"].clone(), errors.collect())
}

/// What its kernels come to once they have been described.
fn described_again(row: &Row<'_>, folder: &Path) -> Vec<(Value, Value, Vec<Value>)> {
    let described = Command::new(env!("CARGO_BIN_EXE_mosaic-memspace"))
        .args(["describe", "--chip", row.chip])
        .arg(folder.join(row.file))
        .output()
        .unwrap();
    let text = String::from_utf8(described.stdout).unwrap();
    let mut verdicts = Vec::new();
    for kernel in Kernels::new(&text) {
        let report = kernel.unwrap().kernel.check();
        verdicts.push(verdict(&serde_json::to_value(&report).unwrap()));
    }
    verdicts
}

#[derive(Default)]
struct Tally {
    agreed: usize,
    measured: usize,
    exact: usize,
    memory: usize,
    foretold: usize,
    /// Refusals that are let through, by the compiler's reason.
    passed: BTreeMap<String, usize>,
    wrong: Vec<String>,
}

impl Tally {
    fn add(&mut self, row: &Row<'_>, folder: &Path) {
        let run = Command::new(env!("CARGO_BIN_EXE_mosaic-memspace"))
            .args(["check", "--chip", row.chip, "--format", "json"])
            .arg(folder.join(row.file))
            .output()
            .unwrap();
        let refused = match run.status.code() {
            Some(0) => false,
            Some(1) => true,
            other => {
                let said = String::from_utf8_lossy(&run.stderr);
                self.wrong.push(format!("{} {}: exit {other:?}: {said}", row.file, row.kernel));
                return;
            }
        };
        let kernels: Vec<Value> =
            serde_json::Deserializer::from_slice(&run.stdout).into_iter().flatten().collect();
        let mut wrong = None;
        if row.taken && refused {
            let said: Vec<_> =
                kernels.iter().map(|kernel| kernel["diagnostics"].to_string()).collect();
            wrong = Some(format!("the compiler takes it: {}", said.join(" ")));
        }
        let again = described_again(row, folder);
        if again != kernels.iter().map(verdict).collect::<Vec<_>>() {
            wrong = Some(format!("described, it checks as {again:?}"));
        }
        let again = described_again(row, folder);
        if again != kernels.iter().map(verdict).collect::<Vec<_>>() {
            wrong = Some(format!("described, it checks as {again:?}"));
        }
        if !row.taken {
            let memory = MEMORY.contains(&row.class);
            self.memory += usize::from(memory);
            self.foretold += usize::from(memory && refused);
            if !refused {
                *self.passed.entry(row.class.to_owned()).or_default() += 1;
            }
        }
        if let (true, Some(taken)) = (row.taken, row.vmem_bytes) {
            let counted: u64 =
                kernels.iter().filter_map(|kernel| kernel["fit"]["vmem_bytes"].as_u64()).sum();
            self.measured += 1;
            self.exact += usize::from(counted == taken);
            if counted > taken || kernels.is_empty() {
                wrong = Some(format!("{counted} bytes counted of {taken} taken"));
            }
        }
        match wrong {
            None => self.agreed += 1,
            Some(wrong) => self.wrong.push(format!("{} {}: {wrong}", row.file, row.kernel)),
        }
    }

    fn judge(&self, all: usize) -> ExitCode {
        for wrong in &self.wrong {
            println!("{wrong}");
        }
        for (class, count) in &self.passed {
            println!("refused by the compiler and let through, {class}: {count}");
        }
        println!("refusals for memory foretold: {} of {}", self.foretold, self.memory);
        println!("sums of VMEM equal to the compiler's: {} of {}", self.exact, self.measured);
        println!("{} of {all}", self.agreed);
        let enough = |part: usize, whole: usize, percent: usize| part * 100 >= whole * percent;
        let holds = self.wrong.is_empty()
            && all > 0
            && enough(self.foretold, self.memory, FORETOLD_PERCENT)
            && enough(self.exact, self.measured, EXACT_PERCENT);
        if holds { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}
