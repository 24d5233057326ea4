//! What members of the config hold: how each kind stands in the JSON, written and read.

use super::body::{Base64, Body};
use super::flags::{Finite, FlagName};
use super::number::{FLOAT, python_float};
use super::open::Open;
use super::rows::{UnknownKey, Whole, walk, write};
#[cfg(feature = "read")]
use super::scalar::{Double, Name, Number, Text};
use super::sink::{Layout, Sink, list};
use crate::custom_call::colors::color::ColorNumber;
use crate::custom_call::ids::collective_id::CollectiveId;
use crate::custom_call::params::words::{DeviceType, OptLevel, Tiling};
use std::borrow::Cow;

#[cfg(feature = "read")]
use {
    super::{open::RawJson, rows::Reader},
    serde::{Deserialize, Deserializer},
    serde_json::value::RawValue,
};

/// What a member of an object holds.
pub(super) trait Value<'a>: Sized {
    /// Whether the member is written, and not left out as one that says no more than its
    /// absence.
    fn is_written(&self, _absent: &Self) -> bool {
        true
    }

    /// Whether the value is written where it may be absent.
    fn is_given(&self) -> bool {
        true
    }

    fn write<S: Sink>(&self, lists: &'static Layout, sink: &mut S);

    #[cfg(feature = "read")]
    fn read<D: Deserializer<'a>>(json: D) -> Result<Self, D::Error>;

    /// Gathers the unknown keys in it, which stands at `path`.
    fn walk(&self, _path: &str, _found: &mut Vec<UnknownKey<'a>>) {}
}

/// A value that is read as a member, or as an element of a list.
#[cfg(feature = "read")]
pub(super) struct Read<T>(pub(super) T);

#[cfg(feature = "read")]
impl<'de, T: Value<'de>> Deserialize<'de> for Read<T> {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        T::read(json).map(Self)
    }
}

/// A row a kind: how it is written, and how it is read.
macro_rules! values {
    ($(
        $type:ty $(where $T:ident: $bound:ident)?:
        write |$it:ident, $lists:ident, $sink:ident| $write:expr,
        read |$json:ident| $read:expr
        $(, if $is:ident |$self:ident $(, $absent:ident)?| $answer:expr)*
        $(, walk |$in:ident, $path:ident, $found:ident| $walk:expr)?;
    )*) => {$(
        impl<'a $(, $T: $bound<'a>)?> Value<'a> for $type {
            fn write<S: Sink>(&self, $lists: &'static Layout, $sink: &mut S) {
                let $it = self;
                $write;
            }

            #[cfg(feature = "read")]
            fn read<D: Deserializer<'a>>($json: D) -> Result<Self, D::Error> {
                $read
            }

            $(fn $is(&self $(, $absent: &Self)?) -> bool {
                let $self = self;
                $answer
            })*

            $(fn walk(&self, $path: &str, $found: &mut Vec<UnknownKey<'a>>) {
                let $in = self;
                $walk
            })?
        }
    )*};
}

