//! What ends a subcommand before its answer: input that cannot be used.

use crate::shown;
use mosaic_memspace::error::Fault;
use std::io;
use std::process::ExitCode;

/// Why there is no answer. The exit status is 2.
#[derive(Debug)]
pub(crate) enum Failure {
    /// A line for people: what, where, and what would be right.
    Unusable(String),
    /// The reader of our output has gone; that is no one's fault.
    ReaderGone,
}

impl Failure {
    /// A word or a value that means nothing here.
    pub(crate) fn fault(fault: &dyn Fault) -> Self {
        Self::Unusable(format!("[{}]: {fault}\n  = help: {}", fault.code(), fault.help()))
    }

    /// A fault at a place of a file.
    pub(crate) fn fault_at(place: &str, fault: &dyn Fault) -> Self {
        Self::Unusable(format!("[{}]: {place}: {fault}\n  = help: {}", fault.code(), fault.help()))
    }

    pub(crate) fn report(self) -> ExitCode {
        self.tell();
        match self {
            Self::Unusable(_) => ExitCode::from(2),
            Self::ReaderGone => ExitCode::SUCCESS,
        }
    }

    pub(crate) fn tell(&self) {
        match self {
            Self::Unusable(message) => {
                let style = anstyle::AnsiColor::Red.on_default().bold();
                anstream::eprintln!("{style}error{style:#}{}", shown::lines(message));
            }
            Self::ReaderGone => {}
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            Self::ReaderGone
        } else {
            Self::Unusable(format!(": {error}"))
        }
    }
}
