//! JSON schemas of descriptions and reports, from the types that read and print
//! them; what those types do by hand is said by hand here.

use super::description::{Kernel, MeshSpec, RefAccess, Scratch};
use super::json::{
    Base64, WrittenAccess, WrittenBlockDim, WrittenFlags, WrittenIndexEntry, WrittenKernel,
    WrittenMesh, WrittenScratch,
};
use super::place::Place;
use super::report::Report;
use super::spelled::Spelled;
use super::strict::{Object, Text};
use crate::attribute::MemorySpaceAttr;
use crate::chip::Chip;
use crate::core_type::CoreType;
use crate::custom_call::{Color, DimensionSemantics, OptLevel, SideEffects};
use crate::dtype::Dtype;
use crate::error::Code;
use crate::memory_space::{MemorySpace, MemrefSpace, Resolved};
use crate::rules::{AccessShape, DmaMode};
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::str::FromStr;

/// The schema of the JSON that [`Kernels`](super::Kernels) reads: a kernel, or a
/// list of them. Of kernels one after the other, it is that of each.
///
/// What it admits can be read, and may still be reported as wrong.
///
/// ```
/// let schema = mosaic_memspace::kernel::input_schema();
/// assert_eq!(schema.get("title").and_then(|it| it.as_str()), Some("Mosaic kernels"));
/// ```
pub fn input_schema() -> Schema {
    let settings = SchemaSettings::draft2020_12().for_deserialize();
    let mut generator =
        settings.with_transform(RecursiveTransform(bounds_of_integers)).into_generator();
    let kernel = generator.subschema_for::<Kernel>();
    let mut schema = json_schema!({
        "title": "Mosaic kernels",
        "if": {"type": "array"},
        "then": {"items": kernel, "minItems": 1},
        "else": kernel,
    });
    complete(&mut schema, &mut generator);
    schema
}

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

/// What a format of schemars says of an integer, as numbers that every validator
/// looks at.
fn bounds_of_integers(schema: &mut Schema) {
    let (minimum, maximum) = match schema.get("format").and_then(Value::as_str) {
        Some("uint64") => (json!(0), json!(u64::MAX)),
        Some("int64") => (json!(i64::MIN), json!(i64::MAX)),
        Some("uint32") => (json!(0), json!(u32::MAX)),
        Some(_) | None => return,
    };
    schema.insert("minimum".to_owned(), minimum);
    schema.insert("maximum".to_owned(), maximum);
}

/// Descriptions come from the types' docs, which speak of Rust's `None`.
fn null_for_none(schema: &mut Schema) {
    if let Some(Value::String(description)) = schema.get_mut("description") {
        *description = description.replace("`None`", "null");
    }
}

/// A type whose schema is another's.
macro_rules! written_as {
    ($($type:ident: $written:ident $name:literal;)*) => {
        $(
            impl JsonSchema for $type {
                fn schema_name() -> Cow<'static, str> {
                    $name.into()
                }

                fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                    $written::json_schema(generator)
                }
            }
        )*
    };
}

written_as! {
    Kernel: WrittenKernel "Kernel";
    Scratch: WrittenScratch "Scratch";
    RefAccess: WrittenAccess "Access";
    MeshSpec: WrittenMesh "Mesh";
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
    Chip: Chip::ALL.iter();
    CoreType: CoreType::ALL.iter();
    Dtype: Dtype::ALL.iter();
    DimensionSemantics: DimensionSemantics::ALL.iter();
    SideEffects: SideEffects::ALL.iter();
    OptLevel: OptLevel::ALL.iter();
    AccessShape: AccessShape::ALL.iter();
    DmaMode: DmaMode::ALL.iter();
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
    MemorySpace: MemorySpace::ALL;
    Resolved: MemrefSpace::ALL;
}

/// Any word is read, as an unknown one is reported with the rest; the known ones
/// are there for editors.
impl<T: FromStr + JsonSchema> JsonSchema for Spelled<T> {
    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let known = generator.subschema_for::<T>();
        json_schema!({"anyOf": [known, {"type": "string"}]})
    }
}

/// A type that is read with more care than serde's own.
macro_rules! as_inside {
    ($($type:ident)*) => {
        $(
            impl<T: JsonSchema> JsonSchema for $type<T> {
                fn schema_name() -> Cow<'static, str> {
                    T::schema_name()
                }

                fn inline_schema() -> bool {
                    true
                }

                fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                    generator.subschema_for::<T>()
                }
            }
        )*
    };
}

as_inside! { Object Text }

/// Schemas written out.
macro_rules! by_hand {
    ($($type:ident: $schema:tt;)*) => {
        $(
            impl JsonSchema for $type {
                fn schema_name() -> Cow<'static, str> {
                    stringify!($type).into()
                }

                fn inline_schema() -> bool {
                    true
                }

                fn json_schema(_: &mut SchemaGenerator) -> Schema {
                    json_schema!($schema)
                }
            }
        )*
    };
}

by_hand! {
    Base64: {
        "type": "string",
        "contentEncoding": "base64",
        "pattern": "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?$",
    };
    Place: {"type": "string"};
    WrittenFlags: {"type": "object"};
    WrittenBlockDim: {
        "anyOf": [
            {"type": "integer", "format": "uint64"},
            {"type": "null", "description": "Squeezed."},
            {
                "type": "object",
                "description": "Indexed by elements (pl.Element).",
                "properties": {"element": {"type": "integer", "format": "uint64"}},
                "required": ["element"],
                "additionalProperties": false,
            },
        ],
    };
    WrittenIndexEntry: {
        "anyOf": [
            {"type": "null", "description": "0."},
            {"type": "integer", "format": "uint64", "description": "An axis of the grid."},
            {"const": "other", "description": "Anything else."},
        ],
    };
}
