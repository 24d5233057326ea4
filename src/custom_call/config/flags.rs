//! Compiler flags: names and values that cannot break the JSON they end up in.

use crate::error::faults;
use crate::word::Shown;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// The compiler flags of one kernel, in the order they were given in, each name once
/// (JAX: `CompilerParams.flags`).
///
/// ```
/// use mosaic_memspace::custom_call::{FlagName, FlagValue, Flags};
///
/// let mut flags = Flags::new();
/// flags.insert(FlagName::new("xla_tpu_enable_x")?, FlagValue::Bool(true));
/// flags.insert(FlagName::new("xla_tpu_level")?, FlagValue::Int(3));
/// let names: Vec<_> = flags.iter().map(|(name, _)| name.as_str()).collect();
/// assert_eq!(names, ["xla_tpu_enable_x", "xla_tpu_level"]);
/// # Ok::<(), mosaic_memspace::custom_call::FlagFault>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Flags {
    entries: Vec<(FlagName, FlagValue)>,
    places: HashMap<FlagName, usize>,
}

impl FromIterator<(FlagName, FlagValue)> for Flags {
    fn from_iter<I: IntoIterator<Item = (FlagName, FlagValue)>>(flags: I) -> Self {
        let mut all = Self::new();
        for (name, value) in flags {
            all.insert(name, value);
        }
        all
    }
}

impl Flags {
    /// No flags.
    ///
    /// ```
    /// assert!(mosaic_memspace::custom_call::Flags::new().is_empty());
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// Checks flags from outside.
    ///
    /// # Errors
    /// Every [`FlagFault`], in the order of the flags.
    ///
    /// ```
    /// use mosaic_memspace::custom_call::{Flags, WrittenFlagValue};
    ///
    /// let written = [("a", WrittenFlagValue::Int(1)), ("b", WrittenFlagValue::Float(0.5))];
    /// assert_eq!(Flags::from_written(written).map(|flags| flags.len()), Ok(2));
    ///
    /// let written = [("a\"", true.into()), ("b", f64::NAN.into()), ("c", "no".into())];
    /// assert_eq!(Flags::from_written(written).unwrap_err().len(), 3);
    /// ```
    pub fn from_written<'a>(
        written: impl IntoIterator<Item = (&'a str, WrittenFlagValue)>,
    ) -> Result<Self, Vec<FlagFault>> {
        let mut flags = Self::new();
        let mut errors = Vec::new();
        for (name, value) in written {
            match FlagValue::new(name, value) {
                Err(error) => errors.push(error),
                Ok(value) => match FlagName::new(name) {
                    Err(error) => errors.push(error),
                    Ok(name) => {
                        flags.insert(name, value);
                    }
                },
            }
        }
        if errors.is_empty() { Ok(flags) } else { Err(errors) }
    }

    /// Sets a flag, and returns the value that it had. A flag that is set again keeps its
    /// place, as in Python's dict.
    ///
    /// ```
    /// use mosaic_memspace::custom_call::{FlagName, FlagValue, Flags};
    ///
    /// let mut flags = Flags::new();
    /// let name = FlagName::new("a")?;
    /// assert_eq!(flags.insert(name.clone(), FlagValue::Int(1)), None);
    /// assert_eq!(flags.insert(name, FlagValue::Int(2)), Some(FlagValue::Int(1)));
    /// # Ok::<(), mosaic_memspace::custom_call::FlagFault>(())
    /// ```
    pub fn insert(&mut self, name: FlagName, value: FlagValue) -> Option<FlagValue> {
        let place = *self.places.entry(name.clone()).or_insert(self.entries.len());
        if let Some((_, there)) = self.entries.get_mut(place) {
            return Some(std::mem::replace(there, value));
        }
        self.entries.push((name, value));
        None
    }

    /// The value of a flag, or `None` when it is not set.
    ///
    /// ```
    /// assert_eq!(mosaic_memspace::custom_call::Flags::new().get("a"), None);
    /// ```
    pub fn get(&self, name: &str) -> Option<FlagValue> {
        let place = *self.places.get(name)?;
        self.entries.get(place).map(|(_, value)| *value)
    }

    /// The flags, in the order they were given in.
    ///
    /// ```
    /// assert_eq!(mosaic_memspace::custom_call::Flags::new().iter().count(), 0);
    /// ```
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&FlagName, FlagValue)> {
        self.entries.iter().map(|(name, value)| (name, *value))
    }

    /// How many flags there are.
    ///
    /// ```
    /// assert_eq!(mosaic_memspace::custom_call::Flags::new().len(), 0);
    /// ```
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    ///
    /// ```
    /// assert!(mosaic_memspace::custom_call::Flags::new().is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

