//! Limits on nesting and chains, counted on tokens before any recursive code sees them.
//!
//! sqlparser recurses while it parses and a tree is dropped recursively, so that a statement's worst nesting decides
//! how much stack it takes. An upper bound of it is computed here, linearly: within one pair of brackets every
//! operator may nest the next one; a comma or a set operation ends that; brackets add up. `CASE … END` is a bracket.

use crate::guard::{
    lexer::{Token, TokenKind},
    refusal::Refusal,
};

/// The deepest nesting of brackets and `CASE`.
const MAX_DEPTH: usize = 50;
/// The deepest nesting of queries: each takes the parser as much stack as a dozen brackets.
const MAX_QUERY_DEPTH: usize = 16;
/// The most queries in a statement: each takes the parser as long as a dozen other tokens.
const MAX_QUERIES: usize = 2_000;
/// The most joins between one pair of brackets.
const MAX_JOINS: usize = 64;
/// The most set operations between one pair of brackets.
const MAX_SET_OPERATIONS: usize = 256;
/// The deepest tree, in nodes: operators in a chain, plus those of every bracket around it.
const MAX_NESTING: usize = 1_000;
/// The operators that take as much stack as a join.
const JOIN_NODES: usize = 8;

/// The counts of one pair of brackets so far.
#[derive(Default)]
struct Group {
    /// Index of the opening token.
    open: usize,
    case: bool,
    /// It holds a SELECT.
    query: bool,
    /// Operators since the last comma.
    operators: usize,
    /// The deepest bracket since the last comma.
    inner: usize,
    /// The deepest of the items that commas divide.
    deepest: usize,
    joins: usize,
    set_operations: usize,
}

impl Group {
    fn end_item(&mut self) {
        self.deepest = self.deepest.max(self.operators + self.inner);
        self.operators = 0;
        self.inner = 0;
    }

    fn nesting(&mut self) -> usize {
        self.end_item();
        self.deepest + self.set_operations + self.joins * JOIN_NODES + 1
    }
}

