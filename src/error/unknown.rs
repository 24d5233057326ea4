//! Unknown words from outside.

use super::{Code, Fault};
use crate::word::{List, Word, did_you_mean};

/// A word from outside that is not one of the words known in its place.
///
/// ```
/// use mosaic_memspace::Chip;
/// use mosaic_memspace::error::{Code, Fault};
///
/// let error = "v5".parse::<Chip>().unwrap_err();
/// assert_eq!(error.code(), Code::UnknownChip);
/// assert_eq!(error.word(), "v5");
/// assert!(error.known().contains(&"v5p"));
/// assert_eq!(
///     error.to_string(),
///     "unknown chip: v5; expected one of v2, v3, v4i, v4, v5e, v5p, v6e, 7, 7x, 8i, 8t"
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}: {word}; expected one of {}", List(*.known))]
pub struct UnknownWord {
    code: Code,
    what: &'static str,
    word: Word,
    known: &'static [&'static str],
    help: Option<String>,
}

impl UnknownWord {
    /// `what` begins the message, as `unknown chip` does.
    pub(crate) fn new(
        code: Code,
        what: &'static str,
        known: &'static [&'static str],
        word: &str,
    ) -> Self {
        Self { code, what, word: Word::new(word), known, help: None }
    }

    /// The same fault with this help, if there is one, instead of a guess.
    #[must_use]
    pub(crate) fn helped(self, help: Option<String>) -> Self {
        Self { help, ..self }
    }

    /// The word as it was given.
    pub fn word(&self) -> &str {
        self.word.as_str()
    }

    /// The words that are known in its place.
    pub const fn known(&self) -> &'static [&'static str] {
        self.known
    }
}

impl Fault for UnknownWord {
    fn code(&self) -> Code {
        self.code
    }

    fn help(&self) -> String {
        match &self.help {
            Some(help) => help.clone(),
            None => did_you_mean(self.word(), self.known.iter().copied(), self.code.mend()),
        }
    }
}
