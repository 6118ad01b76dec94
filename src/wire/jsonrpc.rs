//! JSON-RPC 2.0 envelopes: what comes in, as one of a closed set; what goes out, as one line of ASCII.

use std::{io, sync::Arc};

use serde::Serialize;
use serde_json::{Map, Value};

use crate::wire::{frame::Frame, json::Fault};

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

    /// The id that `value` is, if it is a valid one.
    pub fn from_value(value: &Value) -> Option<Self> {
        let _ = value;
        todo!()
    }
}

/// The `params` of a message.
#[derive(Debug, Default)]
pub struct Params {
    /// Every member but the quarantined one, in the order written.
    pub members: Map<String, Value>,
    /// The member kept apart, if it stands there: a fault inside it is not a fault of the frame.
    pub quarantined: Option<Result<Value, Fault>>,
}

/// One message from the client.
#[derive(Debug)]
pub enum Incoming {
    /// Asks for an answer.
    Request {
        /// Names the request.
        id: RequestId,
        /// What is asked.
        method: String,
        /// Absent and present-but-empty are different things in JSON-RPC.
        params: Option<Params>,
    },
    /// Wants no answer.
    Notification {
        /// What is told.
        method: String,
        /// Its params, if any.
        params: Option<Params>,
    },
    /// An answer to a request that we never sent.
    Response,
}

/// A line that is no message.
#[derive(Debug, PartialEq, Eq)]
pub struct Malformed {
    /// The request's id when it was read, whole and valid, before the fault.
    pub id: Option<RequestId>,
    /// What is wrong.
    pub why: EnvelopeFault,
}

/// Why a line is no message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EnvelopeFault {
    /// The text is not JSON that we accept: `-32700`.
    #[error("Parse error: {0}")]
    Json(Fault),
    /// The JSON is no JSON-RPC 2.0 message: `-32600`; the text says what it must be.
    #[error("Invalid request: {0}")]
    Envelope(&'static str),
}

/// Reads one message. `quarantine` is the member of `params` in which duplicate keys, depth, unrepresentable numbers
/// and lone surrogates are not a fault of the frame but kept in [`Params::quarantined`] for whoever judges arguments.
pub fn parse(frame: &Frame<'_>, quarantine: &str) -> Result<Incoming, Malformed> {
    let _ = (frame, quarantine);
    todo!()
}

/// One line to write, without its line end. Holds long bodies once, however often they appear in the line.
#[derive(Clone, Debug)]
pub struct Line {
    parts: Vec<Part>,
}

/// A piece of a [`Line`]; all of it ASCII JSON.
#[derive(Clone, Debug)]
pub enum Part {
    /// Written as it is.
    Plain(Arc<[u8]>),
    /// Written as the inside of a JSON string: quotes and backslashes escaped.
    Quoted(Arc<[u8]>),
}

impl Line {
    /// A response with a result: `{"jsonrpc":"2.0","id":…,"result":…}`.
    pub fn result(id: &RequestId, result: &impl Serialize) -> Self {
        let _ = (id, serde_json::to_value(result));
        todo!()
    }

    /// A response with a result whose JSON is given in parts (for bodies that are large or shared).
    pub fn result_of_parts(id: &RequestId, parts: Vec<Part>) -> Self {
        let _ = (id, parts);
        todo!()
    }

    /// An error response. Without an id the member is absent: the MCP schema forbids null.
    pub fn error(id: Option<&RequestId>, code: i64, message: &str, data: Option<&Value>) -> Self {
        let _ = (id, code, message, data);
        todo!()
    }

    /// A notification.
    pub fn notification(method: &str, params: &impl Serialize) -> Self {
        let _ = (method, serde_json::to_value(params));
        todo!()
    }

    /// Bytes of memory this line holds until it is written.
    pub fn held_bytes(&self) -> usize {
        self.parts.len()
    }

    /// Writes the line and its line end.
    pub fn write_to(&self, out: &mut impl io::Write) -> io::Result<()> {
        let _ = (out, &self.parts);
        todo!()
    }
}