values! {
    bool:
        write |it, _lists, sink| boolean(*it, sink),
        read |json| bool::deserialize(json),
        if is_written |it, absent| it != absent;
    i64:
        write |it, _lists, sink| sink.decimal(*it),
        read |json| Ok(Number::deserialize(json)?.0);
    u32:
        write |it, _lists, sink| sink.natural((*it).into()),
        read |json| Ok(Number::deserialize(json)?.0);
    Finite:
        write |it, _lists, sink| sink.text(python_float(it.get(), &mut [0; FLOAT])),
        read |json| Ok(Double::deserialize(json)?.0);
    CollectiveId:
        write |it, _lists, sink| sink.natural(it.get().into()),
        read |json| Ok(CollectiveId::from(Number::<u32>::deserialize(json)?.0));
    ColorNumber:
        write |it, _lists, sink| sink.decimal(it.number()),
        read |json| Ok(ColorNumber::new(Number::deserialize(json)?.0));
    FlagName:
        write |it, _lists, sink| quoted(it.as_str(), sink),
        read |json| Ok(Name::deserialize(json)?.0);
    Body<'a>:
        write |it, _lists, sink| match it {
            Body::Bytes(bytes) => {
                sink.text("\"");
                sink.base64(bytes);
                sink.text("\"");
            }
            Body::Base64(Base64(Cow::Borrowed(text))) => quoted(text, sink),
            Body::Base64(Base64(Cow::Owned(text))) => string(text, sink),
        },
        read |json| Ok(Body::Base64(Base64(Text::deserialize(json)?.0))),
        if is_given |it| !it.is_empty();
    Open<'a, T> where T: Word:
        write |it, _lists, sink| match it {
            Open::Known(word) => quoted(word.json(), sink),
            Open::Other(text) => sink.text(text.as_str()),
        },
        read |json| {
            let value = <&RawValue>::deserialize(json)?;
            let word = serde_json::from_str::<Text<'_>>(value.get()).ok();
            let known = word.and_then(|word| T::known(&word.0));
            Ok(known.map_or(Open::Other(RawJson(value.get())), Open::Known))
        };
    // The numbers of cores are strings.
    Vec<u32>:
        write |it, lists, sink| list(sink, lists, it, |id, sink| {
            sink.text("\"");
            sink.natural((*id).into());
            sink.text("\"");
        }),
        read |json| elements(json),
        if is_written |it, _absent| !it.is_empty();
    Vec<i64>:
        write |it, lists, sink| list(sink, lists, it, |number, sink| sink.decimal(*number)),
        read |json| elements(json),
        if is_written |it, _absent| !it.is_empty();
    Vec<bool>:
        write |it, lists, sink| list(sink, lists, it, |value, sink| boolean(*value, sink)),
        read |json| elements(json),
        if is_written |it, _absent| !it.is_empty();
    Vec<T> where T: Whole:
        write |it, lists, sink| list(sink, lists, it, |object, sink| write::<T, S>(object, sink)),
        read |json| elements(json),
        if is_written |it, _absent| !it.is_empty(),
        walk |it, path, found| for (index, object) in it.iter().enumerate() {
            walk::<T>(object, &format!("{path}[{index}]"), found);
        };
    Option<T> where T: Value:
        write |it, lists, sink| if let Some(value) = it { value.write(lists, sink) },
        read |json| Ok(Option::<Read<T>>::deserialize(json)?.map(|read| read.0)),
        if is_written |it, _absent| it.as_ref().is_some_and(T::is_given),
        walk |it, path, found| if let Some(value) = it { value.walk(path, found) };
}

impl<'a, T: Whole<'a>> Value<'a> for T {
    fn write<S: Sink>(&self, _lists: &'static Layout, sink: &mut S) {
        write::<T, S>(self, sink);
    }

    #[cfg(feature = "read")]
    fn read<D: Deserializer<'a>>(json: D) -> Result<Self, D::Error> {
        let mut object = T::default();
        json.deserialize_map(Reader::<T>(&mut object))?;
        Ok(object)
    }

    fn walk(&self, path: &str, found: &mut Vec<UnknownKey<'a>>) {
        walk::<T>(self, path, found);
    }
}

#[cfg(feature = "read")]
fn elements<'de, T: Value<'de>, D: Deserializer<'de>>(json: D) -> Result<Vec<T>, D::Error> {
    let elements = Vec::<Read<T>>::deserialize(json)?;
    Ok(elements.into_iter().map(|read| read.0).collect())
}

/// A word of the JSON, of those that are known.
pub(super) trait Word<'a>: Copy + 'static {
    fn json(self) -> &'static str;

    #[cfg(feature = "read")]
    fn known(word: &str) -> Option<Self>;
}

macro_rules! words {
    ($($type:ident: $json:ident;)*) => {$(
        impl Word<'_> for $type {
            fn json(self) -> &'static str {
                self.$json()
            }

            #[cfg(feature = "read")]
            fn known(word: &str) -> Option<Self> {
                Self::ALL.iter().find(|known| known.$json() == word).copied()
            }
        }
    )*};
}

words! {
    DeviceType: json_word;
    OptLevel: as_str;
    Tiling: as_str;
}

/// A string in which nothing needs an escape.
fn quoted<S: Sink>(text: &str, sink: &mut S) {
    sink.text("\"");
    sink.text(text);
    sink.text("\"");
}

/// Any string.
pub(super) fn string<S: Sink>(text: &str, sink: &mut S) {
    sink.text("\"");
    for piece in text.split_inclusive(needs_escape) {
        let mut rest = piece.chars();
        let last = rest.next_back().filter(|last| needs_escape(*last));
        sink.text(if last.is_some() { rest.as_str() } else { piece });
        if let Some(last) = last {
            sink.text("\\u00");
            for shift in [4, 0] {
                let digit = char::from_digit((u32::from(last) >> shift) & 0xf, 16);
                sink.text(digit.unwrap_or('0').encode_utf8(&mut [0; 4]));
            }
        }
    }
    sink.text("\"");
}

/// Those below U+0020, the quote and the backslash.
fn needs_escape(character: char) -> bool {
    matches!(character, '"' | '\\' | '\0'..='\u{1f}')
}

fn boolean<S: Sink>(value: bool, sink: &mut S) {
    sink.text(if value { "true" } else { "false" });
}
