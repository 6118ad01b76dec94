//! In-band problems: RFC 9457 documents from one closed table of code, title and status.
//!
//! A problem is a refusal that the model reads. Its `detail` names the cure; it never holds a host path, a DSN, a password
//! or another caller's data.

use std::time::Duration;

use serde::Serialize;
use serde_json::{Map, Value};

/// One row of the contract's table: the members that always go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// The machine-readable code, `MCP_…`. In lower case and with hyphens it ends the problem's `type` URN.
    pub code: &'static str,
    /// The same for every problem of this code (RFC 9457 section 3.1.3).
    pub title: &'static str,
    /// The HTTP status that fits (RFC 9457 section 3.1.2).
    pub status: u16,
}

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $status:literal $code:literal $title:literal;)*) => {
        /// The closed set of reasons.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Code {
            $($(#[$doc])* $name,)*
        }

        impl Code {
            /// Every code, in the order of the contract's table.
            pub const ALL: [Self; [$($code),*].len()] = [$(Self::$name),*];

            /// Returns the code's row.
            pub const fn row(self) -> Row {
                match self {
                    $(Self::$name => Row { code: $code, title: $title, status: $status },)*
                }
            }
        }
    };
}

codes! {
    /// The arguments are not as the tool's schema asks for.
    Validation = 422 "MCP_VALIDATION_ERROR" "Invalid tool arguments";
    /// The resource exists or not: this caller may not have it.
    AccessDenied = 403 "MCP_ACCESS_DENIED" "Access to the requested resource is denied";
    /// The resource does not exist.
    NotFound = 404 "MCP_NOT_FOUND" "The requested resource does not exist";
    /// The content cannot be represented as requested.
    UnsupportedContent = 415 "MCP_UNSUPPORTED_CONTENT" "The content cannot be represented as requested";
    /// The query is understood and not allowed.
    QueryViolation = 403 "MCP_QUERY_VIOLATION" "The query violates the read-only policy";
    /// The call ran into its deadline.
    ExecutionTimeout = 504 "MCP_EXECUTION_TIMEOUT" "The tool call exceeded its deadline";
    /// The call found no slot in time.
    ConcurrencyLimit = 503 "MCP_CONCURRENCY_LIMIT" "Too many concurrent tool calls";
    /// The caller's rate limit is exhausted.
    RateLimited = 429 "MCP_RATE_LIMITED" "The caller's rate limit is exhausted";
    /// The caller lacks a permission.
    PermissionDenied = 403 "MCP_PERMISSION_DENIED" "The caller lacks a required permission";
    /// The call is not part of the run's plan.
    PlanViolation = 403 "MCP_PLAN_VIOLATION" "The call is not part of the run's plan";
    /// The call would complete a forbidden information flow.
    FlowViolation = 403 "MCP_FLOW_VIOLATION" "The call would complete a forbidden information flow";
    /// A human must approve first.
    ApprovalRequired = 428 "MCP_APPROVAL_REQUIRED" "The action needs human approval";
    /// A write would touch more rows than declared.
    BlastRadius = 409 "MCP_BLAST_RADIUS" "The write would touch more rows than declared";
    /// Something failed in a way the caller cannot mend.
    Internal = 500 "MCP_INTERNAL_ERROR" "Internal error";
}

/// The longest echo of a caller's own input inside a `detail`, in characters.
pub const MAX_ECHO_CHARS: usize = 256;

/// A refusal for the model. Cannot be built inconsistently: the code decides type, title and status.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
#[must_use]
pub struct Problem(Box<Document>);

#[derive(Clone, Debug, PartialEq, Serialize)]
struct Document {
    #[serde(skip)]
    reason: Code,
    r#type: String,
    title: &'static str,
    status: u16,
    detail: String,
    code: &'static str,
    invalid_params: Vec<String>,
    metadata: Map<String, Value>,
}

impl Problem {
    /// Makes a problem of this code. `detail` is one or two sentences that name the cure.
    pub fn new(code: Code, detail: impl Into<String>) -> Self {
        let Row { code: word, title, status } = code.row();
        let suffix = word.trim_start_matches("MCP_").to_ascii_lowercase().replace('_', "-");
        Self(Box::new(Document {
            reason: code,
            r#type: format!("urn:mcp-server-suite:problem:{suffix}"),
            title,
            status,
            detail: detail.into(),
            code: word,
            invalid_params: Vec::new(),
            metadata: Map::new(),
        }))
    }

