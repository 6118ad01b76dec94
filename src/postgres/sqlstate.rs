//! PostgreSQL's errors as problems, by SQLSTATE.

use postgres::error::{DbError, ErrorPosition};

use super::stream::ROW_TOO_LONG;
use crate::call::Failure;
use crate::diagnostics::escape;
use crate::guard::statement::ReadOnlyStatement;
use crate::problem::{Code, MAX_ECHO_CHARS, Problem};

/// The parameter that holds the statement, in every tool that has one.
const PARAMETER: &str = "query";

/// A statement that was sent, and where in the sent text it began.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent<'s> {
    /// The judged statement.
    pub(crate) statement: &'s ReadOnlyStatement,
    /// Characters before its canonical text.
    pub(crate) prefix_chars: usize,
}

/// Turns a failure of the driver into one of the call. `sent` is absent when no text of the client was involved.
pub(crate) fn failure(error: &postgres::Error, sent: Option<Sent<'_>>) -> Failure {
    let Some(refusal) = error.as_db_error() else { return Failure::Internal(chain(error)) };
    let Some(code) = code(refusal.code().code()).filter(|_| !is_fatal(refusal)) else {
        return Failure::Internal(log_text(refusal, refusal.message()));
    };
    let mut problem = Problem::new(code, detail(code, refusal));
    if code == Code::Validation || code == Code::QueryViolation {
        problem = problem.param(PARAMETER);
    }
    let position = sent.zip(position(refusal)).and_then(|(sent, position)| {
        sent.statement.position_of(position.checked_sub(sent.prefix_chars).filter(|position| *position > 0)?)
    });
    if let Some(position) = position {
        problem = problem.with("line", position.line).with("column", position.column);
    }
    Failure::Problem(problem.with("sqlstate", refusal.code().code()))
}

/// The same for a call of `tool` whose statement the caller does not see: PostgreSQL's message goes to the log alone, and only
/// if it holds no value. `is_quoted` returns whether a text holds one of the call's.
pub(crate) fn failure_without_message(
    error: &postgres::Error,
    tool: &str,
    is_quoted: impl Fn(&str) -> bool,
) -> Failure {
    let logged = |refusal: &DbError| {
        let message = refusal.message();
        let is_safe = is_safe_to_log(refusal.code().code(), message) && !is_quoted(message);
        log_text(refusal, if is_safe { message } else { "(its message may hold a value and is not logged)" })
    };
    let problem = match (failure(error, None), error.as_db_error()) {
        (Failure::Problem(problem), _) => problem,
        (Failure::Internal(_), Some(refusal)) => return Failure::Internal(logged(refusal)),
        (internal @ (Failure::Internal(_) | Failure::Interrupted(_)), _) => return internal,
    };
    log::warn!(target: "call", "tool={tool} {}", error.as_db_error().map_or_else(|| chain(error), logged));
    let code = problem.code();
    let detail = if code == Code::ExecutionTimeout {
        "The query was stopped at its time limit. Ask for less: narrow the arguments."
    } else if code == Code::AccessDenied {
        "The database does not allow this server to run the query. An operator must grant it."
    } else {
        "The database refused the query with these arguments. Change them, or call another tool."
    };
    Problem::new(code, detail).into()
}

/// Returns whether it takes the place of a row that no answer could hold.
pub(crate) fn is_row_too_long(error: &postgres::Error) -> bool {
    error.code().is_some_and(|code| code.code() == ROW_TOO_LONG)
}

/// Returns whether the server ended the connection with this error.
fn is_fatal(refusal: &DbError) -> bool {
    use postgres::error::Severity;
    matches!(refusal.parsed_severity(), Some(Severity::Fatal | Severity::Panic))
}

/// The code of an SQLSTATE. `None`: a fault that the model cannot mend.
fn code(sqlstate: &str) -> Option<Code> {
    let class = sqlstate.get(..2)?;
    match (sqlstate, class) {
        ("57014", _) => Some(Code::ExecutionTimeout),
        ("25006", _) => Some(Code::QueryViolation),
        ("42501", _) => Some(Code::AccessDenied),
        (_, "21" | "22" | "42" | "0A" | "54") => Some(Code::Validation),
        _ => None,
    }
}

fn detail(code: Code, refusal: &DbError) -> String {
    if code == Code::ExecutionTimeout {
        return "PostgreSQL stopped the query at its time limit. Read less: filter on indexed columns, aggregate, or \
                narrow the range."
            .to_owned();
    }
    let mut detail = format!("PostgreSQL says: {}", bounded(refusal.message()));
    if let Some(hint) = refusal.hint() {
        detail.push_str(&format!(". Hint: {}", bounded(hint)));
    }
    detail
}

