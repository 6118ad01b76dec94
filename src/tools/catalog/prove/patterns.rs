//! Parameters in patterns: a `%` of the caller's must not make a dump of a search, and what escapes it for LIKE does not
//! escape it for anything else.

use std::collections::BTreeMap;

use sqlparser::ast::{BinaryOperator, Expr, FunctionArg, Value, ValueWithSpan};

use super::{
    Claim, ParamClaim, Rule,
    faults::Faults,
    keys::element_name,
    names::is_quantifier,
    parts::{Call, argument, bare, placeholder, placeholders, within},
    walk::{Gathered, Walk},
};
use crate::{
    guard::lexer::{Kind, Token},
    problem::echo,
};

/// What a placeholder is used for, where it is no plain value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// The whole pattern of a LIKE that escapes with a backslash.
    Pattern,
    /// A pattern, or a part of one, that cannot be escaped: already told.
    Unescaped,
    /// `:name IS NULL`.
    NullTest,
    /// The outermost LIMIT.
    Limit,
}

/// Operators whose right side is a pattern.
const OPERATORS: &[&str] = &["!~", "!~*", "!~~", "!~~*", "~", "~*", "~~", "~~*"];
/// Functions that take a pattern, and the first argument that it may be.
const FUNCTIONS: &[(&str, usize)] = &[
    ("jsonb_path_exists", 1),
    ("jsonb_path_exists_tz", 1),
    ("jsonb_path_match", 1),
    ("jsonb_path_match_tz", 1),
    ("like", 1),
    ("regexp_count", 1),
    ("regexp_instr", 1),
    ("regexp_like", 1),
    ("regexp_match", 1),
    ("regexp_matches", 1),
    ("regexp_replace", 1),
    ("regexp_split_to_array", 1),
    ("regexp_split_to_table", 1),
    ("regexp_substr", 1),
    ("similar_to_escape", 0),
    ("substring", 1),
    ("to_tsquery", 0),
];
/// Types whose text is a pattern.
const TYPES: &[&str] = &["jsonpath", "lquery", "ltxtquery", "tsquery"];

impl<'t> Walk<'_, 't, '_> {
    #[expect(clippy::wildcard_enum_match_arm, reason = "other expressions have no patterns")]
    pub(super) fn patterns(&mut self, expr: &'t Expr) {
        match expr {
            Expr::Like { negated: _, any, expr: _, pattern, escape_char }
            | Expr::ILike { negated: _, any, expr: _, pattern, escape_char } => {
                let whole = placeholder(bare(pattern)).filter(|_| !any);
                match whole {
                    Some(token) if escapes(escape_char.as_deref()) && self.matches(token) => {
                        self.gathered.uses.insert(token, Use::Pattern);
                    }
                    Some(_) | None => self.pattern(pattern, LIKE),
                }
                if let Some(escape) = escape_char {
                    self.pattern(escape, "The escape character is fixed: ESCAPE '\\'.");
                }
            }
            Expr::SimilarTo { negated: _, expr: _, pattern, escape_char } => {
                self.pattern(pattern, NOT_LIKE);
                if let Some(escape) = escape_char {
                    self.pattern(escape, NOT_LIKE);
                }
            }
            Expr::BinaryOp { left: _, op, right } if is_pattern_operator(op) => self.pattern(right, NOT_LIKE),
            Expr::Substring { expr: _, substring_from, substring_for, special: _, shorthand: _ } => {
                for pattern in [substring_from, substring_for].into_iter().flatten() {
                    self.pattern(
                        pattern,
                        "A text here is a regular expression; take a number, or use split_part.",
                    );
                }
            }
            Expr::Cast { kind: _, expr: inner, data_type, format: _ }
                if element_name(data_type).is_some_and(|name| TYPES.contains(&name)) =>
            {
                self.pattern(inner, NOT_LIKE);
            }
            Expr::IsNull(inner) | Expr::IsNotNull(inner) => {
                if let Some(token) = placeholder(bare(inner)) {
                    self.gathered.uses.insert(token, Use::NullTest);
                }
            }
            _ => {}
        }
    }

    /// Arguments by name, where it counts which one is which.
    pub(super) fn named_of_call(&mut self, call: &Call<'t>) {
        let name = call.name.value.as_str();
        let in_order = name.starts_with("json") || FUNCTIONS.iter().any(|(known, _)| *known == name);
        if in_order && !call.args.iter().all(|arg| matches!(arg, FunctionArg::Unnamed(_))) {
            self.faults.add(
                Rule::ForbiddenConstruct,
                self.place(call.name),
                format!("With arguments by name it is not seen which of {} is which.", echo(name)),
                "Write them in order, without names.",
            );
        }
    }

    pub(super) fn patterns_of_call(&mut self, call: &Call<'t>) {
        let known = FUNCTIONS.iter().find(|(known, _)| *known == call.name.value);
        let Some((_, first)) = known else { return };
        for expr in call.args.iter().skip(*first).filter_map(argument) {
            self.pattern(expr, NOT_LIKE);
        }
    }

    /// A pattern that no parameter may be in.
    #[expect(clippy::wildcard_enum_match_arm, reason = "only columns carry a value from elsewhere")]
    fn pattern(&mut self, pattern: &'t Expr, cure: &str) {
        let (all, queries) = within(pattern);
        self.gathered.column_patterns |= queries;
        for expr in all {
            match expr {
                Expr::Identifier(_) | Expr::CompoundIdentifier(_) => self.gathered.column_patterns = true,
                _ => {}
            }
        }
        for token in placeholders(pattern) {
            if self.may_be_text(token) {
                self.gathered.uses.insert(token, Use::Unescaped);
                unescaped(self.tokens, token, cure, self.faults);
            }
        }
    }

