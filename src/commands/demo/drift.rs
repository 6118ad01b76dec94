//! The comparison of a transcript with a stored one.

use std::fmt::Write as _;

/// The line of a Markdown file before the fenced block that holds the transcript.
const MARKER: &str = "<!-- demo transcript -->";
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

/// Compares a transcript with the stored one. Returns a small diff; `None` when they agree.
pub(super) fn drift(transcript: &str, stored: &str) -> Option<String> {
    let expected: Vec<String> = extract(stored).trim().lines().map(masked).collect();
    let actual: Vec<String> = transcript.trim().lines().map(masked).collect();
    (expected != actual).then(|| difference(&expected, &actual))
}

/// Finds the transcript in `stored`: the fenced block after [`MARKER`], else all of it.
fn extract(stored: &str) -> &str {
    let block = stored.split_once(MARKER).and_then(|(_, rest)| rest.split_once("```")?.1.split_once('\n'));
    block.and_then(|(_, rest)| rest.split_once("```")).map_or(stored, |(transcript, _)| transcript)
}

/// Masks the parts of a line that differ from run to run.
fn masked(line: &str) -> String {
    let line = line.trim_end();
    let member = line.split_once(':').map(|(name, _)| (name, name.trim_start_matches([' ', '<', '-'])));
    match member {
        Some((start, name)) if VOLATILE.contains(&name) => format!("{start}: ~"),
        Some(_) | None => line.to_owned(),
    }
}

/// Shows the lines between the common beginning and the common end.
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
    }
}
