//! The simple query protocol, for constant texts of ours: literals in them, and the rows that come back as text.

use std::time::Duration;

use postgres::{SimpleQueryMessage, SimpleQueryRow};

/// The row that a message holds, if it holds one.
pub(super) fn row(message: &SimpleQueryMessage) -> Option<&SimpleQueryRow> {
    if let SimpleQueryMessage::Row(row) = message { Some(row) } else { None }
}

/// An SQL literal, whatever `standard_conforming_strings` is set to.
pub(super) fn literal(text: &str) -> String {
    format!("E'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}

/// A time-out as PostgreSQL takes it: whole milliseconds in an `int`, never 0, which would mean no limit.
pub(super) fn milliseconds(duration: Duration) -> String {
    i32::try_from(duration.as_millis()).unwrap_or(i32::MAX).max(1).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_literal_cannot_be_left() {
        assert_eq!(literal(r#"a'b\"#), r"E'a\'b\\'");
    }

    #[test]
    fn a_timeout_is_never_without_limit() {
        assert_eq!(milliseconds(Duration::ZERO), "1");
        assert_eq!(milliseconds(Duration::from_millis(1500)), "1500");
        assert_eq!(milliseconds(Duration::MAX), "2147483647");
    }
}
