//! `table`: what the library knows, as tables.

mod access;
mod colors;
mod copies;

use crate::Status;
use crate::chips;
use crate::failure::Failure;
use crate::grid::{Format, Grid, print_json};
use crate::resolve::unwritten;
use clap::ValueEnum;
use mosaic_memspace::error::Fault;
use mosaic_memspace::{CallSite, Chip, CoreMemorySpace, CoreType, MemorySpace, Resolved, TpuSpace};
use serde::Serialize;
use std::io::{self, Write};
use std::process::ExitCode;

/// What the library knows, as a table
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Which table
    #[arg(long, value_name = "TABLE", default_value = "resolution")]
    of: Of,

    #[arg(long, default_value = "text")]
    format: Format,
}

#[derive(Clone, Copy, ValueEnum)]
enum Of {
    /// What each written space means on each core
    Resolution,
    /// What each core may do to a ref in each space: load, store, hold scratch
    Access,
    /// Between which spaces each core copies, gathers, scatters and adds
    Copies,
    /// The color that a space annotated on a value gives it, on each core
    #[value(alias = "colours")]
    Colors,
    /// The memories and units of each chip
    Chips,
    /// How much of each space each core has, on each chip
    Capacities,
}

pub(crate) fn run(arguments: &Arguments) -> Status {
    match arguments.of {
        Of::Resolution => resolution().print(arguments.format)?,
        Of::Capacities => chips::capacities(Chip::ALL).print(arguments.format)?,
        Of::Chips => return chips::run(&chips::Arguments::every_chip(arguments.format)),
        Of::Access => print(arguments.format, access::records, access::grids)?,
        Of::Copies => print(arguments.format, copies::records, copies::grids)?,
        Of::Colors => print(arguments.format, colors::records, colors::grids)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// For programs a record a decision; for people few tables to look it up in.
fn print<R: Serialize>(
    format: Format,
    records: impl Fn() -> Vec<R>,
    grids: impl Fn() -> Vec<Grid>,
) -> Result<(), Failure> {
    match format {
        Format::Json => print_json(&records()),
        Format::Text | Format::Markdown => {
            for (number, grid) in grids().iter().enumerate() {
                if number > 0 {
                    writeln!(io::stdout())?;
                }
                grid.print(format)?;
            }
            Ok(())
        }
    }
}

/// Whether a core can do something, as a record says it.
#[derive(Serialize)]
struct Verdict {
    /// JAX lowers it.
    jax_lowers: bool,
    /// JAX lowers it and the compiler takes it.
    legal: bool,
    why_not: Option<String>,
    help: Option<String>,
}

impl Verdict {
    fn new(jax_lowers: bool, refused: Option<(impl ToString, impl Fault)>) -> Self {
        let legal = refused.is_none();
        let (why_not, help) = refused.map(|(why, fault)| (why.to_string(), fault.help())).unzip();
        Self { jax_lowers, legal, why_not, help }
    }
}

fn resolution() -> Grid {
    let mut grid =
        Grid::new(["written"].into_iter().chain(CoreType::ALL.iter().map(|c| c.as_str())));
    for site in CallSite::ALL {
        let resolved = CoreType::ALL.iter().map(|core| site.resolve(None, *core).to_string());
        grid.row([unwritten(*site)].into_iter().chain(resolved));
    }
    for space in MemorySpace::ALL.iter().copied().chain([MemorySpace::Acc(0)]) {
        let resolve = |core: &CoreType| mosaic_memspace::resolve(space, *core).to_string();
        grid.row([space.to_string()].into_iter().chain(CoreType::ALL.iter().map(resolve)));
    }
    grid
}

const NO: &str = "-";

/// Where a ref of a core may lie once its space is resolved: every space of its
/// own, and one for all those of other cores, and one for all accumulators, as
/// the rules do not tell these apart.
fn places(core_type: CoreType) -> Vec<(String, Resolved)> {
    let own = TpuSpace::ALL.iter().map(|space| MemorySpace::from(*space));
    let own = [MemorySpace::ANY, MemorySpace::HOST].into_iter().chain(own);
    let own = own.map(|space| (space.to_string(), resolve(space, core_type)));
    let other = foreign(core_type).next().map(|space| ("of another core".to_owned(), space));
    own.chain(other).chain([("acc(n)".to_owned(), Resolved::Acc(0))]).collect()
}

/// The spaces that belong to meshes of other core types.
fn foreign(core_type: CoreType) -> impl Iterator<Item = Resolved> {
    let tagged = CoreMemorySpace::ALL.iter().filter(move |space| space.core_type() != core_type);
    tagged.map(move |space| resolve(MemorySpace::from(*space), core_type))
}

fn resolve(space: MemorySpace, core_type: CoreType) -> Resolved {
    mosaic_memspace::resolve(space, core_type)
}
