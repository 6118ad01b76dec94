//! Checks every line that the server writes against the official schema of the revision in use.
//!
//! Beyond the schemas: ASCII only, no line over 8 MiB, one answer to each request and no other.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};

use jsonschema::Validator;
use serde_json::{Value, json};

use crate::support::MODERN;

/// The longest line of the server, with any settings.
const MAX_LINE_BYTES: usize = 8 << 20;

static SCHEMAS: LazyLock<HashMap<&str, Value>> = LazyLock::new(|| {
    [
        ("2024-11-05", include_str!("mcp-schema/2024-11-05.schema.json")),
        ("2025-03-26", include_str!("mcp-schema/2025-03-26.schema.json")),
        ("2025-06-18", include_str!("mcp-schema/2025-06-18.schema.json")),
        ("2025-11-25", include_str!("mcp-schema/2025-11-25.schema.json")),
        (MODERN, include_str!("mcp-schema/2026-07-28.schema.json")),
    ]
    .map(|(revision, text)| (revision, serde_json::from_str(text).unwrap()))
    .into()
});

/// Built when first needed: in a debug build each costs many milliseconds.
static VALIDATORS: LazyLock<Mutex<HashMap<String, Arc<Validator>>>> = LazyLock::new(Mutex::default);

fn validator(revision: &str, definition: &str) -> Arc<Validator> {
    let schema = &SCHEMAS[revision];
    let definitions = if schema.get("$defs").is_some() { "$defs" } else { "definitions" };
    let key = format!("{revision} {definition}");
    let mut validators = VALIDATORS.lock().unwrap();
    let build = || {
        let root = json!({
            "$schema": schema["$schema"],
            "$ref": format!("#/{definitions}/{definition}"),
            definitions: schema[definitions],
        });
        Arc::new(jsonschema::validator_for(&root).unwrap())
    };
    Arc::clone(validators.entry(key).or_insert_with(build))
}

/// Panics unless `value` is a `definition` of this revision.
#[track_caller]
pub(crate) fn check(revision: &str, definition: &str, value: &Value) {
    let validator = validator(revision, definition);
    let faults: Vec<String> = validator.iter_errors(value).map(|fault| fault.to_string()).collect();
    assert!(faults.is_empty(), "no {definition} of {revision}: {faults:#?}\n{value}");
}

/// Names an envelope in the schema of the revision.
fn envelope(revision: &str, of: Envelope) -> &'static str {
    match (of, revision >= "2025-11-25") {
        (Envelope::Result, true) => "JSONRPCResultResponse",
        (Envelope::Error, true) => "JSONRPCErrorResponse",
        (Envelope::Result, false) => "JSONRPCResponse",
        (Envelope::Error, false) => "JSONRPCError",
    }
}

#[derive(Clone, Copy)]
enum Envelope {
    Result,
    Error,
}

/// A request that is owed an answer.
#[derive(Debug)]
struct Asked {
    method: String,
    modern: bool,
    /// May stay without one.
    cancelled: bool,
}

/// The requests of one session, and the rules by which its answers are judged.
#[derive(Debug, Default)]
pub(crate) struct Judge {
    /// By id, as JSON.
    asked: HashMap<String, Asked>,
    /// The revision that `initialize` negotiated.
    negotiated: Option<String>,
    /// Errors that may still come for lines that are not requests.
    excused: usize,
}

impl Judge {
    /// Legacy requests are allowed.
    pub(crate) fn is_initialized(&self) -> bool {
        self.negotiated.is_some()
    }

    /// Takes bytes that are not a message, or only look like one.
    pub(crate) fn sent_raw(&mut self, bytes: &[u8]) {
        self.excused += bytes.split(|byte| *byte == b'\n').count();
    }

    pub(crate) fn sent(&mut self, message: &Value) {
        let Some(method) = message["method"].as_str() else { return };
        if method == "notifications/cancelled" {
            if let Some(asked) = self.asked.get_mut(&message["params"]["requestId"].to_string()) {
                asked.cancelled = true;
            }
            return;
        }
        let Some(id) = message.get("id").map(Value::to_string) else { return };
        if self.asked.get(&id).is_some_and(|asked| !asked.cancelled) {
            // Refused without its id, which belongs to the first.
            self.excused += 1;
            return;
        }
        let modern = message["params"]["_meta"].get("io.modelcontextprotocol/protocolVersion").is_some();
        self.asked.insert(id, Asked { method: method.to_owned(), modern, cancelled: false });
    }

