//! Forms that sqlparser does not know, shown as an equal form or without a part that holds no expression.

use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::Token as Seen;

use super::constructs::FOREIGN_OPERATOR;
use super::symbols::symbol;
use super::view::View;
use super::words::is_operand;
use crate::guard::lexer::{Place, Token, TokenKind};
use crate::guard::refusal::Refusal;

const QUANTIFIERS: &[&str] = &["any", "all", "some"];
#[rustfmt::skip]
const TYPES_WITH_MODIFIERS: &[&str] = &[
    "bit", "bpchar", "char", "character", "dec", "decimal", "interval", "numeric", "time", "timestamp",
    "timestamptz", "timetz", "varbit", "varchar",
];

/// Shapes a form that begins with a word. Returns the number of tokens dealt with; 0: the word is shown as it is.
pub(super) fn word(view: &mut View, place: Place<'_, '_>) -> usize {
    if place.is_label() {
        return 0;
    }
    match place.token.name.as_str() {
        "isnull" => view.show("is null", 1),
        "table" => view.show("select * from", 1),
        "collation" if place.word_at(1, "for") && place.mark_at(2, "(") => view.show("pg_collation_for", 2),
        "variadic" if place.after_mark("(") || place.after_mark(",") => 1,
        "symmetric" | "asymmetric" if place.after_word(&["between"]) => 1,
        "distinct" | "all" if place.after_word(&["by"]) => 1,
        // `substring(a SIMILAR b ESCAPE c)` is shown as `substring(a FROM b FOR c)`.
        "similar" if !place.word_at(1, "to") => {
            view.similar += 1;
            view.show("from", 1)
        }
        "escape" if view.similar > 0 => {
            view.similar -= 1;
            view.show("for", 1)
        }
        // Sets within sets, which sqlparser does not know, are shown as rows within rows.
        "grouping" if place.word_at(1, "sets") && place.mark_at(2, "(") => view.show("row", 2),
        "cube" | "rollup" if view.within_grouping_sets() && place.mark_at(1, "(") => view.show("row", 1),
        // `IS JSON OBJECT WITH UNIQUE KEYS` is shown as `IS NULL`.
        "json" if place.after_word(&["is", "not"]) && !place.mark_at(1, "(") => {
            view.show("null", json_predicate(place))
        }
        "exclude" => frame_exclusion(place),
        "search" if place.after_mark(")") => search_clause(place),
        "cycle" => cycle_clause(place),
        "at" if place.word_at(1, "local") && place.before(1).is_some_and(is_operand) => 2,
        "using" if place.after(1).is_some_and(|t| t.kind == TokenKind::Operator) => 2,
        "all" | "some" if place.after_word(&["like", "ilike"]) && place.mark_at(1, "(") => {
            view.show("any", 1)
        }
        "operator" if place.mark_at(1, "(") => qualified_operator(view, place),
        // `ROWS FROM (f(), g())` is shown as `(SELECT * FROM f(), g())`.
        // Before a query in parentheses it is a column.
        "rows" if place.word_at(1, "from") && place.mark_at(2, "(") && !begins_query(place, 3) => {
            view.show("( select * from", 3)
        }
        // A join without a condition, within one that waits for its own: `a JOIN b CROSS JOIN c ON …`.
        "cross" | "natural" if place.word_at(1, "join") && view.waits_for_condition(place) => {
            view.show("join", 2)
        }
        "on" if view.conditions_at.contains(&place.index) => {
            let ended = view.conditions_at.iter().filter(|at| **at == place.index).count();
            view.show(&format!("{}on", "on true ".repeat(ended)), 1)
        }
        "with" if place.after_mark(")") && place.word_at(1, "ordinality") && closes_rows_from(place) => 2,
        "as" if place.after_mark(")") && begins_column_definitions(place) => view.show("as columns", 1),
        name if TYPES_WITH_MODIFIERS.contains(&name) => literal_with_modifier(view, place),
        _ => 0,
    }
}

