//! Words: how the known ones are printed, and how those from outside are kept and shown.

use std::fmt;
use std::str::FromStr;

/// A word from outside. It is kept whole, and displayed as [`Shown`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Word(Box<str>);

impl Word {
    pub(crate) fn new(word: &str) -> Self {
        Self(word.into())
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Shown(&self.0).fmt(f)
    }
}

/// A word from outside as a message shows it: escaped, and at most
/// [`CHARACTERS`](Self::CHARACTERS) long.
pub(crate) struct Shown<'a>(pub(crate) &'a str);

impl Shown<'_> {
    /// A megabyte in an error message helps no one.
    pub(crate) const CHARACTERS: usize = 80;
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for shown in self.0.chars().take(Self::CHARACTERS) {
            // Quotes are harmless in a message; control characters are not.
            if matches!(shown, '\'' | '"') {
                write!(f, "{shown}")?;
            } else {
                write!(f, "{}", shown.escape_debug())?;
            }
        }
        if self.0.chars().nth(Self::CHARACTERS).is_some() {
            write!(f, "… ({} bytes)", self.0.len())?;
        }
        Ok(())
    }
}

/// A word as a description has it. What a lowering pass builds from types is
/// always known; what a person writes may not be, and is reported with the rest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Spelled<T: FromStr> {
    Known(T),
    #[cfg_attr(not(feature = "read"), allow(dead_code, reason = "types are never misspelled"))]
    Unknown(T::Err),
}

impl<T: FromStr> Spelled<T> {
    pub(crate) const fn known(&self) -> Option<&T> {
        match self {
            Self::Known(value) => Some(value),
            Self::Unknown(_) => None,
        }
    }
}

impl<T: FromStr + Copy> Spelled<T> {
    /// The value, or another where it is unknown.
    pub(crate) fn or(&self, other: T) -> T {
        self.known().copied().unwrap_or(other)
    }
}

impl<T: FromStr> From<T> for Spelled<T> {
    fn from(value: T) -> Self {
        Self::Known(value)
    }
}

/// The word with this number in a list of words.
#[allow(clippy::indexing_slicing, reason = "strum's VARIANTS has an entry for each variant")]
pub(crate) const fn word_of(words: &'static [&'static str], variant: usize) -> &'static str {
    words[variant]
}

/// Whether two words are the same, known at compile time.
pub(crate) const fn same(a: &str, b: &str) -> bool {
    let (mut a, mut b) = (a.as_bytes(), b.as_bytes());
    while let ([first, a_rest @ ..], [other, b_rest @ ..]) = (a, b) {
        if *first != *other {
            return false;
        }
        (a, b) = (a_rest, b_rest);
    }
    a.is_empty() && b.is_empty()
}

/// The known word that this unknown one was probably meant to be.
pub(crate) fn nearest<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let likeness = |known: &str| -> f64 {
        if known.eq_ignore_ascii_case(word) {
            return 1.0;
        }
        #[cfg(feature = "read")]
        if word.len() <= Shown::CHARACTERS {
            return strsim::jaro_winkler(&word.to_ascii_lowercase(), &known.to_ascii_lowercase());
        }
        0.0
    };
    let rated = known.into_iter().map(|known| (likeness(known), known));
    let best = rated.max_by(|(one, _), (other, _)| one.total_cmp(other));
    best.filter(|(likeness, _)| *likeness > 0.8).map(|(_, known)| known)
}

/// A help text. If an unknown word looks like a known one, it begins with a guess.
pub(crate) fn did_you_mean<'k>(
    word: &str,
    known: impl IntoIterator<Item = &'k str>,
    mend: &str,
) -> String {
    match nearest(word, known) {
        Some(nearest) => format!("did you mean {nearest}? {mend}"),
        None => mend.to_owned(),
    }
}

/// Words that live as long as the program, for lists of them that are made once.
pub(crate) fn printed<W: fmt::Display>(words: &'static [W]) -> impl Iterator<Item = &'static str> {
    words.iter().map(|word| &*word.to_string().leak())
}

/// Words with commas between them.
pub(crate) struct List<W>(pub(crate) W);

impl<W: IntoIterator<Item: fmt::Display> + Clone> fmt::Display for List<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.clone().into_iter().enumerate().try_for_each(|(i, word)| {
            let comma = if i == 0 { "" } else { ", " };
            write!(f, "{comma}{word}")
        })
    }
}

/// Words of which one is to be chosen: `a, b or c`.
pub(crate) struct OneOf<W>(pub(crate) W);

impl<W: IntoIterator<Item: fmt::Display> + Clone> fmt::Display for OneOf<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = || self.0.clone().into_iter();
        let last = words().count();
        words().zip(1..).try_for_each(|(word, number)| match number {
            1 => write!(f, "{word}"),
            number if number == last => write!(f, " or {word}"),
            _ => write!(f, ", {word}"),
        })
    }
}

/// `Display` by `as_str`.
macro_rules! display_impl {
    ($type:ty) => {
        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}

/// `Display` by `as_str`, and serde.
macro_rules! word_impls {
    ($type:ty, $expecting:literal) => {
        $crate::word::display_impl!($type);
        $crate::word::serde_impls!($type, $expecting);
    };
}

/// serde as the word itself, by `Display` and `FromStr`.
macro_rules! serde_impls {
    ($type:ty, $expecting:literal) => {
        #[cfg(feature = "serde")]
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        #[cfg(feature = "serde")]
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Visitor;
                impl serde::de::Visitor<'_> for Visitor {
                    type Value = $type;
                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str($expecting)
                    }
                    fn visit_str<E: serde::de::Error>(self, word: &str) -> Result<$type, E> {
                        word.parse().map_err(E::custom)
                    }
                }
                deserializer.deserialize_str(Visitor)
            }
        }
    };
}

pub(crate) use display_impl;
pub(crate) use serde_impls;
pub(crate) use word_impls;
