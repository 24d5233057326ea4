//! The JSON schema of a report, from the types that print it; what those types do by
//! hand is said by hand here.

use super::place::Place;
use super::report::Report;
use crate::attribute::MemorySpaceAttr;
use crate::core_type::CoreType;
use crate::custom_call::Color;
use crate::error::Code;
use crate::memory_space::{MemrefSpace, Resolved};
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::Value;
use std::borrow::Cow;

/// The schema of a [`Report`] as JSON.
///
/// ```
/// let schema = mosaic_memspace::kernel::output_schema();
/// assert!(schema.pointer("/properties/diagnostics").is_some());
/// ```
pub fn output_schema() -> Schema {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let mut generator = settings.with_transform(RecursiveTransform(null_for_none)).into_generator();
    let mut schema = Report::json_schema(&mut generator);
    schema.insert("title".to_owned(), "Report on a Mosaic kernel".into());
    complete(&mut schema, &mut generator);
    schema
}

/// The rest of a root schema.
fn complete(schema: &mut Schema, generator: &mut SchemaGenerator) {
    for transform in generator.transforms_mut() {
        transform.transform(schema);
    }
    let definitions = generator.take_definitions(true);
    schema.insert("$defs".to_owned(), definitions.into());
    if let Some(meta_schema) = &generator.settings().meta_schema {
        schema.insert("$schema".to_owned(), meta_schema.clone().into_owned().into());
    }
}

/// Descriptions come from the types' docs, which speak of Rust's `None`.
fn null_for_none(schema: &mut Schema) {
    if let Some(Value::String(description)) = schema.get_mut("description") {
        *description = description.replace("`None`", "null");
    }
}

/// A type that is one of few words.
macro_rules! one_of {
    ($($type:ident: $all:expr;)*) => {
        $(
            impl JsonSchema for $type {
                fn schema_name() -> Cow<'static, str> {
                    stringify!($type).into()
                }

                fn json_schema(_: &mut SchemaGenerator) -> Schema {
                    let words: Vec<String> = $all.map(|word| word.to_string()).collect();
                    json_schema!({"type": "string", "enum": words})
                }
            }
        )*
    };
}

one_of! {
    CoreType: CoreType::ALL.iter();
    Color: Color::ALL.iter();
    Code: Code::ALL.iter();
    MemorySpaceAttr: MemrefSpace::ALL.iter().filter_map(|space| MemorySpaceAttr::new(*space).ok());
}

/// A type that is one of few words, or an accumulator.
macro_rules! spaces {
    ($($type:ident: $all:expr;)*) => {
        $(
            impl JsonSchema for $type {
                fn schema_name() -> Cow<'static, str> {
                    stringify!($type).into()
                }

                fn json_schema(_: &mut SchemaGenerator) -> Schema {
                    let words: Vec<String> = $all.iter().map(ToString::to_string).collect();
                    let accumulator = r"^acc\((25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])\)$";
                    json_schema!({
                        "type": "string",
                        "anyOf": [{"enum": words}, {"pattern": accumulator}],
                    })
                }
            }
        )*
    };
}

spaces! {
    Resolved: MemrefSpace::ALL;
}

impl JsonSchema for Place {
    fn schema_name() -> Cow<'static, str> {
        "Place".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string"})
    }
}
