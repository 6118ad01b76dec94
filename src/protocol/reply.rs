//! Results and rejections, per era: everything the server says, as lines.

use std::sync::LazyLock;

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::{
    NAME, VERSION,
    problem::{Code, Problem, echo},
    protocol::{
        request::ProgressToken,
        revision::{self, Era, meta},
        tool::{Effect, ToolSpec},
    },
    wire::{
        ascii::AsciiJson,
        jsonrpc::{EnvelopeFault, Line, Part, RequestId},
    },
};

/// How long a client may keep what `server/discover` and `tools/list` said, in milliseconds: both are fixed at start.
const TTL_MS: u64 = 300_000;

/// Why a request is answered with a JSON-RPC error before anything ran.
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
        /// How many are held open.
        limit: usize,
    },
    /// No such method in the request's era.
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
        /// What was asked for.
        requested: String,
    },
    /// No such tool in the toolbox this caller sees.
    #[error("Unknown tool: {}", echo(name))]
    UnknownTool {
        /// The tool as the client names it.
        name: String,
    },
}

impl Rejection {
    /// [`Rejection::Params`] with what the params must be.
    pub fn params(what: impl Into<String>) -> Self {
        Self::Params(what.into())
    }

    /// [`Rejection::UnknownMethod`] of this method.
    pub fn method(method: &str) -> Self {
        Self::UnknownMethod { method: echo(method) }
    }

    /// The JSON-RPC 2.0 (section 5.1) or MCP error code.
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

    /// The error response.
    pub fn line(&self, id: Option<&RequestId>) -> Line {
        Line::error(id, self.code(), &self.to_string(), self.data().as_ref())
    }
}

/// The one answer that a call is owed. Not `Clone`, consumed by giving it.
#[derive(Debug)]
#[must_use = "a call is owed exactly one answer"]
pub struct Reply {
    id: RequestId,
    era: Era,
}

impl Reply {
    /// The answer owed to this request.
    pub fn new(id: RequestId, era: Era) -> Self {
        Self { id, era }
    }

    /// A result: the JSON of `structuredContent`.
    pub fn result(self, body: &AsciiJson) -> Line {
        self.tool_result(body, true)
    }

    /// A refusal that the model can read, in band.
    pub fn problem(self, problem: &Problem) -> Line {
        self.tool_result(&AsciiJson::of(problem), false)
    }

    /// A failure that the caller cannot mend: a crash, a lost database.
    pub fn internal(self) -> Line {
        Line::error(Some(&self.id), -32603, "Internal error", None)
    }

    /// The end of the process came first.
    pub fn shutting_down(self) -> Line {
        Line::error(Some(&self.id), -32603, "server is shutting down", None)
    }

