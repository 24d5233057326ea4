//! `table`: what the library knows, as tables.

use crate::Status;
use crate::chips;
use crate::grid::{Format, Grid};
use crate::resolve::unwritten;
use clap::ValueEnum;
use mosaic_memspace::{CallSite, Chip, CoreType, MemorySpace};
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
    /// How much of each space each core has, on each chip
    Capacities,
}

pub(crate) fn run(arguments: &Arguments) -> Status {
    let grid = match arguments.of {
        Of::Resolution => resolution(),
        Of::Capacities => chips::capacities(Chip::ALL),
    };
    grid.print(arguments.format)?;
    Ok(ExitCode::SUCCESS)
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
