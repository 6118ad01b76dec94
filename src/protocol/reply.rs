//! The answer to a `tools/call`.

use std::sync::LazyLock;
use std::time::Duration;

use serde_json::json;

use crate::problem::Problem;
use crate::protocol::modern::complete;
use crate::protocol::revision::Era;
use crate::wire::ascii::AsciiJson;
use crate::wire::line::{Line, Part};
use crate::wire::request_id::RequestId;

/// The one answer that a call is owed. Not `Clone`, consumed by giving it.
#[derive(Debug)]
#[must_use = "a call is owed exactly one answer"]
pub struct Reply {
    id: RequestId,
    era: Era,
}

impl Reply {
    /// Owes an answer to this request.
    pub fn new(id: RequestId, era: Era) -> Self {
        Self { id, era }
    }

    /// Answers with a result: the JSON of `structuredContent`.
    pub fn result(self, body: &AsciiJson) -> Line {
        self.tool_result(body, true)
    }

    /// Answers with a refusal that the model can read, in band.
    pub fn problem(self, problem: &Problem) -> Line {
        self.tool_result(&AsciiJson::of(problem), false)
    }

    /// Answers that something is missing that the call needs, and after what time it may be there.
    pub fn unavailable(self, message: &str, retry_after: Option<Duration>) -> Line {
        let data =
            |wait: Duration| json!({ "retry_after_ms": u64::try_from(wait.as_millis()).unwrap_or(u64::MAX) });
        Line::error(Some(&self.id), -32603, message, retry_after.map(data).as_ref())
    }

    /// Answers with a failure that the caller cannot mend: a crash.
    pub fn internal(self) -> Line {
        Line::error(Some(&self.id), -32603, "Internal error", None)
    }

    /// Answers that the process ends first.
    pub fn shutting_down(self) -> Line {
        Line::error(Some(&self.id), -32603, "server is shutting down", None)
    }

    /// `CallToolResult`: the text block is the escaped form of the same bytes as `structuredContent`.
    fn tool_result(&self, body: &AsciiJson, success: bool) -> Line {
        let shown: &[Part] = if success {
            &[
                Part::Constant(r#""}],"structuredContent":"#),
                Part::Plain,
                Part::Constant(r#","isError":false"#),
            ]
        } else {
            &[Part::Constant(r#""}],"isError":true"#)]
        };
        let begin = [Part::Constant(r#"{"content":[{"type":"text","text":""#), Part::Quoted];
        let end = [Part::Constant(match self.era {
            Era::Legacy => "}",
            Era::Modern => &MODERN_END,
        })];
        Line::result_of_parts(&self.id, body, [&begin, shown, &end].concat())
    }
}

/// The end of a modern tool result: the members that [`complete`] adds and the closing brace.
static MODERN_END: LazyLock<String> = LazyLock::new(|| {
    let members = AsciiJson::of(&complete(json!({}))).to_vec();
    String::from_utf8_lossy(&members).replacen('{', ",", 1)
});