    /// `CallToolResult`: the text block is the escaped form of the same bytes as `structuredContent`.
    fn tool_result(&self, body: &AsciiJson, success: bool) -> Line {
        let begin = Part::Constant(r#"{"content":[{"type":"text","text":""#);
        let end = Part::Constant(match self.era {
            Era::Legacy => "}",
            Era::Modern => &MODERN_END,
        });
        let text = Part::Quoted(body.clone());
        let parts = if success {
            let structured = Part::Constant(r#""}],"structuredContent":"#);
            vec![
                begin,
                text,
                structured,
                Part::Plain(body.clone()),
                Part::Constant(r#","isError":false"#),
                end,
            ]
        } else {
            vec![begin, text, Part::Constant(r#""}],"isError":true"#), end]
        };
        Line::result_of_parts(&self.id, parts)
    }
}

/// What ends a modern tool result: the members of [`Modern`] and the closing brace.
static MODERN_END: LazyLock<String> = LazyLock::new(|| {
    let members = AsciiJson::of(&Modern::complete()).to_vec();
    String::from_utf8_lossy(&members).replacen('{', ",", 1)
});

/// What every modern result carries.
#[derive(Serialize)]
struct Modern {
    #[serde(rename = "resultType")]
    result_type: &'static str,
    #[serde(rename = "_meta")]
    meta: Value,
}

impl Modern {
    fn complete() -> Self {
        Self { result_type: "complete", meta: json!({meta::SERVER_INFO: server_info()}) }
    }
}

fn server_info() -> Value {
    json!({"name": NAME, "version": VERSION})
}

fn capabilities() -> Value {
    json!({"tools": {}})
}

/// The answer to `server/discover`.
pub fn discover(id: &RequestId) -> Line {
    let Modern { result_type, meta } = Modern::complete();
    Line::result(
        id,
        &json!({
            "supportedVersions": [revision::MODERN],
            "capabilities": capabilities(),
            "ttlMs": TTL_MS,
            "cacheScope": "private",
            "resultType": result_type,
            "_meta": meta,
        }),
    )
}

/// The answer to `initialize`.
pub fn initialize(id: &RequestId, offer: &str) -> Line {
    Line::result(
        id,
        &json!({"protocolVersion": offer, "capabilities": capabilities(), "serverInfo": server_info()}),
    )
}

/// The answer to `ping`.
pub fn pong(id: &RequestId) -> Line {
    Line::result(id, &json!({}))
}

/// The answers to `tools/list`, encoded once.
#[derive(Debug)]
pub struct Listing {
    legacy: AsciiJson,
    modern: AsciiJson,
}

impl Listing {
    /// The listing of these tools, in this order.
    pub fn new<'a>(specs: impl Iterator<Item = &'a ToolSpec>) -> Self {
        let tools: Vec<Value> = specs.map(tool).collect();
        let Modern { result_type, meta } = Modern::complete();
        let legacy = AsciiJson::of(&json!({"tools": tools}));
        let modern = AsciiJson::of(&json!({
            "tools": tools,
            "ttlMs": TTL_MS,
            "cacheScope": "private",
            "resultType": result_type,
            "_meta": meta,
        }));
        Self { legacy, modern }
    }

    /// The answer to one `tools/list`.
    pub fn line(&self, id: &RequestId, era: Era) -> Line {
        let body = match era {
            Era::Legacy => &self.legacy,
            Era::Modern => &self.modern,
        };
        Line::result_of_parts(id, vec![Part::Plain(body.clone())])
    }
}

fn tool(spec: &ToolSpec) -> Value {
    let annotations = match spec.effect {
        Effect::Read => json!({
            "title": spec.title,
            "readOnlyHint": true,
            "destructiveHint": false,
            "idempotentHint": true,
            "openWorldHint": false,
        }),
    };
    json!({
        "name": spec.name,
        "title": spec.title,
        "description": spec.description,
        "inputSchema": spec.input_schema,
        "outputSchema": spec.output_schema,
        "annotations": annotations,
    })
}

/// `notifications/progress`; `progress` counts seconds since the run began.
pub fn progress(token: &ProgressToken, progress: u64) -> Line {
    Line::notification("notifications/progress", &json!({"progressToken": token, "progress": progress}))
}

/// Tells that a subscription is open and which of its notifications will come: none, for what we list never changes.
pub fn subscription_acknowledged(id: &RequestId) -> Line {
    Line::notification(
        "notifications/subscriptions/acknowledged",
        &json!({"_meta": {meta::SUBSCRIPTION_ID: id}, "notifications": {}}),
    )
}

/// Ends a subscription from our side: the notification, then the result.
pub fn subscription_ended(id: &RequestId) -> [Line; 2] {
    let Modern { result_type, meta } = Modern::complete();
    let mut ended = Map::new();
    ended.insert(meta::SUBSCRIPTION_ID.to_owned(), json!(id));
    ended.extend(meta.as_object().cloned().unwrap_or_default());
    [
        Line::notification(
            "notifications/cancelled",
            &json!({"requestId": id, "reason": "server is shutting down", "_meta": {meta::SUBSCRIPTION_ID: id}}),
        ),
        Line::result(id, &json!({"resultType": result_type, "_meta": ended})),
    ]
}
