//! JSON Schema 2020-12 of a tool's arguments and output, made from the structs that parse and write them.
//!
//! Schemas avoid every shape that some client cannot read: references, type arrays, `true` and `false` as a subschema
//! (but for `additionalProperties: false`), null defaults.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

/// Returns the JSON Schema of `T`, an object.
///
/// A struct with `#[serde(deny_unknown_fields)]` is a tool's arguments: an `Option` is a parameter that may be left
/// out. Any other struct is a tool's output: an `Option` is a member that is always there and may be null.
pub fn schema_of<T: JsonSchema>() -> Map<String, Value> {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let arguments =
        settings.clone().for_deserialize().into_generator().into_root_schema_for::<T>().to_value();
    let (side, schema) = if arguments.get("additionalProperties") == Some(&Value::Bool(false)) {
        (Side::Arguments, arguments)
    } else {
        (Side::Output, settings.for_serialize().into_generator().into_root_schema_for::<T>().to_value())
    };
    let Value::Object(mut schema) = plain(schema, side) else { return Map::new() };
    // The struct's own comment is for us; the tool has a description for its caller.
    schema.shift_remove("description");
    schema
}

/// Sets the largest value of an integer parameter. A default above it is lowered to it.
#[must_use]
pub fn with_maximum(mut schema: Map<String, Value>, parameter: &str, maximum: u64) -> Map<String, Value> {
    let property = schema.get_mut("properties").and_then(|properties| properties.get_mut(parameter));
    if let Some(property) = property.and_then(Value::as_object_mut) {
        if property.get("default").and_then(Value::as_u64).is_some_and(|default| default > maximum) {
            property.insert("default".to_owned(), maximum.into());
        }
        property.insert("maximum".to_owned(), maximum.into());
    }
    schema
}

/// The side of a tool that a schema describes.
#[derive(Clone, Copy)]
enum Side {
    Arguments,
    Output,
}

/// Rewrites schemars' output into shapes that every client takes.
fn plain(schema: Value, side: Side) -> Value {
    let Value::Object(mut schema) = schema else {
        // `true` is anything.
        return if schema == Value::Bool(true) { json!({}) } else { schema };
    };
    schema.retain(|keyword, value| match keyword.as_str() {
        "$schema" | "title" => false,
        "default" => !value.is_null(),
        "format" => !value.as_str().is_some_and(is_machine_format),
        // An output counts what cannot be less.
        "minimum" => !(matches!(side, Side::Output) && *value == 0),
        _ => true,
    });
    if let Some(Value::String(text)) = schema.get_mut("description") {
        *text = text.replace('\n', " ");
    }
    for (keyword, value) in &mut schema {
        match (keyword.as_str(), value) {
            ("properties", Value::Object(members)) => {
                members.values_mut().for_each(|member| *member = plain(member.take(), side));
            }
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(parts)) => {
                parts.iter_mut().for_each(|part| *part = plain(part.take(), side));
            }
            ("items" | "additionalProperties", part) if part.is_object() || *part == true => {
                *part = plain(part.take(), side);
            }
            _ => {}
        }
    }
    fold_constants(&mut schema);
    split_null(schema, side)
}

/// Recognises the widths of Rust's numbers, which are not formats of JSON Schema.
fn is_machine_format(format: &str) -> bool {
    ["uint", "int", "float", "double"].iter().any(|kind| format.starts_with(kind))
}

/// Turns a `oneOf` of constants, which is an enum whose variants have doc comments, into one `enum`.
fn fold_constants(schema: &mut Map<String, Value>) {
    let Some(parts) = schema.get("oneOf").and_then(Value::as_array) else { return };
    let constants = parts.iter().map(|part| part.get("const").filter(|value| value.is_string()).cloned());
    if let Some(values) = constants.collect::<Option<Vec<_>>>() {
        schema.shift_remove("oneOf");
        schema.insert("type".to_owned(), "string".into());
        schema.insert("enum".to_owned(), values.into());
    }
}

