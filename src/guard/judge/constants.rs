//! Judges constants: literals, typed strings, intervals.

use sqlparser::ast::{Expr, Interval, Value, ValueWithSpan};

use super::walk::Walk;
use crate::guard::refusal::Refusal;

/// Judges a literal.
pub(super) fn judge_value(walk: &mut Walk<'_, '_>, value: &ValueWithSpan) -> Result<(), Refusal> {
    match &value.value {
        Value::Number(_, _) | Value::Boolean(_) | Value::Null => Ok(()),
        // Only a catalog's statement has these; `@x` and `: x` are not placeholders.
        Value::Placeholder(text) if text.starts_with('$') => Ok(()),
        Value::SingleQuotedString(_)
        | Value::DollarQuotedString(_)
        | Value::EscapedStringLiteral(_)
        | Value::SingleQuotedByteStringLiteral(_)
        | Value::HexStringLiteral(_) => Ok(()),
        Value::TripleSingleQuotedString(_)
        | Value::TripleDoubleQuotedString(_)
        | Value::UnicodeStringLiteral(_)
        | Value::DoubleQuotedByteStringLiteral(_)
        | Value::TripleSingleQuotedByteStringLiteral(_)
        | Value::TripleDoubleQuotedByteStringLiteral(_)
        | Value::SingleQuotedRawStringLiteral(_)
        | Value::DoubleQuotedRawStringLiteral(_)
        | Value::TripleSingleQuotedRawStringLiteral(_)
        | Value::TripleDoubleQuotedRawStringLiteral(_)
        | Value::NationalStringLiteral(_)
        | Value::QuoteDelimitedStringLiteral(_)
        | Value::NationalQuoteDelimitedStringLiteral(_)
        | Value::DoubleQuotedString(_)
        | Value::Placeholder(_) => {
            walk.stand_at_span(value.span);
            walk.refuse("This literal is not PostgreSQL's, or not supported here; write '...'.")
        }
    }
}

/// Judges the literal of `type '…'`.
pub(super) fn judge_string(walk: &mut Walk<'_, '_>, value: &ValueWithSpan) -> Result<(), Refusal> {
    walk.stand_at_span(value.span);
    if matches!(value.value, Value::Number(_, _) | Value::Boolean(_) | Value::Null | Value::Placeholder(_)) {
        return walk.refuse("A type's name is followed by a string literal, or the value is cast: x::type.");
    }
    judge_value(walk, value)
}

/// Judges `INTERVAL '…'`.
pub(super) fn judge_interval(walk: &mut Walk<'_, '_>, interval: &Interval) -> Result<(), Refusal> {
    let Interval {
        value,
        leading_field: _,
        leading_precision: _,
        last_field: _,
        fractional_seconds_precision: _,
    } = interval;
    let Expr::Value(literal) = value.as_ref() else {
        return walk
            .refuse("INTERVAL takes a literal: INTERVAL '1 day'; or multiply one: n * INTERVAL '1 day'.");
    };
    judge_string(walk, literal)
}
