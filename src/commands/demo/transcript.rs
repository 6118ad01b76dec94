//! The transcript: each step as a short block for a human, and its comparison with a stored transcript.

use serde_json::Value;

use super::script::{Ask, Step};
use crate::NAME;
use crate::diagnostics::escape;

/// The longest line of an answer, in characters.
const MAX_CHARS: usize = 120;
/// Members that add nothing to a transcript.
const DULL: [&str; 2] = ["_meta", "resultType"];
/// The line of a Markdown file before the fenced block that holds the transcript.
const MARKER: &str = "<!-- demo transcript -->";
/// Members whose value differs from host to host, or from version to version.
#[rustfmt::skip]
const VOLATILE: [&str; 13] = [
    "cpu", "memory", "swap", "disk", "cgroup", "uptime_seconds", "sampled_ms", "plan", "total_cost", "estimated_rows",
    "serverInfo", "instructions", "version",
];

/// Renders a step: its number and title, the question, the answer.
pub(super) fn block(number: usize, title: &str, question: &str, answer: Vec<String>) -> String {
    let mut block = format!("{number}. {title}\n");
    for (first, lines) in [("-> ", wrapped(question)), ("<- ", answer)] {
        let mut mark = first;
        for line in lines.iter().filter(|line| !line.is_empty()) {
            block.extend(["   ", mark, line, "\n"]);
            mark = "   ";
        }
    }
    block + "\n"
}

/// Renders the question of a step.
pub(super) fn question(step: &Step) -> String {
    let Step(ask, _, name, arguments) = step;
    let text = match step.arguments().get("query").and_then(Value::as_str) {
        Some(query) => format!("{name}: {}", escape(query)),
        None => format!("{name} {arguments}"),
    };
    match ask {
        Ask::Check => format!("MCP_CATALOG=broken.toml {NAME} check"),
        Ask::CancelledCall => format!("{text}, then notifications/cancelled"),
        Ask::Legacy | Ask::Modern | Ask::Call | Ask::DatabaseCall => text,
    }
}

/// Renders a response as lines.
pub(super) fn answer(response: &Value) -> Vec<String> {
    let text = |value: &Value, pointer| value.pointer(pointer).map(text).unwrap_or_default();
    let error = |code, message| wrapped(&format!("{code}: {message}"));
    if response.get("error").is_some() {
        return error(format!("error {}", text(response, "/error/code")), text(response, "/error/message"));
    }
    let result = response.get("result").unwrap_or(response);
    if result.get("isError") == Some(&Value::Bool(true)) {
        let document = result.pointer("/content/0/text").and_then(Value::as_str).unwrap_or_default();
        let problem: Value = serde_json::from_str(document).unwrap_or_default();
        return error(text(&problem, "/code"), text(&problem, "/detail"));
    }
    members(result.get("structuredContent").unwrap_or(result))
}

/// Renders an object: a line for each member, and below it the items of a list of objects or rows.
fn members(body: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    let members = body.as_object().into_iter().flatten();
    for (name, value) in members.filter(|(name, _)| !DULL.contains(&name.as_str())) {
        match items(value) {
            Some(items) => {
                lines.push(format!("{name}:"));
                lines.extend(items.iter().flat_map(item).map(|line| format!("  {line}")));
            }
            None => lines.push(format!("{name}: {}", cut(&text(value)))),
        }
    }
    lines
}

/// Renders an item as JSON, or, when it holds lists in turn, as its members.
fn item(item: &Value) -> Vec<String> {
    let holds_lists = item.as_object().into_iter().flatten().any(|(_, value)| items(value).is_some());
    if holds_lists { members(item) } else { vec![cut(&text(item))] }
}

/// Returns the items of a list of objects or rows.
fn items(value: &Value) -> Option<&Vec<Value>> {
    value.as_array().filter(|items| items.iter().any(|item| item.is_object() || item.is_array()))
}

/// Wraps a text into lines of at most [`MAX_CHARS`] where its words are short enough.
fn wrapped(text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + word.chars().count() < MAX_CHARS => {
                line.extend([if line.is_empty() { "" } else { " " }, word]);
            }
            Some(_) | None => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Renders a value on one line.
fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| escape(&value.to_string()), escape)
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// Compares a transcript with the stored one. Returns the first lines that differ; `None` when they agree.
pub(super) fn drift(transcript: &str, stored: &str) -> Option<String> {
    let lines = |text: &str| text.trim().lines().map(masked).chain([String::new()]).collect::<Vec<_>>();
    let (expected, actual) = (lines(extract(stored)), lines(transcript));
    let mut pairs = expected.iter().zip(&actual).enumerate();
    let (index, (expected, actual)) = pairs.find(|(_, (expected, actual))| expected != actual)?;
    let number = index + 1;
    Some(format!(
        "the transcript differs from the stored one from its line {number} on:\n- {expected}\n+ {actual}\n"
    ))
}

