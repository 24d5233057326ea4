//! What makes a description unusable.

use crate::error::{Code, Fault, Faults, faults};
use crate::kernel::Place;
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

impl InputFault {
    /// What is wrong, without the place.
    pub fn message(&self) -> String {
        self.fault.to_string()
    }
}

/// Why a JSON text describes no kernel: every fault, in the order of the text.
pub type InputFaults = Faults<InputFault>;

faults! {
    /// What is wrong with a text that should describe a kernel.
    #[derive(Clone)]
    pub(super) enum JsonFault {
        NotJson { found: String, expected: &'static str } => NotJson
          ("{found} where {expected} belongs");
        Unclosed { open: char, close: char } => NotJson ("`{open}` is never closed")
          help "close it with `{close}`";
        WrongValue { found: String, expected: String, doc: &'static str } => WrongValue
          ("{found} where {expected} belongs")
          help { in_help(doc) };
        UnknownField { field: Word, known: Vec<&'static str> } => UnknownField
          ("unknown field `{field}`")
          help {
              let known = known.iter().copied();
              let all = format!("the fields here are {}", List(known.clone()));
              did_you_mean(field.as_str(), known, &all)
          };
        MissingField { fields: Vec<&'static str>, doc: &'static str } => MissingField
          ("missing field {}", Either(.fields))
          help { in_help(doc) };
        DuplicateField { field: Word } => DuplicateField ("the field `{field}` is there twice");
        MisplacedField { field: &'static str, with: String } => MisplacedField
          ("the field `{field}` does not go with {with}")
          help "take out `{field}`, or change {with}";
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
