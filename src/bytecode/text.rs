//! Strings of a file: bytes that are UTF-8 as a rule, and may be anything.

use crate::word::Shown;
use std::borrow::Cow;
use std::fmt;

/// A string of the file: bytes, shown escaped and cut, so that no file steers a
/// terminal or fills a message.
///
/// ```
/// use mosaic_memspace::bytecode::Text;
/// assert_eq!(Text::new(b"\x1b[2J").to_string(), "\\u{1b}[2J");
/// assert_eq!(Text::new(b"\xff").as_str(), None);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Text<'a>(&'a [u8]);

impl<'a> Text<'a> {
    /// The string of these bytes.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Its bytes.
    pub const fn as_bytes(self) -> &'a [u8] {
        self.0
    }

    /// The string, if it is UTF-8.
    pub fn as_str(self) -> Option<&'a str> {
        std::str::from_utf8(self.0).ok()
    }

    /// The string, with what is no UTF-8 replaced.
    pub fn to_str_lossy(self) -> Cow<'a, str> {
        String::from_utf8_lossy(self.0)
    }
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Shown(&self.to_str_lossy()).fmt(f)
    }
}

impl fmt::Debug for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{self}\"")
    }
}

impl PartialEq<str> for Text<'_> {
    fn eq(&self, other: &str) -> bool {
        self.0 == other.as_bytes()
    }
}

impl PartialEq<&str> for Text<'_> {
    fn eq(&self, other: &&str) -> bool {
        self.0 == other.as_bytes()
    }
}
