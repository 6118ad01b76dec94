//! The closed set of MCP messages that a client may send, and the refusal of all others.
//!
//! A modern request is judged by itself alone; a legacy one by whether `initialize` came before.

use serde_json::{Map, Value};

use crate::problem::{MAX_ECHO_CHARS, echo};
use crate::protocol::rejection::Rejection;
use crate::protocol::revision::{self, Era, meta};
use crate::wire::fault::Fault;
use crate::wire::jsonrpc::{EnvelopeFault, Incoming, Params};
use crate::wire::request_id::RequestId;

/// The member of `params` in which faults are the model's, not the client's: see [`crate::wire::jsonrpc::parse`].
pub const ARGUMENTS: &str = "arguments";

/// A message of the closed set.
#[derive(Debug)]
pub enum Message {
    /// A request: it gets exactly one answer.
    Request {
        /// The id of the request.
        id: RequestId,
        /// The era, which decides the shape of the answer.
        era: Era,
        /// The request itself.
        request: Request,
    },
    /// Cancels the request of this id; is not answered.
    Cancel(RequestId),
    /// A message that needs no reaction.
    Ignore,
}

/// A list that is always empty here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmptyList {
    /// `resources/list`.
    Resources,
    /// `resources/templates/list`.
    ResourceTemplates,
    /// `prompts/list`.
    Prompts,
}

impl EmptyList {
    /// The member of the result that holds the list.
    pub fn member(self) -> &'static str {
        match self {
            Self::Resources => "resources",
            Self::ResourceTemplates => "resourceTemplates",
            Self::Prompts => "prompts",
        }
    }
}

/// A request of the closed set.
#[derive(Debug)]
pub enum Request {
    /// `server/discover`, modern.
    Discover,
    /// `initialize`, legacy.
    Initialize {
        /// The revision to answer with.
        offer: &'static str,
    },
    /// `ping`, legacy.
    Ping,
    /// `tools/list`.
    ListTools,
    /// A list of something that the server has not, legacy. Some clients ask unasked, and show
    /// an error as a failed connection.
    ListNothing(EmptyList),
    /// `tools/call`.
    CallTool(ToolCall),
    /// `subscriptions/listen`, modern. The server has not a single notification to offer, so its filter does not matter.
    Listen,
}

/// The params of a `tools/call`.
#[derive(Debug)]
pub struct ToolCall {
    /// The name of the tool, as the client wrote it.
    pub name: String,
    /// The arguments, or the fault in their structure.
    pub arguments: Result<Map<String, Value>, Fault>,
    /// The token of progress notifications.
    pub progress: Option<ProgressToken>,
}

/// A progress token: the same shape and limits as a request id; anything else is taken as absent.
pub type ProgressToken = RequestId;

/// A request that cannot be one of [`Request`].
#[derive(Debug)]
pub struct Rejected {
    /// The request's id; none for a notification whose JSON is at fault.
    pub id: Option<RequestId>,
    /// The reason.
    pub why: Rejection,
}

/// The state of the handshake: has `initialize` been answered in this process?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handshake {
    /// Not yet.
    Awaited,
    /// Yes: legacy requests are accepted.
    Done,
}

/// Finds the message of the closed set that `incoming` is.
pub fn understand(incoming: Incoming, handshake: Handshake) -> Result<Message, Rejected> {
    let Incoming::Call { id, method, params } = incoming else { return Ok(Message::Ignore) };
    let params = params.unwrap_or_default();
    let Some(id) = id else {
        return match params.quarantined {
            Some(Err(fault)) => Err(Rejected { id: None, why: parse_error(fault) }),
            None | Some(Ok(_)) => Ok(notification(&method, &params.members)),
        };
    };
    match request(&method, params, handshake) {
        Ok((era, request)) => Ok(Message::Request { id, era, request }),
        Err(why) => Err(Rejected { id: Some(id), why }),
    }
}

fn notification(method: &str, params: &Map<String, Value>) -> Message {
    let cancelled = (method == "notifications/cancelled").then(|| params.get("requestId")).flatten();
    cancelled.and_then(RequestId::from_value).map_or(Message::Ignore, Message::Cancel)
}

fn request(method: &str, mut params: Params, handshake: Handshake) -> Result<(Era, Request), Rejection> {
    if method != "tools/call" {
        // Only the arguments of a call are the model's; elsewhere they are an unknown member.
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
    Rejection::malformed(&EnvelopeFault::Json(fault))
}

/// Returns the era of a request: modern exactly when `_meta` names a protocol version, which then must be supported.
fn era(params: &Map<String, Value>) -> Result<Era, Rejection> {
    let Some(requested) = meta_of(params).and_then(|meta| meta.get(meta::PROTOCOL_VERSION)) else {
        return Ok(Era::Legacy);
    };
    let Value::String(requested) = requested else {
        return Err(Rejection::params(format!("_meta[\"{}\"] must be a string", meta::PROTOCOL_VERSION)));
    };
    if requested != revision::MODERN {
        // Cut like every echo: a version is ten characters long.
        return Err(Rejection::version(&requested.chars().take(MAX_ECHO_CHARS).collect::<String>()));
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
        "server/discover" => known(&params.members, &["_meta"]).map(|()| Request::Discover),
        "tools/list" => list_tools(&params.members),
        "tools/call" => call_tool(params, &["name", "_meta", "task", "inputResponses", "requestState"]),
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
        ("ping", _) => known(&params.members, &["_meta"]).map(|()| Request::Ping),
        ("initialize", Handshake::Done) => Err(Rejection::request("the session is initialized already")),
        ("initialize", Handshake::Awaited) => initialize(&params.members),
        (_, Handshake::Awaited) => Err(Rejection::params(format!(
            "send 'initialize' first, or name the protocol version in params._meta[\"{}\"]",
            meta::PROTOCOL_VERSION
        ))),
        ("tools/list", Handshake::Done) => list_tools(&params.members),
        ("resources/list", Handshake::Done) => Ok(Request::ListNothing(EmptyList::Resources)),
        ("resources/templates/list", Handshake::Done) => {
            Ok(Request::ListNothing(EmptyList::ResourceTemplates))
        }
        ("prompts/list", Handshake::Done) => Ok(Request::ListNothing(EmptyList::Prompts)),
        ("tools/call", Handshake::Done) => call_tool(params, &["name", "_meta", "task"]),
        (_, Handshake::Done) => Err(Rejection::method(method)),
    }
}

/// Editors send members of their own, such as `trace`.
fn initialize(params: &Map<String, Value>) -> Result<Request, Rejection> {
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

fn call_tool(params: Params, members: &[&str]) -> Result<Request, Rejection> {
    known(&params.members, members)?;
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

/// Refuses a member that no revision defines: a typo must not silently mean its default.
fn known(params: &Map<String, Value>, names: &[&str]) -> Result<(), Rejection> {
    match params.keys().find(|key| !names.contains(&key.as_str())) {
        None => Ok(()),
        Some(unknown) => Err(Rejection::params(format!(
            "unknown member {} in params; known are: {}",
            echo(unknown),
            names.join(", ")
        ))),
    }
}
