//! The transcript: each step as a short block for a human, and the comparison with a stored one.

use std::{fmt::Write as _, iter, process::ExitStatus};

use serde_json::{Map, Value};

use crate::{
    NAME,
    commands::demo::{
        player::Answer,
        script::{Ask, Step},
    },
    diagnostics::escape,
};

/// Stands in a Markdown file before the fenced block that holds the transcript.
const MARKER: &str = "<!-- demo transcript -->";
/// The longest value that is shown, in characters.
const MAX_CHARS: usize = 96;
/// Members that say nothing new in a transcript.
const DULL: [&str; 2] = ["_meta", "resultType"];
/// Members whose value differs from host to host, or from version to version.
const VOLATILE: [&str; 12] = [
    "cpu",
    "memory",
    "swap",
    "disk",
    "cgroup",
    "uptime_seconds",
    "sampled_ms",
    "plan",
    "total_cost",
    "estimated_rows",
    "serverInfo",
    "instructions",
];

/// How a line is shown on a terminal.
#[derive(Clone, Copy, Debug)]
enum Tone {
    Title,
    Asked,
    Answered,
    Refused,
}

/// What has been told so far.
#[derive(Debug)]
pub(super) struct Transcript {
    colour: bool,
    plain: String,
    steps: usize,
}

impl Transcript {
    /// An empty transcript; `colour`: for a terminal.
    pub(super) fn new(colour: bool) -> Self {
        Self { colour, plain: String::new(), steps: 0 }
    }

    /// One step as a block to show.
    pub(super) fn tell(&mut self, step: &Step, answer: &Answer) -> String {
        self.steps += 1;
        let mut block = vec![(Tone::Title, format!("{}. {}", self.steps, step.title))];
        let (tone, lines) = answered(answer);
        for (tone, mark, lines) in [(Tone::Asked, "-> ", wrapped(&asked(&step.ask))), (tone, "<- ", lines)] {
            let marks = iter::once(mark).chain(iter::repeat("   "));
            block.extend(marks.zip(lines).map(|(mark, line)| (tone, format!("{mark}{line}"))));
        }
        self.add(&block)
    }

    /// How the server ended.
    pub(super) fn end(&mut self, status: ExitStatus) -> String {
        let title = "The client closes its end: the server ends";
        self.steps += 1;
        let block =
            [(Tone::Title, format!("{}. {title}", self.steps)), (Tone::Answered, format!("<- {status}"))];
        self.add(&block)
    }

    fn add(&mut self, block: &[(Tone, String)]) -> String {
        let mut shown = String::new();
        for (tone, line) in block {
            let (indent, colour) = match tone {
                Tone::Title => ("", "1"),
                Tone::Asked => ("   ", "36"),
                Tone::Answered => ("   ", "32"),
                Tone::Refused => ("   ", "33"),
            };
            // Writing to a string cannot fail.
            writeln!(self.plain, "{indent}{line}").unwrap_or_default();
            if self.colour {
                writeln!(shown, "{indent}\u{1b}[{colour}m{line}\u{1b}[0m").unwrap_or_default();
            } else {
                writeln!(shown, "{indent}{line}").unwrap_or_default();
            }
        }
        self.plain.push('\n');
        shown.push('\n');
        shown
    }

    /// Where this transcript departs from the stored one, as a small diff; none when it does not.
    pub(super) fn drift(&self, stored: &str) -> Option<String> {
        let expected: Vec<String> = extract(stored).trim().lines().map(masked).collect();
        let actual: Vec<String> = self.plain.trim().lines().map(masked).collect();
        (expected != actual).then(|| difference(&expected, &actual))
    }
}

fn asked(ask: &Ask) -> String {
    let (what, arguments) = match ask {
        Ask::Legacy { method, params } | Ask::Modern { method, params } => (*method, params),
        Ask::Call { tool, arguments } | Ask::CancelledCall { tool, arguments } => (*tool, arguments),
        Ask::Check => return format!("MCP_CATALOG=broken.toml {NAME} check"),
    };
    let suffix = if matches!(ask, Ask::CancelledCall { .. }) { ", then notifications/cancelled" } else { "" };
    match arguments.get("query").and_then(Value::as_str) {
        Some(query) => format!("{what}: {}{suffix}", escape(query)),
        None => format!("{what} {arguments}{suffix}"),
    }
}

fn answered(answer: &Answer) -> (Tone, Vec<String>) {
    let response = match answer {
        Answer::Silence => return (Tone::Answered, vec!["(nothing; the session goes on)".to_owned()]),
        Answer::Printed(report) => return (Tone::Refused, report.lines().map(str::to_owned).collect()),
        Answer::Response(response) => response,
    };
    if let Some(error) = response.get("error") {
        return (
            Tone::Refused,
            vec![format!("error {}: {}", text(error.get("code")), text(error.get("message")))],
        );
    }
    let result = response.get("result").unwrap_or(response);
    if result.get("isError") == Some(&Value::Bool(true)) {
        let document = result.pointer("/content/0/text").and_then(Value::as_str).unwrap_or_default();
        let problem: Value = serde_json::from_str(document).unwrap_or_default();
        let detail = problem.get("detail").and_then(Value::as_str).unwrap_or_default();
        return (Tone::Refused, wrapped(&format!("{}: {}", text(problem.get("code")), escape(detail))));
    }
    let body = result.get("structuredContent").unwrap_or(result);
    (Tone::Answered, rows(body).or_else(|| tools(body)).unwrap_or_else(|| members(body)))
}

