//! Requests that are answered with a JSON-RPC error before anything runs.

use std::fmt::Display;

use serde_json::{Value, json};

use crate::problem::{Code, Problem, echo};
use crate::protocol::revision;
use crate::wire::jsonrpc::EnvelopeFault;
use crate::wire::line::Line;
use crate::wire::request_id::RequestId;

/// A request that is refused with a JSON-RPC error: its code (JSON-RPC 2.0 section 5.1, or MCP), message and data.
#[derive(Debug)]
pub struct Rejection {
    code: i64,
    /// The sentence for the client.
    pub message: String,
    data: Option<Box<Value>>,
}

impl Rejection {
    fn new(code: i64, message: String) -> Self {
        Self { code, message, data: None }
    }

    fn with(self, data: Value) -> Self {
        Self { data: Some(Box::new(data)), ..self }
    }

    /// Refuses a line that is no JSON, or no JSON-RPC message.
    pub fn malformed(fault: &EnvelopeFault) -> Self {
        let code = if matches!(fault, EnvelopeFault::Json(_)) { -32700 } else { -32600 };
        Self::new(code, fault.to_string())
    }

    /// Refuses a request that does not fit the session, such as a second `initialize`.
    pub fn request(rule: impl Display) -> Self {
        Self::new(-32600, format!("Invalid request: {rule}"))
    }

    /// Refuses a line that is longer than `MCP_MAX_FRAME_BYTES`.
    pub fn too_long(limit: usize) -> Self {
        let rule = format_args!("the message is longer than {limit} bytes");
        Self::request(rule).with(json!({"max_frame_bytes": limit}))
    }

    /// Refuses a method that the request's era has not.
    pub fn method(method: &str) -> Self {
        Self::new(-32601, format!("Method not found: {}", echo(method)))
    }

    /// Refuses params that do not fit the method. The rule is a clause such as `'name' must be a string`.
    pub fn params(rule: impl Display) -> Self {
        Self::new(-32602, format!("Invalid params: {rule}"))
    }

    /// Refuses a tool that the toolbox has not.
    pub fn tool(name: &str) -> Self {
        let detail = "There is no such tool: call one that tools/list names.";
        let problem = Problem::new(Code::Validation, detail).param("name");
        Self::new(-32602, format!("Unknown tool: {}", echo(name))).with(problem.to_value())
    }

    /// Refuses a modern request in a revision that is not spoken.
    pub fn version(requested: &str) -> Self {
        Self::new(-32022, format!("Unsupported protocol version: {}", echo(requested)))
            .with(json!({"supported": [revision::MODERN], "requested": requested}))
    }

    /// Writes the error response.
    pub fn line(&self, id: Option<&RequestId>) -> Line {
        Line::error(id, self.code, &self.message, self.data.as_deref())
    }
}