/// Checks that brackets pair up and that nothing nests deeper than the recursive code can take.
pub(crate) fn check(tokens: &[Token<'_>]) -> Result<(), Refusal> {
    if let Some(query) = tokens.iter().filter(|token| token.is_word("select")).nth(MAX_QUERIES) {
        return Err(Refusal::invalid(
            query.at,
            format!("The statement holds more than {MAX_QUERIES} queries; ask for less in one statement."),
        ));
    }
    let mut groups = vec![Group::default()];
    let mut previous: Option<&Token<'_>> = None;
    for (index, token) in tokens.iter().enumerate() {
        count(&mut groups, index, token, previous, tokens)?;
        previous = Some(token);
    }
    let Some(mut outermost) = groups.pop() else { return Ok(()) };
    if !groups.is_empty() {
        let open = tokens.get(outermost.open);
        let text = open.map(|t| t.text.as_ref()).unwrap_or_default();
        return Err(Refusal::invalid(
            open.map_or(0, |t| t.at),
            if outermost.case {
                "This CASE has no END.".to_owned()
            } else {
                format!("This {text} is never closed.")
            },
        ));
    }
    if outermost.nesting() > MAX_NESTING { Err(too_deep(0)) } else { Ok(()) }
}

fn count(
    groups: &mut Vec<Group>,
    index: usize,
    token: &Token<'_>,
    previous: Option<&Token<'_>>,
    tokens: &[Token<'_>],
) -> Result<(), Refusal> {
    let label = previous.is_some_and(|p| p.is_mark(".") || p.is_word("as"));
    let case_is_open = groups.last().is_some_and(|group| group.case);
    match opening(token, label, case_is_open) {
        Some(Edge::Open { case }) => {
            if groups.len() > MAX_DEPTH {
                return Err(Refusal::invalid(
                    token.at,
                    format!(
                        "Brackets and CASE nest deeper than {MAX_DEPTH} levels; use WITH to flatten the query."
                    ),
                ));
            }
            // A subscript and an array type's brackets are a level of the tree themselves.
            bump(groups, token, usize::from(token.is_mark("[")))?;
            groups.push(Group { open: index, case, ..Group::default() });
            return Ok(());
        }
        Some(Edge::Close { case }) => return close(groups, token, case, tokens),
        None => {}
    }
    if token.is_mark(",") {
        if let Some(group) = groups.last_mut() {
            group.end_item();
        }
        return Ok(());
    }
    if !label && token.kind == TokenKind::Word {
        return count_word(groups, token, previous);
    }
    bump(groups, token, usize::from(token.kind == TokenKind::Operator || token.is_mark("::")))
}

enum Edge {
    Open { case: bool },
    Close { case: bool },
}

fn opening(token: &Token<'_>, label: bool, case_is_open: bool) -> Option<Edge> {
    match (token.kind, token.text.as_ref(), token.name.as_str()) {
        (TokenKind::Punctuation, "(" | "[", _) => Some(Edge::Open { case: false }),
        (TokenKind::Punctuation, ")" | "]", _) => Some(Edge::Close { case: false }),
        (TokenKind::Word, _, "case") if !label => Some(Edge::Open { case: true }),
        // Without a CASE to close it is a name: `SELECT 1 end`.
        (TokenKind::Word, _, "end") if !label && case_is_open => Some(Edge::Close { case: true }),
        _ => None,
    }
}

fn close(
    groups: &mut Vec<Group>,
    token: &Token<'_>,
    case: bool,
    tokens: &[Token<'_>],
) -> Result<(), Refusal> {
    let unpaired = || Refusal::invalid(token.at, format!("This {} closes nothing.", token.text));
    if groups.len() < 2 {
        return Err(unpaired());
    }
    let Some(mut closed) = groups.pop() else { return Err(unpaired()) };
    let open = tokens.get(closed.open);
    let pairs = match open.map(|t| t.text.as_ref()) {
        Some("(") => token.is_mark(")"),
        Some("[") => token.is_mark("]"),
        Some(_) => closed.case && case,
        None => false,
    };
    if !pairs {
        return Err(unpaired());
    }
    let nesting = closed.nesting();
    let Some(outer) = groups.last_mut() else { return Err(unpaired()) };
    outer.inner = outer.inner.max(nesting);
    if nesting > MAX_NESTING { Err(too_deep(open.map_or(0, |t| t.at))) } else { Ok(()) }
}

fn count_word(groups: &mut [Group], token: &Token<'_>, previous: Option<&Token<'_>>) -> Result<(), Refusal> {
    if token.name == "select" {
        return count_query(groups, token);
    }
    let Some(group) = groups.last_mut() else { return Ok(()) };
    match token.name.as_str() {
        "join" => {
            group.joins += 1;
            if group.joins > MAX_JOINS {
                return Err(Refusal::invalid(
                    token.at,
                    format!(
                        "More than {MAX_JOINS} joins in one FROM; join some of them in a WITH query first."
                    ),
                ));
            }
        }
        "union" | "intersect" | "except" => {
            // INVARIANT: a set operation ends an expression only behind an operand.
            if previous.is_none_or(|p| p.kind == TokenKind::Operator || p.is_mark("(") || p.is_mark(",")) {
                return Err(Refusal::invalid(token.at, format!("{} needs a query before it.", token.text)));
            }
            group.set_operations += 1;
            group.end_item();
            if group.set_operations > MAX_SET_OPERATIONS {
                return Err(Refusal::invalid(
                    token.at,
                    format!(
                        "More than {MAX_SET_OPERATIONS} set operations in a row; use VALUES or IN instead."
                    ),
                ));
            }
        }
        "and" | "or" | "not" | "is" | "isnull" | "notnull" | "in" | "like" | "ilike" | "similar"
        | "between" | "collate" | "at" | "overlaps" | "escape" | "operator" | "interval" => {
            return bump(groups, token, 1);
        }
        _ => {}
    }
    Ok(())
}

fn count_query(groups: &mut [Group], token: &Token<'_>) -> Result<(), Refusal> {
    if let Some(group) = groups.last_mut() {
        group.query = true;
    }
    if groups.iter().filter(|group| group.query).count() <= MAX_QUERY_DEPTH {
        return Ok(());
    }
    Err(Refusal::invalid(
        token.at,
        format!("Queries nest deeper than {MAX_QUERY_DEPTH} levels; use WITH to flatten the query."),
    ))
}

fn bump(groups: &mut [Group], token: &Token<'_>, nodes: usize) -> Result<(), Refusal> {
    let Some(group) = groups.last_mut() else { return Ok(()) };
    group.operators += nodes;
    if group.operators > MAX_NESTING { Err(too_deep(token.at)) } else { Ok(()) }
}

fn too_deep(at: usize) -> Refusal {
    Refusal::invalid(
        at,
        format!(
            "More than {MAX_NESTING} operators are chained or nested here; use IN (...), = ANY (...) or a VALUES list."
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::lexer::lex;

    /// Checks that a part is allowed `most` times and refused once more.
    #[track_caller]
    fn check(most: usize, sentence: &str, sql: impl Fn(usize) -> String) {
        assert_eq!(super::check(&lex(&sql(most)).unwrap()), Ok(()), "{most}");
        let refusal = super::check(&lex(&sql(most + 1)).unwrap()).unwrap_err();
        assert!(refusal.detail.contains(sentence), "{}", refusal.detail);
    }

    #[test]
    fn every_limit_is_reached_and_not_passed() {
        let around =
            |open: &str, close: &str, n: usize| format!("SELECT {}1{}", open.repeat(n), close.repeat(n));
        check(MAX_DEPTH, "deeper than 50 levels", |n| around("(", ")", n));
        check(MAX_DEPTH, "deeper than 50 levels", |n| around("CASE WHEN ", " THEN 1 END", n));
        check(MAX_QUERY_DEPTH - 1, "deeper than 16 levels", |n| around("(SELECT ", ")", n));
        check(MAX_JOINS, "More than 64 joins", |n| format!("SELECT 1 FROM t{}", " JOIN t ON true".repeat(n)));
        check(MAX_SET_OPERATIONS, "More than 256 set operations", |n| {
            format!("SELECT 1{}", " UNION SELECT 1".repeat(n))
        });
        let chain = |n: usize| format!("1{}", " + 1".repeat(n));
        check(MAX_NESTING - 1, "More than 1000 operators", |n| format!("SELECT {}", chain(n)));
        check(MAX_NESTING - 1, "More than 1000 operators", |n| format!("SELECT a{}", " AND a".repeat(n)));
        check(MAX_NESTING - 1, "More than 1000 operators", |n| format!("SELECT a{}", "::int".repeat(n)));
        // Brackets add up, what commas and set operations divide does not.
        check(MAX_NESTING - 602, "More than 1000 operators", |n| {
            format!("SELECT ({}){}", chain(600), " + 1".repeat(n))
        });
        check(MAX_NESTING - 1, "More than 1000 operators", |n| {
            format!("SELECT {}, {}", chain(999), chain(n))
        });
        check(MAX_NESTING - 2, "More than 1000 operators", |n| {
            format!("SELECT {} UNION SELECT {}", chain(998), chain(n))
        });
    }

    #[test]
    fn an_end_without_a_case_is_a_name() {
        assert_eq!(
            super::check(&lex("SELECT 1 end, CASE WHEN (SELECT 1 end) THEN 1 END end").unwrap()),
            Ok(())
        );
        for (sql, sentence) in [
            ("SELECT CASE 1", "has no END"),
            ("SELECT CASE (1 END)", "has no END"),
            ("SELECT (1", "never closed"),
            ("SELECT 1)", "closes nothing"),
            ("SELECT (1]", "closes nothing"),
            ("SELECT (CASE 1) END", "closes nothing"),
        ] {
            let refusal = super::check(&lex(sql).unwrap()).unwrap_err();
            assert!(refusal.detail.contains(sentence), "{sql}: {}", refusal.detail);
        }
    }
}
