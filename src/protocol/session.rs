//! Messages about the session itself: discovery, handshake, ping, progress, subscriptions.

use serde_json::{Value, json};

use crate::protocol::modern::{TTL_MS, complete, server_info};
use crate::protocol::request::{EmptyList, ProgressToken};
use crate::protocol::revision::{self, meta};
use crate::wire::line::Line;
use crate::wire::request_id::RequestId;

fn capabilities() -> Value {
    json!({"tools": {}})
}

/// Answers `server/discover`.
pub fn discover(id: &RequestId) -> Line {
    let result = json!({
        "supportedVersions": [revision::MODERN],
        "capabilities": capabilities(),
        "ttlMs": TTL_MS,
        "cacheScope": "private",
    });
    Line::result(id, &complete(result))
}

/// Answers `initialize`.
pub fn initialize(id: &RequestId, offer: &str) -> Line {
    Line::result(
        id,
        &json!({"protocolVersion": offer, "capabilities": capabilities(), "serverInfo": server_info()}),
    )
}

/// Answers `ping`.
pub fn pong(id: &RequestId) -> Line {
    Line::result(id, &json!({}))
}

/// Answers a list that is empty.
pub fn nothing(id: &RequestId, list: EmptyList) -> Line {
    Line::result(id, &json!({ list.member(): [] }))
}

/// Writes `notifications/progress`; `progress` counts seconds since the run began.
pub fn progress(token: &ProgressToken, progress: u64) -> Line {
    Line::notification("notifications/progress", &json!({"progressToken": token, "progress": progress}))
}

/// Acknowledges a subscription without any notification: the listing never changes.
pub fn subscription_acknowledged(id: &RequestId) -> Line {
    Line::notification(
        "notifications/subscriptions/acknowledged",
        &json!({"_meta": {meta::SUBSCRIPTION_ID: id}, "notifications": {}}),
    )
}

/// Ends a subscription from our side: the notification, then the result.
pub fn subscription_ended(id: &RequestId) -> [Line; 2] {
    [
        Line::notification(
            "notifications/cancelled",
            &json!({"requestId": id, "reason": "server is shutting down", "_meta": {meta::SUBSCRIPTION_ID: id}}),
        ),
        Line::result(id, &complete(json!({"_meta": {meta::SUBSCRIPTION_ID: id}}))),
    ]
}
