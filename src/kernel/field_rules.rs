//! Which fields of a description go together, as rules of its JSON schema.

use crate::core_type::CoreType;
use schemars::Schema;
use serde_json::{Map, Value, json};

/// A kernel has a core type or a mesh.
pub(super) fn needs_cores(schema: &mut Schema) {
    schema.insert("anyOf".to_owned(), json!([given("core_type"), given("mesh")]));
}

/// Scratch is memory of an element type, or semaphores.
pub(super) fn elements_or_semaphores(schema: &mut Schema) {
    let semaphores = both(&given("semaphore"), &absent(&["dtype", "space"]));
    let elements = both(&given("dtype"), &absent(&["semaphore"]));
    schema.insert("anyOf".to_owned(), json!([elements, semaphores]));
}

/// A load and a store have other fields than a copy.
pub(super) fn fields_of_op(schema: &mut Schema) {
    let copy = [given("src"), given("dst"), absent(&["ref", "shape"])];
    let local = [given("ref"), given("shape"), absent(&["src", "dst", "indices", "mode", "add"])];
    schema.insert("if".to_owned(), json!({"properties": {"op": {"const": "dma"}}}));
    schema.insert("then".to_owned(), json!({"allOf": copy}));
    schema.insert("else".to_owned(), json!({"allOf": local}));
}

/// A vector subcore mesh has two axes, the others have one.
pub(super) fn axes_of_mesh(schema: &mut Schema) {
    let one = [given("axis"), absent(&["core_axis", "subcore_axis", "num_subcores"])];
    let two = [given("core_axis"), given("subcore_axis"), absent(&["axis"])];
    let axes = CoreType::ALL.iter().map(|core_type| {
        let axes: &[Value] = match core_type {
            CoreType::Tc | CoreType::ScScalarSubcore => &one,
            CoreType::ScVectorSubcore => &two,
        };
        let it = core_type.as_str();
        json!({"if": {"properties": {"core_type": {"const": it}}}, "then": {"allOf": axes}})
    });
    schema.insert("allOf".to_owned(), axes.collect());
}

/// That a field is there, and not null.
fn given(field: &str) -> Value {
    json!({"required": [field], "properties": {field: {"not": {"type": "null"}}}})
}

/// That fields are absent, or null.
fn absent(fields: &[&str]) -> Value {
    let nulls = fields.iter().map(|field| ((*field).to_owned(), json!({"type": "null"})));
    let nulls: Map<String, Value> = nulls.collect();
    json!({"properties": nulls})
}

fn both(one: &Value, other: &Value) -> Value {
    json!({"allOf": [one, other]})
}
