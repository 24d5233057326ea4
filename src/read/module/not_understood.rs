//! What a body says that is not understood: named, each once, never guessed at.

use std::collections::BTreeMap;
use std::fmt;

/// Something in a body that is not understood. What depends on it is left open; the
/// rest is read.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum NotUnderstood {
    /// An operation that is given a ref, and is none of those that are known.
    Operation(String),
    /// Operands of a known operation that are not grouped as it groups them.
    Operands(String),
    /// A key in an operand's window.
    WindowKey(String),
    /// An attribute whose value is none of the known ones.
    Value {
        /// The attribute's name.
        attribute: String,
        /// Its value, as MLIR prints it.
        value: String,
    },
    /// An index map that no function of the module has as its name.
    IndexMap(String),
    /// An attribute or type that cannot be read.
    Entry(String),
    /// A version of `stable_mosaic` that is newer than those known.
    Version(i64),
    /// A function that takes fewer arguments than its attributes say.
    Arguments(String),
    /// A module that takes too much work: a function evaluated again and again.
    TooMuchWork(String),
}

impl fmt::Display for NotUnderstood {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Operation(name) => write!(f, "operation {name}"),
            Self::Operands(name) => write!(f, "the operands of {name}"),
            Self::WindowKey(key) => write!(f, "window key {key}"),
            Self::Value { attribute, value } => write!(f, "{attribute} = {value}"),
            Self::IndexMap(name) => write!(f, "index map {name}"),
            Self::Entry(fault) => write!(f, "{fault}"),
            Self::Version(version) => write!(
                f,
                "version {version} of stable_mosaic, newer than {}",
                super::NEWEST_VERSION
            ),
            Self::Arguments(name) => {
                write!(f, "function {name}, which has fewer arguments than it says")
            }
            Self::TooMuchWork(name) => write!(f, "function {name}, which takes too much work"),
        }
    }
}

/// What was not understood, by name: where it stands first, in bytes, and how often.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unread(BTreeMap<NotUnderstood, Seen>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Seen {
    offset: usize,
    times: usize,
}

impl Unread {
    pub(super) fn add(&mut self, what: NotUnderstood, offset: usize) {
        let seen = self.0.entry(what).or_insert(Seen { offset, times: 0 });
        seen.times = seen.times.saturating_add(1);
    }

    /// Each, the byte at which it stands first, and how often it stands there.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&NotUnderstood, usize, usize)> {
        self.0.iter().map(|(what, seen)| (what, seen.offset, seen.times))
    }

    /// Whether all was understood.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
