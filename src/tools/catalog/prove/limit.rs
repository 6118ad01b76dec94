//! How many rows the outermost query gives, and in which order.

use sqlparser::ast::{Expr, LimitClause, Query, Spanned as _, Value, ValueWithSpan};

use super::{
    Claim, Rule,
    faults::Faults,
    parts::{bare, placeholder, placeholders},
    patterns::Use,
    placeholders::LIMIT,
    walk::Gathered,
};
use crate::guard::{
    lexer::{Kind, Token},
    statement::token_of,
};

const CURE: &str = "End the statement with LIMIT :limit and declare the parameter limit, or write a number.";

pub(super) fn check(
    claim: &Claim<'_>,
    query: &Query,
    tokens: &[Token<'_>],
    gathered: &mut Gathered,
    faults: &mut Faults<'_>,
) {
    let count = match &query.limit_clause {
        Some(LimitClause::LimitOffset { limit, offset: _, limit_by: _ }) => limit.as_ref(),
        Some(LimitClause::OffsetCommaLimit { offset: _, limit: _ }) | None => None,
    };
    let place = |token: usize| tokens.get(token).map(|token| token.at);
    let judged = count.map(|expr| judged(expr, tokens));
    match judged {
        None => faults.add(Rule::MissingLimit, None, "The outermost query has no LIMIT.", CURE),
        Some(Count::Parameter(token)) => {
            gathered.uses.insert(token, Use::Limit);
            if claim.params.iter().any(|param| param.name == LIMIT && param.optional) {
                faults.add(
                    Rule::MissingLimit,
                    place(token),
                    "The parameter limit is optional, and LIMIT NULL is no limit.",
                    "Give it a default instead.",
                );
            }
        }
        Some(Count::Number) => {}
        Some(Count::Computed(token)) => faults.add(
            Rule::LimitLookahead,
            place(token),
            "What stands behind LIMIT is not :limit alone: whether more rows follow would not be known.",
            CURE,
        ),
        Some(Count::Unknown(token)) => {
            faults.add(Rule::MissingLimit, token.and_then(place), "This LIMIT may be none.", CURE);
        }
    }
    let limits = tokens.iter().enumerate().filter(|(_, t)| t.kind == Kind::Placeholder && t.name == LIMIT);
    for (_, token) in
        limits.filter(|(index, _)| !matches!(judged, Some(Count::Parameter(at)) if at == *index))
    {
        faults.add(
            Rule::LimitLookahead,
            Some(token.at),
            ":limit is bound to one row more than was asked for.",
            "Use it alone behind the outermost LIMIT, and another parameter here.",
        );
    }
    if query.order_by.is_none()
        && let Some(count) = count
    {
        faults.add(
            Rule::OrderRequired,
            token_of(count.span()).and_then(place),
            "LIMIT without ORDER BY: which rows come is chance.",
            "Add ORDER BY on columns that tell all rows apart.",
        );
    }
}

/// What stands behind LIMIT.
#[derive(Clone, Copy)]
enum Count {
    /// `:limit`, and its token.
    Parameter(usize),
    Number,
    /// Something with a parameter, and its token.
    Computed(usize),
    /// Something else, which may be NULL.
    Unknown(Option<usize>),
}

fn judged(expr: &Expr, tokens: &[Token<'_>]) -> Count {
    if let Expr::Value(ValueWithSpan { value: Value::Number(digits, _), span: _ }) = bare(expr)
        && digits.bytes().all(|c| c.is_ascii_digit())
    {
        return Count::Number;
    }
    let is_limit = |token: &usize| tokens.get(*token).is_some_and(|token| token.name == LIMIT);
    if let Some(token) = placeholder(bare(expr)).filter(is_limit) {
        return Count::Parameter(token);
    }
    match placeholders(expr).first() {
        Some(token) => Count::Computed(*token),
        None => Count::Unknown(token_of(expr.span())),
    }
}
