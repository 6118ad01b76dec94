//! The members that every modern result carries.

use serde::Serialize;
use serde_json::{Value, json};

use crate::protocol::revision::meta;
use crate::{NAME, VERSION};

/// The time for which a client may keep the answers to `server/discover` and `tools/list`, in milliseconds: both are
/// fixed at start.
pub(super) const TTL_MS: u64 = 300_000;

/// The members of a complete modern result.
#[derive(Serialize)]
pub(super) struct Modern {
    #[serde(rename = "resultType")]
    pub(super) result_type: &'static str,
    #[serde(rename = "_meta")]
    pub(super) meta: Value,
}

impl Modern {
    pub(super) fn complete() -> Self {
        Self { result_type: "complete", meta: json!({meta::SERVER_INFO: server_info()}) }
    }
}

/// Returns the name and version of this server, as both eras name it.
pub(super) fn server_info() -> Value {
    json!({"name": NAME, "version": VERSION})
}
