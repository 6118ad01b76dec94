//! The members that every modern result carries.

use serde_json::{Value, json};

use crate::protocol::revision::meta;
use crate::{NAME, VERSION};

/// The time for which a client may keep the answers to `server/discover` and `tools/list`, in milliseconds: both are
/// fixed at start.
pub(super) const TTL_MS: u64 = 300_000;

/// Adds to a result the members that every complete modern result has.
pub(super) fn complete(result: Value) -> Value {
    let Value::Object(mut members) = result else { return result };
    let about = members.shift_remove("_meta").and_then(|about| about.as_object().cloned());
    let mut about = about.unwrap_or_default();
    about.insert(meta::SERVER_INFO.to_owned(), server_info());
    members.insert("resultType".to_owned(), "complete".into());
    members.insert("_meta".to_owned(), about.into());
    members.into()
}

/// Returns the name and version of this server, as both eras name it.
pub(super) fn server_info() -> Value {
    json!({"name": NAME, "version": VERSION})
}
