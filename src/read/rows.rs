//! Objects of a description: a row a field.

use super::fault::JsonFault;
use super::json::Kind;
use super::schema::Definitions;
use super::value::{Faults, Json, Value};
use crate::word::Word;
use std::fmt;

/// A field of an object: from it come reading, writing, the keys that are known, and
/// the schema.
pub(super) struct Row<T> {
    pub(super) key: &'static str,
    pub(super) doc: &'static str,
    pub(super) is_required: bool,
    pub(super) read: fn(&mut T, &Value<'_, '_>, &mut Faults),
    /// Whether one says no more than the other.
    pub(super) is_same: fn(&T, &T) -> bool,
    pub(super) write: fn(&T, &mut String),
    pub(super) schema: fn(&mut Definitions) -> serde_json::Value,
}

/// What is written as an object.
pub(super) trait Object: Sized + 'static {
    const NAME: &'static str;
    const DOC: &'static str;
    const ROWS: &'static [Row<Self>];
    /// A field that is for others.
    const IGNORED: Option<&'static str> = None;

    /// One that no field has been read into.
    fn absent() -> Self;

    /// Which fields go together.
    fn cases() -> impl Iterator<Item = Case> {
        std::iter::empty()
    }
}

/// Which fields must be there and which may not, where something holds.
#[derive(Clone, Copy)]
pub(super) struct Case {
    pub(super) when: When,
    pub(super) needs: &'static [&'static str],
    pub(super) excludes: &'static [&'static str],
}

/// What may hold of a field.
#[derive(Clone, Copy)]
pub(super) enum When {
    Is(&'static str, &'static str),
    Given(&'static str),
    Absent(&'static str),
}

impl fmt::Display for When {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Is(field, word) => write!(f, "`{field}` {word}"),
            Self::Given(field) | Self::Absent(field) => write!(f, "`{field}`"),
        }
    }
}

/// The rows of an object: key and field, with the field's doc in help and schema.
/// `need` is before those that must be there.
macro_rules! rows {
    (
        $(#[doc = $about:literal])+
        $of:ty as $name:literal { $($item:item)* }
        $($(#[doc = $doc:literal])+ $($need:ident)? $key:literal: $($field:ident).+;)+
    ) => {
        impl $crate::read::rows::Object for $of {
            const NAME: &'static str = $name;
            const DOC: &'static str = concat!($($about),+).trim_ascii();
            const ROWS: &'static [$crate::read::rows::Row<Self>] = &[$({
                const REQUIRED: bool = !stringify!($($need)?).is_empty();
                $crate::read::rows::Row {
                    key: $key,
                    doc: concat!($($doc),+).trim_ascii(),
                    is_required: REQUIRED,
                    read: |of, value, faults| value.fill(&mut of.$($field).+, REQUIRED, faults),
                    is_same: |of, other| of.$($field).+ == other.$($field).+,
                    write: |of, json| $crate::read::value::Json::write(&of.$($field).+, json),
                    schema: |definitions| {
                        $crate::read::schema::of(|of: &Self| &of.$($field).+, definitions)
                    },
                }
            }),+];
            $($item)*
        }
    };
}
pub(super) use rows;

