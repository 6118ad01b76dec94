//! The judge of the tokens.
//!
//! It knows nothing of the tree but which names it accounts for, and refuses every other name, independently of the
//! parser.

use super::calls::unknown_function;
use super::collations::{self, UNKNOWN_COLLATION};
use super::from::unreadable;
use super::roles::NameRole;
use super::types::{Written, unknown_type};
use crate::guard::config::GuardConfig;
use crate::guard::functions_denied;
use crate::guard::lexer::{Place, Token, TokenKind};
use crate::guard::parser::constructs::FOREIGN_OPERATOR;
use crate::guard::parser::words::{is_keyword, is_never_a_function, is_operand};
use crate::guard::refusal::{Reason, Refusal};

/// Words that are grammar only behind certain others, and names elsewhere.
#[rustfmt::skip]
const GRAMMAR_BEHIND: &[(&str, &[&str])] = &[
    ("bernoulli", &["tablesample"]), ("first", &["fetch"]), ("group", &["within"]),
    ("materialized", &["as", "not"]), ("next", &["fetch"]), ("second", &["interval", "to"]),
    ("sets", &["grouping"]), ("system", &["tablesample"]), ("varying", &["bit", "char", "character"]),
    ("zone", &["time"]),
];

/// Words that join two operands or begin a window's frame, or are names of functions.
const INFIX: &[&str] =
    &["escape", "groups", "ilike", "is", "join", "like", "overlaps", "range", "rows", "similar"];

