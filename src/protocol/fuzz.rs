//! Lines to messages, in both eras: a message holds only members of its line, and every refusal is the right one.

use serde_json::{Map, Value};

use crate::protocol::rejection::Rejection;
use crate::protocol::request::{ARGUMENTS, EmptyList, Handshake, Message, Request, ToolCall, understand};
use crate::protocol::revision::{self, Era, meta};
use crate::wire::frame::{Frame, FrameReader};
use crate::wire::fuzz::json;
use crate::wire::jsonrpc::{self, EnvelopeFault, Incoming, Malformed, Params};
use crate::wire::request_id::RequestId;

/// The longest line in bytes.
const MAX_LINE_BYTES: usize = 1 << 20;
/// The longest answer that refuses a line, in bytes: an id and two echoes, each character as two `\uXXXX` at most.
const MAX_REFUSAL_BYTES: usize = 16 * 1024;

/// Runs the target.
pub fn run(data: &[u8]) {
    let mut reader = FrameReader::new(data, MAX_LINE_BYTES);
    while let Ok(Some(frame)) = reader.next_frame() {
        if has_negative_zero(frame.bytes()) {
            continue;
        }
        check_envelope(&frame);
        let [before, after] =
            [Handshake::Awaited, Handshake::Done].map(|handshake| answer(&frame, handshake));
        // A modern request is judged by itself.
        if before.is_modern || after.is_modern {
            assert_eq!(before, after);
        }
        let is_open =
            |text: &str| ["Ping", "Initialize", "refused", "ignored"].iter().any(|it| text.starts_with(it));
        assert!(before.is_modern || is_open(&before.text), "{} without a handshake", before.text);
    }
}

/// The oracle, serde_json, takes the integer `-0` for `-0.0`, which is no id.
fn has_negative_zero(line: &[u8]) -> bool {
    line.windows(3).any(|part| matches!(part, [b'-', b'0', next] if !matches!(next, b'.' | b'e' | b'E')))
}

/// The outcome of a line.
#[derive(Debug, PartialEq)]
struct Answered {
    id: Option<RequestId>,
    is_modern: bool,
    text: String,
}

fn answer(frame: &Frame<'_>, handshake: Handshake) -> Answered {
    let line =
        std::str::from_utf8(frame.bytes()).ok().and_then(|text| serde_json::from_str::<Value>(text).ok());
    let is_modern =
        line.as_ref().and_then(|line| line.pointer("/params/_meta")?.get(meta::PROTOCOL_VERSION)).is_some();
    let refused = |id: Option<RequestId>, why: &Rejection| {
        check_refusal(why, id.as_ref());
        Answered { id, is_modern, text: format!("refused: {}", why.message) }
    };
    let incoming = match jsonrpc::parse(frame, ARGUMENTS) {
        Ok(incoming) => incoming,
        Err(Malformed { id, why }) => return refused(id, &Rejection::malformed(&why)),
    };
    match understand(incoming, handshake) {
        Err(rejected) => refused(rejected.id, &rejected.why),
        Ok(Message::Request { id, era, request }) => {
            // A line that serde_json cannot hold has a fault inside of the arguments of a call.
            assert!(line.is_none() || (era == Era::Modern) == is_modern);
            assert!(!is_modern || is_supported(line.as_ref()));
            check_request(&request, line.as_ref());
            Answered { id: Some(id), is_modern: era == Era::Modern, text: format!("{request:?}") }
        }
        Ok(Message::Cancel(id)) => {
            assert_eq!(
                line.as_ref().and_then(|line| line.pointer("/params/requestId")),
                Some(&value_of(&id))
            );
            Answered { id: None, is_modern: false, text: "ignored".to_owned() }
        }
        Ok(Message::Ignore) => Answered { id: None, is_modern: false, text: "ignored".to_owned() },
    }
}

/// Returns whether a modern request holds every required member.
fn is_supported(line: Option<&Value>) -> bool {
    let meta = line.and_then(|line| line.pointer("/params/_meta")).unwrap_or(&Value::Null);
    let capabilities = meta.get(meta::CLIENT_CAPABILITIES);
    meta.get(meta::PROTOCOL_VERSION).is_some_and(|version| version == revision::MODERN)
        && capabilities.is_some_and(Value::is_object)
}

