//! `chips`: the facts about chips.

use crate::Status;
use crate::failure::Failure;
use crate::grid::{Format, Grid, print_json};
use mosaic_memspace::{Capacity, Chip, ChipFacts, CoreType, SparseCoreFacts, TpuSpace};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::process::ExitCode;

/// The facts about chips: memories, units, limits, what each core has
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Chips (v5e), device kinds ("TPU v5 lite") or topologies (v5e:2x2); default: every chip
    #[arg(value_name = "CHIP")]
    chips: Vec<String>,

    #[arg(long, default_value = "text")]
    format: Format,
}

impl Arguments {
    /// What `table --of chips` asks.
    pub(crate) const fn every_chip(format: Format) -> Self {
        Self { chips: Vec::new(), format }
    }
}

pub(crate) fn run(arguments: &Arguments) -> Status {
    let chips = if arguments.chips.is_empty() {
        Chip::ALL.to_vec()
    } else {
        arguments.chips.iter().map(|word| chip(word)).collect::<Result<_, _>>()?
    };
    match arguments.format {
        Format::Json => {
            print_json(&chips.iter().map(|chip| object(*chip)).collect::<Vec<_>>())?;
        }
        Format::Text if arguments.chips.is_empty() => overview(&chips).print(Format::Text)?,
        Format::Markdown if arguments.chips.is_empty() => {
            overview(&chips).print(Format::Markdown)?;
        }
        Format::Text | Format::Markdown => {
            facts(&chips).print(arguments.format)?;
            writeln!(io::stdout())?;
            capacities(&chips).print(arguments.format)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The chip that a word names: by its own name, its device kind or its topology.
fn chip(word: &str) -> Result<Chip, Failure> {
    let other = || Chip::from_device_kind(word).or_else(|| Chip::from_topology(word));
    word.parse().or_else(|unknown| other().ok_or_else(|| Failure::fault(&unknown)))
}

/// A row for each chip, with the facts that are looked for most.
fn overview(chips: &[Chip]) -> Grid {
    let headers = ["chip", "cores", "vmem", "smem", "hbm", "mxus", "accumulators", "SparseCores"];
    let mut grid = Grid::new(headers);
    for chip in chips {
        let facts = chip.facts();
        grid.row([
            chip.to_string(),
            facts.num_physical_cores.to_string(),
            bytes(facts.vmem_capacity_bytes),
            bytes(facts.smem_capacity_bytes),
            bytes(facts.hbm_capacity_bytes),
            format!("{} of {}", facts.num_mxus, facts.mxu_column_size),
            some(facts.num_accumulators, |all| format!("{all} per mxu")),
            some(facts.sparse_core, |sparse_core| {
                format!("{} of {} subcores", sparse_core.num_cores, sparse_core.num_subcores)
            }),
        ]);
    }
    grid
}

/// A row for each fact, a column for each chip.
fn facts(chips: &[Chip]) -> Grid {
    let mut grid = Grid::new(["fact"].into_iter().chain(names(chips)));
    for (name, fact) in FACTS {
        grid.row([(*name).to_owned()].into_iter().chain(chips.iter().map(|chip| fact(*chip))));
    }
    grid
}

/// The name of a fact, and how it is shown for a chip.
type Fact = (&'static str, fn(Chip) -> String);

const FACTS: &[Fact] = &[
    ("device kinds", |chip| chip.device_kinds().join(", ")),
    ("topology", |chip| some(chip.topology(), str::to_owned)),
    ("generation", |chip| chip.facts().generation.to_string()),
    ("TensorCores", |chip| chip.facts().num_physical_cores.to_string()),
    ("  sharing parallel axes", |chip| chip.facts().compiler.default_num_cores.to_string()),
    ("megacore", |chip| yes(chip.facts().supports_megacore)),
    ("lite", |chip| yes(chip.facts().is_lite)),
    ("sublanes × lanes", |chip| {
        format!("{} × {}", chip.facts().num_sublanes, chip.facts().num_lanes)
    }),
    ("mxus", |chip| chip.facts().num_mxus.to_string()),
    ("mxu columns", |chip| chip.facts().mxu_column_size.to_string()),
    ("accumulators per mxu", |chip| some(chip.facts().num_accumulators, |all| all.to_string())),
    ("vmem", |chip| bytes(chip.facts().vmem_capacity_bytes)),
    ("  default limit of a kernel", |chip| known(chip.facts().compiler.default_vmem_limit_bytes)),
    ("  largest limit of a kernel", |chip| known(chip.facts().compiler.max_vmem_limit_bytes)),
    ("smem", |chip| bytes(chip.facts().smem_capacity_bytes)),
    ("  usable by a kernel", |chip| known(chip.facts().compiler.usable_smem_bytes)),
    ("cmem", |chip| some(chip.facts().cmem_capacity_bytes, bytes)),
    ("hbm", |chip| bytes(chip.facts().hbm_capacity_bytes)),
    ("  bandwidth per second", |chip| bytes(chip.facts().mem_bw_bytes_per_second)),
    ("bf16 operations per second", |chip| tera(chip.facts().bf16_ops_per_second)),
    ("int8 operations per second", |chip| some(chip.facts().int8_ops_per_second, tera)),
    ("fp8 operations per second", |chip| some(chip.facts().fp8_ops_per_second, tera)),
    ("int4 operations per second", |chip| some(chip.facts().int4_ops_per_second, tera)),
    ("SparseCores", |chip| sparse_core(chip, |facts| facts.num_cores.to_string())),
    ("  vector subcores", |chip| sparse_core(chip, |facts| facts.num_subcores.to_string())),
    ("  lanes", |chip| sparse_core(chip, |facts| facts.num_lanes.to_string())),
    ("  vmem per subcore", |chip| {
        sparse_core(chip, |facts| bytes(facts.vmem_capacity_bytes.into()))
    }),
    ("  smem usable by a scalar kernel", |chip| {
        sparse_core(chip, |facts| words(facts.usable_scalar_smem_words))
    }),
    ("  smem usable by a vector kernel", |chip| {
        sparse_core(chip, |facts| words(facts.usable_vector_smem_words))
    }),
    ("  smallest copy", |chip| {
        sparse_core(chip, |facts| bytes(facts.dma_granule_size_bytes.into()))
    }),
];

/// A row for each space of each core, a column for each chip.
pub(crate) fn capacities(chips: &[Chip]) -> Grid {
    let mut grid = Grid::new(["core", "space"].into_iter().chain(names(chips)));
    for core_type in CoreType::ALL {
        for space in TpuSpace::ALL {
            let has = |chip: &Chip| capacity(chip.facts().capacity(*space, *core_type));
            let row = [core_type.to_string(), space.to_string()];
            grid.row(row.into_iter().chain(chips.iter().map(has)));
        }
    }
    grid
}

fn capacity(capacity: Capacity) -> String {
    match capacity {
        Capacity::Absent => NONE.to_owned(),
        Capacity::Bytes(count) => bytes(count),
        Capacity::Unknown => UNKNOWN.to_owned(),
    }
}

/// The facts about a chip, most of them under JAX's names, and its other names.
#[derive(Serialize)]
struct Object {
    #[serde(flatten)]
    facts: &'static ChipFacts,
    device_kinds: &'static [&'static str],
    topology: Option<&'static str>,
    capacities: BTreeMap<CoreType, BTreeMap<TpuSpace, Option<u64>>>,
}

fn object(chip: Chip) -> Object {
    Object {
        facts: chip.facts(),
        device_kinds: chip.device_kinds(),
        topology: chip.topology(),
        capacities: CoreType::ALL.iter().map(|core| (*core, spaces(chip, *core))).collect(),
    }
}

/// The bytes of each space, or null where they are not public. Spaces that the core
/// does not have are left out.
fn spaces(chip: Chip, core_type: CoreType) -> BTreeMap<TpuSpace, Option<u64>> {
    let present = TpuSpace::ALL.iter().filter_map(|space| {
        let capacity = chip.facts().capacity(*space, core_type);
        capacity.is_present().then(|| (*space, capacity.bytes()))
    });
    present.collect()
}

fn names(chips: &[Chip]) -> impl Iterator<Item = &'static str> {
    chips.iter().map(|chip| chip.as_str())
}

const NONE: &str = "-";
const UNKNOWN: &str = "?";

fn some<T>(value: Option<T>, shown: impl Fn(T) -> String) -> String {
    value.map_or_else(|| NONE.to_owned(), shown)
}

fn known(value: Option<u64>) -> String {
    value.map_or_else(|| UNKNOWN.to_owned(), bytes)
}

fn words(value: Option<u32>) -> String {
    value.map_or_else(|| UNKNOWN.to_owned(), |count| format!("{count} words"))
}

fn yes(yes: bool) -> String {
    if yes { "yes" } else { NONE }.to_owned()
}

fn sparse_core(chip: Chip, shown: fn(SparseCoreFacts) -> String) -> String {
    some(chip.facts().sparse_core, shown)
}

/// An exact number of bytes: in a binary unit if that gives a whole number, in a decimal
/// unit if that gives at most two decimals, else in bytes.
fn bytes(count: u64) -> String {
    if count.is_multiple_of(1 << 20) {
        format!("{} MiB", count >> 20)
    } else if count.is_multiple_of(1 << 10) && count < 1 << 30 {
        format!("{} KiB", count >> 10)
    } else if count.is_multiple_of(10_000_000) && count >= 1_000_000_000 {
        format!("{} GB", hundredths(count / 10_000_000))
    } else if count.is_multiple_of(10_000) && count >= 1_000_000 {
        format!("{} MB", hundredths(count / 10_000))
    } else {
        format!("{count} B")
    }
}

/// Operations per second, in units of 10^12.
fn tera(count: u64) -> String {
    format!("{} T", hundredths(count / 10_000_000_000))
}

fn hundredths(count: u64) -> String {
    let number = format!("{}.{:02}", count / 100, count % 100);
    number.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_shown_exactly() {
        let shown = [
            (0, "0 MiB"),
            (32, "32 B"),
            (1_048_064, "1048064 B"),
            (1_046_528, "1022 KiB"),
            (67_108_864, "64 MiB"),
            (67_043_328, "65472 KiB"),
            (134_000_000, "134 MB"),
            (8_590_000_000, "8.59 GB"),
            (17_200_000_000, "17.2 GB"),
            (231_000_000_000, "231 GB"),
        ];
        for (count, text) in shown {
            assert_eq!(bytes(count), text);
        }
        assert_eq!(tera(137_500_000_000_000), "137.5 T");
    }
}
