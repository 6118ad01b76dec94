//! Names that look like a setting and are none.

use std::mem;

use crate::{diagnostics::escape, settings::table};

/// A warning when `name` is no setting but close to one.
pub(super) fn warning(name: &str) -> Option<String> {
    const PREFIX: &str = "MCP_";
    let upper = name.to_ascii_uppercase();
    if !upper.starts_with(PREFIX) || table::Setting::find(name).is_some() {
        return None;
    }
    let distances = table::ALL.iter().map(|setting| (distance(&upper, setting.name), setting.name));
    let (distance, likely) = distances.min()?;
    // What differs in more than a fifth of its characters is another name, say of the client that launches us.
    (distance * 5 <= likely.len()).then(|| format!("{} is no setting; did you mean {likely}?", escape(name)))
}

/// The least number of characters to insert, delete or replace (Levenshtein), row by row.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.chars().count()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        for (cell, y) in row.iter_mut().skip(1).zip(b.chars()) {
            let above = *cell;
            let replaced = diagonal + usize::from(x != y);
            left = replaced.min(above + 1).min(left + 1);
            diagonal = mem::replace(cell, left);
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, likely: Option<&str>) {
        let expected = likely.map(|likely| format!("{name} is no setting; did you mean {likely}?"));
        assert_eq!(warning(name), expected);
    }

    #[test]
    fn a_name_close_to_a_setting_gets_a_warning_and_others_do_not() {
        check("MCP_SQL_DNS", Some("MCP_SQL_DSN"));
        check("MCP_SQL_MAXROWS", Some("MCP_SQL_MAX_ROWS"));
        check("mcp_log_level", Some("MCP_LOG_LEVEL"));
        check("MCP_CALL_TIMEOUT", Some("MCP_CALL_TIMEOUT_MS"));
        check("MCP_POLCY", Some("MCP_POLICY"));
        check("MCP_SQL_DSN", None);
        check("MCP_TIMEOUT", None);
        check("MCP_TOOL_TIMEOUT", None);
        check("MY_SQL_DSN", None);
    }

    #[test]
    fn distance_counts_insertions_deletions_and_replacements() {
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abc", ""), 3);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("same", "same"), 0);
    }
}
