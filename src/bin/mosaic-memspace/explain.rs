//! `explain`: what a code means, when it happens, how to mend it.

use crate::Status;
use crate::failure::Failure;
use mosaic_memspace::error::Code;
use std::io::{self, Write};
use std::process::ExitCode;

/// What a code means, when it happens, how to mend it
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// A code, as VmemOverflow; without one, all of them are listed
    #[arg(value_name = "CODE")]
    code: Option<String>,
}

pub(crate) fn run(arguments: &Arguments) -> Status {
    let mut out = io::stdout().lock();
    match &arguments.code {
        Some(word) => {
            let code: Code = word.parse().map_err(|fault| Failure::fault(&fault))?;
            write!(out, "{}", page(code))?;
        }
        None => {
            for code in Code::ALL {
                writeln!(out, "{code:26} {:8} {}", code.severity(), code.summary())?;
            }
        }
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// The page of one code, in Markdown.
fn page(code: Code) -> String {
    format!(
        "# {code}\n\n{}: {}\n\n{}\nTo mend it: {}.\n",
        code.severity(),
        code.summary(),
        code.explanation(),
        code.mend()
    )
}
