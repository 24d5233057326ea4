//! Objects of the backend config, a row a member: its key, its field, what it holds, and
//! with that how it is written, read, and searched for keys that nobody knows.

use super::open::RawJson;
use super::sink::{LIST, Layout, Members, Sink};
use super::values::string;
use std::borrow::Cow;

#[cfg(feature = "read")]
use {
    super::scalar::Text,
    serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, Visitor},
    serde_json::value::RawValue,
    std::fmt,
};

/// A JSON object whose members are fields of `Host`: itself, or where an object of its own
/// would only be in the way, what it stands in.
pub(super) trait Object<'a> {
    type Host;

    const STYLE: &'static Style;

    /// Keys that XLA adds when it prints the object: known, and kept as they come.
    const OF_XLA: &'static [&'static str];

    fn extras(host: &Self::Host) -> &Extras<'a>;

    #[cfg(feature = "read")]
    fn extras_mut(host: &mut Self::Host) -> &mut Extras<'a>;

    /// Writes the object; without `EXTRAS` there are none, and more is known beforehand.
    fn write<S: Sink, const EXTRAS: bool>(host: &Self::Host, sink: &mut S);

    /// Reads a member, and says which of the rows it has; of an unknown one, none.
    #[cfg(feature = "read")]
    fn read<A: MapAccess<'a>>(
        host: &mut Self::Host,
        key: &str,
        seen: &mut Seen,
        map: &mut A,
    ) -> Result<Option<u8>, A::Error>;

    /// What is wrong with it as a whole.
    #[cfg(feature = "read")]
    fn fault(_host: &Self::Host) -> Option<&'static str> {
        None
    }

    fn walk(host: &Self::Host, path: &str, found: &mut Vec<UnknownKey<'a>>);
}

/// An object that has its fields itself.
pub(super) trait Whole<'a>: Object<'a, Host = Self> + Default {}

impl<'a, T: Object<'a, Host = T> + Default> Whole<'a> for T {}

/// How JAX writes an object: it has three ways.
pub(super) struct Style {
    pub(super) object: Layout,
    /// A list that is a member of it.
    pub(super) list: Layout,
    colon: &'static str,
}

pub(super) const SPACED: Style =
    Style { object: Layout { open: "{", separator: ", ", close: "}" }, list: LIST, colon: ": " };
pub(super) const COMPACT: Style =
    Style { object: Layout { open: "{", separator: ",", close: "}" }, list: LIST, colon: ":" };
pub(super) const LINES: Style = Style {
    object: Layout { open: "{\n", separator: ",\n", close: "\n}" },
    list: Layout { open: "[\n", separator: ",\n", close: "\n]" },
    colon: ":",
};

/// A key with the separator before it and the colon behind it, as its style has them.
macro_rules! key {
    (SPACED $key:expr) => {
        concat!(", \"", $key, "\": ")
    };
    (COMPACT $key:expr) => {
        concat!(",\"", $key, "\":")
    };
    (LINES $key:expr) => {
        concat!(",\n\"", $key, "\":")
    };
    ($style:ident $key:expr, $own:literal) => {
        $own
    };
}
pub(super) use key;

