//! Requests that are answered with a JSON-RPC error before anything runs.

use serde_json::{Value, json};

use crate::problem::{Code, Problem, echo};
use crate::protocol::revision;
use crate::wire::jsonrpc::EnvelopeFault;
use crate::wire::line::Line;
use crate::wire::request_id::RequestId;

/// A request that is refused with a JSON-RPC error.
#[derive(Debug, thiserror::Error)]
pub enum Rejection {
    /// The line is no JSON, or no JSON-RPC message.
    #[error("{0}")]
    Malformed(EnvelopeFault),
    /// The line is longer than `MCP_MAX_FRAME_BYTES`.
    #[error("Invalid request: the message is longer than {limit} bytes")]
    TooLong {
        /// The limit in bytes.
        limit: usize,
    },
    /// The id names a request that is still being answered.
    #[error("Invalid request: a request with id {id} is still in flight")]
    IdInFlight {
        /// The id, as JSON.
        id: String,
    },
    /// A second `initialize`.
    #[error("Invalid request: the session is initialized already")]
    AlreadyInitialized,
    /// More subscriptions than are held open.
    #[error("Invalid request: at most {limit} subscriptions are held open; cancel one first")]
    TooManySubscriptions {
        /// The most that are held open.
        limit: usize,
    },
    /// The request's era has not such a method.
    #[error("Method not found: {method}")]
    UnknownMethod {
        /// The method, quoted and cut.
        method: String,
    },
    /// The params do not fit the method.
    #[error("Invalid params: {0}")]
    Params(String),
    /// A modern request in a revision that is not spoken.
    #[error("Unsupported protocol version: {}", echo(requested))]
    UnsupportedVersion {
        /// The revision that the request names.
        requested: String,
    },
    /// The toolbox has not such a tool.
    #[error("Unknown tool: {}", echo(name))]
    UnknownTool {
        /// The tool as the client names it.
        name: String,
    },
}

impl Rejection {
    /// Makes [`Rejection::Params`]. The rule is a clause such as `'name' must be a string`.
    pub fn params(rule: impl Into<String>) -> Self {
        Self::Params(rule.into())
    }

    /// Makes [`Rejection::UnknownMethod`].
    pub fn method(method: &str) -> Self {
        Self::UnknownMethod { method: echo(method) }
    }

    /// Returns the JSON-RPC 2.0 (section 5.1) or MCP error code.
    const fn code(&self) -> i64 {
        match self {
            Self::Malformed(EnvelopeFault::Json(_)) => -32700,
            Self::Malformed(EnvelopeFault::Envelope(_))
            | Self::TooLong { .. }
            | Self::IdInFlight { .. }
            | Self::AlreadyInitialized
            | Self::TooManySubscriptions { .. } => -32600,
            Self::UnknownMethod { .. } => -32601,
            Self::Params(_) | Self::UnknownTool { .. } => -32602,
            Self::UnsupportedVersion { .. } => -32022,
        }
    }

    fn data(&self) -> Option<Value> {
        match self {
            Self::TooLong { limit } => Some(json!({"max_frame_bytes": limit})),
            Self::UnsupportedVersion { requested } => {
                Some(json!({"supported": [revision::MODERN], "requested": requested}))
            }
            Self::UnknownTool { .. } => Some(
                Problem::new(Code::Validation, "There is no such tool: call one that tools/list names.")
                    .param("name")
                    .to_value(),
            ),
            Self::Malformed(_)
            | Self::IdInFlight { .. }
            | Self::AlreadyInitialized
            | Self::TooManySubscriptions { .. }
            | Self::UnknownMethod { .. }
            | Self::Params(_) => None,
        }
    }

    /// Writes the error response.
    pub fn line(&self, id: Option<&RequestId>) -> Line {
        Line::error(id, self.code(), &self.to_string(), self.data().as_ref())
    }
}