fn check_request(request: &Request, line: Option<&Value>) {
    let Some(line) = line else { return };
    let method = match request {
        Request::Discover => "server/discover",
        Request::Initialize { offer: _ } => "initialize",
        Request::Ping => "ping",
        Request::ListTools => "tools/list",
        Request::ListNothing(EmptyList::Resources) => "resources/list",
        Request::ListNothing(EmptyList::ResourceTemplates) => "resources/templates/list",
        Request::ListNothing(EmptyList::Prompts) => "prompts/list",
        Request::CallTool(ToolCall { name, arguments, progress }) => {
            assert_eq!(line.pointer("/params/name"), Some(&Value::from(name.as_str())));
            let token = line.pointer("/params/_meta").and_then(|meta| meta.get(meta::PROGRESS_TOKEN));
            assert_eq!(progress.as_ref(), token.and_then(RequestId::from_value).as_ref());
            if let Ok(arguments) = arguments {
                let given = line.pointer("/params/arguments").cloned().unwrap_or_else(|| Map::new().into());
                assert!(json::alike(&Value::from(arguments.clone()), &given));
            }
            "tools/call"
        }
        Request::Listen => "subscriptions/listen",
    };
    assert_eq!(line.get("method"), Some(&Value::from(method)));
}

/// The answer is one line of ASCII JSON with the request's id, or without the member.
fn check_refusal(why: &Rejection, id: Option<&RequestId>) {
    let mut line = Vec::new();
    assert!(why.line(id).write_to(&mut line).is_ok());
    assert_eq!(line.pop(), Some(b'\n'));
    assert!(line.iter().all(|byte| matches!(byte, b' '..=b'~')));
    assert!(line.len() <= MAX_REFUSAL_BYTES, "{} bytes", line.len());
    let message = serde_json::from_slice::<Value>(&line).unwrap_or_default();
    assert_eq!(message.get("id").cloned(), id.map(value_of));
    assert!(message.pointer("/error/code").is_some_and(Value::is_i64));
}

fn value_of(id: &RequestId) -> Value {
    serde_json::to_value(id).unwrap_or_default()
}

/// Checks that each value that was read stands in the line, and that none was left out.
fn check_envelope(frame: &Frame<'_>) {
    let parsed = jsonrpc::parse(frame, ARGUMENTS);
    let Some(line) = json::model(frame.bytes()).filter(json::is_within_limits) else { return };
    // From here on, nothing is wrong with the JSON but integers that are too large.
    match parsed {
        Ok(Incoming::Call { id: Some(id), method, params }) => {
            assert_eq!(kind(&line), Some("request"));
            assert_eq!(line.get("id"), Some(&value_of(&id)));
            check_call(&line, &method, params);
        }
        Ok(Incoming::Call { id: None, method, params }) => {
            assert_eq!(kind(&line), Some("notification"));
            check_call(&line, &method, params);
        }
        Ok(Incoming::Response) => assert_eq!(kind(&line), Some("response")),
        Err(Malformed { id: _, why: EnvelopeFault::Json(fault) }) => {
            assert!(json::is_justified(&fault, frame.bytes(), &line), "{fault}");
        }
        Err(Malformed { id, why: EnvelopeFault::Envelope(why) }) => {
            assert_eq!(kind(&line), None, "{why}");
            assert_eq!(id, line.get("id").and_then(RequestId::from_value).filter(|_| line.is_object()));
        }
    }
}

fn check_call(line: &Value, method: &str, params: Option<Params>) {
    assert_eq!(line.get("method"), Some(&Value::from(method)));
    assert_eq!(params.is_some(), line.get("params").is_some());
    let Some(Params { mut members, quarantined }) = params else { return };
    let mut given = line.get("params").and_then(Value::as_object).cloned().unwrap_or_default();
    let arguments = given.shift_remove(ARGUMENTS);
    assert_eq!(quarantined.is_some(), arguments.is_some());
    if let (Some(Ok(quarantined)), Some(arguments)) = (quarantined, arguments) {
        members.insert(ARGUMENTS.to_owned(), quarantined);
        given.insert(ARGUMENTS.to_owned(), arguments);
    }
    assert!(json::alike(&Value::from(members), &Value::from(given)));
}

/// Returns the message that a line is by the contract, if it is one.
fn kind(line: &Value) -> Option<&'static str> {
    let line = line.as_object()?;
    let has = |key: &str| line.contains_key(key);
    let known = ["jsonrpc", "id", "method", "params", "result", "error"];
    if line.get("jsonrpc")? != "2.0" || !line.keys().all(|key| known.contains(&key.as_str())) {
        return None;
    }
    match (has("method"), has("result") || has("error")) {
        (false, true) => return Some("response"),
        (true, false) => {}
        (true, true) | (false, false) => return None,
    }
    let is_sound =
        line.get("method").is_some_and(Value::is_string) && line.get("params").is_none_or(Value::is_object);
    match line.get("id") {
        _ if !is_sound => None,
        None => Some("notification"),
        Some(Value::String(id)) if id.len() > RequestId::MAX_BYTES => None,
        Some(id) => (id.is_string() || id.is_i64() || id.is_u64()).then_some("request"),
    }
}