/// Returns whether a query stands in a parenthesis at this offset.
fn begins_query(place: Place<'_, '_>, offset: usize) -> bool {
    place.one_of(offset, &["select", "table", "values", "with"]) || place.mark_at(offset, "(")
}

/// Returns whether this parenthesis holds a query that sqlparser would not look for in an expression.
///
/// Such a query begins with VALUES, or with a parenthesis around the first part of a set operation.
fn opens_query(place: Place<'_, '_>) -> bool {
    let first = (1..).find(|offset| !place.mark_at(*offset, "(")).unwrap_or(1);
    match first {
        1 => place.word_at(1, "values"),
        _ => place.one_of(first, &["select", "values", "with", "table"]) && holds_set_operation(place),
    }
}

/// Returns whether a set operation stands between this parenthesis and its partner, not within others.
fn holds_set_operation(place: Place<'_, '_>) -> bool {
    let mut depth = 0_usize;
    for token in place.tokens.iter().skip(place.index) {
        depth += usize::from(token.is_mark("("));
        depth -= usize::from(token.is_mark(")"));
        if depth == 0 || depth == 1 && token.is_one_of(&["union", "intersect", "except"]) {
            return depth == 1;
        }
    }
    false
}

/// Returns the number of tokens of `JSON OBJECT WITH UNIQUE KEYS`.
fn json_predicate(place: Place<'_, '_>) -> usize {
    let kind = 1 + usize::from(place.one_of(1, &["value", "scalar", "array", "object"]));
    if !place.one_of(kind, &["with", "without"]) || !place.word_at(kind + 1, "unique") {
        return kind;
    }
    kind + 2 + usize::from(place.word_at(kind + 2, "keys"))
}

/// `EXCLUDE CURRENT ROW`, `GROUP`, `TIES`, `NO OTHERS`: the end of a window frame, without any expression.
fn frame_exclusion(place: Place<'_, '_>) -> usize {
    let ends = [("current row", 3), ("no others", 3), ("group", 2), ("ties", 2)];
    let found = ends.iter().find(|(words, end)| place.words_at(1, words) && place.mark_at(*end, ")"));
    found.map_or(0, |(_, end)| *end)
}

/// `SEARCH DEPTH FIRST BY a, b SET c` behind a recursive query: names only.
fn search_clause(place: Place<'_, '_>) -> usize {
    let begins = place.one_of(1, &["depth", "breadth"]) && place.words_at(2, "first by");
    let set = behind_names(place, 4);
    if begins && place.word_at(set, "set") && place.name_at(set + 1) { set + 2 } else { 0 }
}

/// `CYCLE a, b SET c TO 'x' DEFAULT 'y' USING d`: names and literals only.
fn cycle_clause(place: Place<'_, '_>) -> usize {
    let literal = |offset| {
        place.after(offset).is_some_and(|t| t.is_string() || t.kind == TokenKind::Number)
            || place.one_of(offset, &["true", "false", "null"])
    };
    let set = behind_names(place, 1);
    let mut using = set + 2;
    let marked = place.word_at(using, "to");
    if marked {
        using += 4;
    }
    let marks = !marked || literal(set + 3) && place.word_at(set + 4, "default") && literal(set + 5);
    let names = set > 1 && place.word_at(set, "set") && place.name_at(set + 1);
    if names && marks && place.word_at(using, "using") && place.name_at(using + 1) { using + 2 } else { 0 }
}

/// Returns the first offset behind a list of names.
fn behind_names(place: Place<'_, '_>, mut offset: usize) -> usize {
    while place.name_at(offset) {
        offset += 1;
        if !place.mark_at(offset, ",") {
            break;
        }
        offset += 1;
    }
    offset
}

