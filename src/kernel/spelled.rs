//! A word of a description: one of the known, or one to report.

use std::str::FromStr;

/// A word as a description has it. What a lowering pass builds from types is
/// always known; what a person writes may not be, and is reported with the rest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Spelled<T: FromStr> {
    Known(T),
    #[cfg_attr(not(feature = "read"), allow(dead_code, reason = "types are never misspelled"))]
    Unknown(T::Err),
}

impl<T: FromStr> Spelled<T> {
    pub(crate) fn known(&self) -> Option<&T> {
        match self {
            Self::Known(value) => Some(value),
            Self::Unknown(_) => None,
        }
    }
}

impl<T: FromStr> From<T> for Spelled<T> {
    fn from(value: T) -> Self {
        Self::Known(value)
    }
}
