//! The command line of `mosaic-memspace`: a file a subcommand.

mod bars;
mod check;
mod chips;
mod completions;
mod describe;
mod explain;
mod failure;
mod grid;
mod html;
mod input;
mod inspect;
mod man;
mod resolve;
mod schema;
mod shown;
mod snippet;
mod table;

use anstream::ColorChoice;
use clap::{Parser, Subcommand};
use failure::Failure;
use std::process::ExitCode;

/// Memory spaces of Mosaic TPU kernels: resolved, checked, measured.
#[derive(Parser)]
#[command(name = "mosaic-memspace", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,

    /// When to color the output; NO_COLOR is respected
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    color: clap::ColorChoice,
}

#[derive(Subcommand)]
enum Command {
    Check(check::Arguments),
    Chips(chips::Arguments),
    Completions(completions::Arguments),
    Describe(describe::Arguments),
    Explain(explain::Arguments),
    Inspect(inspect::Arguments),
    Man(man::Arguments),
    Resolve(resolve::Arguments),
    Schema(schema::Arguments),
    Table(table::Arguments),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    match cli.color {
        clap::ColorChoice::Auto => ColorChoice::Auto,
        clap::ColorChoice::Always => ColorChoice::Always,
        clap::ColorChoice::Never => ColorChoice::Never,
    }
    .write_global();
    let status = match cli.command {
        Command::Check(arguments) => check::run(&arguments),
        Command::Chips(arguments) => chips::run(&arguments),
        Command::Completions(arguments) => completions::run(&arguments),
        Command::Describe(arguments) => describe::run(&arguments),
        Command::Explain(arguments) => explain::run(&arguments),
        Command::Inspect(arguments) => inspect::run(&arguments),
        Command::Man(arguments) => man::run(&arguments),
        Command::Resolve(arguments) => resolve::run(&arguments),
        Command::Schema(arguments) => schema::run(&arguments),
        Command::Table(arguments) => table::run(&arguments),
    };
    status.unwrap_or_else(Failure::report)
}

/// What a subcommand ends with: an exit status, or why there is none.
type Status = Result<ExitCode, Failure>;