/// An object whose fields are not those of what it says: it is read and written by way
/// of one that has them, each as an option.
macro_rules! drafted {
    (
        $(#[doc = $about:literal])+
        $of:ident by $draft:ident as $name:literal { $($item:item)* }
        $($(#[doc = $doc:literal])+ $($need:ident)? $key:literal: $field:ident: $type:ty;)+
    ) => {
        #[derive(Default)]
        struct $draft { $($field: Option<$type>,)+ }

        $crate::read::rows::rows! {
            $(#[doc = $about])+
            $draft as $name {
                fn absent() -> Self {
                    Self::default()
                }

                $($item)*
            }
            $($(#[doc = $doc])+ $($need)? $key: $field;)+
        }

        impl $crate::read::value::Json for $of {
            fn expected() -> String {
                $draft::expected()
            }

            fn read(
                value: &$crate::read::value::Value<'_, '_>,
                faults: &mut $crate::read::value::Faults,
            ) -> Option<Self> {
                $draft::read(value, faults)?.done()
            }

            fn write(&self, json: &mut String) {
                $draft::of(self).write(json);
            }

            fn schema(definitions: &mut $crate::read::schema::Definitions) -> serde_json::Value {
                $draft::schema(definitions)
            }
        }
    };
}
pub(super) use drafted;

impl<T: Object> Json for T {
    fn expected() -> String {
        "an object".to_owned()
    }

    fn read(value: &Value<'_, '_>, faults: &mut Faults) -> Option<Self> {
        let is_whole = value.kind() == Kind::Object;
        if !is_whole && value.kind() != Kind::OpenObject {
            faults.wrong(value, Self::expected());
            return None;
        }
        let mut of = Self::absent();
        let mut fields = Fields::default();
        for (name, key, part) in value.fields() {
            let Some((number, row)) = Self::row(&name) else {
                if Self::IGNORED != Some(&*name) {
                    let known = Self::ROWS.iter().map(|row| row.key).collect();
                    let fault = JsonFault::UnknownField { field: Word::new(&name), known };
                    faults.push(fault, &part, key);
                }
                continue;
            };
            if fields.there & number != 0 {
                let fault = JsonFault::DuplicateField { field: Word::new(&name) };
                faults.push(fault, &part, key);
                continue;
            }
            let part = part.of(row.key, row.doc);
            fields.there |= number;
            fields.given |= if part.is_null() { 0 } else { number };
            (row.read)(&mut of, &part, faults);
        }
        fields.fit::<Self>(value, is_whole, faults);
        Some(of)
    }

    fn write(&self, json: &mut String) {
        let absent = Self::absent();
        let mut opened = "{";
        for row in Self::ROWS {
            if row.is_required || !(row.is_same)(self, &absent) {
                json.extend([opened, "\"", row.key, "\": "]);
                (row.write)(self, json);
                opened = ", ";
            }
        }
        json.push_str(if opened == "{" { "{}" } else { "}" });
    }

    fn schema(definitions: &mut Definitions) -> serde_json::Value {
        definitions.object::<Self>()
    }
}

/// The fields of an object that are there, and those that say something: a bit a row.
#[derive(Clone, Copy, Default)]
struct Fields {
    there: u64,
    given: u64,
}

impl Fields {
    /// Tells which are missing, and which do not go together.
    fn fit<T: Object>(self, value: &Value<'_, '_>, is_whole: bool, faults: &mut Faults) {
        let given = |key: &str| T::row(key).is_some_and(|(number, _)| self.given & number != 0);
        let missing = |fields: Vec<&'static str>, key: &str, faults: &mut Faults| {
            let doc = T::row(key).map_or("", |(_, row)| row.doc);
            faults.push(JsonFault::MissingField { fields, doc }, value, value.range());
        };
        for row in T::ROWS.iter().filter(|row| row.is_required && is_whole) {
            if T::row(row.key).is_some_and(|(number, _)| self.there & number == 0) {
                missing(vec![row.key], row.key, faults);
            }
        }
        for case in T::cases() {
            let (holds, other) = match case.when {
                When::Is(field, word) => {
                    let is_word = |part: &Value<'_, '_>| part.string().is_some_and(|it| it == word);
                    let mut fields = value.fields().filter(|(name, ..)| name == field);
                    (given(field) && fields.any(|(_, _, part)| is_word(&part)), None)
                }
                When::Given(field) => (given(field), None),
                When::Absent(field) => (is_whole && !given(field), Some(field)),
            };
            if !holds {
                continue;
            }
            for need in case.needs.iter().filter(|need| is_whole && !given(need)) {
                missing([*need].into_iter().chain(other).collect(), need, faults);
            }
            for (name, key, part) in value.fields() {
                let excluded = case.excludes.iter().find(|field| **field == name);
                if let Some(field) = excluded.filter(|_| !part.is_null()) {
                    let with = case.when.to_string();
                    faults.push(JsonFault::MisplacedField { field, with }, &part, key);
                }
            }
        }
    }
}

trait Rows: Object {
    /// The row of a key, and its bit.
    fn row(key: &str) -> Option<(u64, &'static Row<Self>)> {
        const { assert!(Self::ROWS.len() <= 64, "a bit a row") };
        let bits = std::iter::successors(Some(1_u64), |bit| bit.checked_mul(2));
        bits.zip(Self::ROWS).find(|(_, row)| row.key == key)
    }
}

impl<T: Object> Rows for T {}