/// A message may quote the caller's own text, of which a problem echoes this much, and nothing that hides.
fn bounded(text: &str) -> String {
    let mut text = escape(text);
    if let Some((end, _)) = text.char_indices().nth(MAX_ECHO_CHARS) {
        text.truncate(end);
        text.push_str("...");
    }
    text
}

/// The position in the sent text, in characters from 1.
fn position(refusal: &DbError) -> Option<usize> {
    match refusal.position()? {
        ErrorPosition::Original(position) => usize::try_from(*position).ok(),
        // Inside a function's own text, which is not the caller's.
        ErrorPosition::Internal { .. } => None,
    }
}

/// For the operator's log: the message, never the statement or its values (`DETAIL` may hold rows).
fn log_text(refusal: &DbError, message: &str) -> String {
    format!("PostgreSQL: {} {}: {message}", refusal.severity(), refusal.code().code())
}

/// Messages of errors in the data that hold none of it.
#[rustfmt::skip]
const OF_DATA: [&str; 12] = [
    "bigint out of range", "date out of range", "division by zero", "integer out of range", "interval out of range",
    "negative substring length not allowed", "numeric field overflow", "smallint out of range", "timestamp out of range",
    "value out of range: overflow", "value out of range: underflow", "value overflows numeric format",
];

/// Classes of errors that are about the statement, the server or the session, and quote names.
const NOT_OF_DATA: &[&str] = &["08", "0A", "25", "28", "3D", "3F", "40", "42", "53", "54", "55", "57", "58"];

/// Returns whether a message holds no value, by its SQLSTATE. An error in the data quotes the value, and a function may raise any
/// text.
fn is_safe_to_log(sqlstate: &str, message: &str) -> bool {
    OF_DATA.contains(&message) || sqlstate.get(..2).is_some_and(|class| NOT_OF_DATA.contains(&class))
}

/// For the operator's log: an error with everything behind it.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let sources = std::iter::successors(Some(error), |error| error.source());
    sources.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sqlstate_has_the_contracts_code() {
        let table = [
            ("57014", Some(Code::ExecutionTimeout)),
            ("25006", Some(Code::QueryViolation)),
            ("42501", Some(Code::AccessDenied)),
            ("21000", Some(Code::Validation)),
            ("22012", Some(Code::Validation)),
            ("42601", Some(Code::Validation)),
            ("42P01", Some(Code::Validation)),
            ("0A000", Some(Code::Validation)),
            ("54001", Some(Code::Validation)),
            ("57P01", None),
            ("25000", None),
            ("53300", None),
            ("40001", None),
            ("XX000", None),
            ("", None),
            ("é", None),
        ];
        for (sqlstate, expected) in table {
            assert_eq!(code(sqlstate), expected, "{sqlstate}");
        }
    }

    #[test]
    fn a_message_about_data_is_logged_only_when_it_holds_none() {
        for (sqlstate, message, expected) in [
            ("22012", "division by zero", true),
            ("22P02", "invalid input syntax for type integer: \"x\"", false),
            ("22023", "time zone \"x\" not recognized", false),
            ("22021", "invalid byte sequence for encoding \"UTF8\": 0x00", false),
            ("2201B", "invalid regular expression: x", false),
            ("23505", "duplicate key value violates unique constraint \"k\"", false),
            ("P0001", "x", false),
            ("XX000", "x", false),
            ("42P01", "relation \"t\" does not exist", true),
            ("57014", "canceling statement due to user request", true),
            ("", "x", false),
        ] {
            assert_eq!(is_safe_to_log(sqlstate, message), expected, "{sqlstate} {message}");
        }
    }

    #[test]
    fn a_message_is_echoed_up_to_256_characters() {
        assert_eq!(bounded("short"), "short");
        assert_eq!(bounded(&"é".repeat(257)), format!("{}...", "é".repeat(256)));
        assert_eq!(bounded(&"\u{1}".repeat(257)).chars().count(), 256 + 3);
    }

    #[test]
    fn no_hidden_character_is_passed_on() {
        let shown = bounded("invalid input syntax for type integer: \"\u{202e}1\u{1b}[31m\n\u{7f}\"");
        assert_eq!(shown, "invalid input syntax for type integer: \"\\u{202e}1\\u{1b}[31m\\n\\u{7f}\"");
    }
}
