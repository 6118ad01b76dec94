//! Names that look like a setting and are none.

use crate::{diagnostics::escape, settings::table, tools::near_miss};

/// A warning when `name` is no setting but close to one.
pub(super) fn warning(name: &str) -> Option<String> {
    const PREFIX: &str = "MCP_";
    let upper = name.to_ascii_uppercase();
    if !upper.starts_with(PREFIX) || table::Setting::find(name).is_some() {
        return None;
    }
    let (distance, likely) = near_miss::closest(&upper, table::ALL.iter().map(|setting| setting.name))?;
    // What differs in more than a fifth of its characters is another name, say of the client that launches us.
    (distance * 5 <= likely.len()).then(|| format!("{} is no setting; did you mean {likely}?", escape(name)))
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
}
