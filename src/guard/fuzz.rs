//! What the guard accepts it accepts again as canonical text, and as the same tokens; what it refuses it points to; and
//! either takes bounded work.

use std::sync::LazyLock;

use super::{
    config::GuardConfig,
    functions_denied, functions_sets,
    judge::{limits, sizes},
    lexer::{self, TokenKind},
    parser::parse,
    statement::ReadOnlyStatement,
};
use crate::problem::{Code, Problem};

/// What a refusal may say, in bytes.
const MAX_DETAIL_BYTES: usize = 2_000;

/// Everything that an operator can allow by a set.
static PERMISSIVE: LazyLock<GuardConfig> = LazyLock::new(|| {
    let sets: Vec<&str> = functions_sets::SETS.iter().map(|set| set.name).collect();
    GuardConfig::parse(&sets.join(",")).unwrap_or_default()
});

/// Runs the target.
pub fn run(data: &[u8]) {
    let sql = String::from_utf8_lossy(data);
    check_work(&sql);
    let by_default = check(&sql, &GuardConfig::default());
    let by_sets = check(&sql, &PERMISSIVE);
    if by_default.is_some() {
        assert_eq!(by_default, by_sets, "sets allow, they do not forbid");
    }
}

/// The canonical text of what is accepted.
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

/// It stays inside of the parentheses of the wrapper, and holds no name that nobody may allow.
fn check_enclosed(canonical: &str) {
    let mut open = 0_i32;
    for (kind, text, name) in shape(canonical) {
        open += match (kind, text.as_str()) {
            (TokenKind::Punctuation, "(") => 1,
            (TokenKind::Punctuation, ")") => -1,
            _ => 0,
        };
        assert!(open >= 0 && text != ";", "{canonical}");
        assert!(functions_denied::danger(&name).is_none(), "{name}");
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

/// Whether the place is one of the text, or right behind it.
fn is_within(sql: &str, line: usize, column: usize) -> bool {
    let line = line.checked_sub(1).and_then(|index| sql.split('\n').nth(index));
    line.is_some_and(|line| (1..=line.chars().count() + 1).contains(&column))
}

/// What must not change on the way to the canonical text.
fn shape(sql: &str) -> Vec<(TokenKind, String, String)> {
    let tokens = lexer::lex(sql).unwrap_or_default();
    tokens.into_iter().map(|token| (token.kind, token.text.into_owned(), token.name)).collect()
}

/// The walk with the most work counts its own steps.
fn check_work(sql: &str) {
    let Ok(lexed) = lexer::lex(sql) else { return };
    if limits::check(&lexed).is_err() {
        return;
    }
    let Ok(query) = parse(&lexed) else { return };
    // Two walks, and one step that may be as large as a query is wide.
    assert!(sizes::check(&query).work <= 2 * sizes::MAX_WORK + 65_536);
}
