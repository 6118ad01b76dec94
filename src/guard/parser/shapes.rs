//! Forms that sqlparser does not know, shown as an equal form or without a part that holds no expression.

use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::Token as Seen;

use super::constructs::FOREIGN_OPERATOR;
use super::symbols;
use super::view::View;
use crate::guard::lexer::{Token, TokenKind};
use crate::guard::refusal::Refusal;

const QUANTIFIERS: &[&str] = &["any", "all", "some"];
#[rustfmt::skip]
const TYPES_WITH_MODIFIERS: &[&str] = &[
    "bit", "bpchar", "char", "character", "dec", "decimal", "interval", "numeric", "time", "timestamp",
    "timestamptz", "timetz", "varbit", "varchar",
];

/// Shapes a form that begins with a word. Returns the number of tokens dealt with; 0: the word is shown as it is.
pub(super) fn word(view: &mut View<'_, '_>, token: &Token<'_>) -> usize {
    if view.after_mark(".") || view.after_word(&["as"]) {
        return 0;
    }
    match token.name.as_str() {
        "isnull" => {
            view.push_keyword("is", Keyword::IS);
            view.push_keyword("null", Keyword::NULL);
            1
        }
        "table" => {
            view.push_keyword("select", Keyword::SELECT);
            view.push(Seen::Mul);
            view.push_keyword("from", Keyword::FROM);
            1
        }
        "collation" if view.word_at(1, "for") && view.mark_at(2, "(") => collation_for(view),
        "variadic" if view.after_mark("(") || view.after_mark(",") => 1,
        "symmetric" | "asymmetric" if view.after_word(&["between"]) => 1,
        "distinct" | "all" if view.after_word(&["by"]) => 1,
        // `substring(a SIMILAR b ESCAPE c)` is shown as `substring(a FROM b FOR c)`.
        "similar" if !view.word_at(1, "to") => {
            view.similar += 1;
            view.push_keyword("from", Keyword::FROM);
            1
        }
        "escape" if view.similar > 0 => {
            view.similar -= 1;
            view.push_keyword("for", Keyword::FOR);
            1
        }
        // Sets within sets, which sqlparser does not know, are shown as rows within rows.
        "grouping" if view.word_at(1, "sets") && view.mark_at(2, "(") => {
            view.push_keyword("row", Keyword::ROW);
            2
        }
        "cube" | "rollup" if view.within_grouping_sets() && view.mark_at(1, "(") => {
            view.push_keyword("row", Keyword::ROW);
            1
        }
        "json" if view.after_word(&["is", "not"]) && !view.mark_at(1, "(") => is_json(view),
        "exclude" => frame_exclusion(view),
        "search" if view.after_mark(")") => search_clause(view),
        "cycle" => cycle_clause(view),
        "at" if view.word_at(1, "local") && view.after_operand() => 2,
        "using" if view.token(1).is_some_and(|t| t.kind == TokenKind::Operator) => 2,
        "all" | "some" if view.after_word(&["like", "ilike"]) && view.mark_at(1, "(") => {
            view.push_keyword("any", Keyword::ANY);
            1
        }
        "operator" if view.mark_at(1, "(") => qualified_operator(view),
        "rows" if view.word_at(1, "from") && view.mark_at(2, "(") => rows_from(view),
        "with" if view.after_mark(")") && view.word_at(1, "ordinality") && closes_rows_from(view) => 2,
        "as" if view.after_mark(")") && begins_column_definitions(view) => {
            view.push_keyword("as", Keyword::AS);
            view.push_keyword("columns", Keyword::NoKeyword);
            1
        }
        name if TYPES_WITH_MODIFIERS.contains(&name) => literal_with_modifier(view, token),
        _ => 0,
    }
}

/// Returns whether this parenthesis holds a query that sqlparser would not look for in an expression.
///
/// Such a query begins with VALUES, or with a parenthesis around the first part of a set operation.
fn opens_query(view: &View<'_, '_>) -> bool {
    let mut first = 1;
    while view.mark_at(first, "(") {
        first += 1;
    }
    match first {
        1 => view.word_at(1, "values"),
        _ => view.one_of(first, &["select", "values", "with", "table"]) && holds_set_operation(view),
    }
}