/// Finds the transcript in `stored`: the fenced block after [`MARKER`], else all of it.
fn extract(stored: &str) -> &str {
    let block = stored.split_once(MARKER).and_then(|(_, rest)| rest.split_once("```")?.1.split_once('\n'));
    block.and_then(|(_, rest)| rest.split_once("```")).map_or(stored, |(transcript, _)| transcript)
}

/// Masks the parts of a line that differ from run to run.
fn masked(line: &str) -> String {
    match line.split_once(':') {
        Some((name, _)) if VOLATILE.contains(&name.trim_start_matches([' ', '<', '-'])) => {
            format!("{name}: ~")
        }
        Some(_) | None => line.trim_end().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(step: &Step, response: &Value, expected: &str) {
        assert_eq!(block(1, "Title", &question(step), answer(response)), expected);
    }

    const QUERY: Step = Step(Ask::Call, "Title", "read_only_sql", r#"{"query":"SELECT 1"}"#);

    #[test]
    fn rows_are_a_line_each() {
        let body = json!({"columns": [{"name": "city", "type": "text"}, {"name": "n", "type": "int8"}],
            "rows": [["Leiden", 12], ["Ürgüp", null]], "row_count": 2});
        check(
            &QUERY,
            &json!({"result": {"structuredContent": body}}),
            "1. Title\n   -> read_only_sql: SELECT 1\n   <- columns:\n        {\"name\":\"city\",\"type\":\"text\"}\n        \
             {\"name\":\"n\",\"type\":\"int8\"}\n      rows:\n        [\"Leiden\",12]\n        [\"Ürgüp\",null]\n      \
             row_count: 2\n\n",
        );
    }

    #[test]
    fn refusals_give_their_reason() {
        let problem = json!({"code": "MCP_NOT_FOUND", "detail": "no\nsuch file"}).to_string();
        check(
            &Step(Ask::Call, "Title", "sandbox_fs_read", r#"{"relative_path":"x"}"#),
            &json!({"result": {"isError": true, "content": [{"type": "text", "text": problem}]}}),
            "1. Title\n   -> sandbox_fs_read {\"relative_path\":\"x\"}\n   <- MCP_NOT_FOUND: no\\nsuch file\n\n",
        );
        check(
            &QUERY,
            &json!({"error": {"code": -32602, "message": "Unknown tool: 'x'"}}),
            "1. Title\n   -> read_only_sql: SELECT 1\n   <- error -32602: Unknown tool: 'x'\n\n",
        );
    }

    #[test]
    fn other_results_become_a_line_for_each_member() {
        check(
            &Step(Ask::Modern, "Title", "m", "{}"),
            &json!({"result": {"_meta": {}, "entries": [{"name": "f", "size": 1}, {"name": "long"}], "note": "x".repeat(MAX_CHARS + 1)}}),
            &format!(
                "1. Title\n   -> m {{}}\n   <- entries:\n        {{\"name\":\"f\",\"size\":1}}\n        {{\"name\":\"long\"}}\n      \
                 note: {}…\n\n",
                "x".repeat(MAX_CHARS)
            ),
        );
    }

    #[test]
    fn objects_that_hold_objects_are_rendered_one_by_one() {
        check(
            &Step(Ask::Legacy, "Title", "m", "{}"),
            &json!({"result": {"schemas": [{"name": "s", "tables": [{"name": "t", "kind": "view"}]}]}}),
            "1. Title\n   -> m {}\n   <- schemas:\n        name: s\n        tables:\n          \
             {\"name\":\"t\",\"kind\":\"view\"}\n\n",
        );
    }

    #[test]
    fn long_text_is_wrapped_between_words() {
        let long = format!("{} {}", "x".repeat(MAX_CHARS - 2), "y z");
        assert_eq!(wrapped(&long), [format!("{} y", "x".repeat(MAX_CHARS - 2)), "z".to_owned()]);
        assert_eq!(wrapped("short"), ["short"]);
    }

    #[test]
    fn a_stored_transcript_is_found_in_markdown_and_drift_is_shown() {
        let transcript = "1. T\n   -> read_only_sql: SELECT 1\n   <- cpu: {}\n      kept: 7\n\n";
        let stored = |kept: &str| {
            format!(
                "# Readme\n```\nother\n```\n{MARKER}\n```text\n1. T\n   -> read_only_sql: SELECT 1\n   <- cpu: 99\n      \
                 kept: {kept}\n```\nmore\n"
            )
        };
        assert_eq!(drift(transcript, &stored("7")), None);
        assert_eq!(
            drift(transcript, &stored("8")).unwrap(),
            "the transcript differs from the stored one from its line 4 on:\n-       kept: 8\n+       kept: 7\n"
        );
        assert!(drift(transcript, &stored("7\n      more: 8")).is_some());
    }
}
