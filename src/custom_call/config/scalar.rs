//! Strings and numbers of a backend config, as JAX and XLA write them.

use super::flags::{Finite, FlagName};
use crate::word::Shown;
use serde::Deserialize;
use serde::de::{Deserializer, Error, Visitor};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

/// An integer that stands in the config.
pub(super) trait Integer: TryFrom<i64> + TryFrom<u64> + FromStr {}

impl Integer for i64 {}
impl Integer for u32 {}

/// An integer, or one in a string.
pub(super) struct Number<T>(pub(super) T);

/// A float, or one in a string.
pub(super) struct Double(pub(super) Finite);

/// A string, borrowed when nothing in it is escaped.
pub(super) struct Text<'a>(pub(super) Cow<'a, str>);

/// A flag's name.
pub(super) struct Name(pub(super) FlagName);

/// What `Deserialize` is made of: which method is asked for, and what each kind of
/// value becomes.
macro_rules! scalar {
    ($type:ty $(, $parameter:ident: $bound:ident)? => $ask:ident, $expecting:literal {
        $($visit:ident($value:ident: $from:ty) => $become:expr;)*
    }) => {
        impl<'de $(, $parameter: $bound)?> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Kind<T>(PhantomData<T>);
                impl<'de $(, $parameter: $bound)?> Visitor<'de> for Kind<$type> {
                    type Value = $type;

                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str($expecting)
                    }

                    $(fn $visit<E: Error>(self, $value: $from) -> Result<Self::Value, E> {
                        $become
                    })*
                }
                deserializer.$ask(Kind(PhantomData))
            }
        }
    };
}

scalar! { Number<T>, T: Integer => deserialize_any, "an integer" {
    visit_i64(value: i64) => T::try_from(value).map(Number).map_err(|_| out_of_range(value));
    visit_u64(value: u64) => T::try_from(value).map(Number).map_err(|_| out_of_range(value));
    visit_str(value: &str) => value.parse().map(Number).map_err(|_| out_of_range(Shown(value)));
} }

scalar! { Double => deserialize_any, "a finite float" {
    visit_f64(value: f64) => Finite::new(value).map(Double).ok_or_else(|| out_of_range(value));
    visit_i64(value: i64) => double(&value.to_string());
    visit_u64(value: u64) => double(&value.to_string());
    visit_str(value: &str) => double(value);
} }

scalar! { Text<'de> => deserialize_str, "a string" {
    visit_borrowed_str(value: &'de str) => Ok(Text(Cow::Borrowed(value)));
    visit_str(value: &str) => Ok(Text(Cow::Owned(value.to_owned())));
} }

scalar! { Name => deserialize_str, "a string" {
    visit_str(value: &str) => FlagName::new(value).map(Name).map_err(E::custom);
} }

fn double<E: Error>(text: &str) -> Result<Double, E> {
    let finite = text.parse().ok().and_then(Finite::new);
    finite.map(Double).ok_or_else(|| out_of_range(Shown(text)))
}

fn out_of_range<E: Error>(value: impl fmt::Display) -> E {
    E::custom(format_args!("{value} is no number that can stand here"))
}
