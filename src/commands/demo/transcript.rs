//! The transcript: each step as a short block for a human.

use std::fmt::Write as _;
use std::iter;
use std::process::ExitStatus;

use super::drift;
use super::player::Answer;
use super::render::{self, Tone, wrapped};
use super::script::Step;

/// The transcript so far.
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

    /// Adds a step and returns its block to show.
    pub(super) fn add_step(&mut self, step: &Step, answer: &Answer) -> String {
        self.steps += 1;
        let mut block = vec![(Tone::Title, format!("{}. {}", self.steps, step.title))];
        let (tone, lines) = render::answer(answer);
        for (tone, mark, lines) in
            [(Tone::Asked, "-> ", wrapped(&render::question(step))), (tone, "<- ", lines)]
        {
            let marks = iter::once(mark).chain(iter::repeat("   "));
            block.extend(marks.zip(lines).map(|(mark, line)| (tone, format!("{mark}{line}"))));
        }
        self.add(&block)
    }

    /// Adds the server's end.
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

    /// Compares with the stored transcript. Returns a small diff; `None` when they agree.
    pub(super) fn drift(&self, stored: &str) -> Option<String> {
        drift::drift(&self.plain, stored)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::commands::demo::{render::MAX_CHARS, script::Ask};

    #[track_caller]
    fn check(step: &Step, response: Value, expected: &str) {
        let block = Transcript::new(false).add_step(step, &Answer::Response(response));
        assert_eq!(block, expected);
    }

    const fn step(ask: Ask, name: &'static str, arguments: &'static str) -> Step {
        Step { title: "Title", needs_database: false, ask, name, arguments }
    }

    const QUERY: Step = step(Ask::Call, "read_only_sql", r#"{"query":"SELECT 1"}"#);

    #[test]
    fn rows_become_a_table() {
        let body = json!({"columns": [{"name": "city", "type": "text"}, {"name": "n", "type": "int8"}],
            "rows": [["Leiden", 12], ["Ürgüp", null]], "row_count": 2});
        check(
            &QUERY,
            json!({"result": {"structuredContent": body}}),
            "1. Title\n   -> read_only_sql: SELECT 1\n   <- city   | n\n      Leiden | 12\n      Ürgüp  | null\n\n",
        );
    }

    #[test]
    fn refusals_give_their_reason() {
        let problem = json!({"code": "MCP_NOT_FOUND", "detail": "no\nsuch file"}).to_string();
        check(
            &step(Ask::Call, "sandbox_fs_read", r#"{"relative_path":"x"}"#),
            json!({"result": {"isError": true, "content": [{"type": "text", "text": problem}]}}),
            "1. Title\n   -> sandbox_fs_read {\"relative_path\":\"x\"}\n   <- MCP_NOT_FOUND: no\\nsuch file\n\n",
        );
        check(
            &QUERY,
            json!({"error": {"code": -32602, "message": "Unknown tool: 'x'"}}),
            "1. Title\n   -> read_only_sql: SELECT 1\n   <- error -32602: Unknown tool: 'x'\n\n",
        );
    }

    #[test]
    fn other_results_become_a_line_for_each_member() {
        check(
            &step(Ask::Legacy, "tools/list", "{}"),
            json!({"result": {"tools": [{"name": "a", "title": "A"}, {"name": "b", "title": "B"}]}}),
            "1. Title\n   -> tools/list {}\n   <- a: A\n      b: B\n\n",
        );
        check(
            &step(Ask::Modern, "m", "{}"),
            json!({"result": {"_meta": {}, "entries": [{"name": "f", "size": 1}, {"name": "long"}], "note": "x".repeat(MAX_CHARS + 1)}}),
            &format!(
                "1. Title\n   -> m {{}}\n   <- entries:\n        name | size\n        f    | 1\n        long | null\n      note: {}…\n\n",
                "x".repeat(MAX_CHARS)
            ),
        );
    }

    #[test]
    fn objects_that_hold_objects_are_rendered_one_by_one() {
        check(
            &step(Ask::Modern, "m", "{}"),
            json!({"result": {"schemas": [{"name": "s", "tables": [{"name": "t", "kind": "view"}]}]}}),
            "1. Title\n   -> m {}\n   <- schemas:\n        name: s\n        tables:\n          name | kind\n          t    | \
             view\n\n",
        );
    }

    #[test]
    fn colour_is_for_terminals_only_and_is_not_compared() {
        let mut transcript = Transcript::new(true);
        assert!(transcript.add_step(&QUERY, &Answer::Silence).contains("\u{1b}[1m1. Title\u{1b}[0m\n"));
        assert_eq!(
            transcript
                .drift("1. Title\n   -> read_only_sql: SELECT 1\n   <- (nothing; the session goes on)\n"),
            None
        );
    }
}
