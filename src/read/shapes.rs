//! Values that are no objects: scalars, words, lists.

use super::json::Kind;
use super::rows::{Case, When, rows};
use super::schema::{self, Definitions};
use super::value::{Faults, Json, Value};
use crate::operand::{BlockDim, IndexEntry};
use std::fmt::Write as _;

impl Json for String {
    fn expected() -> String {
        "a string".to_owned()
    }

    fn read(value: &Value<'_, '_>, faults: &mut Faults) -> Option<Self> {
        let string = value.string();
        if string.is_none() {
            faults.wrong(value, Self::expected());
        }
        string.map(Into::into)
    }

    fn write(&self, json: &mut String) {
        write_string(self, json);
    }

    fn schema(_: &mut Definitions) -> serde_json::Value {
        serde_json::json!({"type": "string"})
    }
}

pub(super) fn write_string(string: &str, json: &mut String) {
    let _ = write!(json, "{}", serde_json::Value::from(string));
}

impl Json for bool {
    fn expected() -> String {
        "true or false".to_owned()
    }

    fn read(value: &Value<'_, '_>, faults: &mut Faults) -> Option<Self> {
        match value.kind() {
            Kind::True => Some(true),
            Kind::False => Some(false),
            Kind::Null | Kind::Number | Kind::Text | Kind::Broken => wrong::<Self>(value, faults),
            Kind::List | Kind::Object | Kind::OpenList | Kind::OpenObject => {
                wrong::<Self>(value, faults)
            }
        }
    }

    fn write(&self, json: &mut String) {
        let _ = write!(json, "{self}");
    }

    fn schema(_: &mut Definitions) -> serde_json::Value {
        serde_json::json!({"type": "boolean"})
    }
}

/// Tells that the value is none of these.
pub(super) fn wrong<T: Json>(value: &Value<'_, '_>, faults: &mut Faults) -> Option<T> {
    faults.wrong(value, T::expected());
    None
}

macro_rules! integers {
    ($($type:ident $expected:literal;)*) => {
        $(
            impl Json for $type {
                fn expected() -> String {
                    $expected.to_owned()
                }

                fn read(value: &Value<'_, '_>, faults: &mut Faults) -> Option<Self> {
                    let number = (value.kind() == Kind::Number).then(|| value.json().parse().ok());
                    number.flatten().or_else(|| wrong(value, faults))
                }

                fn write(&self, json: &mut String) {
                    let _ = write!(json, "{self}");
                }

                fn schema(_: &mut Definitions) -> serde_json::Value {
                    serde_json::json!({
                        "type": "integer", "minimum": Self::MIN, "maximum": Self::MAX,
                    })
                }
            }
        )*
    };
}

integers! {
    i64 "an integer of 64 bits";
    u32 "an integer from 0 to 2^32 - 1";
    u64 "an integer from 0 to 2^64 - 1";
}

impl<T: Json> Json for Option<T> {
    fn expected() -> String {
        T::expected()
    }

    fn read(value: &Value<'_, '_>, faults: &mut Faults) -> Option<Self> {
        if value.is_null() { Some(None) } else { T::read(value, faults).map(Some) }
    }

    fn write(&self, json: &mut String) {
        match self {
            Some(value) => value.write(json),
            None => json.push_str("null"),
        }
    }

    fn schema(definitions: &mut Definitions) -> serde_json::Value {
        T::schema(definitions)
    }

    fn null() -> Option<Self> {
        Some(None)
    }
}

impl<T: Json> Json for Vec<T> {
    fn expected() -> String {
        "a list".to_owned()
    }

    fn read(value: &Value<'_, '_>, faults: &mut Faults) -> Option<Self> {
        if !matches!(value.kind(), Kind::List | Kind::OpenList) {
            return wrong(value, faults);
        }
        let mut list = Some(Self::new());
        for element in value.elements() {
            let read = T::read(&element, faults);
            list = list.zip(read).map(|(mut list, element)| {
                list.push(element);
                list
            });
        }
        list
    }

    fn write(&self, json: &mut String) {
        json.push('[');
        for (number, element) in self.iter().enumerate() {
            json.push_str(if number == 0 { "" } else { ", " });
            element.write(json);
        }
        json.push(']');
    }

    fn schema(definitions: &mut Definitions) -> serde_json::Value {
        let element = T::schema(definitions);
        let items = if T::null().is_some() { schema::or_null(&element) } else { element };
        serde_json::json!({"type": "array", "items": items})
    }
}

/// An alias.
impl Json for (i64, i64) {
    fn expected() -> String {
        "a list of two integers, [input, output],".to_owned()
    }

    fn read(value: &Value<'_, '_>, faults: &mut Faults) -> Option<Self> {
        let count = value.elements().count();
        if count != 2 {
            return wrong(value, faults);
        }
        let numbers = Vec::read(value, faults)?;
        Some((*numbers.first()?, *numbers.last()?))
    }

    fn write(&self, json: &mut String) {
        let _ = write!(json, "[{}, {}]", self.0, self.1);
    }

    fn schema(definitions: &mut Definitions) -> serde_json::Value {
        let number = i64::schema(definitions);
        serde_json::json!({
            "type": "array", "prefixItems": [number, number], "minItems": 2, "maxItems": 2,
        })
    }
}

/// A module's bytes.
impl Json for Vec<u8> {
    fn expected() -> String {
        "a string of base64".to_owned()
    }