/// `OPERATOR(pg_catalog.+)` is `+`.
fn qualified_operator(view: &mut View, place: Place<'_, '_>) -> usize {
    let mut at = 2;
    while place.name_at(at) && place.mark_at(at + 1, ".") {
        at += 2;
    }
    let operator = place.after(at).filter(|t| t.kind == TokenKind::Operator && place.mark_at(at + 1, ")"));
    let Some(operator) = operator else { return 0 };
    let built_in = at == 4 && place.after(2).is_some_and(|schema| schema.name == "pg_catalog");
    if at > 2 && !built_in {
        view.hidden = Some(Refusal::violation(operator.at, FOREIGN_OPERATOR));
    }
    let any = place.one_of(at + 2, QUANTIFIERS) && place.mark_at(at + 3, "(");
    view.push(match operator.text.as_ref() {
        _ if any => Seen::Eq,
        // Between operands every symbol binds as any other operator does.
        text if place.before(1).is_some_and(is_operand) => Seen::CustomBinaryOperator(text.to_owned()),
        text => symbol(text),
    });
    at + 2
}

/// Returns whether the `)` before this token closes a `ROWS FROM (`.
fn closes_rows_from(place: Place<'_, '_>) -> bool {
    let mut depth = 0_usize;
    let before = place.tokens.get(..place.index).unwrap_or_default();
    let opens = |token: &Token<'_>| {
        depth += usize::from(token.is_mark(")"));
        depth -= usize::from(token.is_mark("("));
        depth == 0
    };
    let rows =
        before.iter().rposition(opens).and_then(|index| Place::at(place.tokens, index.checked_sub(2)?));
    rows.is_some_and(|rows| rows.words_at(0, "rows from"))
}

/// Returns whether a list of columns without a name before it begins: `f(…) AS (a int, …)`.
fn begins_column_definitions(place: Place<'_, '_>) -> bool {
    place.mark_at(1, "(")
        && place.name_at(2)
        && !place.one_of(2, &["select", "with", "values", "table", "insert", "update", "delete", "merge"])
}

/// `numeric(4, 1) '1.5'` is shown as `numeric '1.5'`.
fn literal_with_modifier(view: &mut View, place: Place<'_, '_>) -> usize {
    // A large modifier pads, so that the judge of the tree must see it.
    let number =
        |offset| place.after(offset).is_some_and(|t| t.kind == TokenKind::Number && t.text.len() <= 3);
    let close = if place.mark_at(3, ",") && number(4) { 5 } else { 3 };
    let modified = place.mark_at(1, "(") && number(2) && place.mark_at(close, ")");
    if !modified || !place.after(close + 1).is_some_and(Token::is_string) {
        return 0;
    }
    view.push_word(&place.token.name, None, Keyword::NoKeyword);
    close + 1
}

/// Shapes an operator: sqlparser knows only some before `ANY (…)`, PostgreSQL takes every one.
pub(super) fn operator(view: &mut View, place: Place<'_, '_>) -> usize {
    if place.one_of(1, QUANTIFIERS) && place.mark_at(2, "(") {
        view.push(Seen::Eq);
        return 1;
    }
    // `(x).*` is shown as `(x)`: the dot was left out already.
    let star_of_row = place.token.text == "*" && place.after_mark(".");
    usize::from(star_of_row && place.before(2).is_some_and(|t| t.is_mark(")")))
}

/// Shapes a form that begins with a punctuation mark.
pub(super) fn mark(view: &mut View, place: Place<'_, '_>) -> usize {
    if place.token.is_mark("(") && opens_query(place) {
        // `(VALUES …)` is shown as `(WITH columns AS (SELECT) VALUES …)`: the parser looks for WITH everywhere.
        return view.show("( with columns as ( select )", 1);
    }
    let empty_set = place.token.is_mark("(") && place.mark_at(1, ")");
    if empty_set && view.within_grouping_sets() && (place.after_mark("(") || place.after_mark(",")) {
        return view.show("null", 2);
    }
    let star = place.after(1).is_some_and(|t| t.text == "*");
    usize::from(place.token.is_mark(".") && place.after_mark(")") && star)
}
