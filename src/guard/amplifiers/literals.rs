//! Literals: the numbers in them, and how many digits their exponents stand for.

use sqlparser::ast::Value;

/// Digits of the largest `numeric`, before and behind the point.
pub(super) const NUMERIC_DIGITS: f64 = 147_456.0;

/// The text of a literal, as PostgreSQL reads it.
pub(super) fn text(value: &Value) -> &str {
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

/// The number that a literal is, without its sign.
pub(super) fn number(value: &Value) -> Option<f64> {
    let in_base = |radix| usize::from_str_radix(text(value), radix).map_or(f64::MAX, as_float);
    match value {
        Value::HexStringLiteral(_) => Some(in_base(16)),
        Value::SingleQuotedByteStringLiteral(_) => Some(in_base(2)),
        Value::Null | Value::Boolean(_) => Some(0.0),
        _ => parse(text(value).trim()),
    }
}

/// The largest number among other text.
pub(super) fn largest_number(text: &str) -> f64 {
    words(text).filter_map(parse).fold(0.0, f64::max)
}

/// Returns the digits that the exponents in a literal stand for. Backslashes and JSON's escapes are undone.
pub(super) fn exponents(text: &str) -> f64 {
    words(&unescaped(text)).filter_map(exponent).map(|digits| digits.min(NUMERIC_DIGITS)).sum()
}

/// A large number as the nearest float.
#[expect(clippy::cast_precision_loss, reason = "limits are far below 2^53")]
pub(super) const fn as_float(number: usize) -> f64 {
    number as f64
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '.' | '_' | '+' | '-'))
}

/// A number as PostgreSQL writes it, without its sign.
fn parse(word: &str) -> Option<f64> {
    let digits = word.trim_start_matches(['-', '+']);
    if !digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return None;
    }
    let digits = digits.replace('_', "");
    let based = |prefix: char, radix| {
        let digits = digits.strip_prefix('0')?.strip_prefix([prefix, prefix.to_ascii_uppercase()])?;
        usize::from_str_radix(digits, radix).ok().map(as_float)
    };
    digits
        .parse()
        .ok()
        .or_else(|| based('x', 16))
        .or_else(|| based('o', 8))
        .or_else(|| based('b', 2))
        .or_else(|| {
            // `1000000px`: what follows the digits may be cut off.
            let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
            digits.get(..end)?.parse().ok()
        })
}

/// The exponent of a number that has one of three digits or more, without its sign.
fn exponent(word: &str) -> Option<f64> {
    let (mantissa, exponent) = word.split_once(['e', 'E'])?;
    let digits = exponent.trim_start_matches(['-', '+']).replace('_', "");
    let is_number = mantissa.bytes().any(|c| c.is_ascii_digit())
        && mantissa.bytes().all(|c| c.is_ascii_digit() || matches!(c, b'.' | b'-' | b'+' | b'_'));
    let long = digits.len() >= 3 && digits.bytes().all(|c| c.is_ascii_digit());
    (is_number && long).then(|| digits.parse().unwrap_or(f64::MAX))
}

/// A text without backslashes, and with what `\u0065` stands for.
fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut parts = text.split('\\');
    plain.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let escaped = part
            .strip_prefix('u')
            .and_then(|rest| rest.split_at_checked(4))
            .and_then(|(digits, rest)| Some((char::from_u32(u32::from_str_radix(digits, 16).ok()?)?, rest)));
        match escaped {
            Some((c, rest)) => {
                plain.push(c);
                plain.push_str(rest);
            }
            None => plain.push_str(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, largest: f64, digits: f64) {
        assert_eq!((largest_number(text), exponents(text)), (largest, digits), "{text}");
    }

    #[test]
    fn numbers_and_exponents_are_found_however_they_are_spelt() {
        check("", 0.0, 0.0);
        check("900000000", 9e8, 0.0);
        check("-9e8", 9e8, 0.0);
        check("{1,20000}", 20_000.0, 0.0);
        check("0xfffff", 1_048_575.0, 0.0);
        check("1_000_000", 1e6, 0.0);
        check("a 12345 b", 12_345.0, 0.0);
        check("12345px", 12_345.0, 0.0);
        check("[1\\u0065131071,\\1e131071]", f64::INFINITY, 262_142.0);
        check("1e99 9e107d9d372b 550e8400-e29b-41d4-a716-446655440000", 1e99, 0.0);
    }
}