/// A struct that is an object, a row a member in the order that JAX writes them: its field,
/// whose name is the key, and what it holds.
macro_rules! object {
    (
        $(#[$attr:meta])*
        $pub:vis struct $name:ident in $style:ident, of XLA $of_xla:tt {
            $(
                $(#[$doc:meta])*
                $vis:vis $field:ident $([$text:literal])?: $type:ty;
            )*
        }
        $(fault |$whole:ident| $fault:expr)?
    ) => {
        $(#[$attr])*
        #[derive(Clone, Debug, Default, PartialEq)]
        #[non_exhaustive]
        $pub struct $name<'a> {
            $($(#[$doc])* $vis $field: $type,)*
            pub(super) extras: Extras<'a>,
        }

        rows! {
            $name<'a>: $name<'a>, extras, $style, $of_xla, { $($whole $fault)? } {}
            $($field $([$text])?: $type;)*
        }
    };
}
pub(super) use object;

/// The rows of an object, each with what stands for its absence. Before them may come an
/// object that stands in it, but has its fields in the same struct.
macro_rules! rows {
    (
        $object:ty: $host:ty, $extras:ident, $style:ident, $of_xla:expr,
        { $($whole:ident $fault:expr)? } { $($part:ident: $inner:ty)? }
        $($field:ident $([$text:literal])?: $type:ty $(= $absent:expr)?;)*
    ) => {
        const _: () = {
            use $crate::custom_call::config::rows::{self, Extras, Object, Style, UnknownKey};
            use $crate::custom_call::config::sink::{Members, Sink};
            use $crate::custom_call::config::values::Value;

            #[allow(non_camel_case_types, reason = "each is its row's key")]
            #[repr(u8)]
            enum Row { $($part,)? $($field,)* }

            impl<'a> Object<'a> for $object {
                type Host = $host;

                const STYLE: &'static Style = &rows::$style;
                const OF_XLA: &'static [&'static str] = &$of_xla;

                fn extras(host: &Self::Host) -> &Extras<'a> {
                    &host.$extras
                }

                #[cfg(feature = "read")]
                fn extras_mut(host: &mut Self::Host) -> &mut Extras<'a> {
                    &mut host.$extras
                }

                #[inline]
                fn write<S: Sink, const EXTRAS: bool>(host: &Self::Host, sink: &mut S) {
                    let mut members = Members::begin(sink, &Self::STYLE.object);
                    if EXTRAS {
                        rows::write_extras::<Self, S>(host, None, &mut members);
                    }
                    $(
                        let text = rows::key!($style stringify!($part));
                        rows::write::<$inner, S>(host, members.after(text));
                        if EXTRAS {
                            let after = Some(Row::$part as u8);
                            rows::write_extras::<Self, S>(host, after, &mut members);
                        }
                    )?
                    $(
                        if host.$field.is_written(&rows::or_default!($($absent)?)) {
                            let text = rows::key!($style stringify!($field) $(, $text)?);
                            host.$field.write(&Self::STYLE.list, members.after(text));
                        }
                        if EXTRAS {
                            let after = Some(Row::$field as u8);
                            rows::write_extras::<Self, S>(host, after, &mut members);
                        }
                    )*
                    members.end();
                }

                #[cfg(feature = "read")]
                fn read<A: serde::de::MapAccess<'a>>(
                    host: &mut Self::Host,
                    key: &str,
                    seen: &mut rows::Seen,
                    map: &mut A,
                ) -> Result<Option<u8>, A::Error> {
                    use $crate::custom_call::config::values::Read;

                    $(if key == stringify!($part) {
                        seen.once(Row::$part as u8, key)?;
                        map.next_value_seed(rows::Reader::<$inner>(host))?;
                        return Ok(Some(Row::$part as u8));
                    })?
                    match key {
                        $(stringify!($field) => {
                            seen.once(Row::$field as u8, key)?;
                            let read: Option<Read<$type>> = map.next_value()?;
                            host.$field = match read {
                                Some(Read(value)) => value,
                                None => rows::or_default!($($absent)?),
                            };
                            Ok(Some(Row::$field as u8))
                        })*
                        _ => Ok(None),
                    }
                }

                $(#[cfg(feature = "read")]
                fn fault($whole: &Self::Host) -> Option<&'static str> {
                    $fault
                })?

                fn walk(host: &Self::Host, path: &str, found: &mut Vec<UnknownKey<'a>>) {
                    $(rows::walk::<$inner>(host, &rows::joined(path, stringify!($part)), found);)?
                    $(host.$field.walk(&rows::joined(path, stringify!($field)), found);)*
                }
            }
        };
    };
}
pub(super) use rows;

macro_rules! or_default {
    () => {
        Default::default()
    };
    ($absent:expr) => {
        $absent
    };
}
pub(super) use or_default;

/// The keys of an object that no row has, each with the number of rows down to the one that
/// it stands behind, so that it can be written in its place again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Extras<'a>(Vec<Extra<'a>>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Extra<'a> {
    /// The row that it stands behind; none at the object's beginning.
    after: Option<u8>,
    key: Cow<'a, str>,
    value: RawJson<'a>,
}

