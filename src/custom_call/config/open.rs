//! Unknown words and values, kept as they were read.

use std::fmt;

/// A word of a closed set, or an unknown one that was read and is kept.
///
/// ```
/// use mosaic_memspace::custom_call::{Open, Tiling};
/// assert_eq!(Open::Known(Tiling::Compact).known(), Some(&Tiling::Compact));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Open<'a, T> {
    /// One of the set.
    Known(T),
    /// An unknown one, as its JSON text.
    Other(RawJson<'a>),
}

impl<T> Open<'_, T> {
    /// The word, when it is one of the set.
    ///
    /// ```
    /// use mosaic_memspace::custom_call::Open;
    /// assert_eq!(Open::Known(1).known(), Some(&1));
    /// ```
    pub const fn known(&self) -> Option<&T> {
        match self {
            Self::Known(known) => Some(known),
            Self::Other(_) => None,
        }
    }
}

/// A JSON value, kept as the text that was read.
///
/// It can only be made by reading, so it is always valid JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawJson<'a>(pub(super) &'a str);

impl<'a> RawJson<'a> {
    /// The text.
    ///
    /// ```
    /// # #[cfg(feature = "read")] {
    /// use mosaic_memspace::custom_call::BackendConfig;
    /// let config = BackendConfig::from_json(r#"{"new": [ 1 ]}"#)?;
    /// assert_eq!(config.unknown()[0].value.as_str(), "[ 1 ]");
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub const fn as_str(self) -> &'a str {
        self.0
    }
}

impl fmt::Display for RawJson<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.0)
    }
}
