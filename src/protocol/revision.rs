//! The five revisions of MCP and the two eras that they form.
//!
//! An era decides the shape of every result: one body per era, so that revisions of one era get the same members.

/// The way in which a request names its revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Era {
    /// Negotiated once per process by `initialize` (2024-11-05 to 2025-11-25).
    Legacy,
    /// Named by every request in its `_meta` (2026-07-28 on).
    Modern,
}

/// The one stateless revision that is spoken.
pub const MODERN: &str = "2026-07-28";

/// The revisions that `initialize` negotiates, newest first.
pub const LEGACY: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// Keys of `_meta` that MCP 2026-07-28 defines (`RequestMetaObject`, `ResultMetaObject`, `NotificationMetaObject`).
pub mod meta {
    /// The revision a modern request speaks. This key alone makes a request modern.
    pub const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
    /// The client's capabilities; required in every modern request.
    pub const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
    /// The name and version of the server; in every modern result.
    pub const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
    /// The `subscriptions/listen` request a message belongs to.
    pub const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
    /// Names the request in progress notifications (both eras).
    pub const PROGRESS_TOKEN: &str = "progressToken";
}

/// Returns the revision to offer to a client whose `initialize` asks for `requested`: the same when it is a legacy one
/// that the server speaks, else the newest legacy one. A modern revision is never negotiated this way.
pub fn offer(requested: &str) -> &'static str {
    LEGACY.into_iter().find(|known| *known == requested).unwrap_or(LEGACY[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn initialize_is_offered_its_own_or_the_newest_legacy_revision() {
        for known in LEGACY {
            assert_eq!(offer(known), known);
        }
        for unknown in [MODERN, "2099-01-01", "", "2025-11-25 "] {
            assert_eq!(offer(unknown), "2025-11-25", "{unknown:?}");
        }
    }
}