    /// Judges one line, without its end, and returns its message.
    #[track_caller]
    pub(crate) fn received(&mut self, line: &[u8]) -> Value {
        assert!(line.len() < MAX_LINE_BYTES, "a line of {} bytes", line.len());
        assert!(line.is_ascii(), "not ASCII: {}", String::from_utf8_lossy(line));
        let message: Value = serde_json::from_slice(line)
            .unwrap_or_else(|fault| panic!("{fault}: {}", String::from_utf8_lossy(line)));
        if message.get("method").is_some() {
            check(self.revision_of_notification(&message), "ServerNotification", &message);
        } else if let Some(result) = message.get("result") {
            let asked = self.asked.remove(&message["id"].to_string());
            let asked = asked.unwrap_or_else(|| panic!("nobody asked: {message}"));
            self.judge_result(&asked, &message, result);
        } else {
            self.judge_error(&message);
        }
        message
    }

    fn legacy(&self) -> &str {
        self.negotiated.as_deref().unwrap_or("2025-11-25")
    }

    /// Notifications of the stateless revision name their subscription; progress looks the same in both eras.
    fn revision_of_notification(&self, message: &Value) -> &str {
        let is_modern = message["params"].get("_meta").is_some() || self.negotiated.is_none();
        if is_modern { MODERN } else { self.legacy() }
    }

    #[track_caller]
    fn judge_result(&mut self, asked: &Asked, message: &Value, result: &Value) {
        if asked.method == "initialize" {
            self.negotiated = result["protocolVersion"].as_str().map(str::to_owned);
        }
        let revision = if asked.modern { MODERN } else { self.legacy() };
        let definition = match asked.method.as_str() {
            "initialize" => "InitializeResult",
            "ping" => "EmptyResult",
            "tools/list" => "ListToolsResult",
            "tools/call" => "CallToolResult",
            "server/discover" => "DiscoverResult",
            "subscriptions/listen" => "SubscriptionsListenResult",
            "resources/list" => "ListResourcesResult",
            "resources/templates/list" => "ListResourceTemplatesResult",
            "prompts/list" => "ListPromptsResult",
            other => panic!("{other} has no result: {message}"),
        };
        check(revision, envelope(revision, Envelope::Result), message);
        check(revision, definition, result);
        if asked.modern {
            assert_eq!(result["resultType"], "complete", "{message}");
            let server = &result["_meta"]["io.modelcontextprotocol/serverInfo"];
            assert_eq!(server["name"], "mcp-server-suite", "{message}");
        } else {
            assert_eq!(result.get("resultType"), None, "{message}");
        }
        if asked.method == "tools/call" {
            judge_content(result);
        }
    }

    #[track_caller]
    fn judge_error(&mut self, message: &Value) {
        let asked = message.get("id").and_then(|id| self.asked.remove(&id.to_string()));
        if asked.is_none() {
            self.excused = self.excused.checked_sub(1).unwrap_or_else(|| panic!("nobody asked: {message}"));
        }
        let modern = asked.map_or(self.negotiated.is_none(), |asked| asked.modern);
        let revision = if modern { MODERN } else { self.legacy() };
        let mut judged = message.clone();
        if revision < "2025-11-25" && message.get("id").is_none() {
            // Older schemas require an id and cannot express that there is none.
            judged["id"] = json!(0);
        }
        check(revision, envelope(revision, Envelope::Error), &judged);
        if message["error"]["code"] == -32022 {
            check(MODERN, "UnsupportedProtocolVersionError", message);
        }
    }
}

/// A success is the same document twice; a refusal is one problem document and nothing else.
#[track_caller]
fn judge_content(result: &Value) {
    let content = result["content"].as_array().unwrap();
    assert_eq!(content.len(), 1, "{result}");
    let document: Value = serde_json::from_str(content[0]["text"].as_str().unwrap()).unwrap();
    match result.get("structuredContent") {
        Some(structured) => {
            assert_eq!(result["isError"], false, "{result}");
            assert_eq!(&document, structured);
        }
        None => {
            assert_eq!(result["isError"], true, "{result}");
            let mut members: Vec<&String> = document.as_object().unwrap().keys().collect();
            members.sort();
            let expected = ["code", "detail", "invalid_params", "metadata", "status", "title", "type"];
            assert_eq!(members, expected, "{document}");
        }
    }
}
