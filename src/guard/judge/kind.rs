//! The kind of a statement, decided on its tokens, so that a refusal names an INSERT even where the parser cannot read it.

use crate::guard::{
    lexer::{Token, TokenKind},
    refusal::{Reason, Refusal},
};

/// First words of PostgreSQL's other statements.
#[rustfmt::skip]
const STATEMENTS: &[&str] = &[
    "abort", "alter", "analyse", "analyze", "begin", "call", "checkpoint", "close", "cluster", "comment",
    "commit", "copy", "create", "deallocate", "declare", "delete", "discard", "do", "drop", "end",
    "execute", "explain", "fetch", "grant", "import", "insert", "listen", "load", "lock", "merge", "move",
    "notify", "prepare", "reassign", "refresh", "reindex", "release", "reset", "revoke", "rollback",
    "savepoint", "security", "set", "show", "start", "truncate", "unlisten", "update", "vacuum",
];

/// Statements that do not change data themselves.
#[rustfmt::skip]
const HARMLESS: &[&str] = &[
    "abort", "begin", "close", "commit", "deallocate", "declare", "end", "execute", "explain", "fetch",
    "listen", "move", "prepare", "release", "rollback", "savepoint", "show", "start", "unlisten",
];

/// Checks that this is a query, without locks, without INTO, without a part that changes data.
pub(crate) fn check(tokens: &[Token<'_>]) -> Result<(), Refusal> {
    let Some(first) = tokens.iter().find(|token| !token.is_mark("(")) else {
        return Err(Refusal::invalid(
            tokens.first().map_or(0, |t| t.at),
            "The query is empty; write a SELECT statement.",
        )
        .about(Reason::Statement));
    };
    match first.name.as_str() {
        "select" | "values" | "table" | "with" if first.kind == TokenKind::Word => {}
        other if first.kind == TokenKind::Word && STATEMENTS.contains(&other) => {
            let sentence = match other {
                "explain" => {
                    "EXPLAIN is not allowed here; give the SELECT alone to the tool explain_query.".to_owned()
                }
                _ => format!(
                    "{} statements are not allowed here; only SELECT, VALUES, TABLE and WITH ... SELECT are.",
                    other.to_ascii_uppercase()
                ),
            };
            return Err(Refusal::violation(first.at, sentence).about(if HARMLESS.contains(&other) {
                Reason::Statement
            } else {
                Reason::Write
            }));
        }
        _ => {
            return Err(Refusal::invalid(first.at, "A query begins with SELECT, VALUES, TABLE or WITH.")
                .about(Reason::Statement));
        }
    }
    let mut queries = vec![Query::Unseen];
    for (index, token) in tokens.iter().enumerate() {
        let previous = index.checked_sub(1).and_then(|i| tokens.get(i));
        if token.is_mark("(") {
            queries.push(Query::Unseen);
        } else if token.is_mark(")") {
            queries.pop();
        } else if token.kind == TokenKind::Word
            && !previous.is_some_and(|p| p.is_mark(".") || p.is_word("as"))
        {
            word(&mut queries, token, previous, tokens.get(index + 1..).unwrap_or_default())?;
        }
    }
    Ok(())
}

/// The state of a pair of parentheses: its query has begun or not.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Query {
    Unseen,
    Seen,
}

fn word(
    queries: &mut [Query],
    token: &Token<'_>,
    previous: Option<&Token<'_>>,
    rest: &[Token<'_>],
) -> Result<(), Refusal> {
    let next = rest.first();
    let follows = |words: &[&str]| {
        words.iter().zip(rest).filter(|(word, token)| token.is_word(word)).count() == words.len()
    };
    match token.name.as_str() {
        "select" | "values" | "table" => {
            if let Some(query) = queries.last_mut() {
                *query = Query::Seen;
            }
        }
        "into" => {
            return Err(Refusal::violation(
                token.at,
                "INTO makes a table or changes data, which is not allowed; leave it out.",
            )
            .about(Reason::Write));
        }
        "for"
            if next.is_some_and(|t| t.is_one_of(&["update", "share"]))
                || follows(&["no", "key"])
                || follows(&["key", "share"]) =>
        {
            return Err(Refusal::violation(
                token.at,
                "Locking rows (FOR UPDATE, FOR SHARE) is not allowed; leave the clause out.",
            )
            .about(Reason::Write));
        }
        statement @ ("insert" | "update" | "delete" | "merge")
            if queries.last() == Some(&Query::Unseen)
                && previous.is_some_and(|p| p.is_mark("(") || p.is_mark(")"))
                && next.is_some_and(Token::is_name) =>
        {
            return Err(Refusal::violation(
                token.at,
                format!(
                    "{} changes data, which is not allowed; write a SELECT.",
                    statement.to_ascii_uppercase()
                ),
            )
            .about(Reason::Write));
        }
        _ => {}
    }
    Ok(())
}
