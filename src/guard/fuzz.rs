//! The fuzz target of the guard.
//!
//! An accepted statement is accepted again as its canonical text, with the same tokens. A refusal points into the text.

use std::sync::LazyLock;

use super::config::GuardConfig;
use super::lexer::{self, TokenKind};
use super::statement::ReadOnlyStatement;
use super::{functions_denied, functions_sets};
use crate::problem::{Code, Problem};

/// The longest sentence of a refusal, in bytes.
const MAX_DETAIL_BYTES: usize = 2_000;

/// The configuration that allows every set.
static PERMISSIVE: LazyLock<GuardConfig> = LazyLock::new(|| {
    let sets: Vec<&str> = functions_sets::SETS.iter().map(|set| set.name).collect();
    GuardConfig::parse(&sets.join(",")).unwrap_or_default()
});

/// Runs the target.
pub fn run(data: &[u8]) {
    let sql = String::from_utf8_lossy(data);
    let by_default = check(&sql, &GuardConfig::default());
    let by_sets = check(&sql, &PERMISSIVE);
    if by_default.is_some() {
        assert_eq!(by_default, by_sets, "sets allow, they do not forbid");
    }
}

/// Checks one configuration. Returns the canonical text of an accepted statement.
fn check(sql: &str, config: &GuardConfig) -> Option<String> {
    let statement = match ReadOnlyStatement::parse(sql, config) {
        Ok(statement) => statement,
        Err(problem) => {
            check_refusal(sql, &problem);
            return None;
        }
    };
    let canonical = statement.canonical();
    let again = ReadOnlyStatement::parse(canonical, config);
    let again =
        again.map(|again| again.canonical().to_owned()).map_err(|problem| problem.detail().to_owned());
    assert_eq!(again.as_deref(), Ok(canonical));
    assert_eq!(shape(sql), shape(canonical));
    check_enclosed(canonical);
    let end = canonical.chars().count();
    for at in [1, end / 2, end, end + 1] {
        let position = statement.position_of(at);
        assert!(at == 0 || position.is_some_and(|it| is_within(sql, it.line, it.column)), "{position:?}");
    }
    Some(canonical.to_owned())
}

/// Checks that a statement stays inside of the wrapper's parentheses, and holds no dangerous name and no INTO.
fn check_enclosed(canonical: &str) {
    let mut open = 0_i32;
    let mut label = false;
    for (kind, text, name) in shape(canonical) {
        open += match (kind, text.as_str()) {
            (TokenKind::Punctuation, "(") => 1,
            (TokenKind::Punctuation, ")") => -1,
            _ => 0,
        };
        assert!(open >= 0 && text != ";", "{canonical}");
        assert!(functions_denied::danger(&name).is_none(), "{name}");
        let is_word = |word| kind == TokenKind::Word && name == word;
        // `SELECT 1 AS into` names a column.
        assert!(label || !is_word("into"), "{canonical}");
        label = is_word("as");
    }
    assert_eq!(open, 0, "{canonical}");
}

fn check_refusal(sql: &str, problem: &Problem) {
    assert!(matches!(problem.code(), Code::Validation | Code::QueryViolation));
    assert_eq!(problem.invalid_params(), ["query"]);
    assert!(problem.detail().len() <= MAX_DETAIL_BYTES, "{}", problem.detail());
    let document = problem.to_value();
    let number = |name: &str| {
        let number = document.pointer(name).and_then(serde_json::Value::as_u64);
        number.and_then(|number| usize::try_from(number).ok()).unwrap_or_default()
    };
    let (line, column) = (number("/metadata/line"), number("/metadata/column"));
    assert!(is_within(sql, line, column), "line {line}, column {column}");
}

/// Returns whether the place is in the text, or right behind it.
fn is_within(sql: &str, line: usize, column: usize) -> bool {
    let line = line.checked_sub(1).and_then(|index| sql.split('\n').nth(index));
    line.is_some_and(|line| (1..=line.chars().count() + 1).contains(&column))
}

/// Returns the parts of tokens that the canonical text must keep.
pub(super) fn shape(sql: &str) -> Vec<(TokenKind, String, String)> {
    let tokens = lexer::lex(sql).unwrap_or_default();
    tokens.into_iter().map(|token| (token.kind, token.text.into_owned(), token.name)).collect()
}