/// The rows of a query.
fn rows(body: &Value) -> Option<Vec<String>> {
    let names: Vec<String> =
        body.get("columns")?.as_array()?.iter().map(|column| text(column.get("name"))).collect();
    let rows = body.get("rows")?.as_array()?.iter().map(|row| row.as_array().map_or(&[][..], Vec::as_slice));
    let cells = rows.map(|row| row.iter().map(|cell| text(Some(cell))).collect());
    Some(table(names, cells))
}

/// A table, its columns aligned.
fn table(names: Vec<String>, rows: impl Iterator<Item = Vec<String>>) -> Vec<String> {
    let lines: Vec<Vec<String>> = iter::once(names).chain(rows).collect();
    let mut widths = Vec::new();
    for line in &lines {
        widths.resize(widths.len().max(line.len()), 0);
        widths.iter_mut().zip(line).for_each(|(width, cell)| *width = cell.chars().count().max(*width));
    }
    let align = |line: Vec<String>| {
        let cells: Vec<String> =
            line.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        cells.join(" | ").trim_end().to_owned()
    };
    lines.into_iter().map(align).collect()
}

/// A listing of tools: names and titles.
fn tools(body: &Value) -> Option<Vec<String>> {
    let tools = body.get("tools")?.as_array()?.iter();
    Some(tools.map(|tool| format!("{}: {}", text(tool.get("name")), text(tool.get("title")))).collect())
}

/// Anything else: a line a member, and below it what is in a list of objects.
fn members(body: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    for (name, value) in
        body.as_object().into_iter().flatten().filter(|(name, _)| !DULL.contains(&name.as_str()))
    {
        match value.as_array().filter(|items| holds_objects(items)) {
            Some(items) => {
                lines.push(format!("{name}:"));
                lines.extend(objects(items).iter().map(|line| format!("  {line}")));
            }
            None => lines.push(format!("{name}: {}", text(Some(value)))),
        }
    }
    lines
}

/// Objects alike: as rows under their members' names, or one after the other when they hold objects in turn.
fn objects(items: &[Value]) -> Vec<String> {
    let inner = items.iter().filter_map(Value::as_object).flat_map(Map::values).filter_map(Value::as_array);
    if inner.into_iter().any(|inner| holds_objects(inner)) {
        return items.iter().flat_map(members).collect();
    }
    let names: Vec<String> =
        items.first().and_then(Value::as_object).into_iter().flat_map(Map::keys).cloned().collect();
    let cells = items.iter().map(|item| names.iter().map(|name| text(item.get(name))).collect());
    table(names.clone(), cells)
}

fn holds_objects(items: &[Value]) -> bool {
    items.iter().any(Value::is_object)
}

/// Lines of at most [`MAX_CHARS`] where words allow it.
fn wrapped(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= MAX_CHARS => {
                line.push(' ');
                line.push_str(word);
            }
            Some(_) | None => lines.push(word.to_owned()),
        }
    }
    lines
}

/// A value as a human reads it: short, on one line.
fn text(value: Option<&Value>) -> String {
    let text = match value {
        None | Some(Value::Null) => "null".to_owned(),
        Some(Value::String(text)) => escape(text),
        Some(other) => escape(&other.to_string()),
    };
    let start: String = text.chars().take(MAX_CHARS).collect();
    if start.len() < text.len() { format!("{start}…") } else { text }
}

/// The transcript in `stored`: the fenced block after [`MARKER`], else all of it.
fn extract(stored: &str) -> &str {
    let block = stored.split_once(MARKER).and_then(|(_, rest)| rest.split_once("```")?.1.split_once('\n'));
    block.and_then(|(_, rest)| rest.split_once("```")).map_or(stored, |(transcript, _)| transcript)
}

/// A line without what differs from run to run.
fn masked(line: &str) -> String {
    let line = line.trim_end();
    let member = line.split_once(':').map(|(name, _)| (name, name.trim_start_matches([' ', '<', '-'])));
    match member {
        Some((start, name)) if VOLATILE.contains(&name) => format!("{start}: ~"),
        Some(_) | None => line.to_owned(),
    }
}

