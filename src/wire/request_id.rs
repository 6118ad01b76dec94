//! The id of a JSON-RPC request.

use serde::Serialize;
use serde_json::Value;

/// A request's id: a string of at most 256 bytes, or an integer within i64 or u64. Echoed exactly.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(untagged)]
pub enum RequestId {
    /// A string, at most [`RequestId::MAX_BYTES`] bytes of UTF-8.
    String(Box<str>),
    /// An integer below zero.
    Negative(i64),
    /// An integer from zero on.
    Unsigned(u64),
}

impl RequestId {
    /// The longest string id in bytes.
    pub const MAX_BYTES: usize = 256;

    /// Reads an id; `None` for a value that cannot be one.
    pub fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::String(text) if text.len() <= Self::MAX_BYTES => Some(Self::String(text.as_str().into())),
            Value::Number(number) => {
                number.as_u64().map(Self::Unsigned).or_else(|| number.as_i64().map(Self::Negative))
            }
            Value::String(_) | Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        }
    }
}
