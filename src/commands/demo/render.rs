//! Questions and answers as text for a human.

use std::iter;

use serde_json::{Map, Value};

use super::player::Answer;
use super::script::{Ask, Step};
use crate::NAME;
use crate::diagnostics::escape;

/// The longest value that is shown, in characters.
pub(super) const MAX_CHARS: usize = 96;
/// Members that add nothing to a transcript.
const DULL: [&str; 2] = ["_meta", "resultType"];

/// The role of a line, which is its colour on a terminal.
#[derive(Clone, Copy, Debug)]
pub(super) enum Tone {
    Title,
    Asked,
    Answered,
    Refused,
}

/// Renders the question of a step.
pub(super) fn question(step: &Step) -> String {
    let suffix = match step.ask {
        Ask::Check => return format!("MCP_CATALOG=broken.toml {NAME} check"),
        Ask::CancelledCall => ", then notifications/cancelled",
        Ask::Legacy | Ask::Modern | Ask::Call => "",
    };
    let (name, arguments) = (step.name, step.arguments());
    match arguments.get("query").and_then(Value::as_str) {
        Some(query) => format!("{name}: {}{suffix}", escape(query)),
        None => format!("{name} {arguments}{suffix}"),
    }
}

/// Renders an answer as lines.
pub(super) fn answer(answer: &Answer) -> (Tone, Vec<String>) {
    let response = match answer {
        Answer::Silence => return (Tone::Answered, vec!["(nothing; the session goes on)".to_owned()]),
        Answer::Printed(report) => return (Tone::Refused, report.lines().map(str::to_owned).collect()),
        Answer::Response(response) => response,
    };
    if let Some(error) = response.get("error") {
        let line = format!("error {}: {}", text(error.get("code")), text(error.get("message")));
        return (Tone::Refused, vec![line]);
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

/// Renders the rows of a query.
fn rows(body: &Value) -> Option<Vec<String>> {
    let names: Vec<String> =
        body.get("columns")?.as_array()?.iter().map(|column| text(column.get("name"))).collect();
    let rows = body.get("rows")?.as_array()?.iter().map(|row| row.as_array().map_or(&[][..], Vec::as_slice));
    let cells = rows.map(|row| row.iter().map(|cell| text(Some(cell))).collect());
    Some(table(names, cells))
}

/// Renders a table with aligned columns.
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

/// Renders a listing of tools: names and titles.
fn tools(body: &Value) -> Option<Vec<String>> {
    let tools = body.get("tools")?.as_array()?.iter();
    Some(tools.map(|tool| format!("{}: {}", text(tool.get("name")), text(tool.get("title")))).collect())
}

/// Renders any other body: a line for each member, and below it the items of a list of objects.
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

/// Renders a list of objects: as rows under their members' names, or one by one when they hold objects in turn.
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

/// Wraps a text into lines of at most [`MAX_CHARS`] where its words are short enough.
pub(super) fn wrapped(text: &str) -> Vec<String> {
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

/// Renders a value for a human: short, on one line.
fn text(value: Option<&Value>) -> String {
    let text = match value {
        None | Some(Value::Null) => "null".to_owned(),
        Some(Value::String(text)) => escape(text),
        Some(other) => escape(&other.to_string()),
    };
    let start: String = text.chars().take(MAX_CHARS).collect();
    if start.len() < text.len() { format!("{start}…") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_is_wrapped_between_words() {
        let long = format!("{} {}", "x".repeat(MAX_CHARS - 2), "y z");
        assert_eq!(wrapped(&long), [format!("{} y", "x".repeat(MAX_CHARS - 2)), "z".to_owned()]);
        assert_eq!(wrapped("short"), ["short"]);
    }
}
