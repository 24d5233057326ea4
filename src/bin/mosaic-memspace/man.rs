//! `man`: the manual.

use crate::failure::Failure;
use crate::{Cli, Status};
use clap::{Command, CommandFactory};
use clap_mangen::Man;
use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

/// The manual page, or a page a subcommand
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Write every page into this folder, as mosaic-memspace-check.1
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Status {
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    match &arguments.dir {
        None => {
            let mut out = io::stdout().lock();
            out.write_all(&page(command)?)?;
            out.flush()?;
        }
        Some(folder) => {
            let unusable = |error| Failure::Unusable(format!(": {}: {error}", folder.display()));
            fs::create_dir_all(folder).map_err(unusable)?;
            let subcommands: Vec<_> = command.get_subcommands().cloned().collect();
            for command in subcommands.into_iter().chain([command]) {
                let name = command.get_display_name().unwrap_or(command.get_name()).to_owned();
                fs::write(folder.join(format!("{name}.1")), page(command)?).map_err(unusable)?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn page(command: Command) -> Result<Vec<u8>, Failure> {
    let mut page = Vec::new();
    Man::new(command).render(&mut page)?;
    Ok(page)
}
