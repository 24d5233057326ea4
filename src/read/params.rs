//! Compiler parameters, each under JAX's name.

use super::fault::JsonFault;
use super::json::Kind;
use super::rows::{Object, Row, rows};
use super::schema::Definitions;
use super::shapes::{write_string, wrong};
use super::value::{Faults, Json, Value};
use super::words::of_param;
use crate::custom_call::parameters;
use crate::custom_call::{
    CollectiveId, CompilerParams, CostEstimate, FlagValue, Flags, ParamFault, SideEffects,
    VmemLimitBytes, WrittenFlagValue,
};
use crate::error::Fault as _;
use crate::kernel::{Params, Place, Step};
use crate::word::Word;
use std::collections::HashSet;

macro_rules! rows_of {
    ($(
        $(#[doc = $doc:literal])+
        $field:ident: $type:ty = $default:expr $(=> $config:ident)? $(, $json:literal)?;
    )+) => {
        impl Object for CompilerParams {
            const NAME: &'static str = "CompilerParams";
            const DOC: &'static str = "Every field of JAX's CompilerParams, under its own name; \
                what is absent, or null, is at its default.";
            const ROWS: &'static [Row<Self>] = &[$(Row {
                key: stringify!($field),
                doc: said(&[concat!($($doc),+).trim_ascii(), $($json)?]),
                is_required: false,
                read: |of, value, faults| value.fill(&mut of.$field, false, faults),
                is_same: |of, other| of.$field == other.$field,
                write: |of, json| Json::write(&of.$field, json),
                schema: |definitions| super::schema::of(|of: &Self| &of.$field, definitions),
            }),+];

            fn absent() -> Self {
                Self::default()
            }
        }
    };
}
parameters!(rows_of);