/// Returns whether a set operation stands between this parenthesis and its partner, not within others.
fn holds_set_operation(view: &View<'_, '_>) -> bool {
    let mut depth = 0_usize;
    for offset in 0.. {
        let Some(token) = view.token(offset) else { return false };
        match token.text.as_ref() {
            "(" if token.kind == TokenKind::Punctuation => depth += 1,
            ")" if token.kind == TokenKind::Punctuation => depth -= 1,
            _ if depth == 1 && view.one_of(offset, &["union", "intersect", "except"]) => return true,
            _ => {}
        }
        if depth == 0 {
            return false;
        }
    }
    false
}

/// `(VALUES …)` is shown as `(WITH columns AS (SELECT) VALUES …)`: the parser looks for WITH everywhere.
fn query(view: &mut View<'_, '_>) {
    view.push(Seen::LParen);
    view.push_keyword("with", Keyword::WITH);
    view.push_keyword("columns", Keyword::NoKeyword);
    view.push_keyword("as", Keyword::AS);
    view.push(Seen::LParen);
    view.push_keyword("select", Keyword::SELECT);
    view.push(Seen::RParen);
}

/// `COLLATION FOR (x)` is `pg_collation_for(x)`.
fn collation_for(view: &mut View<'_, '_>) -> usize {
    view.push_keyword("pg_collation_for", Keyword::NoKeyword);
    2
}

/// `IS JSON OBJECT WITH UNIQUE KEYS` is shown as `IS NULL`.
fn is_json(view: &mut View<'_, '_>) -> usize {
    view.push_keyword("null", Keyword::NULL);
    let kind = 1 + usize::from(view.one_of(1, &["value", "scalar", "array", "object"]));
    if !view.one_of(kind, &["with", "without"]) || !view.word_at(kind + 1, "unique") {
        return kind;
    }
    kind + 2 + usize::from(view.word_at(kind + 2, "keys"))
}

/// `EXCLUDE CURRENT ROW`, `GROUP`, `TIES`, `NO OTHERS`: the end of a window frame, without any expression.
fn frame_exclusion(view: &View<'_, '_>) -> usize {
    let words = if view.word_at(1, "current") && view.word_at(2, "row")
        || view.word_at(1, "no") && view.word_at(2, "others")
    {
        3
    } else if view.one_of(1, &["group", "ties"]) {
        2
    } else {
        return 0;
    };
    if view.mark_at(words, ")") { words } else { 0 }
}

/// `SEARCH DEPTH FIRST BY a, b SET c` behind a recursive query: names only.
fn search_clause(view: &View<'_, '_>) -> usize {
    if !view.one_of(1, &["depth", "breadth"]) || !view.word_at(2, "first") || !view.word_at(3, "by") {
        return 0;
    }
    let set = behind_names(view, 4);
    if view.word_at(set, "set") && view.token(set + 1).is_some_and(Token::is_name) { set + 2 } else { 0 }
}

/// `CYCLE a, b SET c TO 'x' DEFAULT 'y' USING d`: names and literals only.
fn cycle_clause(view: &View<'_, '_>) -> usize {
    let set = behind_names(view, 1);
    if set == 1 || !view.word_at(set, "set") || !view.token(set + 1).is_some_and(Token::is_name) {
        return 0;
    }
    let literal = |offset| {
        view.token(offset).is_some_and(|t| t.is_string() || t.kind == TokenKind::Number)
            || view.one_of(offset, &["true", "false", "null"])
    };
    let mut using = set + 2;
    if view.word_at(using, "to") {
        if !literal(using + 1) || !view.word_at(using + 2, "default") || !literal(using + 3) {
            return 0;
        }
        using += 4;
    }
    if view.word_at(using, "using") && view.token(using + 1).is_some_and(Token::is_name) {
        using + 2
    } else {
        0
    }
}

/// Returns the first offset behind a list of names.
fn behind_names(view: &View<'_, '_>, mut offset: usize) -> usize {
    while view.token(offset).is_some_and(Token::is_name) {
        offset += 1;
        if !view.mark_at(offset, ",") {
            break;
        }
        offset += 1;
    }
    offset
}

