//! PostgreSQL's errors as problems, by SQLSTATE.

use std::io;
use std::time::Duration;

use postgres::error::{DbError, ErrorPosition};

use super::stream::ROW_TOO_LONG;
use crate::call::{Failure, Unavailable};
use crate::diagnostics::escape;
use crate::guard::statement::ReadOnlyStatement;
use crate::problem::{Code, MAX_ECHO_CHARS, Problem};

/// The parameter that holds the statement, in every tool that has one.
const PARAMETER: &str = "query";
/// The time after which a database that was lost may be back.
pub(crate) const RETRY_AFTER: Duration = Duration::from_secs(1);

/// A statement that was sent, and where in the sent text it began.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent<'s> {
    /// The judged statement.
    pub(crate) statement: &'s ReadOnlyStatement,
    /// Characters before its canonical text.
    pub(crate) prefix_chars: usize,
    /// The time that a statement may run.
    pub(crate) limit: Duration,
}

/// Turns a failure of the driver into one of the call. `sent` is absent when no text of the client was involved.
pub(crate) fn failure(error: &postgres::Error, sent: Option<Sent<'_>>) -> Failure {
    let Some(refusal) = error.as_db_error() else { return lost(error) };
    let text = || log_text(refusal, refusal.message());
    if is_fatal(refusal) {
        return Failure::Unavailable(Unavailable::Database { retry_after: Some(RETRY_AFTER) }, text());
    }
    let code = match verdict(refusal) {
        Verdict::Problem(code) => code,
        Verdict::Conflict => return Failure::Conflict(text()),
        Verdict::Internal => return Failure::Internal(text()),
    };
    let mut problem = Problem::new(code, detail(code, refusal, sent));
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

/// Turns an error that PostgreSQL did not report into a failure of the call: the connection is gone, or the driver is wrong.
fn lost(error: &postgres::Error) -> Failure {
    match error.is_closed() || io_kind(error).is_some() {
        true => Failure::Unavailable(Unavailable::Database { retry_after: Some(RETRY_AFTER) }, chain(error)),
        false => Failure::Internal(chain(error)),
    }
}

/// The same for a call of `tool` whose statement the caller does not see: PostgreSQL's message goes to the log alone, and only
/// if it holds no value. `is_quoted` returns whether a text holds one of the call's.
pub(crate) fn failure_without_message(
    error: &postgres::Error,
    tool: &str,
    is_quoted: impl Fn(&str) -> bool,
) -> Failure {
    let logged = || reported(error, &is_quoted);
    let problem = match failure(error, None) {
        Failure::Problem(problem) => problem,
        Failure::Internal(_) => return Failure::Internal(logged()),
        Failure::Conflict(_) => return Failure::Conflict(logged()),
        Failure::Unavailable(what, _) => return Failure::Unavailable(what, logged()),
        interrupted @ Failure::Interrupted(_) => return interrupted,
    };
    if error.code().is_some_and(|code| is_about_the_statement(code.code())) {
        return Failure::Unavailable(Unavailable::Statement, logged());
    }
    log::warn!(target: "call", "tool={tool} {}", logged());
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

/// An error for an operator's eyes: with PostgreSQL's message where that holds no value, else by its SQLSTATE alone.
pub(crate) fn reported(error: &postgres::Error, is_quoted: &impl Fn(&str) -> bool) -> String {
    let Some(refusal) = error.as_db_error() else { return chain(error) };
    let message = refusal.message();
    let is_safe = is_safe_to_log(refusal.code().code(), message) && !is_quoted(message);
    log_text(refusal, if is_safe { message } else { "(its message may hold a value and is not shown)" })
}

/// Returns the place in the text that was sent, in characters from 1.
pub(crate) fn place(error: &postgres::Error) -> Option<usize> {
    position(error.as_db_error()?)
}

/// Returns whether a reviewed statement is at fault, and no argument can cure it: the tables are not those it was written for.
fn is_about_the_statement(sqlstate: &str) -> bool {
    sqlstate != "42501" && sqlstate.get(..2).is_some_and(|class| ["42", "3F", "0A"].contains(&class))
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

/// The meaning of an error of PostgreSQL for a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// The model can do something about it.
    Problem(Code),
    /// Once more may help: another transaction went first.
    Conflict,
    /// The model can do nothing about it.
    Internal,
}

/// Source files of extensions that report mistakes as internal errors (XX000), by what their names begin with. PostGIS
/// reports every mistake so.
#[rustfmt::skip]
const EXTENSION_FILES: &[&str] = &[
    "brin_2d", "brin_common", "brin_nd", "citext", "cube", "earthdistance", "geography", "geometry", "gserialized", "halfvec", "hnsw", "hstore",
    "ivf", "liblwgeom", "long_xact", "ltree", "ltxtquery", "lwgeom", "pgis", "postgis", "rtpg", "rtpostgis", "seg",
    "sparsevec", "trgm", "unaccent", "uuid-ossp", "vector",
];

/// Judges an error by its SQLSTATE.
fn verdict(refusal: &DbError) -> Verdict {
    let is_of_extension =
        || refusal.file().is_some_and(|file| EXTENSION_FILES.iter().any(|name| file.starts_with(name)));
    match refusal.code().code() {
        "XX000" if is_of_extension() => Verdict::Problem(Code::Validation),
        sqlstate => by_sqlstate(sqlstate),
    }
}

fn by_sqlstate(sqlstate: &str) -> Verdict {
    let class = sqlstate.get(..2).unwrap_or_default();
    match (sqlstate, class) {
        ("57014", _) => Verdict::Problem(Code::ExecutionTimeout),
        ("25006", _) => Verdict::Problem(Code::QueryViolation),
        ("42501", _) => Verdict::Problem(Code::AccessDenied),
        ("40001" | "40P01", _) => Verdict::Conflict,
        ("53200" | "53400" | "55000" | "P0001" | "3F000", _)
        | (_, "21" | "22" | "42" | "0A" | "54" | "HV") => Verdict::Problem(Code::Validation),
        _ => Verdict::Internal,
    }
}

fn detail(code: Code, refusal: &DbError, sent: Option<Sent<'_>>) -> String {
    if code == Code::ExecutionTimeout {
        let limit = sent.map_or_else(String::new, |sent| format!(" of {} ms", sent.limit.as_millis()));
        return format!(
            "PostgreSQL stopped the query at its time limit{limit}. Read less: filter on indexed columns, aggregate, or \
             narrow the range. explain_query shows the plan; max_rows is part of it."
        );
    }
    let mut detail = format!("PostgreSQL says: {}", bounded(refusal.message()));
    if let Some(hint) = refusal.hint() {
        detail.push_str(&format!(". Hint: {}", bounded(hint)));
    }
    let is_of = |kind: &&str| {
        refusal.message().strip_prefix("permission denied for ").is_some_and(|rest| rest.starts_with(*kind))
    };
    if code == Code::AccessDenied && ["table ", "view ", "materialized view "].iter().any(is_of) {
        detail.push_str(
            ". Where describe_database lists some of its columns, the others are withheld: select the listed ones by name",
        );
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

/// The kind of the I/O error behind a driver's error.
pub(super) fn io_kind(error: &postgres::Error) -> Option<io::ErrorKind> {
    Some(std::error::Error::source(error)?.downcast_ref::<io::Error>()?.kind())
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
    fn every_sqlstate_has_the_contracts_verdict() {
        let validation = Verdict::Problem(Code::Validation);
        for (verdict, states) in [
            (Verdict::Problem(Code::ExecutionTimeout), "57014"),
            (Verdict::Problem(Code::QueryViolation), "25006"),
            (Verdict::Problem(Code::AccessDenied), "42501"),
            (validation, "21000 22012 22P02 42601 42P01 42703 42883 0A000 54001 54000 HV000 HV00R"),
            (validation, "53200 53400 55000 P0001 3F000"),
            (Verdict::Conflict, "40001 40P01"),
            (
                Verdict::Internal,
                "57P01 25000 25P02 53100 53300 53000 55P03 XX000 XX001 P0002 08006 58030 é 2",
            ),
        ] {
            for sqlstate in states.split(' ') {
                assert_eq!(by_sqlstate(sqlstate), verdict, "{sqlstate}");
            }
        }
        assert_eq!(by_sqlstate(""), Verdict::Internal);
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