/// Flags are equal when their names, values and order are.
impl PartialEq for Flags {
    fn eq(&self, other: &Self) -> bool {
        self.entries == other.entries
    }
}

/// A flag's name: ASCII, without quotes, backslashes and control characters, so that
/// it is its own JSON text.
///
/// JAX does not escape a name, so a quote in it breaks the JSON.
///
/// ```
/// use mosaic_memspace::custom_call::FlagName;
/// assert_eq!(FlagName::new("xla_a").map(|name| name.to_string()), Ok("xla_a".to_owned()));
/// assert_eq!(
///     FlagName::new("a\"b").unwrap_err().to_string(),
///     "flag name a\"b holds '\"', which would break the JSON"
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FlagName(Arc<str>);

impl FlagName {
    /// `name`, if it is its own JSON text.
    ///
    /// # Errors
    /// [`FlagFault::NameUnsafe`]
    pub fn new(name: &str) -> Result<Self, FlagFault> {
        let harmless = |character: char| {
            !matches!(character, '"' | '\\') && character.is_ascii() && character >= ' '
        };
        match name.chars().find(|character| !harmless(*character)) {
            None => Ok(Self(name.into())),
            Some(character) => Err(FlagFault::NameUnsafe { name: name.to_owned(), character }),
        }
    }

    /// The name.
    ///
    /// ```
    /// use mosaic_memspace::custom_call::FlagName;
    /// assert_eq!(FlagName::new("a")?.as_str(), "a");
    /// # Ok::<(), mosaic_memspace::custom_call::FlagFault>(())
    /// ```
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::borrow::Borrow<str> for FlagName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for FlagName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// A flag's value, as XLA's proto has it.
///
/// ```
/// use mosaic_memspace::custom_call::{Finite, FlagValue};
/// assert_eq!(Finite::new(0.5).map(FlagValue::Float), FlagValue::new("a", 0.5.into()).ok());
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FlagValue {
    /// A `boolean_value`.
    Bool(bool),
    /// An `integer_value`, of 64 bits.
    Int(i64),
    /// A `double_value`.
    Float(Finite),
}

impl FlagValue {
    /// Checks a value from outside for the flag `name`.
    ///
    /// # Errors
    /// [`FlagFault::NonFinite`], and [`FlagFault::InvalidValue`] for anything but a
    /// boolean, an integer of 64 bits, or a float.
    ///
    /// ```
    /// use mosaic_memspace::custom_call::{FlagValue, WrittenFlagValue};
    /// assert_eq!(FlagValue::new("a", WrittenFlagValue::Int(7)), Ok(FlagValue::Int(7)));
    /// assert_eq!(
    ///     FlagValue::new("a", "no".into()).unwrap_err().to_string(),
    ///     "invalid flag value: no, of flag a"
    /// );
    /// ```
    pub fn new(name: &str, written: WrittenFlagValue) -> Result<Self, FlagFault> {
        match written {
            WrittenFlagValue::Bool(value) => Ok(Self::Bool(value)),
            WrittenFlagValue::Int(value) => Ok(Self::Int(value)),
            WrittenFlagValue::Float(value) => {
                Finite::new(value).map(Self::Float).ok_or_else(|| FlagFault::NonFinite {
                    name: name.to_owned(),
                    value: value.to_string(),
                })
            }
            WrittenFlagValue::Str(text) | WrittenFlagValue::Other(text) => {
                Err(FlagFault::InvalidValue { name: name.to_owned(), value: text })
            }
        }
    }
}

/// A flag's value as an author may write it, or as JSON may have it.
///
/// ```
/// use mosaic_memspace::custom_call::WrittenFlagValue;
/// assert_eq!(WrittenFlagValue::from(true), WrittenFlagValue::Bool(true));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum WrittenFlagValue {
    /// A boolean.
    Bool(bool),
    /// An integer of 64 bits.
    Int(i64),
    /// A float, finite or not.
    Float(f64),
    /// A string. JAX accepts it, and fails when it writes the JSON.
    Str(String),
    /// Anything else, in its own text.
    Other(String),
}