    fn param(&self, token: usize) -> Option<&ParamClaim> {
        param_of(self.claim, self.tokens.get(token)?)
    }

    fn matches(&self, token: usize) -> bool {
        self.param(token).is_some_and(|param| param.matching.is_some())
    }

    fn may_be_text(&self, token: usize) -> bool {
        self.param(token).is_none_or(|param| !param.numeric)
    }
}

const LIKE: &str =
    "Make it the whole pattern, LIKE :name ESCAPE '\\', and say match = \"contains\" or \"prefix\".";
const NOT_LIKE: &str =
    "What escapes for LIKE does not escape here; use LIKE :name ESCAPE '\\' with match, or compare with =.";

const CARRIED: &str =
    "Write it as the pattern itself; by way of a column it would reach a pattern unescaped.";

/// What the tree does not show: patterns behind `~ ANY (…)` and its like, and patterns that come by way of a column.
pub(super) fn check(
    claim: &Claim<'_>,
    tokens: &[Token<'_>],
    gathered: &mut Gathered,
    faults: &mut Faults<'_>,
) {
    let may_be_text = |index: &usize| {
        let token = tokens.get(*index).filter(|token| token.kind == Kind::Placeholder);
        token.is_some_and(|token| param_of(claim, token).is_none_or(|param| !param.numeric))
    };
    let lists = (0..tokens.len()).filter(|index| begins_patterns(tokens, *index));
    let inside: Vec<usize> = lists.flat_map(|index| index + 3..end_of(tokens, index + 2)).collect();
    let is_column = |token: &Token<'_>| token.is_name() && !token.is_word("array");
    gathered.column_patterns |= inside.iter().filter_map(|index| tokens.get(*index)).any(is_column);
    let carried = if gathered.column_patterns { gathered.carried.as_slice() } else { &[] };
    for (indices, cure) in [(inside.as_slice(), NOT_LIKE), (carried, CARRIED)] {
        for index in indices.iter().copied().filter(may_be_text) {
            gathered.uses.insert(index, Use::Unescaped);
            unescaped(tokens, index, cure, faults);
        }
    }
    unused(claim, tokens, &gathered.uses, faults);
}

/// Parameters with `match` that match nothing, or are used otherwise too.
fn unused(claim: &Claim<'_>, tokens: &[Token<'_>], uses: &BTreeMap<usize, Use>, faults: &mut Faults<'_>) {
    for param in claim.params.iter().filter(|param| param.matching.is_some()) {
        let of_param = |token: &Token<'_>| token.kind == Kind::Placeholder && token.name == param.name;
        let places: Vec<usize> =
            tokens.iter().enumerate().filter(|(_, token)| of_param(token)).map(|(index, _)| index).collect();
        let told = places.iter().any(|place| uses.get(place) == Some(&Use::Unescaped));
        let matched = places.iter().any(|place| uses.get(place) == Some(&Use::Pattern));
        let other = places.iter().find(|place| !uses.contains_key(place));
        // What is nowhere is told of as such.
        let at = if matched || told { other } else { other.or(places.first()) };
        if let Some(token) = at.and_then(|index| tokens.get(*index)) {
            faults.add(
                Rule::MatchUnused,
                Some(token.at),
                format!("The parameter {} has match, and is no pattern of LIKE here.", echo(&param.name)),
                "With match it is bound with wildcards; take another parameter for this, or leave match out.",
            );
        }
    }
}

fn unescaped(tokens: &[Token<'_>], index: usize, cure: &str, faults: &mut Faults<'_>) {
    let Some(token) = tokens.get(index) else { return };
    faults.add(
        Rule::LikeUnescaped,
        Some(token.at),
        format!("The parameter :{} reaches a pattern in which its wildcards would count.", token.name),
        cure,
    );
}

fn param_of<'c>(claim: &'c Claim<'_>, token: &Token<'_>) -> Option<&'c ParamClaim> {
    claim.params.iter().find(|param| param.name == token.name)
}

/// `ESCAPE '\'`
fn escapes(escape: Option<&Expr>) -> bool {
    matches!(
        escape,
        Some(Expr::Value(ValueWithSpan { value: Value::SingleQuotedString(text), span: _ })) if text == "\\"
    )
}

#[expect(clippy::wildcard_enum_match_arm, reason = "other operators take no patterns")]
fn is_pattern_operator(operator: &BinaryOperator) -> bool {
    match operator {
        BinaryOperator::PGRegexMatch => true,
        BinaryOperator::Custom(text) => OPERATORS.contains(&text.as_str()),
        _ => false,
    }
}

/// Whether `~ ANY (` or `LIKE ALL (` begins here.
fn begins_patterns(tokens: &[Token<'_>], index: usize) -> bool {
    let Some([operator, quantifier, open, ..]) = tokens.get(index..) else { return false };
    let pattern = operator.kind == Kind::Operator && OPERATORS.contains(&operator.text.as_ref())
        || operator.is_word("like")
        || operator.is_word("ilike");
    pattern && is_quantifier(quantifier) && open.is_mark("(")
}

/// The index of the parenthesis that closes the one at `open`.
fn end_of(tokens: &[Token<'_>], open: usize) -> usize {
    let mut depth = 0_usize;
    for (index, token) in tokens.iter().enumerate().skip(open) {
        if token.is_mark("(") {
            depth += 1;
        } else if token.is_mark(")") {
            depth = depth.saturating_sub(1);
            if depth == 0 {
                return index;
            }
        }
    }
    tokens.len()
}