    fn read(value: &Value<'_, '_>, faults: &mut Faults) -> Option<Self> {
        let decode = |text: &str| base64_simd::STANDARD.decode_to_vec(text.as_bytes()).ok();
        value.string().and_then(|text| decode(&text)).or_else(|| wrong(value, faults))
    }

    fn write(&self, json: &mut String) {
        write_string(&base64_simd::STANDARD.encode_to_string(self), json);
    }

    fn schema(_: &mut Definitions) -> serde_json::Value {
        const LAST: &str = "[A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=";
        serde_json::json!({
            "type": "string", "contentEncoding": "base64",
            "pattern": format!("^([A-Za-z0-9+/]{{4}})*({LAST})?$"),
        })
    }
}

impl Json for BlockDim {
    fn expected() -> String {
        "an extent, null for a squeezed dimension, or {\"element\": extent}".to_owned()
    }

    fn read(value: &Value<'_, '_>, faults: &mut Faults) -> Option<Self> {
        match value.kind() {
            Kind::Null => Some(Self::Squeezed),
            Kind::Number => u64::read(value, faults).map(Self::Blocked),
            Kind::Object | Kind::OpenObject => {
                Element::read(value, faults)?.extent.map(Self::Element)
            }
            Kind::False | Kind::True | Kind::Text | Kind::Broken => wrong(value, faults),
            Kind::List | Kind::OpenList => wrong(value, faults),
        }
    }

    fn write(&self, json: &mut String) {
        match self {
            Self::Squeezed => json.push_str("null"),
            Self::Blocked(extent) => extent.write(json),
            Self::Element(extent) => Element { extent: Some(*extent) }.write(json),
        }
    }

    fn schema(definitions: &mut Definitions) -> serde_json::Value {
        let extent = u64::schema(definitions);
        let squeezed = serde_json::json!({"type": "null", "description": "Squeezed."});
        serde_json::json!({"anyOf": [extent, squeezed, Element::schema(definitions)]})
    }
}

#[derive(Default)]
struct Element {
    extent: Option<u64>,
}

rows! {
    /// A dimension that is indexed by elements (pl.Element).
    Element as "Element" {
        fn absent() -> Self {
            Self::default()
        }
    }
    /// Its extent, in elements.
    need "element": extent;
}

impl Json for IndexEntry {
    fn expected() -> String {
        "null, the number of a grid axis, {\"constant\": n}, {\"axes\": […]} or \"other\""
            .to_owned()
    }

    fn read(value: &Value<'_, '_>, faults: &mut Faults) -> Option<Self> {
        match value.kind() {
            Kind::Null => Some(Self::Zero),
            // No grid has so many axes: out of range it stays.
            Kind::Number => u64::read(value, faults)
                .map(|axis| Self::Axis(usize::try_from(axis).unwrap_or(usize::MAX))),
            Kind::Text if value.json() == OTHER => Some(Self::Other),
            Kind::Object | Kind::OpenObject => Computed::read(value, faults)?.entry(),
            Kind::False | Kind::True | Kind::Text | Kind::Broken => wrong(value, faults),
            Kind::List | Kind::OpenList => wrong(value, faults),
        }
    }

    fn write(&self, json: &mut String) {
        match self {
            Self::Zero => json.push_str("null"),
            Self::Axis(axis) => (*axis as u64).write(json),
            Self::Constant(constant) => {
                Computed { constant: Some(*constant), axes: None }.write(json);
            }
            Self::Of(axes) => {
                let axes = axes.iter().map(|axis| axis as u64).collect();
                Computed { constant: None, axes: Some(axes) }.write(json);
            }
            Self::Other => json.push_str(OTHER),
        }
    }

    fn schema(definitions: &mut Definitions) -> serde_json::Value {
        let axis = u64::schema(definitions);
        serde_json::json!({"anyOf": [
            {"type": "null", "description": "0."},
            {"allOf": [axis], "description": "An axis of the grid."},
            Computed::schema(definitions),
            {"const": "other", "description": "Anything else."},
        ]})
    }
}

/// An index that is computed.
#[derive(Default)]
struct Computed {
    constant: Option<i64>,
    axes: Option<Vec<u64>>,
}

rows! {
    /// An index that is computed: a constant, or arithmetic on axes of the grid.
    Computed as "ComputedIndex" {
        fn absent() -> Self {
            Self::default()
        }

        fn cases() -> impl Iterator<Item = Case> {
            let (constant, absent) = (When::Given("constant"), When::Absent("constant"));
            [
                Case { when: constant, needs: &[], excludes: &["axes"] },
                Case { when: absent, needs: &["axes"], excludes: &[] },
            ]
            .into_iter()
        }
    }
    /// Always this.
    "constant": constant;
    /// The axes of the grid that it is computed from.
    "axes": axes;
}

impl Computed {
    fn entry(self) -> Option<IndexEntry> {
        match (self.constant, self.axes) {
            (Some(0), _) => Some(IndexEntry::Zero),
            (Some(constant), _) => Some(IndexEntry::Constant(constant)),
            (None, axes) => {
                let axes =
                    axes?.into_iter().map(|axis| usize::try_from(axis).unwrap_or(usize::MAX));
                Some(IndexEntry::Of(axes.collect()))
            }
        }
    }
}

const OTHER: &str = "\"other\"";
