//! Warnings about names that are close to a setting's.

use super::setting::Setting;
use super::table;
use crate::arguments::suggest;
use crate::diagnostics::escape;

/// Returns a warning when `name` is not a setting but close to one. Only settings that this build honours are suggested.
pub(super) fn warning(name: &str) -> Option<String> {
    const PREFIX: &str = "MCP_";
    let upper = name.to_ascii_uppercase();
    if !upper.starts_with(PREFIX) || table::find(name).is_some() {
        return None;
    }
    let name = escape(name);
    if let Some(likely) = likely(&upper, Setting::is_supported) {
        return Some(format!("{name} is no setting; did you mean {likely}?"));
    }
    let likely = likely(&upper, |setting| !setting.is_supported())?;
    Some(format!("{name} is no setting, and {likely} is none that this build can honour"))
}

/// Returns the setting of which `name` lacks a word, else the closest one. A name that differs in more than a fifth of its
/// characters is another name, for example the client's.
fn likely(name: &str, eligible: impl Fn(&Setting) -> bool) -> Option<&'static str> {
    let eligible = || table::ALL.iter().filter(|setting| eligible(setting)).map(|setting| setting.name);
    eligible().find(|known| lacks_a_word(name, known)).or_else(|| {
        let (distance, closest) = suggest::closest(name, eligible())?;
        (distance * 5 <= closest.len()).then_some(closest)
    })
}

/// Reports whether `name` is `known` without one of its inner words.
fn lacks_a_word(name: &str, known: &str) -> bool {
    let words: Vec<&str> = known.split('_').collect();
    (1..words.len().saturating_sub(1)).any(|left_out| {
        let others = words.iter().enumerate().filter(|(index, _)| *index != left_out);
        others.map(|(_, word)| *word).eq(name.split('_'))
    })
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
        check("MCP_SAFE_DIR", Some("MCP_SAFE_DATA_DIR"));
        check("MCP_MAX_ROWS", Some("MCP_SQL_MAX_ROWS"));
        check("MCP_SQL_DSN", None);
        check("MCP_TIMEOUT", None);
        check("MCP_TOOL_TIMEOUT", None);
        check("MY_SQL_DSN", None);
    }

    #[test]
    fn a_setting_that_would_stop_the_start_is_not_suggested() {
        for (name, resembled) in [("MCP_POLCY", "MCP_POLICY"), ("MCP_STATE_DR", "MCP_STATE_DIR")] {
            let expected =
                format!("{name} is no setting, and {resembled} is none that this build can honour");
            assert_eq!(warning(name), Some(expected));
        }
        for setting in table::ALL {
            let offered = likely(setting.name, Setting::is_supported);
            assert!(setting.is_supported() || offered.is_none(), "{} gives {offered:?}", setting.name);
        }
    }
}
