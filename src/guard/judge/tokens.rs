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
use crate::guard::lexer::{Token, TokenKind};
use crate::guard::parser::constructs::FOREIGN_OPERATOR;
use crate::guard::parser::words::{is_keyword, is_never_a_function, is_operand};
use crate::guard::refusal::{Reason, Refusal};
use crate::problem::echo;

/// Words that are grammar only behind certain others, and names elsewhere.
const GRAMMAR_BEHIND: &[(&str, &[&str])] = &[
    ("bernoulli", &["tablesample"]),
    ("first", &["fetch"]),
    ("group", &["within"]),
    ("materialized", &["as", "not"]),
    ("next", &["fetch"]),
    ("second", &["interval", "to"]),
    ("sets", &["grouping"]),
    ("system", &["tablesample"]),
    ("varying", &["bit", "char", "character"]),
    ("zone", &["time"]),
];

/// Words that join two operands or begin a window's frame, or are names of functions.
const INFIX: &[&str] =
    &["escape", "groups", "ilike", "is", "join", "like", "overlaps", "range", "rows", "similar"];

/// Judges the tokens. `roles` has the role of every token in the tree; without a tree every name is unaccounted for.
pub(crate) fn judge(tokens: &[Token<'_>], roles: &[NameRole], config: &GuardConfig) -> Result<(), Refusal> {
    let mut brackets = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        let place = Place { tokens, index, token };
        let role = |index: usize| roles.get(index).copied().unwrap_or_default();
        if token.is_mark("(") {
            let columns = index.checked_sub(1).is_some_and(|name| role(name) == NameRole::Columns);
            brackets.push(Bracket::new(place, columns));
        } else if token.is_mark(")") {
            brackets.pop();
        }
        if token.is_mark("::") || brackets.last().is_some_and(|bracket| bracket.is_type_behind(place)) {
            judge_cast(place, config)?;
        }
        if token.is_name() {
            judge_name(place, role(index), config)?;
        }
        if token.is_word("collate") && !place.is_qualified() {
            judge_collation(place)?;
        }
        if token.is_word("operator") && place.is_before_mark("(") {
            judge_operator(place)?;
        }
    }
    Ok(())
}

/// A token and its neighbours.
#[derive(Clone, Copy)]
struct Place<'t, 's> {
    tokens: &'t [Token<'s>],
    index: usize,
    token: &'t Token<'s>,
}

impl<'t, 's> Place<'t, 's> {
    fn before(self, by: usize) -> Option<&'t Token<'s>> {
        self.tokens.get(self.index.checked_sub(by)?)
    }

    fn after(self, by: usize) -> Option<&'t Token<'s>> {
        self.tokens.get(self.index + by)
    }

    fn is_before_mark(self, mark: &str) -> bool {
        self.after(1).is_some_and(|t| t.is_mark(mark))
    }

    fn is_behind_mark(self, mark: &str) -> bool {
        self.before(1).is_some_and(|t| t.is_mark(mark))
    }

    fn is_behind_word(self, words: &[&str]) -> bool {
        self.before(1).is_some_and(|t| t.is_one_of(words))
    }

    /// Returns whether a dot stands before the token.
    fn is_qualified(self) -> bool {
        self.is_behind_mark(".")
    }

    /// Returns the name before the dot.
    fn schema(self) -> Option<&'t str> {
        self.before(2).filter(|_| self.is_qualified()).map(|t| t.name.as_str())
    }

    fn refuse(self, sentence: impl Into<String>) -> Refusal {
        Refusal::violation(self.token.at, sentence)
    }
}

fn judge_name(place: Place<'_, '_>, role: NameRole, config: &GuardConfig) -> Result<(), Refusal> {
    let name = place.token.name.as_str();
    if let Some(does) = functions_denied::danger(name) {
        let sentence = format!("The name {} is never allowed: a function of this name {does}.", echo(name));
        return Err(place.refuse(sentence).about(Reason::Function));
    }
    if place.is_before_mark("(") {
        judge_before_parenthesis(place, role, config)?;
    } else {
        judge_alone(place, role, config)?;
    }
    if place.after(1).is_some_and(Token::is_string) { judge_before_string(place, config) } else { Ok(()) }
}

fn judge_before_parenthesis(
    place: Place<'_, '_>,
    role: NameRole,
    config: &GuardConfig,
) -> Result<(), Refusal> {
    let accounted = match role {
        NameRole::Call => config.allows_function(place.schema(), &place.token.name),
        NameRole::Type => true,
        NameRole::Columns => !place.is_qualified(),
        NameRole::None | NameRole::Field | NameRole::Relation => false,
    };
    if accounted || is_grammar(place) {
        return Ok(());
    }
    Err(place.refuse(unknown_function(&place.token.name)).about(Reason::Function))
}

