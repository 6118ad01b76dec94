//! The number of rows of the outermost query, and their order.

use sqlparser::ast::{Expr, LimitClause, Query, Spanned as _, Value, ValueWithSpan};

use super::super::claim::Claim;
use super::super::rule::Rule;
use super::faults::Faults;
use super::parts::{bare, placeholder, placeholders};
use super::placeholders::LIMIT;
use crate::guard::lexer::{Token, TokenKind};
use crate::guard::parser::token_of;

const CURE: &str = "End the statement with LIMIT :limit and declare the parameter limit, or write a number.";

/// Requires a LIMIT on the outermost query. Returns the placeholder of a LIMIT that is one.
pub(super) fn check(
    claim: &Claim<'_>,
    query: &Query,
    tokens: &[Token<'_>],
    faults: &mut Faults<'_>,
) -> Option<usize> {
    let count = match &query.limit_clause {
        Some(LimitClause::LimitOffset { limit, offset: _, limit_by: _ }) => limit.as_ref(),
        Some(LimitClause::OffsetCommaLimit { offset: _, limit: _ }) | None => None,
    };
    let place = |token: usize| tokens.get(token).map(|token| token.at);
    let judged = count.map(|expr| judged(expr, tokens));
    match judged {
        None => faults.add(Rule::MissingLimit, None, "The outermost query has no LIMIT.", CURE),
        Some(Count::Parameter(token)) => {
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
    let limits =
        tokens.iter().enumerate().filter(|(_, t)| t.kind == TokenKind::Placeholder && t.name == LIMIT);
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
    if let Some(Count::Parameter(token)) = judged { Some(token) } else { None }
}

/// The value behind LIMIT.
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

#[cfg(test)]
mod tests {
    use super::super::{
        super::rule::Rule,
        testing::{case, proven, refused},
    };

    #[test]
    fn missing_limit() {
        refused(
            Rule::MissingLimit,
            &[
                case("SELECT full_name FROM people ORDER BY 1 --LIMIT"),
                case("SELECT full_name FROM people ORDER BY 1 LIMIT ALL"),
                case("SELECT full_name FROM people ORDER BY 1 LIMIT NULL"),
                case("SELECT full_name FROM people ORDER BY 1 LIMIT (SELECT 1)"),
                case("SELECT full_name FROM people ORDER BY 1 FETCH FIRST 9 ROWS ONLY --LIMIT"),
                case("SELECT full_name FROM people ORDER BY 1 LIMIT :limit").params("limit#?"),
                case("(SELECT full_name FROM people ORDER BY 1 LIMIT 9)"),
                case("SELECT full_name FROM (SELECT full_name FROM people LIMIT 9) q"),
            ],
        );
        proven(&[
            case("SELECT full_name FROM people ORDER BY 1 LIMIT 9"),
            case("SELECT full_name FROM people ORDER BY 1 LIMIT (9) OFFSET :skip").params("skip#"),
            case("SELECT full_name FROM people UNION SELECT 'x' ORDER BY 1 LIMIT :limit").params("limit#"),
        ]);
    }

    #[test]
    fn limit_lookahead() {
        refused(
            Rule::LimitLookahead,
            &[
                case("SELECT full_name FROM people ORDER BY 1 LIMIT :limit + 1").params("limit#"),
                case("SELECT full_name FROM people ORDER BY 1 LIMIT least(:limit, 5)").params("limit#"),
                case("SELECT full_name FROM people ORDER BY 1 LIMIT :rows").params("rows#"),
                case("SELECT full_name FROM people WHERE id < :limit ORDER BY 1 LIMIT :limit")
                    .params("limit#"),
                case("SELECT full_name FROM people ORDER BY 1 LIMIT :limit OFFSET :limit").params("limit#"),
                case(
                    "SELECT full_name FROM (SELECT full_name FROM people LIMIT :limit) q ORDER BY 1 LIMIT 9",
                )
                .params("limit#"),
            ],
        );
        proven(&[case("SELECT full_name FROM people ORDER BY 1 LIMIT :limit").params("limit#")]);
    }

    #[test]
    fn order_required() {
        refused(
            Rule::OrderRequired,
            &[
                case("SELECT full_name FROM people LIMIT 9"),
                case("SELECT full_name FROM (SELECT full_name FROM people ORDER BY 1) q LIMIT 9"),
            ],
        );
        proven(&[case("SELECT full_name FROM people ORDER BY 1 LIMIT 9")]);
    }
}
