//! The entry of a tool in `tools/list`: name, title, description, schemas, annotations.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Map, Value};

/// A tool's name: 1 to 64 characters of `[A-Za-z0-9_-]`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct ToolName(Cow<'static, str>);

impl ToolName {
    /// Makes a name from a constant. Checked when the code is compiled.
    pub const fn new(name: &'static str) -> Self {
        assert!(!name.is_empty() && name.len() <= 64, "a tool name has 1 to 64 characters");
        Self(Cow::Borrowed(name))
    }

    /// Parses a name from outside the code; `None` when no tool can have it.
    pub fn parse(name: &str) -> Option<Self> {
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let begins = name.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
        let is_valid = begins && name.len() <= 64 && name.bytes().all(is_part);
        is_valid.then(|| Self(Cow::Owned(name.to_owned())))
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The entry of a tool in `tools/list`. Every tool only reads: it changes nothing and may be repeated.
#[derive(Clone, Debug)]
pub struct ToolSpec {
    /// The name by which it is called.
    pub name: ToolName,
    /// The title for humans.
    pub title: Cow<'static, str>,
    /// The description for the model: purpose, limits, advice.
    pub description: Cow<'static, str>,
    /// JSON Schema of the arguments; `additionalProperties` is false.
    pub input_schema: Map<String, Value>,
    /// JSON Schema of `structuredContent`; its root is an object.
    pub output_schema: Map<String, Value>,
}
