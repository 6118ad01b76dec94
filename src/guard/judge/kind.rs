//! The kind of a statement, decided on its tokens, so that a refusal names an INSERT even where the parser cannot read it.

use crate::guard::lexer::{Token, TokenKind};
use crate::guard::parser::constructs::LOCKS;
use crate::guard::refusal::{Reason, Refusal};

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
    check_first_word(tokens)?;
    // By pair of parentheses: its query has begun.
    let mut begun = vec![false];
    for (index, token) in tokens.iter().enumerate() {
        let previous = index.checked_sub(1).and_then(|i| tokens.get(i));
        let label = previous.is_some_and(|p| p.is_mark(".") || p.is_word("as"));
        if token.is_mark("(") {
            begun.push(false);
        } else if token.is_mark(")") {
            begun.pop();
        } else if token.is_one_of(&["select", "values", "table"]) && !label {
            begun.pop();
            begun.push(true);
        } else if token.kind == TokenKind::Word && !label {
            let begins =
                begun.last() == Some(&false) && previous.is_some_and(|p| p.is_mark("(") || p.is_mark(")"));
            if let Some(sentence) = write(token, begins, tokens.get(index + 1..).unwrap_or_default()) {
                return Err(Refusal::violation(token.at, sentence).about(Reason::Write));
            }
        }
    }
    Ok(())
}

fn check_first_word(tokens: &[Token<'_>]) -> Result<(), Refusal> {
    let Some(first) = tokens.iter().find(|token| !token.is_mark("(")) else {
        let at = tokens.first().map_or(0, |t| t.at);
        let refusal = Refusal::invalid(at, "The query is empty; write a SELECT statement.");
        return Err(refusal.about(Reason::Statement));
    };
    if first.is_one_of(&["select", "values", "table", "with"]) {
        return Ok(());
    }
    if !first.is_one_of(STATEMENTS) {
        let refusal = Refusal::invalid(first.at, "A query begins with SELECT, VALUES, TABLE or WITH.");
        return Err(refusal.about(Reason::Statement));
    }
    let sentence = if first.is_word("explain") {
        "EXPLAIN is not allowed here; give the SELECT alone to the tool explain_query.".to_owned()
    } else {
        format!(
            "{} statements are not allowed here; only SELECT, VALUES, TABLE and WITH ... SELECT are.",
            first.name.to_ascii_uppercase()
        )
    };
    let reason = if first.is_one_of(HARMLESS) { Reason::Statement } else { Reason::Write };
    Err(Refusal::violation(first.at, sentence).about(reason))
}

/// Returns the sentence for a word that changes data or locks it. `begins`: a query may begin here.
fn write(token: &Token<'_>, begins: bool, rest: &[Token<'_>]) -> Option<String> {
    let next_is = |words: &[&str]| rest.first().is_some_and(|t| t.is_one_of(words));
    let next_are =
        |words: [&str; 2]| rest.len() >= 2 && words.iter().zip(rest).all(|(word, t)| t.is_word(word));
    match token.name.as_str() {
        "into" => Some("INTO makes a table or changes data, which is not allowed; leave it out.".to_owned()),
        "for" if next_is(&["update", "share"]) || next_are(["no", "key"]) || next_are(["key", "share"]) => {
            Some(LOCKS.to_owned())
        }
        statement @ ("insert" | "update" | "delete" | "merge")
            if begins && rest.first().is_some_and(Token::is_name) =>
        {
            let statement = statement.to_ascii_uppercase();
            Some(format!("{statement} changes data, which is not allowed; write a SELECT."))
        }
        _ => None,
    }
}