impl Extras<'_> {
    pub(super) const fn new() -> Self {
        Self(Vec::new())
    }
}

/// A key that nobody is known to write, and its value.
///
/// ```
/// # #[cfg(feature = "read")] {
/// use mosaic_memspace::custom_call::BackendConfig;
/// let config = BackendConfig::from_json(r#"{"flag_configs": [{"since": 2}]}"#);
/// // A flag needs a name, whatever else it has.
/// assert!(config.is_err());
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownKey<'a> {
    /// Where it stands: `custom_call_config.new`, `scoped_memory_configs[0].new`.
    pub path: String,
    /// Its value.
    pub value: RawJson<'a>,
}

#[inline]
pub(super) fn write<'a, T: Object<'a>, S: Sink>(host: &T::Host, sink: &mut S) {
    if T::extras(host).0.is_empty() {
        T::write::<S, false>(host, sink);
    } else {
        T::write::<S, true>(host, sink);
    }
}

/// What was read behind a row.
pub(super) fn write_extras<'a, T: Object<'a>, S: Sink>(
    host: &T::Host,
    after: Option<u8>,
    members: &mut Members<'_, S>,
) {
    for extra in T::extras(host).0.iter().filter(|extra| extra.after == after) {
        let sink = members.element();
        string(&extra.key, sink);
        sink.text(T::STYLE.colon);
        sink.text(extra.value.as_str());
    }
}

/// Gathers the keys that neither JAX nor, as far as is known, XLA writes.
pub(super) fn walk<'a, T: Object<'a>>(host: &T::Host, path: &str, found: &mut Vec<UnknownKey<'a>>) {
    let extras = T::extras(host).0.iter();
    let unknown = extras.filter(|extra| !T::OF_XLA.contains(&extra.key.as_ref()));
    found.extend(
        unknown.map(|extra| UnknownKey { path: joined(path, &extra.key), value: extra.value }),
    );
    T::walk(host, path, found);
}

/// The path of a member of the object at `path`: `.key`, or `["the key"]` where it is no
/// word.
pub(super) fn joined(path: &str, key: &str) -> String {
    let is_word = |letter: u8| letter.is_ascii_alphanumeric() || letter == b'_';
    if key.is_empty() || !key.bytes().all(is_word) {
        format!("{path}[\"{}\"]", key.escape_debug())
    } else if path.is_empty() {
        key.to_owned()
    } else {
        format!("{path}.{key}")
    }
}

/// The rows that were read.
#[cfg(feature = "read")]
#[derive(Default)]
pub(super) struct Seen(u32);

#[cfg(feature = "read")]
impl Seen {
    pub(super) fn once<E: Error>(&mut self, row: u8, key: &str) -> Result<(), E> {
        let bit = 1_u32.checked_shl(row.into()).unwrap_or_default();
        if self.0 & bit != 0 {
            return Err(E::custom(format_args!("`{key}` stands twice")));
        }
        self.0 |= bit;
        Ok(())
    }
}

/// Reads an object's members into its host.
#[cfg(feature = "read")]
pub(super) struct Reader<'h, 'a, T: Object<'a>>(pub(super) &'h mut T::Host);

#[cfg(feature = "read")]
impl<'de, T: Object<'de>> DeserializeSeed<'de> for Reader<'_, 'de, T> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_option(self)
    }
}

#[cfg(feature = "read")]
impl<'de, T: Object<'de>> Visitor<'de> for Reader<'_, 'de, T> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    /// To protobuf's JSON, null is absent.
    fn visit_none<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_some<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_map(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut seen = Seen::default();
        let mut after = None;
        while let Some(Text(key)) = map.next_key()? {
            let row = T::read(self.0, &key, &mut seen, &mut map)?;
            if row.is_none() {
                let value = RawJson(map.next_value::<&RawValue>()?.get());
                T::extras_mut(self.0).0.push(Extra { after, key, value });
            }
            after = row.or(after);
        }
        T::fault(self.0).map_or(Ok(()), |fault| Err(A::Error::custom(fault)))
    }
}
