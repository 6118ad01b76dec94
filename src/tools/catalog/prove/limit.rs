//! The number of rows of the outermost query, and their order.

use sqlparser::ast::{Expr, LimitClause, Query, Spanned as _, Value, ValueWithSpan};

use super::super::claim::Claim;
use super::super::diagnoses;
use super::faults::Faults;
use super::parts::{bare, placeholder, placeholders};
use super::placeholders::LIMIT;
use crate::guard::lexer::{Token, TokenKind};
use crate::guard::parser::token_of;

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
    let start = count.and_then(|count| place(token_of(count.span())?));
    let placeholders = count.map(placeholders).unwrap_or_default();
    let is_limit = |token: &usize| tokens.get(*token).is_some_and(|token| token.name == LIMIT);
    let parameter = count.and_then(|count| placeholder(bare(count))).filter(is_limit);
    match (count, parameter, placeholders.first()) {
        (None, _, _) => faults.add(&diagnoses::LIMIT_MISSING, None, &[]),
        (Some(_), Some(token), _) if claim.param(LIMIT).is_some_and(|param| param.optional) => {
            faults.add(&diagnoses::LIMIT_OPTIONAL, place(token), &[]);
        }
        (Some(_), None, Some(token)) => faults.add(&diagnoses::LIMIT_COMPUTED, place(*token), &[]),
        (Some(count), None, None) if !is_number(count) => faults.add(&diagnoses::LIMIT_MISSING, start, &[]),
        (Some(_), _, _) => {}
    }
    for (index, token) in tokens.iter().enumerate() {
        if token.kind == TokenKind::Placeholder && token.name == LIMIT && parameter != Some(index) {
            faults.add(&diagnoses::LIMIT_ELSEWHERE, Some(token.at), &[]);
        }
    }
    if query.order_by.is_none() && count.is_some() {
        faults.add(&diagnoses::ORDER_MISSING, start, &[]);
    }
    parameter
}

/// Returns whether an expression is a whole number.
fn is_number(count: &Expr) -> bool {
    matches!(
        bare(count),
        Expr::Value(ValueWithSpan { value: Value::Number(digits, _), span: _ })
            if digits.bytes().all(|digit| digit.is_ascii_digit())
    )
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
