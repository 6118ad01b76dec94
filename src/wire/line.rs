//! An outgoing JSON-RPC message: one line of ASCII.

use std::io;

use memchr::memchr2_iter;
use serde::Serialize;
use serde_json::Value;

use crate::wire::ascii::{AsciiJson, AsciiWriter};
use crate::wire::blocks::Blocks;
use crate::wire::request_id::RequestId;

/// One line to write, without its line end. Holds long bodies once, however often they appear in the line.
#[derive(Clone, Debug)]
pub struct Line {
    /// The message up to its closing brace, or up to its parts.
    head: Blocks,
    /// The rest up to the closing brace.
    parts: Vec<Part>,
    /// The body that the parts show.
    body: Option<AsciiJson>,
}

/// A piece of a [`Line`].
#[derive(Clone, Copy, Debug)]
pub enum Part {
    /// A constant that is ASCII.
    Constant(&'static str),
    /// The body as it is.
    Plain,
    /// The body as the inside of a JSON string: quotes and backslashes escaped.
    Quoted,
}

/// The end of every line: every message is an object.
const TAIL: &[u8] = b"}\n";

impl Line {
    /// Writes a response with a result: `{"jsonrpc":"2.0","id":…,"result":…}`.
    pub fn result(id: &RequestId, result: &impl Serialize) -> Self {
        let mut head = begin(Some(id));
        head.raw(r#","result":"#).value(result);
        Self { head: head.into_blocks(), parts: Vec::new(), body: None }
    }

    /// Writes a response with a result that shows `body`, which may be large or shared, in parts.
    pub fn result_of_parts(id: &RequestId, body: &AsciiJson, parts: Vec<Part>) -> Self {
        let mut head = begin(Some(id));
        head.raw(r#","result":"#);
        Self { head: head.into_blocks(), parts, body: Some(body.clone()) }
    }

    /// Writes an error response. Without an id the member is absent: the MCP schema forbids null.
    pub fn error(id: Option<&RequestId>, code: i64, message: &str, data: Option<&Value>) -> Self {
        let mut head = begin(id);
        head.raw(r#","error":{"code":"#).value(&code).raw(r#","message":"#).string(message);
        if let Some(data) = data {
            head.raw(r#","data":"#).value(data);
        }
        head.raw("}");
        Self { head: head.into_blocks(), parts: Vec::new(), body: None }
    }

    /// Writes a notification.
    pub fn notification(method: &str, params: &impl Serialize) -> Self {
        let mut head = begin(None);
        head.raw(r#","method":"#).string(method).raw(r#","params":"#).value(params);
        Self { head: head.into_blocks(), parts: Vec::new(), body: None }
    }

    /// Returns the memory that this line holds until it is written. A body that stands in it twice is held, and counted, once.
    pub fn held_bytes(&self) -> usize {
        let body = self.body.as_ref().map_or(0, AsciiJson::held_bytes);
        size_of::<Self>() + self.parts.capacity() * size_of::<Part>() + self.head.held_bytes() + body
    }

    /// Writes the line and its line end, in many small pieces where a body is quoted: `out` should be a buffer.
    pub fn write_to(&self, out: &mut impl io::Write) -> io::Result<()> {
        self.head.iter().try_for_each(|block| out.write_all(block))?;
        let body = || self.body.iter().flat_map(AsciiJson::blocks);
        for part in &self.parts {
            match part {
                Part::Constant(json) => out.write_all(json.as_bytes())?,
                Part::Plain => body().try_for_each(|block| out.write_all(block))?,
                Part::Quoted => body().try_for_each(|block| write_quoted(out, block))?,
            }
        }
        out.write_all(TAIL)
    }
}

/// Writes the beginning of every message.
fn begin(id: Option<&RequestId>) -> AsciiWriter {
    let mut head = AsciiWriter::default();
    head.raw(r#"{"jsonrpc":"2.0""#);
    if let Some(id) = id {
        head.raw(r#","id":"#).value(id);
    }
    head
}

/// Writes ASCII JSON as the inside of a JSON string. It holds no control characters, so two bytes are all there is to
/// escape, each by a backslash.
fn write_quoted(out: &mut impl io::Write, json: &[u8]) -> io::Result<()> {
    let mut written = 0;
    for at in memchr2_iter(b'"', b'\\', json) {
        out.write_all(json.get(written..at).unwrap_or_default())?;
        out.write_all(b"\\")?;
        written = at;
    }
    out.write_all(json.get(written..).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::ascii::AsciiJson;
    use proptest::prelude::*;
    use serde_json::json;

    #[track_caller]
    fn written(line: &Line) -> String {
        let mut out = Vec::new();
        line.write_to(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[track_caller]
    fn check(line: &Line, expected: &str) {
        assert_eq!(written(line), format!("{expected}\n"));
    }

    #[test]
    fn messages_are_written_as_json_rpc_wants_them() {
        let text = RequestId::String("é".into());
        check(
            &Line::result(&text, &json!({"a": "ß"})),
            r#"{"jsonrpc":"2.0","id":"\u00e9","result":{"a":"\u00df"}}"#,
        );
        check(
            &Line::result(&RequestId::Negative(-7), &json!({})),
            r#"{"jsonrpc":"2.0","id":-7,"result":{}}"#,
        );
        let largest = RequestId::Unsigned(u64::MAX);
        check(
            &Line::error(Some(&largest), -32602, "no \"x\"", Some(&json!({"k": [1]}))),
            r#"{"jsonrpc":"2.0","id":18446744073709551615,"error":{"code":-32602,"message":"no \"x\"","data":{"k":[1]}}}"#,
        );
        check(
            &Line::error(None, -32700, "Parse error", None),
            r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"}}"#,
        );
        check(
            &Line::notification("notifications/x", &json!({"n": 1})),
            r#"{"jsonrpc":"2.0","method":"notifications/x","params":{"n":1}}"#,
        );
    }

    /// A result that holds `body` as it is and as a string.
    fn twice(body: &AsciiJson) -> Line {
        let parts = vec![
            Part::Constant(r#"{"structuredContent":"#),
            Part::Plain,
            Part::Constant(r#","text":""#),
            Part::Quoted,
            Part::Constant(r#""}"#),
        ];
        Line::result_of_parts(&RequestId::Unsigned(1), body, parts)
    }

    #[test]
    fn a_body_that_stands_twice_in_a_line_is_held_once() {
        let body = AsciiJson::of(&"x".repeat(100_000));
        let held = twice(&body).held_bytes();
        assert!((100_000..150_000).contains(&held), "{held}");
        check(
            &twice(&AsciiJson::of(&json!({"a": "\\\"\n"}))),
            r#"{"jsonrpc":"2.0","id":1,"result":{"structuredContent":{"a":"\\\"\n"},"text":"{\"a\":\"\\\\\\\"\\n\"}"}}"#,
        );
    }

    proptest! {
        #[test]
        fn a_quoted_body_reads_back_as_its_own_text(text in any::<String>()) {
            let body = AsciiJson::of(&json!({"t": text, "n": [1.5, null]}));
            let message: Value = serde_json::from_str(&written(&twice(&body))).unwrap();
            let quoted: Value = serde_json::from_str(message["result"]["text"].as_str().unwrap()).unwrap();
            prop_assert_eq!(&quoted, &message["result"]["structuredContent"]);
            prop_assert_eq!(quoted["t"].as_str(), Some(text.as_str()));
        }
    }
}
