//! Literals: their values, and what these can grow to.

use sqlparser::ast::{Expr, TypedString, UnaryOperator, Value, ValueWithSpan};

use super::bounds::{Bound, NUMERIC_BYTES, SMALL};

#[expect(clippy::wildcard_enum_match_arm, reason = "other literals have no text")]
pub(super) fn literal_text(ValueWithSpan { value, span: _ }: &ValueWithSpan) -> &str {
    match value {
        Value::Number(text, _)
        | Value::SingleQuotedString(text)
        | Value::EscapedStringLiteral(text)
        | Value::SingleQuotedByteStringLiteral(text)
        | Value::HexStringLiteral(text) => text,
        Value::DollarQuotedString(text) => &text.value,
        _ => "",
    }
}

/// The bound of a literal.
pub(super) fn literal(value: &ValueWithSpan) -> Bound {
    // A parameter is as short as a text from a table; as a number it is what the caller likes.
    if matches!(value.value, Value::Placeholder(_)) {
        return Bound::of_bytes(SMALL);
    }
    let text = literal_text(value).trim();
    let written = u64::try_from(text.len()).unwrap_or(u64::MAX).max(1);
    if matches!(value.value, Value::HexStringLiteral(_)) {
        return Bound { bytes: written, number: u64::from_str_radix(text, 16).unwrap_or(u64::MAX) };
    }
    // A number, or JSON, an array or a range that holds some.
    let exponents = exponents_within(text);
    if exponents > 0 {
        return Bound::of_bytes(written.saturating_add(exponents));
    }
    // Digits before the point, rounded up; what is no number has no bound as one.
    let (whole, rest) = text.trim_start_matches(['-', '+']).split_once('.').unwrap_or((text, ""));
    let whole = whole.trim_start_matches(['-', '+']);
    let number = match whole.parse::<u64>() {
        _ if !rest.bytes().all(|c| c.is_ascii_digit()) => u64::MAX,
        Ok(number) => number.saturating_add(u64::from(!rest.is_empty())),
        Err(_) if matches!(value.value, Value::Null | Value::Boolean(_)) || whole.is_empty() => 1,
        Err(_) => u64::MAX,
    };
    Bound { bytes: written, number }
}

/// How many digits the exponents of the numbers within a text stand for.
pub(super) fn exponents_within(text: &str) -> u64 {
    // In an array a backslash stands before any character.
    let text = text.replace('\\', "");
    let words = text.split(|c: char| !c.is_alphanumeric() && !matches!(c, '.' | '+' | '-' | '_'));
    words.filter_map(exponent).fold(0, |sum, exponent| sum.saturating_add(exponent.min(NUMERIC_BYTES)))
}

/// The exponent of a number that has one, without its sign.
fn exponent(text: &str) -> Option<u64> {
    let (mantissa, exponent) = text.split_once(['e', 'E'])?;
    let digits = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
    let number = mantissa.bytes().all(|c| c.is_ascii_digit() || matches!(c, b'.' | b'-' | b'+' | b'_'));
    let power = !digits.is_empty() && digits.bytes().all(|c| c.is_ascii_digit() || c == b'_');
    (number && !mantissa.is_empty() && power).then(|| digits.replace('_', "").parse().unwrap_or(u64::MAX))
}

/// The literal that stands there, or is cast.
#[expect(clippy::wildcard_enum_match_arm, reason = "anything else is no literal")]
pub(super) fn literal_of(expr: &Expr) -> Option<&ValueWithSpan> {
    let mut inner = expr;
    loop {
        inner = match inner {
            Expr::Value(ValueWithSpan { value: Value::Placeholder(_), span: _ }) => return None,
            Expr::Value(value) | Expr::TypedString(TypedString { value, .. }) => return Some(value),
            Expr::Nested(expr) | Expr::Cast { expr, .. } => expr,
            _ => return None,
        };
    }
}

/// How deep brackets nest in a JSON text.
pub(super) fn depth(json: &str) -> u64 {
    let (mut depth, mut deepest, mut text, mut escaped) = (0_u64, 0, false, false);
    for c in json.bytes() {
        match c {
            _ if escaped => escaped = false,
            b'\\' if text => escaped = true,
            b'"' => text = !text,
            b'[' | b'{' if !text => depth += 1,
            b']' | b'}' if !text => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

/// How many cells dimensions ask for that are written down: `'{2,3}'`, in plain decimal digits.
pub(super) fn cells(dimensions: &Expr) -> Option<u64> {
    let text = literal_text(literal_of(dimensions)?).trim();
    let dimensions = text.strip_prefix('{')?.strip_suffix('}')?;
    if dimensions.trim().is_empty() {
        return Some(0);
    }
    let numbers = dimensions.split(',').map(|n| n.trim().parse::<u64>().ok());
    numbers.into_iter().try_fold(1_u64, |product, n| Some(product.saturating_mul(n?)))
}

/// A whole number that is written down, without its sign; zero for anything else.
#[expect(clippy::wildcard_enum_match_arm, reason = "zero stands for anything else")]
pub(super) fn whole(expr: &Expr) -> u64 {
    match expr {
        Expr::Value(value) => literal_text(value).parse().unwrap_or_default(),
        Expr::UnaryOp { op: UnaryOperator::Minus | UnaryOperator::Plus, expr: inner }
        | Expr::Nested(inner) => whole(inner),
        _ => 0,
    }
}
