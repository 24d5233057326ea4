//! What makes a description unusable.

use crate::error::{Code, Fault};
use crate::kernel::{Diagnostic, Place};
use crate::word::{List, Word, did_you_mean};
use std::fmt;
use std::ops::Range;

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Span {
    /// Its bytes.
    pub range: Range<usize>,
    /// The line in which it starts, from 1.
    pub line: usize,
    /// The column in the line, in characters, from 1.
    pub column: usize,
}

/// Why a JSON text describes no kernel: what is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InputFault {
    /// Where in the description it is.
    pub at: Place,
    /// Where in the text it is.
    pub span: Span,
    pub(super) fault: JsonFault,
}

impl fmt::Display for InputFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, span: Span { line, column, .. }, fault } = self;
        let at = at.to_string();
        let colon = if at.is_empty() { "" } else { ": " };
        write!(f, "{line}:{column}: {}{colon}{fault}", Word::new(&at))
    }
}

impl std::error::Error for InputFault {}

impl Fault for InputFault {
    fn code(&self) -> Code {
        self.fault.code()
    }

    fn help(&self) -> String {
        self.fault.help()
    }
}

/// Without the place in the text.
impl From<&InputFault> for Diagnostic {
    fn from(fault: &InputFault) -> Self {
        Self::new(&fault.fault, fault.at.clone())
    }
}

/// Why a JSON text describes no kernel: every fault, in the order of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputFaults(pub(super) Vec<InputFault>);

impl InputFaults {
    /// The faults, one after the other.
    pub fn iter(&self) -> std::slice::Iter<'_, InputFault> {
        self.0.iter()
    }
}

impl<'a> IntoIterator for &'a InputFaults {
    type Item = &'a InputFault;
    type IntoIter = std::slice::Iter<'a, InputFault>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// One a line.
impl fmt::Display for InputFaults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.iter().enumerate().try_for_each(|(i, fault)| {
            let newline = if i == 0 { "" } else { "\n" };
            write!(f, "{newline}{fault}")
        })
    }
}

impl std::error::Error for InputFaults {}

/// What is wrong with a text that should describe a kernel.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum JsonFault {
    #[error("{found} where {expected} belongs")]
    NotJson { found: String, expected: &'static str },
    #[error("`{open}` is never closed")]
    Unclosed { open: char, close: char },
    #[error("{found} where {expected} belongs")]
    WrongValue { found: String, expected: String, doc: &'static str },
    #[error("unknown field `{field}`")]
    UnknownField { field: Word, known: Vec<&'static str> },
    #[error("missing field {}", Either(.fields))]
    MissingField { fields: Vec<&'static str>, doc: &'static str },
    #[error("the field `{field}` is there twice")]
    DuplicateField { field: Word },
    #[error("the field `{field}` does not go with {with}")]
    MisplacedField { field: &'static str, with: String },
}

impl Fault for JsonFault {
    fn code(&self) -> Code {
        match self {
            Self::NotJson { .. } | Self::Unclosed { .. } => Code::NotJson,
            Self::WrongValue { .. } => Code::WrongValue,
            Self::UnknownField { .. } => Code::UnknownField,
            Self::MissingField { .. } => Code::MissingField,
            Self::DuplicateField { .. } => Code::DuplicateField,
            Self::MisplacedField { .. } => Code::MisplacedField,
        }
    }

    fn help(&self) -> String {
        match self {
            Self::NotJson { .. } | Self::DuplicateField { .. } => self.code().mend().to_owned(),
            Self::Unclosed { close, .. } => format!("close it with `{close}`"),
            Self::WrongValue { doc, .. } | Self::MissingField { doc, .. } => in_help(doc),
            Self::UnknownField { field, known } => {
                let known = known.iter().copied();
                let all = format!("the fields here are {}", List(known.clone()));
                did_you_mean(field.as_str(), known, &all)
            }
            Self::MisplacedField { field, with } => format!("take out `{field}`, or change {with}"),
        }
    }
}

/// A field's doc, as a help is written: without a full stop, and a capital only where
/// a name begins.
fn in_help(doc: &str) -> String {
    let doc = doc.trim_end_matches('.');
    let mut characters = doc.chars();
    match (characters.next(), characters.next()) {
        (Some(first), Some(second)) if !second.is_uppercase() => {
            first.to_lowercase().chain([second]).chain(characters).collect()
        }
        (_, _) => doc.to_owned(),
    }
}

/// Fields of which one is needed.
struct Either<'a>(&'a [&'static str]);

impl fmt::Display for Either<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().enumerate().try_for_each(|(i, field)| {
            let or = if i == 0 { "" } else { " or " };
            write!(f, "{or}`{field}`")
        })
    }
}
