//! Arguments of a tool that does not exist, with one of everything.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How bytes are written.
#[derive(Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Encoding {
    /// As text.
    Text,
    /// As hexadecimal digits.
    Hex,
}

/// A comment for programmers, which clients do not see.
#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// A path beneath
    /// the root.
    #[schemars(length(min = 1, max = 4))]
    pub(crate) title: String,
    /// How many bytes.
    #[serde(default = "ten")]
    #[schemars(range(min = 1, max = 20))]
    pub(crate) bytes: u64,
    #[serde(default = "text")]
    pub(crate) encoding: Encoding,
    pub(crate) after: Option<String>,
    pub(crate) below: Option<Encoding>,
    #[serde(default)]
    #[schemars(range(min = -1.5, max = 1.5))]
    pub(crate) share: f64,
    #[serde(default)]
    pub(crate) deep: bool,
    pub(crate) any: Option<i64>,
}

fn ten() -> u64 {
    10
}

fn text() -> Encoding {
    Encoding::Text
}