/// `OPERATOR(pg_catalog.+)` is `+`.
fn qualified_operator(view: &mut View<'_, '_>) -> usize {
    let mut offset = 2;
    let built_in = view.token(2).is_some_and(|schema| schema.name == "pg_catalog");
    while view.token(offset).is_some_and(Token::is_name) && view.mark_at(offset + 1, ".") {
        offset += 2;
    }
    match view.token(offset) {
        Some(operator) if operator.kind == TokenKind::Operator && view.mark_at(offset + 1, ")") => {
            if offset > 4 || offset == 4 && !built_in {
                view.hidden = Some(Refusal::violation(operator.at, FOREIGN_OPERATOR));
            }
            let any = view.one_of(offset + 2, QUANTIFIERS) && view.mark_at(offset + 3, "(");
            let seen = match operator.text.as_ref() {
                _ if any => Seen::Eq,
                // Between operands every symbol binds as any other operator does.
                symbol if view.after_operand() => Seen::CustomBinaryOperator(symbol.to_owned()),
                symbol => symbols::operator(symbol),
            };
            view.push(seen);
            offset + 2
        }
        Some(_) | None => 0,
    }
}

/// `ROWS FROM (f(), g())` is shown as `(SELECT * FROM f(), g())`.
fn rows_from(view: &mut View<'_, '_>) -> usize {
    view.push(Seen::LParen);
    view.push_keyword("select", Keyword::SELECT);
    view.push(Seen::Mul);
    view.push_keyword("from", Keyword::FROM);
    3
}

/// Returns whether the `)` before this token closes a `ROWS FROM (`.
fn closes_rows_from(view: &View<'_, '_>) -> bool {
    let mut depth = 0_usize;
    let before = view.tokens.get(..view.at).unwrap_or_default();
    let opens = |token: &Token<'_>| {
        depth += usize::from(token.is_mark(")"));
        depth -= usize::from(token.is_mark("("));
        depth == 0
    };
    let Some(index) = before.iter().rposition(opens) else { return false };
    let word = |back: usize, name: &str| {
        index.checked_sub(back).and_then(|i| view.tokens.get(i)).is_some_and(|t| t.is_word(name))
    };
    word(1, "from") && word(2, "rows")
}

/// Returns whether a list of columns without a name before it begins: `f(…) AS (a int, …)`.
fn begins_column_definitions(view: &View<'_, '_>) -> bool {
    view.mark_at(1, "(")
        && view.token(2).is_some_and(Token::is_name)
        && !view.one_of(2, &["select", "with", "values", "table", "insert", "update", "delete", "merge"])
}

/// `numeric(4, 1) '1.5'` is shown as `numeric '1.5'`.
fn literal_with_modifier(view: &mut View<'_, '_>, token: &Token<'_>) -> usize {
    // A large modifier pads, so that the judge of the tree must see it.
    let number =
        |offset| view.token(offset).is_some_and(|t| t.kind == TokenKind::Number && t.text.len() <= 3);
    let close = if !view.mark_at(1, "(") || !number(2) {
        return 0;
    } else if view.mark_at(3, ",") && number(4) {
        5
    } else {
        3
    };
    if !view.mark_at(close, ")") || !view.token(close + 1).is_some_and(Token::is_string) {
        return 0;
    }
    view.push_keyword(&token.name, Keyword::NoKeyword);
    close + 1
}

/// Shapes an operator: sqlparser knows only some before `ANY (…)`, PostgreSQL takes every one.
pub(super) fn operator(view: &mut View<'_, '_>, token: &Token<'_>) -> usize {
    if view.one_of(1, QUANTIFIERS) && view.mark_at(2, "(") {
        view.push(Seen::Eq);
        return 1;
    }
    let star_of_row = token.text == "*" && view.after_mark(".");
    if star_of_row && view.tokens.get(view.at.wrapping_sub(2)).is_some_and(|t| t.is_mark(")")) {
        // `(x).*` is shown as `(x)`: the dot was left out already.
        return 1;
    }
    0
}

/// Shapes a form that begins with a punctuation mark.
pub(super) fn mark(view: &mut View<'_, '_>, token: &Token<'_>) -> usize {
    if token.is_mark("(") && opens_query(view) {
        query(view);
        return 1;
    }
    let empty_set = token.is_mark("(") && view.mark_at(1, ")");
    if empty_set && view.within_grouping_sets() && (view.after_mark("(") || view.after_mark(",")) {
        view.push_keyword("null", Keyword::NULL);
        return 2;
    }
    let dot_star = token.is_mark(".") && view.after_mark(")") && view.token(1).is_some_and(|t| t.text == "*");
    usize::from(dot_star)
}