/// Judges a name without a parenthesis: it may be a call in another form, or a relation that shows too much.
fn judge_alone(place: Place<'_, '_>, role: NameRole, config: &GuardConfig) -> Result<(), Refusal> {
    let name = place.token.name.as_str();
    let may_call = if place.is_qualified() {
        // A name before a further dot is a relation or a schema, unless it is a field itself.
        let qualifies = place.is_before_mark(".") && place.before(2).is_some_and(Token::is_name);
        let accounted = matches!(role, NameRole::Relation | NameRole::Type) || qualifies;
        !accounted && functions_denied::may_call_behind_a_dot(name)
    } else {
        place.token.is_one_of(&["current_schema", "system_user"])
    };
    if may_call && !config.allows_function(None, name) {
        return Err(place.refuse(unknown_function(name)));
    }
    unreadable(place.schema(), name, config).map_or(Ok(()), |sentence| Err(place.refuse(sentence)))
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
        let query = place
            .after(1)
            .is_some_and(|t| t.is_one_of(&["select", "table", "values", "with"]) || t.is_mark("("));
        let second = |mark| place.before(2).is_some_and(|t| t.is_mark(mark));
        if place.is_behind_word(&["cast"]) && !second(".") {
            Self::Cast
        } else if columns || place.is_behind_word(&["as"]) && second(")") && !query {
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
                place.token.is_name()
                    && (place.is_behind_mark("(") || place.is_behind_mark(","))
                    && place.after(1).is_some_and(Token::is_name)
            }
            Self::Other => false,
        }
    }
}

/// Judges the name behind COLLATE: one of PostgreSQL's own collations.
fn judge_collation(place: Place<'_, '_>) -> Result<(), Refusal> {
    let name = match [place.after(1), place.after(2), place.after(3)] {
        [Some(schema), Some(dot), Some(name)] if dot.is_mark(".") => {
            Some(name).filter(|_| schema.name == "pg_catalog")
        }
        [name, _, _] => name,
    };
    if name.is_some_and(|name| name.is_name() && collations::is_built_in(&name.name)) {
        return Ok(());
    }
    Err(place.refuse(UNKNOWN_COLLATION))
}

/// Judges the type behind `::` or `AS`.
fn judge_cast(place: Place<'_, '_>, config: &GuardConfig) -> Result<(), Refusal> {
    let (schema, name) = match [place.after(1), place.after(2), place.after(3)] {
        [Some(schema), Some(dot), Some(name)] if dot.is_mark(".") => (Some(schema.name.as_str()), name),
        [Some(name), _, _] => (None, name),
        [None, _, _] => return Ok(()),
    };
    if name.is_name() && (is_allowed_type(schema, name, config) || name.is_word("double")) {
        return Ok(());
    }
    Err(place.refuse(unknown_type(&name.name)))
}

/// Judges a name before a string: it is a type, unless it is a keyword.
fn judge_before_string(place: Place<'_, '_>, config: &GuardConfig) -> Result<(), Refusal> {
    let token = place.token;
    let keyword = token.kind == TokenKind::Word && (is_keyword(&token.name) || token.name == "default");
    if !place.is_qualified() && keyword || is_allowed_type(place.schema(), token, config) {
        return Ok(());
    }
    Err(place.refuse(unknown_type(&token.name)))
}

fn is_allowed_type(schema: Option<&str>, token: &Token<'_>, config: &GuardConfig) -> bool {
    Written { schema, name: &token.name, plain: token.kind == TokenKind::Word }.is_allowed(config)
}

/// Returns whether the name before a parenthesis is a word of the grammar.
fn is_grammar(place: Place<'_, '_>) -> bool {
    let name = place.token.name.as_str();
    if place.token.kind != TokenKind::Word || place.is_qualified() {
        return false;
    }
    if is_never_a_function(name)
        || GRAMMAR_BEHIND.iter().any(|(word, words)| *word == name && place.is_behind_word(words))
    {
        return true;
    }
    match name {
        "filter" | "over" | "repeatable" => place.is_behind_mark(")"),
        "cube" | "rollup" => {
            // GROUP BY DISTINCT, GROUP BY ALL.
            let quantified = place.is_behind_word(&["distinct", "all"])
                && place.before(2).is_some_and(|t| t.is_word("by"));
            quantified
                || place.is_behind_word(&["by"])
                || place.is_behind_mark(",")
                || place.is_behind_mark("(")
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
        && place.after(3).is_some_and(|dot| dot.is_mark("."))
        && is_operator(4);
    if built_in || is_operator(2) { Ok(()) } else { Err(place.refuse(FOREIGN_OPERATOR)) }
}
