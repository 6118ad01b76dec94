//! The answers to `tools/list`.

use serde_json::{Value, json};

use crate::protocol::modern::{TTL_MS, complete};
use crate::protocol::revision::Era;
use crate::protocol::tool::ToolSpec;
use crate::wire::ascii::AsciiJson;
use crate::wire::line::{Line, Part};
use crate::wire::request_id::RequestId;

/// One listing an era, encoded once.
#[derive(Debug)]
pub struct Listing {
    legacy: AsciiJson,
    modern: AsciiJson,
}

impl Listing {
    /// Lists these tools, in this order.
    pub fn new<'a>(specs: impl Iterator<Item = &'a ToolSpec>) -> Self {
        let tools: Vec<Value> = specs.map(tool).collect();
        let legacy = AsciiJson::of(&json!({"tools": tools}));
        let modern = complete(json!({"tools": tools, "ttlMs": TTL_MS, "cacheScope": "private"}));
        Self { legacy, modern: AsciiJson::of(&modern) }
    }

    /// Answers one `tools/list`.
    pub fn line(&self, id: &RequestId, era: Era) -> Line {
        let body = match era {
            Era::Legacy => &self.legacy,
            Era::Modern => &self.modern,
        };
        Line::result_of_parts(id, body, vec![Part::Plain])
    }
}

/// Rewrites a schema of arguments for APIs of language models, which know the format `date-time` only: the description names
/// the others. The check of the arguments knows them all.
fn published(mut schema: Value) -> Value {
    let Some(keywords) = schema.as_object_mut() else { return schema };
    let words = match keywords.get("format").and_then(Value::as_str) {
        Some("date") => Some("a date such as 2026-01-31"),
        Some("uuid") => Some("a UUID"),
        _ => None,
    };
    if let Some(words) = words {
        keywords.shift_remove("format");
        let before = keywords.get("description").and_then(Value::as_str).map(|text| format!("{text}; "));
        keywords.insert("description".to_owned(), format!("{}{words}", before.unwrap_or_default()).into());
    }
    if let Some(items) = keywords.get_mut("items") {
        *items = published(items.take());
    }
    let properties = keywords.get_mut("properties").and_then(Value::as_object_mut);
    for property in properties.into_iter().flat_map(|properties| properties.values_mut()) {
        *property = published(property.take());
    }
    schema
}

fn tool(spec: &ToolSpec) -> Value {
    json!({
        "name": spec.name,
        "title": spec.title,
        "description": spec.description,
        "inputSchema": published(spec.input_schema.clone().into()),
        "outputSchema": spec.output_schema,
        "annotations": {
            "title": spec.title,
            "readOnlyHint": true,
            "destructiveHint": false,
            "idempotentHint": true,
            "openWorldHint": false,
        },
    })
}
