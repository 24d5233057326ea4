//! The JSON schema of a description, from the rows that read it.

use super::rows::{Case, Object, When};
use super::value::Json;
use super::words::Words;
use crate::kernel::Kernel;
use serde_json::{Map, Value, json};

/// The schema of the JSON that [`Kernels`](super::Kernels) reads: a kernel, or a
/// list of them. Of kernels one after the other, it is that of each.
///
/// What it admits can be read, and may still be reported as wrong.
///
/// ```
/// let schema = mosaic_memspace::read::input_schema();
/// assert_eq!(schema["title"], "Mosaic kernels");
/// ```
pub fn input_schema() -> Value {
    let mut definitions = Definitions::default();
    let kernel = Kernel::schema(&mut definitions);
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Mosaic kernels",
        "if": {"type": "array"},
        "then": {"items": kernel, "minItems": 1},
        "else": kernel,
        "$defs": definitions.0,
    })
}

/// The schemas of objects and words, by name.
#[derive(Default)]
pub(super) struct Definitions(Map<String, Value>);

impl Definitions {
    /// An object with these rows.
    pub(super) fn object<T: Object>(&mut self) -> Value {
        self.define(T::NAME, |definitions| {
            let ignored =
                T::IGNORED.map(|key| (key.to_owned(), or_null(&String::schema(definitions))));
            let rows = T::ROWS.iter().map(|row| {
                let schema = (row.schema)(definitions);
                let mut schema = if row.is_required { schema } else { or_null(&schema) };
                describe(&mut schema, row.doc);
                (row.key.to_owned(), schema)
            });
            let properties: Map<String, Value> = rows.collect();
            // An empty list is no schema.
            let rules = std::iter::once(true.into()).chain(T::cases().map(rule));
            let required = T::ROWS.iter().filter(|row| row.is_required).map(|row| row.key);
            json!({
                "type": "object",
                "description": T::DOC,
                "properties": properties.into_iter().chain(ignored).collect::<Map<_, _>>(),
                "required": required.collect::<Vec<_>>(),
                "additionalProperties": false,
                "allOf": rules.collect::<Vec<_>>(),
            })
        })
    }

    /// One of these words.
    pub(super) fn words<T: Words>(&mut self) -> Value {
        self.define(
            T::NAME,
            |_| json!({"enum": T::ALL.iter().map(|word| word.word()).collect::<Vec<_>>()}),
        )
    }

    /// Any word: the known ones are there for editors.
    pub(super) fn open_words<T: Words>(&mut self) -> Value {
        json!({"anyOf": [self.words::<T>(), {"type": "string"}]})
    }

    fn define(&mut self, name: &str, schema: impl FnOnce(&mut Self) -> Value) -> Value {
        if !self.0.contains_key(name) {
            let schema = schema(self);
            self.0.insert(name.to_owned(), schema);
        }
        json!({"$ref": format!("#/$defs/{name}")})
    }
}

/// The schema of a field.
pub(super) fn of<T, V: Json>(_: fn(&T) -> &V, definitions: &mut Definitions) -> Value {
    V::schema(definitions)
}

pub(super) fn or_null(schema: &Value) -> Value {
    json!({"anyOf": [schema, {"type": "null"}]})
}

fn describe(schema: &mut Value, doc: &str) {
    if let Value::Object(schema) = schema {
        schema.insert("description".to_owned(), doc.into());
    }
}

/// Which fields go together.
fn rule(case: Case) -> Value {
    let when = match case.when {
        When::Is(field, word) => json!({"properties": {field: {"const": word}}}),
        When::Given(field) => given(field),
        When::Absent(field) => json!({"not": given(field)}),
    };
    let needs = case.needs.iter().map(|field| given(field));
    let excludes =
        case.excludes.iter().map(|field| json!({"properties": {*field: {"type": "null"}}}));
    json!({"if": when, "then": {"allOf": needs.chain(excludes).collect::<Vec<_>>()}})
}

/// That a field is there, and not null.
fn given(field: &str) -> Value {
    json!({"required": [field], "properties": {field: {"not": {"type": "null"}}}})
}
