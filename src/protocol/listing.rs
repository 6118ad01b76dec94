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

fn tool(spec: &ToolSpec) -> Value {
    json!({
        "name": spec.name,
        "title": spec.title,
        "description": spec.description,
        "inputSchema": spec.input_schema,
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
