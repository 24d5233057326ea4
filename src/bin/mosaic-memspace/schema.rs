//! `schema`: what `check` reads and prints, as JSON schemas.

use crate::Status;
use crate::grid::print_json;
use clap::ValueEnum;
use mosaic_memspace::kernel::output_schema;
use mosaic_memspace::read::input_schema;
use std::process::ExitCode;

/// The JSON schema of what check reads, or of what it prints
///
/// An editor that is told of it completes the fields and words of a kernel.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Which of the two
    #[arg(value_name = "WHICH", default_value = "input")]
    which: Which,
}

#[derive(Clone, Copy, ValueEnum)]
enum Which {
    /// A kernel, or a list of them
    Input,
    /// An object that check --format json prints
    Output,
}

pub(crate) fn run(arguments: &Arguments) -> Status {
    match arguments.which {
        Which::Input => print_json(&input_schema())?,
        Which::Output => print_json(&output_schema())?,
    }
    Ok(ExitCode::SUCCESS)
}
