//! Literals, and the names of types.

use sqlparser::ast::{
    ArrayElemTypeDef, BinaryOperator, DataType, Expr, TypedString, UnaryOperator, Value, ValueWithSpan,
};

use super::parts::{Call, argument, bare};
use crate::guard::output_columns::last_ident;

/// Operators whose right side is a key or a path of keys.
pub(super) const BY_KEY: &[&str] = &["->", "->>", "#>", "#>>", "#-", "?", "?&", "?|"];
/// Types that are written as numbers, which are no names.
const INTEGERS: &[&str] = &["bigint", "int", "int2", "int4", "int8", "integer", "smallint"];

/// Returns an operator as it is written, if it can have to do with JSON.
#[expect(clippy::wildcard_enum_match_arm, reason = "other operators take no keys")]
pub(super) fn operator(operator: &BinaryOperator) -> Option<&str> {
    match operator {
        BinaryOperator::Custom(text) => Some(text),
        BinaryOperator::QuestionPipe => Some("?|"),
        BinaryOperator::AtAt => Some("@@"),
        _ => None,
    }
}

/// Returns the text of a literal, with its escapes.
#[expect(clippy::wildcard_enum_match_arm, reason = "other literals name nothing")]
pub(super) fn text_of(ValueWithSpan { value, span: _ }: &ValueWithSpan) -> Option<&str> {
    match value {
        Value::SingleQuotedString(text) | Value::EscapedStringLiteral(text) => Some(text),
        Value::DollarQuotedString(text) => Some(&text.value),
        _ => None,
    }
}

/// Returns whether an expression is a literal, an integer, or JSON or an hstore that is built of written keys.
#[expect(clippy::wildcard_enum_match_arm, reason = "anything else is not written out")]
pub(super) fn is_written(expr: &Expr) -> bool {
    if matches!(bare(expr), Expr::Cast { kind: _, expr: _, data_type, format: _ } if is_integer(data_type)) {
        return true;
    }
    let mut left = vec![expr];
    while let Some(next) = left.pop() {
        match bare(next) {
            Expr::Value(ValueWithSpan { value: Value::Placeholder(_), span: _ }) => return false,
            Expr::Value(_) | Expr::TypedString(_) => {}
            Expr::Cast { kind: _, expr: inner, data_type: _, format: _ }
            | Expr::UnaryOp { op: UnaryOperator::Minus | UnaryOperator::Plus, expr: inner } => {
                left.push(inner)
            }
            Expr::Array(array) => left.extend(&array.elem),
            other => {
                let builds = |name| matches!(name, "json_build_object" | "jsonb_build_object" | "hstore");
                let Some(call) = Call::of(other).filter(|call| builds(call.name.value.as_str())) else {
                    return false;
                };
                left.extend(call.args.iter().step_by(2).filter_map(argument));
                // A value may be anything but another object, whose keys count as well.
                left.extend(
                    call.args
                        .iter()
                        .skip(1)
                        .step_by(2)
                        .filter_map(argument)
                        .filter(|value| makes_json(value)),
                );
            }
        }
    }
    true
}

/// Returns whether an expression is a literal, with or without a type.
#[expect(clippy::wildcard_enum_match_arm, reason = "anything else is no literal")]
pub(super) fn is_literal(mut expr: &Expr) -> bool {
    loop {
        expr = match expr {
            Expr::Nested(inner) | Expr::Cast { kind: _, expr: inner, data_type: _, format: _ } => inner,
            Expr::Value(ValueWithSpan { value, span: _ }) => return !matches!(value, Value::Placeholder(_)),
            Expr::TypedString(_) => return true,
            _ => return false,
        };
    }
}

/// Returns whether a type has members of names, or is a path of them.
pub(super) fn is_json(data_type: &DataType) -> bool {
    element_name(data_type).is_some_and(|name| matches!(name, "hstore" | "json" | "jsonb" | "jsonpath"))
}

/// Returns whether an expression is JSON or an hstore by its form: a cast, or a call that builds one.
#[expect(clippy::wildcard_enum_match_arm, reason = "other forms do not say their type")]
fn makes_json(expr: &Expr) -> bool {
    match bare(expr) {
        Expr::Cast { kind: _, expr: _, data_type, format: _ } => is_json(data_type),
        other => Call::of(other)
            .is_some_and(|call| call.name.value.starts_with("json") || call.name.value == "hstore"),
    }
}

/// Returns whether a key or a path is a literal with a name in it. PostgreSQL takes a part of digits for a position, also one
/// with a sign, an escape or white space; a letter is never a part of a position.
#[expect(clippy::wildcard_enum_match_arm, reason = "anything else is no literal")]
pub(super) fn is_by_name(path: &Expr) -> bool {
    let has_letter = |value| text_of(value).is_some_and(|text| text.contains(char::is_alphabetic));
    match bare(path) {
        Expr::Cast { kind: _, expr: inner, data_type, format: _ } => {
            !is_integer(data_type) && is_by_name(inner)
        }
        Expr::Array(array) => array.elem.iter().any(is_by_name),
        Expr::Value(value) => has_letter(value),
        Expr::TypedString(typed) => has_letter(&typed.value),
        _ => false,
    }
}

/// Returns whether an expression is the empty path, `'{}'`.
#[expect(clippy::wildcard_enum_match_arm, reason = "other paths are looked at as keys")]
pub(super) fn is_empty_path(mut path: &Expr) -> bool {
    loop {
        path = match path {
            Expr::Nested(inner) | Expr::Cast { kind: _, expr: inner, data_type: _, format: _ } => inner,
            Expr::Array(array) => return array.elem.is_empty(),
            Expr::Value(value)
            | Expr::TypedString(TypedString { data_type: _, value, uses_odbc_syntax: _ }) => {
                return text_of(value).is_some_and(|text| !text.contains(char::is_alphanumeric));
            }
            _ => return false,
        };
    }
}

pub(super) fn is_integer(data_type: &DataType) -> bool {
    type_name(data_type).is_some_and(|name| INTEGERS.contains(&name))
}

/// Returns the name of a type, or of an array's elements.
pub(super) fn element_name(mut data_type: &DataType) -> Option<&str> {
    while let DataType::Array(
        ArrayElemTypeDef::SquareBracket(element, _) | ArrayElemTypeDef::Qualified(element, _),
    ) = data_type
    {
        data_type = element;
    }
    type_name(data_type).map(|name| name.strip_prefix('_').unwrap_or(name))
}

/// Returns the name of a type, as it is written.
#[expect(clippy::wildcard_enum_match_arm, reason = "the types of the grammar are no JSON")]
fn type_name(data_type: &DataType) -> Option<&str> {
    match data_type {
        DataType::Custom(name, _) => last_ident(name).map(|name| name.value.as_str()),
        _ => None,
    }
}
