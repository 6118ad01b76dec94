//! The closed set of MCP messages a client may send, and what makes a message none of them.
//!
//! A modern request is judged by itself alone; a legacy one by whether `initialize` came before.

use serde_json::{Map, Value};

use crate::{
    problem::MAX_ECHO_CHARS,
    protocol::{
        reply::Rejection,
        revision::{self, Era, meta},
    },
    wire::{
        json::Fault,
        jsonrpc::{EnvelopeFault, Incoming, Params, RequestId},
    },
};

/// The member of `params` in which faults are the model's, not the client's: see [`crate::wire::jsonrpc::parse`].
pub const ARGUMENTS: &str = "arguments";

/// A message that is understood.
#[derive(Debug)]
pub enum Message {
    /// Wants exactly one answer.
    Request {
        /// Names the request.
        id: RequestId,
        /// Decides the shape of the answer.
        era: Era,
        /// What is asked.
        request: Request,
    },
    /// Cancels the request of this id; is not answered.
    Cancel(RequestId),
    /// Wants nothing from us.
    Ignore,
}

/// What a client may ask.
#[derive(Debug)]
pub enum Request {
    /// `server/discover`, modern.
    Discover,
    /// `initialize`, legacy.
    Initialize {
        /// The revision we answer with.
        offer: &'static str,
    },
    /// `ping`, legacy.
    Ping,
    /// `tools/list`.
    ListTools,
    /// `tools/call`.
    CallTool(ToolCall),
    /// `subscriptions/listen`, modern. We have no notification to offer, so what it asks for does not matter.
    Listen,
}

/// The params of a `tools/call`.
#[derive(Debug)]
pub struct ToolCall {
    /// The tool as the client names it.
    pub name: String,
    /// The arguments, or what is structurally wrong with them.
    pub arguments: Result<Map<String, Value>, Fault>,
    /// Echoed in progress notifications.
    pub progress: Option<ProgressToken>,
}

/// A progress token: the same shape and limits as a request id; anything else is taken as absent.
pub type ProgressToken = RequestId;

/// A request that cannot be one of [`Request`].
#[derive(Debug)]
pub struct Rejected {
    /// The request's id; none for a notification whose JSON is at fault.
    pub id: Option<RequestId>,
    /// Why.
    pub why: Rejection,
}

/// Whether `initialize` has been answered in this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handshake {
    /// Not yet.
    Awaited,
    /// Yes: legacy requests are welcome.
    Done,
}

/// Understands one message.
pub fn understand(incoming: Incoming, handshake: Handshake) -> Result<Message, Rejected> {
    match incoming {
        Incoming::Response => Ok(Message::Ignore),
        Incoming::Notification { method, params } => {
            let params = params.unwrap_or_default();
            if let Some(Err(fault)) = params.quarantined {
                return Err(Rejected { id: None, why: parse_error(fault) });
            }
            Ok(notification(&method, &params.members))
        }
        Incoming::Request { id, method, params } => {
            match request(&method, params.unwrap_or_default(), handshake) {
                Ok((era, request)) => Ok(Message::Request { id, era, request }),
                Err(why) => Err(Rejected { id: Some(id), why }),
            }
        }
    }
}

fn notification(method: &str, params: &Map<String, Value>) -> Message {
    let cancelled = (method == "notifications/cancelled").then(|| params.get("requestId")).flatten();
    cancelled.and_then(RequestId::from_value).map_or(Message::Ignore, Message::Cancel)
}

fn request(method: &str, mut params: Params, handshake: Handshake) -> Result<(Era, Request), Rejection> {
    if method != "tools/call" {
        // Only the arguments of a call are the model's; elsewhere they are a member nobody knows.
        match params.quarantined.take() {
            Some(Err(fault)) => return Err(parse_error(fault)),
            Some(Ok(value)) => drop(params.members.insert(ARGUMENTS.to_owned(), value)),
            None => {}
        }
    }
    let era = era(&params.members)?;
    let request = match era {
        Era::Modern => modern(method, params)?,
        Era::Legacy => legacy(method, params, handshake)?,
    };
    Ok((era, request))
}

fn parse_error(fault: Fault) -> Rejection {
    Rejection::Malformed(EnvelopeFault::Json(fault))
}