/// Judges the tokens. `roles` has the role of every token in the tree; without a tree every name is unaccounted for.
pub(crate) fn judge(tokens: &[Token<'_>], roles: &[NameRole], config: &GuardConfig) -> Result<(), Refusal> {
    let mut brackets = Vec::new();
    for place in Place::all(tokens) {
        let Place { index, token, .. } = place;
        let role = |index: usize| roles.get(index).copied().unwrap_or_default();
        if token.is_mark("(") {
            let columns = index.checked_sub(1).is_some_and(|name| role(name) == NameRole::Columns);
            brackets.push(Bracket::new(place, columns));
        } else if token.is_mark(")") {
            brackets.pop();
        }
        if token.is_mark("::") || brackets.last().is_some_and(|bracket| bracket.is_type_behind(place)) {
            judge_cast(place, config, &role)?;
        }
        if token.is_name() {
            judge_name(place, role(index), config)?;
        }
        if token.is_word("collate") && !place.is_label() {
            judge_collation(place)?;
        }
        if token.is_word("operator") && place.mark_at(1, "(") {
            judge_operator(place)?;
        }
    }
    Ok(())
}

fn refuse(place: Place<'_, '_>, sentence: impl Into<String>) -> Result<(), Refusal> {
    Err(Refusal::violation(place.token.at, sentence))
}

fn judge_name(place: Place<'_, '_>, role: NameRole, config: &GuardConfig) -> Result<(), Refusal> {
    if functions_denied::danger(&place.token.name).is_some() {
        return refuse_function(place);
    }
    if place.mark_at(1, "(") {
        judge_before_parenthesis(place, role, config)?;
    } else {
        judge_alone(place, role, config)?;
    }
    let is_open = role == NameRole::OpenType;
    let is_before_string = place.after(1).is_some_and(Token::is_string);
    if is_before_string && !is_open { judge_before_string(place, config) } else { Ok(()) }
}

fn refuse_function(place: Place<'_, '_>) -> Result<(), Refusal> {
    let refused = refuse(place, unknown_function(&place.token.name));
    refused.map_err(|refusal| refusal.about(Reason::Function))
}

fn judge_before_parenthesis(
    place: Place<'_, '_>,
    role: NameRole,
    config: &GuardConfig,
) -> Result<(), Refusal> {
    let accounted = match role {
        NameRole::Call => config.allows_function(place.schema(), &place.token.name),
        NameRole::Type | NameRole::OpenType => true,
        NameRole::Columns => !place.after_mark("."),
        NameRole::None | NameRole::Field | NameRole::Relation => false,
    };
    if accounted || is_grammar(place) { Ok(()) } else { refuse_function(place) }
}

/// Judges a name without a parenthesis: it may be a call in another form, or a relation that shows too much.
fn judge_alone(place: Place<'_, '_>, role: NameRole, config: &GuardConfig) -> Result<(), Refusal> {
    let name = place.token.name.as_str();
    let may_call = if place.after_mark(".") {
        // A name before a further dot is a relation or a schema, unless it is a field itself.
        let qualifies = place.mark_at(1, ".") && place.before(2).is_some_and(Token::is_name);
        let accounted = matches!(role, NameRole::Relation | NameRole::Type | NameRole::OpenType) || qualifies;
        !accounted && functions_denied::may_call_behind_a_dot(name)
    } else {
        place.token.is_one_of(&["current_schema", "system_user"])
    };
    if may_call && !config.allows_function(None, name) {
        return refuse(place, unknown_function(name));
    }
    unreadable(place.schema(), name, config).map_or(Ok(()), |sentence| refuse(place, sentence))
}

/// A parenthesis, as far as a type may stand in it without `::`.
enum Bracket {
    /// `CAST(x AS type)`.
    Cast,
    /// `AS x (a type, b type)`.
    Columns,
    /// Anything else.
    Other,
}

impl Bracket {
    fn new(place: Place<'_, '_>, columns: bool) -> Self {
        let query = place.one_of(1, &["select", "table", "values", "with"]) || place.mark_at(1, "(");
        let second = |mark| place.before(2).is_some_and(|t| t.is_mark(mark));
        if place.after_word(&["cast"]) && !second(".") {
            Self::Cast
        } else if columns || place.after_word(&["as"]) && second(")") && !query {
            Self::Columns
        } else {
            Self::Other
        }
    }

    /// Returns whether a type stands behind this token.
    fn is_type_behind(&self, place: Place<'_, '_>) -> bool {
        match self {
            Self::Cast => place.token.is_word("as"),
            Self::Columns => {
                let first = place.after_mark("(") || place.after_mark(",");
                place.token.is_name() && first && place.name_at(1)
            }
            Self::Other => false,
        }
    }
}

/// Returns the name behind a token, with its schema.
fn name_behind<'t, 's>(place: Place<'t, 's>) -> (Option<&'t str>, Option<&'t Token<'s>>) {
    match place.after(1) {
        Some(schema) if place.mark_at(2, ".") && place.after(3).is_some() => {
            (Some(&schema.name), place.after(3))
        }
        name => (None, name),
    }
}

/// Judges the name behind COLLATE: one of PostgreSQL's own collations.
fn judge_collation(place: Place<'_, '_>) -> Result<(), Refusal> {
    let (schema, name) = name_behind(place);
    let built_in = name.is_some_and(|name| name.is_name() && collations::is_built_in(&name.name));
    if built_in && schema.is_none_or(|schema| schema == "pg_catalog") {
        return Ok(());
    }
    refuse(place, UNKNOWN_COLLATION)
}

/// Judges the type behind `::` or `AS`.
fn judge_cast(
    place: Place<'_, '_>,
    config: &GuardConfig,
    role: &impl Fn(usize) -> NameRole,
) -> Result<(), Refusal> {
    let (schema, Some(name)) = name_behind(place) else { return Ok(()) };
    let is_open = role(place.index + if schema.is_some() { 3 } else { 1 }) == NameRole::OpenType;
    if name.is_name() && (is_open || is_allowed_type(schema, name, config) || name.is_word("double")) {
        return Ok(());
    }
    refuse(place, unknown_type(&name.name))
}

/// Judges a name before a string: it is a type, unless it is a keyword.
fn judge_before_string(place: Place<'_, '_>, config: &GuardConfig) -> Result<(), Refusal> {
    let token = place.token;
    let keyword = token.kind == TokenKind::Word && (is_keyword(&token.name) || token.name == "default");
    if !place.after_mark(".") && keyword || is_allowed_type(place.schema(), token, config) {
        return Ok(());
    }
    refuse(place, unknown_type(&token.name))
}

fn is_allowed_type(schema: Option<&str>, token: &Token<'_>, config: &GuardConfig) -> bool {
    Written { schema, name: &token.name, plain: token.kind == TokenKind::Word }.is_allowed(config)
}

/// Returns whether the name before a parenthesis is a word of the grammar.
fn is_grammar(place: Place<'_, '_>) -> bool {
    let name = place.token.name.as_str();
    if place.token.kind != TokenKind::Word || place.after_mark(".") {
        return false;
    }
    let behind = |(word, words): &(&str, &[&str])| *word == name && place.after_word(words);
    if is_never_a_function(name) || GRAMMAR_BEHIND.iter().any(behind) {
        return true;
    }
    match name {
        "filter" | "over" | "repeatable" => place.after_mark(")"),
        "cube" | "rollup" => {
            // GROUP BY DISTINCT, GROUP BY ALL.
            let quantified =
                place.after_word(&["distinct", "all"]) && place.before(2).is_some_and(|t| t.is_word("by"));
            quantified || place.after_word(&["by"]) || place.after_mark(",") || place.after_mark("(")
        }
        // Its parentheses are judged at every place.
        "operator" => true,
        "second" => place.before(1).is_some_and(Token::is_string),
        // Behind an operand these are grammar; elsewhere they would be names.
        infix if INFIX.contains(&infix) => place.before(1).is_some_and(is_operand),
        _ => false,
    }
}

/// Judges `OPERATOR(…)`: `pg_catalog` is the only schema that may stand in it.
fn judge_operator(place: Place<'_, '_>) -> Result<(), Refusal> {
    let is_operator = |by| place.after(by).is_some_and(|t| t.kind == TokenKind::Operator);
    let built_in = place.after(2).is_some_and(|schema| schema.is_name() && schema.name == "pg_catalog")
        && place.mark_at(3, ".")
        && is_operator(4);
    if built_in || is_operator(2) { Ok(()) } else { refuse(place, FOREIGN_OPERATOR) }
}