/// What lies between the common beginning and the common end.
fn difference(expected: &[String], actual: &[String]) -> String {
    const MAX_LINES: usize = 20;
    let before = expected.iter().zip(actual).take_while(|(a, b)| a == b).count();
    let (expected, actual) = (expected.iter().skip(before), actual.iter().skip(before));
    let after = expected.clone().rev().zip(actual.clone().rev()).take_while(|(a, b)| a == b).count();
    let mut diff = format!("the transcript differs from the stored one from its line {} on:\n", before + 1);
    for (mark, lines) in [('-', expected), ('+', actual)] {
        let count = lines.len() - after;
        lines.take(count.min(MAX_LINES)).for_each(|line| writeln!(diff, "{mark} {line}").unwrap_or_default());
        if count > MAX_LINES {
            writeln!(diff, "{mark} … {} more lines", count - MAX_LINES).unwrap_or_default();
        }
    }
    diff
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(ask: Ask, response: Value, expected: &str) {
        let step = Step { title: "Title", needs_database: false, ask };
        let block = Transcript::new(false).tell(&step, &Answer::Response(response));
        assert_eq!(block, expected);
    }

    fn query() -> Ask {
        Ask::Call { tool: "read_only_sql", arguments: json!({"query": "SELECT 1"}) }
    }

    #[test]
    fn rows_become_a_table() {
        let body = json!({"columns": [{"name": "city", "type": "text"}, {"name": "n", "type": "int8"}],
            "rows": [["Leiden", 12], ["Ürgüp", null]], "row_count": 2});
        check(
            query(),
            json!({"result": {"structuredContent": body}}),
            "1. Title\n   -> read_only_sql: SELECT 1\n   <- city   | n\n      Leiden | 12\n      Ürgüp  | null\n\n",
        );
    }

    #[test]
    fn refusals_say_why() {
        let problem = json!({"code": "MCP_NOT_FOUND", "detail": "no\nsuch file"}).to_string();
        check(
            Ask::Call { tool: "sandbox_fs_read", arguments: json!({"relative_path": "x"}) },
            json!({"result": {"isError": true, "content": [{"type": "text", "text": problem}]}}),
            "1. Title\n   -> sandbox_fs_read {\"relative_path\":\"x\"}\n   <- MCP_NOT_FOUND: no\\nsuch file\n\n",
        );
        check(
            query(),
            json!({"error": {"code": -32602, "message": "Unknown tool: 'x'"}}),
            "1. Title\n   -> read_only_sql: SELECT 1\n   <- error -32602: Unknown tool: 'x'\n\n",
        );
    }

    #[test]
    fn long_text_is_wrapped_between_words() {
        let long = format!("{} {}", "x".repeat(MAX_CHARS - 2), "y z");
        assert_eq!(wrapped(&long), [format!("{} y", "x".repeat(MAX_CHARS - 2)), "z".to_owned()]);
        assert_eq!(wrapped("short"), ["short"]);
    }

    #[test]
    fn other_results_become_a_line_a_member() {
        check(
            Ask::Legacy { method: "tools/list", params: json!({}) },
            json!({"result": {"tools": [{"name": "a", "title": "A"}, {"name": "b", "title": "B"}]}}),
            "1. Title\n   -> tools/list {}\n   <- a: A\n      b: B\n\n",
        );
        check(
            Ask::Modern { method: "m", params: json!({}) },
            json!({"result": {"_meta": {}, "entries": [{"name": "f", "size": 1}, {"name": "long"}], "note": "x".repeat(MAX_CHARS + 1)}}),
            &format!(
                "1. Title\n   -> m {{}}\n   <- entries:\n        name | size\n        f    | 1\n        long | null\n      note: {}…\n\n",
                "x".repeat(MAX_CHARS)
            ),
        );
    }

    #[test]
    fn objects_that_hold_objects_are_told_one_after_the_other() {
        check(
            Ask::Modern { method: "m", params: json!({}) },
            json!({"result": {"schemas": [{"name": "s", "tables": [{"name": "t", "kind": "view"}]}]}}),
            "1. Title\n   -> m {}\n   <- schemas:\n        name: s\n        tables:\n          name | kind\n          t    | \
             view\n\n",
        );
    }

    #[test]
    fn colour_is_for_terminals_only_and_never_in_what_is_compared() {
        let step = Step { title: "Title", needs_database: false, ask: query() };
        let mut transcript = Transcript::new(true);
        assert!(transcript.tell(&step, &Answer::Silence).contains("\u{1b}[1m1. Title\u{1b}[0m\n"));
        assert_eq!(
            transcript
                .drift("1. Title\n   -> read_only_sql: SELECT 1\n   <- (nothing; the session goes on)\n"),
            None
        );
    }

    #[test]
    fn a_stored_transcript_is_found_in_markdown_and_drift_is_shown() {
        let mut transcript = Transcript::new(false);
        let answer = json!({"result": {"cpu": {"usage_percent": 3.5}, "kept": 7}});
        let step = Step { title: "T", needs_database: false, ask: query() };
        transcript.tell(&step, &Answer::Response(answer));
        let stored = |kept: &str| {
            format!(
                "# Readme\n```\nother\n```\n{MARKER}\n```text\n1. T\n   -> read_only_sql: SELECT 1\n   <- cpu: 99\n      \
                 kept: {kept}\n```\nmore\n"
            )
        };
        assert_eq!(transcript.drift(&stored("7")), None);
        let drift = transcript.drift(&stored("8")).unwrap();
        assert_eq!(
            drift,
            "the transcript differs from the stored one from its line 4 on:\n-       kept: 8\n+       kept: 7\n"
        );
    }
}
