//! Many faults at once.

use super::{Fault, Severity};
use std::fmt;

/// Several faults of one kind, found in one go.
///
/// ```
/// use mosaic_memspace::error::{Fault, Faults};
/// use mosaic_memspace::{Chip, CoreType};
///
/// let words = ["v9", "v10"].map(|word| word.parse::<Chip>().unwrap_err());
/// let faults: Faults<_> = words.into_iter().collect();
/// assert_eq!(faults.len(), 2);
/// assert!(faults.to_string().starts_with("unknown chip: v9; ") && faults.to_string().contains('\n'));
/// assert!(faults.iter().all(|fault| !fault.help().is_empty()));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(transparent))]
pub struct Faults<F: Fault>(Vec<F>);

/// One a line.
impl<F: Fault> fmt::Display for Faults<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.iter().enumerate().try_for_each(|(number, fault)| {
            let newline = if number == 0 { "" } else { "\n" };
            write!(f, "{newline}{fault}")
        })
    }
}

impl<F: Fault> std::error::Error for Faults<F> {}

impl<F: Fault> Faults<F> {
    /// Adds one.
    pub(crate) fn push(&mut self, fault: F) {
        self.0.push(fault);
    }

    /// Puts them into another order, those that are alike in the one they had.
    pub(crate) fn sort_by_key<K: Ord>(&mut self, key: impl FnMut(&F) -> K) {
        self.0.sort_by_key(key);
    }

    /// Whether a kernel is refused for one of them.
    ///
    /// ```
    /// use mosaic_memspace::error::{Faults, UnknownWord};
    /// assert!(!Faults::<UnknownWord>::default().has_errors());
    /// ```
    pub fn has_errors(&self) -> bool {
        self.iter().any(|fault| fault.code().severity() == Severity::Error)
    }

    /// The faults as an error, or nothing where there are none.
    ///
    /// # Errors
    /// The faults, unless there are none.
    ///
    /// ```
    /// use mosaic_memspace::error::{Faults, UnknownWord};
    /// assert!(Faults::<UnknownWord>::default().into_result().is_ok());
    /// ```
    pub fn into_result(self) -> Result<(), Self> {
        if self.is_empty() { Ok(()) } else { Err(self) }
    }
}

impl<F: Fault> std::ops::Deref for Faults<F> {
    type Target = [F];

    fn deref(&self) -> &[F] {
        &self.0
    }
}

impl<F: Fault> Default for Faults<F> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<F: Fault> From<F> for Faults<F> {
    fn from(fault: F) -> Self {
        Self(vec![fault])
    }
}

impl<F: Fault> FromIterator<F> for Faults<F> {
    fn from_iter<I: IntoIterator<Item = F>>(faults: I) -> Self {
        Self(faults.into_iter().collect())
    }
}

impl<F: Fault> Extend<F> for Faults<F> {
    fn extend<I: IntoIterator<Item = F>>(&mut self, faults: I) {
        self.0.extend(faults);
    }
}

impl<F: Fault> IntoIterator for Faults<F> {
    type Item = F;
    type IntoIter = std::vec::IntoIter<F>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a, F: Fault> IntoIterator for &'a Faults<F> {
    type Item = &'a F;
    type IntoIter = std::slice::Iter<'a, F>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}