/// Takes "or null" out of a schema: an argument is left out instead; an output has `anyOf [T, null]`.
fn split_null(mut schema: Map<String, Value>, side: Side) -> Value {
    let absent = json!({"type": "null"});
    let (has_null_type, only_type) = take_null(&mut schema, "type", &"null".into());
    schema.extend(only_type.map(|kind| ("type".to_owned(), kind)));
    if let Some(Value::Array(values)) = schema.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    let (has_null_part, only_part) = take_null(&mut schema, "anyOf", &absent);
    if let Some(Value::Object(part)) = only_part {
        schema.shift_remove("anyOf");
        for (keyword, value) in part {
            schema.entry(keyword).or_insert(value);
        }
    }
    let nullable = has_null_type || has_null_part;
    match side {
        Side::Output if nullable => {
            let description = schema.shift_remove("description");
            let mut either = json!({"anyOf": [schema, absent]});
            if let (Some(text), Some(members)) = (description, either.as_object_mut()) {
                members.insert("description".to_owned(), text);
            }
            either
        }
        Side::Output | Side::Arguments => Value::Object(schema),
    }
}

/// Takes null out of a list of alternatives. Returns true when it was there, and the only one that is left.
fn take_null(schema: &mut Map<String, Value>, keyword: &str, null: &Value) -> (bool, Option<Value>) {
    let Some(Value::Array(parts)) = schema.get_mut(keyword) else { return (false, None) };
    let before = parts.len();
    parts.retain(|part| part != null);
    let only = if let [only] = parts.as_mut_slice() { Some(only.take()) } else { None };
    (parts.len() < before, only)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::sample::{Arguments, Encoding};
    use serde::Serialize;

    #[test]
    fn the_schema_of_arguments_requires_only_what_has_no_default_and_has_plain_shapes() {
        assert_eq!(
            Value::Object(schema_of::<Arguments>()),
            json!({
                "type": "object",
                "properties": {
                    "title": {
                        "description": "A path beneath the root.", "type": "string", "minLength": 1, "maxLength": 4
                    },
                    "bytes": {
                        "description": "How many bytes.", "type": "integer", "minimum": 1, "maximum": 20, "default": 10
                    },
                    "encoding": {
                        "description": "How bytes are written.", "type": "string", "enum": ["text", "hex"],
                        "default": "text"
                    },
                    "after": {"type": "string"},
                    "below": {
                        "description": "How bytes are written.", "type": "string", "enum": ["text", "hex"]
                    },
                    "share": {"type": "number", "minimum": -1.5, "maximum": 1.5, "default": 0.0},
                    "deep": {"type": "boolean", "default": false},
                    "any": {"type": "integer"},
                },
                "required": ["title"],
                "additionalProperties": false,
            })
        );
    }

    #[test]
    fn the_schema_of_an_output_requires_every_member_and_marks_those_that_may_be_null() {
        #[derive(Serialize, JsonSchema)]
        struct Inner {
            count: i32,
        }
        #[derive(Serialize, JsonSchema)]
        struct Output {
            /// Where to go on.
            next: Option<u64>,
            inner: Option<Inner>,
            kind: Option<Encoding>,
            rows: Vec<Vec<Value>>,
        }
        let inner = json!({
            "type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]
        });
        assert_eq!(
            Value::Object(schema_of::<Output>()),
            json!({
                "type": "object",
                "properties": {
                    "next": {
                        "anyOf": [{"type": "integer"}, {"type": "null"}],
                        "description": "Where to go on."
                    },
                    "inner": {"anyOf": [inner, {"type": "null"}]},
                    "kind": {
                        "anyOf": [{"type": "string", "enum": ["text", "hex"]}, {"type": "null"}],
                        "description": "How bytes are written."
                    },
                    "rows": {"type": "array", "items": {"type": "array", "items": {}}},
                },
                "required": ["next", "inner", "kind", "rows"],
            })
        );
    }
}