/// What the schema says: the last of what there is.
const fn said(docs: &[&'static str]) -> &'static str {
    match docs {
        [.., last] => last,
        [] => "",
    }
}

/// What no kernel can have is reported with the rest, and written again as it was.
impl Json for Params {
    fn expected() -> String {
        CompilerParams::expected()
    }

    fn read(value: &Value<'_, '_>, faults: &mut Faults) -> Option<Self> {
        let sound = CompilerParams::read(value, faults)?;
        let (faults, words) =
            (std::mem::take(&mut faults.params), std::mem::take(&mut faults.words));
        let is_unsound = |name: &str| {
            let is_in =
                |place: &Place| matches!(place.steps(), [_, Step::Field(it), ..] if *it == name);
            faults.iter().any(|fault| fault.field() == Some(name))
                || words.iter().any(|(place, _)| is_in(place))
        };
        let unsound = value.fields().filter(|(name, ..)| is_unsound(name));
        let unsound = unsound.map(|(name, _, part)| (name.into(), part.json().into())).collect();
        Some(Self { sound, faults, words, unsound })
    }

    fn write(&self, json: &mut String) {
        self.sound.write(json);
        for (name, written) in &self.unsound {
            json.truncate(json.len().saturating_sub(1));
            json.push_str(if json.ends_with('{') { "" } else { ", " });
            write_string(name, json);
            json.extend([": ", written, "}"]);
        }
    }

    fn schema(definitions: &mut Definitions) -> serde_json::Value {
        CompilerParams::schema(definitions)
    }
}

/// Numbers of which not every one can be had.
macro_rules! numbers {
    ($($type:ident: $new:expr, $number:expr;)*) => {
        $(
            impl Json for $type {
                fn expected() -> String {
                    i64::expected()
                }

                fn read(value: &Value<'_, '_>, faults: &mut Faults) -> Option<Self> {
                    let number = i64::read(value, faults)?;
                    let refuse = |fault| faults.params.push(ParamFault::from(fault));
                    $new(number).map_err(refuse).ok()
                }

                fn write(&self, json: &mut String) {
                    $number(self).write(json);
                }

                fn schema(definitions: &mut Definitions) -> serde_json::Value {
                    i64::schema(definitions)
                }
            }
        )*
    };
}

numbers! {
    VmemLimitBytes: VmemLimitBytes::new, |limit: &VmemLimitBytes| limit.to_i64();
    CollectiveId: CollectiveId::new, |id: &CollectiveId| i64::from(id.get());
}

impl Json for SideEffects {
    fn expected() -> String {
        "true, false, or a kind of side effects as a string".to_owned()
    }

    fn read(value: &Value<'_, '_>, faults: &mut Faults) -> Option<Self> {
        match value.kind() {
            Kind::True => Some(true.into()),
            Kind::False => Some(false.into()),
            Kind::Text => of_param(value, faults),
            Kind::Null | Kind::Number | Kind::Broken => wrong(value, faults),
            Kind::List | Kind::Object | Kind::OpenList | Kind::OpenObject => wrong(value, faults),
        }
    }

    fn write(&self, json: &mut String) {
        write_string(self.as_str(), json);
    }

    fn schema(definitions: &mut Definitions) -> serde_json::Value {
        let kind = definitions.open_words::<Self>();
        serde_json::json!({"anyOf": [{"type": "boolean"}, kind]})
    }
}

impl Json for Flags {
    fn expected() -> String {
        "an object of compiler flags".to_owned()
    }

    fn read(value: &Value<'_, '_>, faults: &mut Faults) -> Option<Self> {
        if !matches!(value.kind(), Kind::Object | Kind::OpenObject) {
            return wrong(value, faults);
        }
        let mut names = HashSet::new();
        let mut written = Vec::new();
        for (name, key, part) in value.fields() {
            if names.insert(name.clone()) {
                written.push((name, written_flag(&part)));
            } else {
                faults.push(JsonFault::DuplicateField { field: Word::new(&name) }, &part, key);
            }
        }
        let written = written.iter().map(|(name, value)| (&**name, value.clone()));
        let refuse =
            |errors: Vec<_>| faults.params.extend(errors.into_iter().map(ParamFault::from));
        Self::from_written(written).map_err(refuse).ok()
    }

    fn write(&self, json: &mut String) {
        let mut opened = "{";
        for (name, value) in self.iter() {
            json.extend([opened, "\"", name.as_str(), "\": "]);
            match value {
                FlagValue::Bool(value) => value.write(json),
                FlagValue::Int(value) => value.write(json),
                FlagValue::Float(value) => {
                    json.push_str(&serde_json::Value::from(value.get()).to_string());
                }
            }
            opened = ", ";
        }
        json.push_str(if opened == "{" { "{}" } else { "}" });
    }

    fn schema(_: &mut Definitions) -> serde_json::Value {
        serde_json::json!({"type": "object"})
    }
}

fn written_flag(value: &Value<'_, '_>) -> WrittenFlagValue {
    let json = value.json();
    match value.kind() {
        Kind::True => true.into(),
        Kind::False => false.into(),
        Kind::Text => WrittenFlagValue::Str(value.string().unwrap_or_default().into()),
        Kind::Number => match (json.parse::<i64>(), json.parse::<f64>()) {
            (Ok(value), _) => value.into(),
            (Err(_), Ok(value)) if json.contains(['.', 'e', 'E']) => value.into(),
            (Err(_), _) => WrittenFlagValue::Other(json.to_owned()),
        },
        Kind::Null | Kind::List | Kind::Object => WrittenFlagValue::Other(json.to_owned()),
        Kind::OpenList | Kind::OpenObject | Kind::Broken => {
            WrittenFlagValue::Other(json.to_owned())
        }
    }
}

rows! {
    /// What XLA is told that a kernel costs.
    CostEstimate<'static> as "CostEstimate" {
        fn absent() -> Self {
            Self::default()
        }
    }
    /// Floating-point operations.
    need "flops": flops;
    /// Transcendental operations, such as exp.
    need "transcendentals": transcendentals;
    /// Bytes read and written.
    need "bytes_accessed": bytes_accessed;
    /// Bytes sent to other devices.
    "remote_bytes_transferred": remote_bytes_transferred;
}