/// The era of a request: modern exactly when `_meta` names a protocol version, which then must be ours.
fn era(params: &Map<String, Value>) -> Result<Era, Rejection> {
    let Some(requested) = meta_of(params).and_then(|meta| meta.get(meta::PROTOCOL_VERSION)) else {
        return Ok(Era::Legacy);
    };
    let Value::String(requested) = requested else {
        return Err(Rejection::params(format!("_meta[\"{}\"] must be a string", meta::PROTOCOL_VERSION)));
    };
    if requested != revision::MODERN {
        // Cut like every echo: a version is ten characters long.
        let requested = requested.chars().take(MAX_ECHO_CHARS).collect();
        return Err(Rejection::UnsupportedVersion { requested });
    }
    let capabilities = meta_of(params).and_then(|meta| meta.get(meta::CLIENT_CAPABILITIES));
    if !capabilities.is_some_and(Value::is_object) {
        return Err(Rejection::params(format!("_meta[\"{}\"] must be an object", meta::CLIENT_CAPABILITIES)));
    }
    Ok(Era::Modern)
}

fn meta_of(params: &Map<String, Value>) -> Option<&Map<String, Value>> {
    params.get("_meta")?.as_object()
}

fn modern(method: &str, params: Params) -> Result<Request, Rejection> {
    match method {
        "server/discover" => {
            known(&params.members, &["_meta"])?;
            Ok(Request::Discover)
        }
        "tools/list" => list_tools(&params.members),
        "tools/call" => {
            known(&params.members, &["name", "_meta", "task", "inputResponses", "requestState"])?;
            call_tool(params)
        }
        "subscriptions/listen" => {
            known(&params.members, &["_meta", "notifications"])?;
            if !params.members.get("notifications").is_some_and(Value::is_object) {
                return Err(Rejection::params("'notifications' must be an object"));
            }
            Ok(Request::Listen)
        }
        _ => Err(Rejection::method(method)),
    }
}

fn legacy(method: &str, params: Params, handshake: Handshake) -> Result<Request, Rejection> {
    match (method, handshake) {
        ("ping", _) => {
            known(&params.members, &["_meta"])?;
            Ok(Request::Ping)
        }
        ("initialize", Handshake::Done) => Err(Rejection::AlreadyInitialized),
        ("initialize", Handshake::Awaited) => initialize(&params.members),
        (_, Handshake::Awaited) => Err(Rejection::params(format!(
            "send 'initialize' first, or name the protocol version in params._meta[\"{}\"]",
            meta::PROTOCOL_VERSION
        ))),
        ("tools/list", Handshake::Done) => list_tools(&params.members),
        ("tools/call", Handshake::Done) => {
            known(&params.members, &["name", "_meta", "task"])?;
            call_tool(params)
        }
        (_, Handshake::Done) => Err(Rejection::method(method)),
    }
}

fn initialize(params: &Map<String, Value>) -> Result<Request, Rejection> {
    known(params, &["protocolVersion", "capabilities", "clientInfo", "_meta"])?;
    let Some(Value::String(requested)) = params.get("protocolVersion") else {
        return Err(Rejection::params("'protocolVersion' must be a string"));
    };
    Ok(Request::Initialize { offer: revision::offer(requested) })
}

fn list_tools(params: &Map<String, Value>) -> Result<Request, Rejection> {
    known(params, &["_meta", "cursor"])?;
    match params.get("cursor") {
        None | Some(Value::Null) => Ok(Request::ListTools),
        Some(_) => Err(Rejection::params("there is one page of tools: leave 'cursor' out")),
    }
}

fn call_tool(params: Params) -> Result<Request, Rejection> {
    let progress = meta_of(&params.members)
        .and_then(|meta| meta.get(meta::PROGRESS_TOKEN))
        .and_then(ProgressToken::from_value);
    let arguments = match params.quarantined {
        None => Ok(Map::new()),
        Some(Err(fault)) => Err(fault),
        Some(Ok(Value::Object(arguments))) => Ok(arguments),
        Some(Ok(_)) => return Err(Rejection::params("'arguments' must be an object")),
    };
    let mut members = params.members;
    let Some(Value::String(name)) = members.remove("name") else {
        return Err(Rejection::params("'name' must be a string"));
    };
    Ok(Request::CallTool(ToolCall { name, arguments, progress }))
}

/// A member that no revision defines is refused: a typo must not silently mean its default.
fn known(params: &Map<String, Value>, names: &[&str]) -> Result<(), Rejection> {
    match params.keys().find(|key| !names.contains(&key.as_str())) {
        None => Ok(()),
        Some(unknown) => Err(Rejection::params(format!(
            "unknown member {} in params; known are: {}",
            crate::problem::echo(unknown),
            names.join(", ")
        ))),
    }
}
