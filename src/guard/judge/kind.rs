//! The kind of a statement, decided on its tokens, so that a refusal names an INSERT even where the parser cannot read it.

use crate::guard::lexer::{Place, Token, TokenKind};
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
    for place in Place::all(tokens) {
        let token = place.token;
        if token.is_mark("(") {
            begun.push(false);
        } else if token.is_mark(")") {
            begun.pop();
        }
        if token.kind != TokenKind::Word || place.is_label() {
            continue;
        }
        if token.is_one_of(&["select", "values", "table"]) {
            begun.pop();
            begun.push(true);
            continue;
        }
        let begins = begun.last() == Some(&false) && (place.after_mark("(") || place.after_mark(")"));
        if let Some(sentence) = write(place, begins) {
            return Err(Refusal::violation(token.at, sentence).about(Reason::Write));
        }
    }
    Ok(())
}

fn check_first_word(tokens: &[Token<'_>]) -> Result<(), Refusal> {
    let first = tokens.iter().find(|token| !token.is_mark("("));
    if first.is_some_and(|first| first.is_one_of(&["select", "values", "table", "with"])) {
        return Ok(());
    }
    let Some(first) = first.filter(|first| first.is_one_of(STATEMENTS)) else {
        let sentence = match first {
            Some(first) if first.is_one_of(&["desc", "describe"]) => {
                "DESCRIBE is not PostgreSQL's; the tool describe_database lists the columns of a table."
            }
            Some(_) => "A query begins with SELECT, VALUES, TABLE or WITH.",
            None => "The query is empty; write a SELECT statement.",
        };
        let at = first.or(tokens.first()).map_or(0, |token| token.at);
        return Err(Refusal::invalid(at, sentence).about(Reason::Statement));
    };
    let statement = first.name.to_ascii_uppercase();
    let (are, cure) = if first.is_word("explain") {
        ("is", "give the SELECT alone to the tool explain_query")
    } else if first.is_word("show") {
        ("is", "ask current_setting('name') or the view pg_settings, which the operator allows with @catalog")
    } else {
        ("statements are", "only SELECT, VALUES, TABLE and WITH ... SELECT are")
    };
    let reason = if first.is_one_of(HARMLESS) { Reason::Statement } else { Reason::Write };
    let sentence = format!("{statement} {are} not allowed here; {cure}.");
    Err(Refusal::violation(first.at, sentence).about(reason))
}

/// Returns the sentence for a word that changes data or locks it. `begins`: a query may begin here.
fn write(place: Place<'_, '_>, begins: bool) -> Option<String> {
    let locks = ["update", "share", "no key", "key share"];
    match place.token.name.as_str() {
        "into" => Some("INTO makes a table or changes data, which is not allowed; leave it out.".to_owned()),
        "for" if locks.iter().any(|lock| place.words_at(1, lock)) => Some(LOCKS.to_owned()),
        statement @ ("insert" | "update" | "delete" | "merge") if begins && place.name_at(1) => {
            let statement = statement.to_ascii_uppercase();
            Some(format!("{statement} changes data, which is not allowed; write a SELECT."))
        }
        _ => None,
    }
}