    /// Names one more parameter that is wrong.
    pub fn param(mut self, name: impl Into<String>) -> Self {
        self.0.invalid_params.push(name.into());
        self
    }

    /// Adds a fact for machines. Never a secret, never a host path.
    pub fn with(mut self, key: &'static str, value: impl Into<Value>) -> Self {
        self.0.metadata.insert(key.to_owned(), value.into());
        self
    }

    /// Advises to wait and try again (`metadata.retry_after_ms`).
    pub fn retry_after(self, wait: Duration) -> Self {
        let ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        self.with("retry_after_ms", ms)
    }

    /// Returns the code.
    pub fn code(&self) -> Code {
        self.0.reason
    }

    /// Returns the sentence for the model.
    pub fn detail(&self) -> &str {
        &self.0.detail
    }

    /// Returns the names of the parameters that are wrong.
    pub fn invalid_params(&self) -> &[String] {
        &self.0.invalid_params
    }

    /// Returns the document as a JSON value.
    pub fn to_value(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}

/// Quotes the caller's own input for a `detail`: at most [`MAX_ECHO_CHARS`] characters, `'` around them.
pub fn echo(input: &str) -> String {
    let cut = if input.chars().nth(MAX_ECHO_CHARS).is_some() { "..." } else { "" };
    format!("'{}{cut}'", input.chars().take(MAX_ECHO_CHARS).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// The table of the contract, written out once more: a change on either side turns this red.
    const CONTRACT: [(&str, &str, &str, u16); 14] = [
        ("MCP_VALIDATION_ERROR", "validation-error", "Invalid tool arguments", 422),
        ("MCP_ACCESS_DENIED", "access-denied", "Access to the requested resource is denied", 403),
        ("MCP_NOT_FOUND", "not-found", "The requested resource does not exist", 404),
        (
            "MCP_UNSUPPORTED_CONTENT",
            "unsupported-content",
            "The content cannot be represented as requested",
            415,
        ),
        ("MCP_QUERY_VIOLATION", "query-violation", "The query violates the read-only policy", 403),
        ("MCP_EXECUTION_TIMEOUT", "execution-timeout", "The tool call exceeded its deadline", 504),
        ("MCP_CONCURRENCY_LIMIT", "concurrency-limit", "Too many concurrent tool calls", 503),
        ("MCP_RATE_LIMITED", "rate-limited", "The caller's rate limit is exhausted", 429),
        ("MCP_PERMISSION_DENIED", "permission-denied", "The caller lacks a required permission", 403),
        ("MCP_PLAN_VIOLATION", "plan-violation", "The call is not part of the run's plan", 403),
        ("MCP_FLOW_VIOLATION", "flow-violation", "The call would complete a forbidden information flow", 403),
        ("MCP_APPROVAL_REQUIRED", "approval-required", "The action needs human approval", 428),
        ("MCP_BLAST_RADIUS", "blast-radius", "The write would touch more rows than declared", 409),
        ("MCP_INTERNAL_ERROR", "internal-error", "Internal error", 500),
    ];

    #[test]
    fn every_code_is_emitted_with_its_own_suffix_title_and_status() {
        for (code, (name, suffix, title, status)) in Code::ALL.into_iter().zip(CONTRACT) {
            let document = Problem::new(code, "why").param("a").with("k", 1).to_value();
            assert_eq!(
                document,
                json!({
                    "type": format!("urn:mcp-server-suite:problem:{suffix}"),
                    "title": title,
                    "status": status,
                    "detail": "why",
                    "code": name,
                    "invalid_params": ["a"],
                    "metadata": {"k": 1},
                })
            );
        }
    }

    #[test]
    fn at_most_256_characters_of_the_input_are_quoted() {
        assert_eq!(echo("a'b"), "'a'b'");
        assert_eq!(echo(&"é".repeat(256)), format!("'{}'", "é".repeat(256)));
        assert_eq!(echo(&"é".repeat(257)), format!("'{}...'", "é".repeat(256)));
    }

    #[test]
    fn the_advised_wait_is_in_milliseconds() {
        let problem = Problem::new(Code::ConcurrencyLimit, "wait").retry_after(Duration::from_millis(1500));
        assert_eq!(problem.to_value()["metadata"], json!({"retry_after_ms": 1500}));
    }
}
