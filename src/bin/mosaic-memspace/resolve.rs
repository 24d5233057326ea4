//! `resolve`: what a memory space means on each core.

use crate::Status;
use crate::failure::Failure;
use crate::grid::{Format, Grid};
use mosaic_memspace::{CallSite, CoreType, MemorySpace, MemorySpaceAttr, Resolved};
use std::process::ExitCode;

/// What a memory space means on each core, and Mosaic's attribute for it
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The core type; all three without it
    #[arg(long, value_name = "CORE")]
    core: Option<String>,

    /// As written: vmem, default, smem@tc, acc(0), …; without any, what a missing one means
    #[arg(value_name = "SPACE")]
    spaces: Vec<String>,

    #[arg(long, default_value = "text")]
    format: Format,
}

pub(crate) fn run(arguments: &Arguments) -> Status {
    let cores = match &arguments.core {
        Some(word) => vec![word.parse().map_err(|fault| Failure::fault(&fault))?],
        None => CoreType::ALL.to_vec(),
    };
    let mut grid = Grid::new(["written", "core", "resolved", "attribute"]);
    for word in &arguments.spaces {
        let space: MemorySpace = word.parse().map_err(|fault| Failure::fault(&fault))?;
        for core in &cores {
            let resolved = mosaic_memspace::resolve(space, *core);
            grid.row([word.clone(), core.to_string(), resolved.to_string(), attribute(resolved)]);
        }
    }
    if arguments.spaces.is_empty() {
        for site in CallSite::ALL {
            for core in &cores {
                let resolved = site.resolve(None, *core);
                let row = [unwritten(*site), core.to_string(), resolved.to_string()];
                grid.row(row.into_iter().chain([attribute(resolved)]));
            }
        }
    }
    grid.print(arguments.format)?;
    Ok(ExitCode::SUCCESS)
}

/// How a table names a space that was not written.
pub(crate) fn unwritten(site: CallSite) -> String {
    format!("no space ({site})")
}

fn attribute(resolved: Resolved) -> String {
    match resolved {
        Resolved::Memref(space) => match MemorySpaceAttr::new(space) {
            Ok(attribute) => attribute.to_string(),
            Err(fault) => format!("none: {fault}"),
        },
        Resolved::Acc(_) => "none: an accumulator is no memref".to_owned(),
    }
}
