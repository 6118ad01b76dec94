//! The end of a pooled connection's working life: its backend keeps memory that nothing but its end gives back.
//!
//! PostgreSQL keeps compiled regular expressions, plans and catalog entries for the life of a connection; 370 MB of patterns
//! were seen. So a connection is replaced now and then, and at once after a long pattern.

use std::time::{Duration, Instant};

use bytes::BytesMut;
use postgres::types::{ToSql, Type};

/// Calls of one connection. A new one costs some 5 ms, so that this adds 5 µs to a call.
const MAX_CALLS: u32 = 1_000;

/// Age of one connection.
const MAX_AGE: Duration = Duration::from_secs(30 * 60);

/// The longest pattern that a kept connection may have compiled, in characters: compiled it takes up to some 100 KB, of
/// which PostgreSQL keeps the last 32.
const MAX_PATTERN_CHARS: usize = 1_000;

/// Words and operators in the text of a statement whose arguments may be compiled as regular expressions, JSON's included.
const PATTERN_WORDS: [&str; 7] = ["~", "regex", "similar", "substring", "jsonb_path_", "@?", "@@"];

/// Words of functions that make a long pattern from a short text.
const GROWING_WORDS: [&str; 3] = ["repeat", "lpad", "rpad"];

/// The use of a connection so far.
#[derive(Debug)]
pub(super) struct Retirement {
    since: Instant,
    calls: u32,
    had_long_pattern: bool,
}

impl Default for Retirement {
    fn default() -> Self {
        Self { since: Instant::now(), calls: 0, had_long_pattern: false }
    }
}

impl Retirement {
    /// Returns whether the connection is to be closed rather than kept.
    pub(super) fn is_due(&self) -> bool {
        self.had_long_pattern || self.calls >= MAX_CALLS || self.since.elapsed() >= MAX_AGE
    }

    /// Counts a call.
    pub(super) fn count_call(&mut self) {
        self.calls = self.calls.saturating_add(1);
    }

    /// Notes a statement that is to run.
    pub(super) fn note_statement(&mut self, canonical: &str) {
        self.had_long_pattern |= may_have_long_pattern(canonical);
    }

    /// Notes the values that a statement is to run with.
    pub(super) fn note_values(&mut self, canonical: &str, values: &[&(dyn ToSql + Sync)], types: &[Type]) {
        let is_long = |(value, kind): (&&(dyn ToSql + Sync), &Type)| {
            let mut bytes = BytesMut::new();
            // A value that cannot be encoded is not sent either.
            value.to_sql_checked(kind, &mut bytes).is_ok() && bytes.len() > MAX_PATTERN_CHARS
        };
        self.had_long_pattern |= values.iter().zip(types).any(is_long) && uses_patterns(canonical);
    }
}

fn uses_patterns(canonical: &str) -> bool {
    let text = canonical.to_ascii_lowercase();
    PATTERN_WORDS.iter().any(|word| text.contains(word))
}

/// Returns whether a statement that uses patterns holds a long literal, or makes one. It errs on the side of closing a connection:
/// any text between two quotes counts, and a quote within a literal does not end it.
fn may_have_long_pattern(canonical: &str) -> bool {
    let is_long = |text: &str| text.chars().nth(MAX_PATTERN_CHARS).is_some();
    let has_long_literal =
        || is_long(canonical) && canonical.replace("''", "").replace("\\'", "").split('\'').any(is_long);
    let grows = || {
        let text = canonical.to_ascii_lowercase();
        GROWING_WORDS.iter().any(|word| text.contains(word))
    };
    uses_patterns(canonical) && (has_long_literal() || grows())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(canonical: &str, expected: bool) {
        assert_eq!(may_have_long_pattern(canonical), expected, "{canonical}");
    }

    #[test]
    fn a_long_literal_counts_only_beside_a_pattern() {
        let (short, long) = ("a".repeat(1_000), "a".repeat(1_001));
        check(&format!("SELECT x ~ '{short}'"), false);
        check(&format!("SELECT x ~ '{long}'"), true);
        check(&format!("SELECT x OPERATOR ( pg_catalog . !~* ) $q${long}$q$"), true);
        check(&format!("SELECT REGEXP_REPLACE ( x , '{long}' , '' )"), true);
        check(&format!("SELECT x SIMILAR TO '{long}'"), true);
        check(&format!("SELECT jsonb_path_exists ( x , '$ ? (@ like_regex \"{long}\")' )"), true);
        check(&format!("SELECT x = '{long}'"), false);
        // A quote within it ends no literal.
        check(&format!("SELECT x ~ '{}'", "aaaaaaaaa''".repeat(120)), true);
        check(&format!("SELECT x ~ E'{}'", "aaaaaaaaa\\'".repeat(120)), true);
        check(&format!("SELECT x ~ 'a' , {}", "'b' , ".repeat(400)), false);
        check("SELECT x ~ repeat ( '(a|b)' , 900 )", true);
        check("SELECT repeat ( 'a' , 900 )", false);
    }

    #[test]
    fn a_long_value_counts_only_beside_a_pattern() {
        let (short, long) = ("a".repeat(1_000), "a".repeat(1_001));
        for (canonical, value, expected) in [
            ("SELECT x ~ $1", &long, true),
            ("SELECT x ~ $1", &short, false),
            ("SELECT x = $1", &long, false),
        ] {
            let mut retirement = Retirement::default();
            retirement.note_values(canonical, &[value], &[Type::TEXT]);
            assert_eq!(retirement.is_due(), expected, "{canonical} {}", value.len());
        }
    }

    #[test]
    fn calls_are_counted() {
        let mut retirement = Retirement::default();
        for _ in 0..MAX_CALLS {
            assert!(!retirement.is_due());
            retirement.count_call();
        }
        assert!(retirement.is_due());
    }

    #[test]
    fn a_connection_grows_old() {
        let Some(since) = Instant::now().checked_sub(MAX_AGE) else { return };
        assert!(Retirement { since, calls: 0, had_long_pattern: false }.is_due());
    }
}
