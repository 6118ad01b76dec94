//! What a change of type makes of a value.

use sqlparser::ast::{ArrayElemTypeDef, DataType, Expr, TypeModifier};

use super::{
    bounds::{Bound, NUMERIC_BYTES, SMALL, symbol},
    literals::{literal_of, literal_text},
    moments,
    names::type_name,
    paths::fan_out,
};

/// Types that pad to a length, or to so many digits.
const PADDING: &[&str] = &["bit", "bpchar", "char", "character", "dec", "decimal", "numeric"];

/// What a cast makes of a value: it writes out the exponent of a text that becomes a `numeric`, reads a date and pads to a
/// length.
pub(super) fn converted(bound: Bound, inner: &Expr, data_type: &DataType) -> Bound {
    let Bound { bytes, number } = bound;
    let written = literal_of(inner).map(literal_text);
    let text = number == u64::MAX && may_be_text(inner);
    if type_name(data_type) == "jsonpath" {
        let items = match written {
            Some(path) => fan_out(path),
            None if text && bytes > SMALL => u64::MAX,
            None => 1,
        };
        return Bound::of_bytes(bytes.max(items.saturating_mul(SMALL)));
    }
    let exponent = text && is_numeric(data_type);
    let bytes = padded(data_type, bytes).saturating_add(if exponent { NUMERIC_BYTES } else { 0 });
    match written {
        Some(text) if moments::is_temporal(data_type) => {
            Bound { bytes, number: moments::largest_field(text, data_type) }
        }
        Some(_) | None => Bound { bytes, number },
    }
}

/// To how many bytes a type pads a value that takes so many.
pub(super) fn padded(data_type: &DataType, bytes: u64) -> u64 {
    if let DataType::Array(ArrayElemTypeDef::SquareBracket(element, _)) = data_type {
        // Elements are two bytes long at least, with what divides them.
        let elements = (bytes / 2).saturating_add(1);
        return bytes.max(elements.saturating_mul(padded(element, 1)));
    }
    let DataType::Custom(_, modifiers) = data_type else { return bytes };
    if !PADDING.contains(&type_name(data_type)) {
        return bytes;
    }
    modifiers.iter().fold(bytes, |most, modifier| match modifier {
        TypeModifier::Number(number, _) => most.max(number.parse().unwrap_or(u64::MAX)),
        TypeModifier::Identifier(_) | TypeModifier::String(_) => most,
    })
}

/// Whether the type is `numeric`, whose values have any number of digits.
pub(super) fn is_numeric(data_type: &DataType) -> bool {
    matches!(type_name(data_type), "dec" | "decimal" | "numeric")
}

/// For how many digits a text can stand that is put together and becomes numbers: `1e131071,` and so on.
pub(super) fn hidden_digits(text: &Expr, bound: Bound, data_type: &DataType) -> u64 {
    if may_be_text(text) && bound.number == u64::MAX && holds_numbers(data_type) {
        bound.bytes.div_ceil(8).saturating_mul(NUMERIC_BYTES)
    } else {
        0
    }
}

/// Whether values of the type hold numbers that have any number of digits.
fn holds_numbers(data_type: &DataType) -> bool {
    if let DataType::Array(ArrayElemTypeDef::SquareBracket(element, _)) = data_type {
        return is_numeric(element) || holds_numbers(element);
    }
    matches!(type_name(data_type), "jsonb" | "nummultirange" | "numrange")
}

/// Whether the value may be a text that is put together, in which an exponent may hide. What a literal hides is counted
/// where it stands.
#[expect(clippy::wildcard_enum_match_arm, reason = "anything else may be a text")]
pub(super) fn may_be_text(expr: &Expr) -> bool {
    match expr {
        Expr::Nested(inner) | Expr::Cast { expr: inner, .. } => may_be_text(inner),
        Expr::BinaryOp { op, .. } => !matches!(symbol(op), "+" | "-" | "*" | "/" | "%" | "^"),
        Expr::Value(_)
        | Expr::TypedString(_)
        | Expr::Interval(_)
        | Expr::UnaryOp { .. }
        | Expr::Array(_)
        | Expr::Tuple(_)
        | Expr::Extract { .. }
        | Expr::Position { .. } => false,
        _ => true,
    }
}