impl From<bool> for WrittenFlagValue {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<i64> for WrittenFlagValue {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<f64> for WrittenFlagValue {
    fn from(value: f64) -> Self {
        Self::Float(value)
    }
}

impl From<&str> for WrittenFlagValue {
    fn from(value: &str) -> Self {
        Self::Str(value.to_owned())
    }
}

/// A float that is neither infinite nor NaN: JSON has no text for those.
///
/// ```
/// use mosaic_memspace::custom_call::Finite;
/// assert_eq!(Finite::new(1.5).map(Finite::get), Some(1.5));
/// assert_eq!(Finite::new(f64::INFINITY), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Finite(f64);

impl Finite {
    /// `value`, if it is finite.
    ///
    /// ```
    /// assert!(mosaic_memspace::custom_call::Finite::new(f64::NAN).is_none());
    /// ```
    pub const fn new(value: f64) -> Option<Self> {
        if value.is_finite() { Some(Self(value)) } else { None }
    }

    /// The value.
    ///
    /// ```
    /// use mosaic_memspace::custom_call::Finite;
    /// assert_eq!(Finite::new(-0.0).map(|zero| zero.get().is_sign_negative()), Some(true));
    /// ```
    pub const fn get(self) -> f64 {
        self.0
    }
}

faults! {
    /// A flag that cannot be written.
    ///
    /// ```
    /// use mosaic_memspace::custom_call::{FlagFault, FlagValue};
    /// use mosaic_memspace::error::{Code, Fault};
    ///
    /// let error = FlagValue::new("x", f64::NAN.into()).unwrap_err();
    /// assert_eq!(error.to_string(), "value NaN of flag x is not finite: JSON has no text for it");
    /// assert_eq!(error.code(), Code::NonFiniteFlag);
    /// assert_eq!(error.name(), "x");
    /// ```
    #[derive(Clone)]
    pub enum FlagFault {
        /// A name that is not its own JSON text.
        NameUnsafe {
        /// The name as it was given.
        name: String,
        /// The first character that breaks it.
        character: char,
    } => FlagNameUnsafe at "flags" ("flag name {} holds {character:?}, which would break the JSON", Shown(name));
        /// An infinite value, or NaN.
        NonFinite {
        /// The flag's name.
        name: String,
        /// The value.
        value: String,
    } => NonFiniteFlag at "flags" ("value {value} of flag {} is not finite: JSON has no text for it", Shown(name));
        /// A value of another type.
        InvalidValue {
        /// The flag's name.
        name: String,
        /// The value, in its own text.
        value: String,
    } => InvalidFlagValue at "flags" ("invalid flag value: {}, of flag {}", Shown(value), Shown(name));
    }
}

impl FlagFault {
    /// The flag's name as it was given.
    pub fn name(&self) -> &str {
        match self {
            Self::NameUnsafe { name, .. }
            | Self::NonFinite { name, .. }
            | Self::InvalidValue { name, .. } => name,
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test")]
mod tests {
    use super::*;
    use crate::error::{Code, Fault};

    #[test]
    fn a_name_is_safe_when_it_is_its_own_json_text() {
        for character in (0..0x300).chain([0x2028, 0x1F600]).filter_map(char::from_u32) {
            let name = format!("a{character}b");
            let json = serde_json::to_string(&name).unwrap();
            let own_text = json == format!("\"{name}\"") && name.is_ascii();
            assert_eq!(FlagName::new(&name).is_ok(), own_text, "{name:?}");
        }
    }

    #[test]
    fn values_that_no_json_holds_are_refused_each_with_its_code() {
        let code = |name, value| Flags::from_written([(name, value)]).unwrap_err()[0].code();
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(code("a", value.into()), Code::NonFiniteFlag);
        }
        assert_eq!(code("a", "no".into()), Code::InvalidFlagValue);
        assert_eq!(code("a", WrittenFlagValue::Other("[]".into())), Code::InvalidFlagValue);
        assert_eq!(code("a\\", 1.into()), Code::FlagNameUnsafe);
    }

    #[test]
    fn all_faults_come_at_once_in_order() {
        let written = [("a\"", true.into()), ("b", f64::NAN.into()), ("c", "no".into())];
        let errors = Flags::from_written(written).unwrap_err();
        let names: Vec<_> = errors.iter().map(FlagFault::name).collect();
        assert_eq!(names, ["a\"", "b", "c"]);
    }

    #[test]
    fn a_flag_set_again_keeps_its_place() {
        let written = [("a", 1.into()), ("b", 2.into()), ("a", true.into())];
        let flags = Flags::from_written(written).unwrap();
        let all: Vec<_> = flags.iter().map(|(name, value)| (name.as_str(), value)).collect();
        assert_eq!(all, [("a", FlagValue::Bool(true)), ("b", FlagValue::Int(2))]);
        assert_eq!(flags.get("a"), Some(FlagValue::Bool(true)));
        assert_eq!(flags.get("c"), None);
    }
}
