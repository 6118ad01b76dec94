//! Names of columns, functions and types.

use sqlparser::ast::{ArrayElemTypeDef, DataType, Expr, ObjectName, ObjectNamePart, TypeModifier};

/// The name that PostgreSQL gives to a column, as far as a constant can have it.
#[expect(clippy::wildcard_enum_match_arm, reason = "everything else is called ?column?")]
pub(super) fn implicit_name(expr: &Expr) -> &str {
    match expr {
        Expr::Identifier(name) => &name.value,
        Expr::CompoundIdentifier(parts) => parts.last().map_or("", |name| &name.value),
        Expr::Function(function) => last_name(&function.name),
        Expr::Nested(inner) | Expr::Collate { expr: inner, .. } => implicit_name(inner),
        Expr::Cast { expr: inner, data_type, .. } => match (implicit_name(inner), data_type) {
            ("?column?", DataType::Custom(name, _)) => last_name(name),
            (name, _) => name,
        },
        Expr::Case { .. } => "case",
        Expr::Array(_) => "array",
        Expr::Tuple(_) => "row",
        _ => "?column?",
    }
}

/// The sentence for an operator that is named by another schema than PostgreSQL's own.
pub(super) const FOREIGN_OPERATOR: &str =
    "Only PostgreSQL's own operators may be named: OPERATOR(pg_catalog.+), or just +.";

/// The name of a function or a type, without its schema.
pub(super) fn last_name(ObjectName(parts): &ObjectName) -> &str {
    match parts.last() {
        Some(ObjectNamePart::Identifier(ident)) => &ident.value,
        Some(ObjectNamePart::Function(_)) | None => "",
    }
}

/// To how many bytes a type pads its values.
#[expect(clippy::wildcard_enum_match_arm, reason = "other types do not pad")]
pub(super) fn padding(data_type: &DataType) -> u64 {
    match data_type {
        DataType::Custom(_, modifiers) => modifiers.iter().fold(0, |most, modifier| match modifier {
            TypeModifier::Number(number, _) => most.max(number.parse().unwrap_or(u64::MAX)),
            TypeModifier::Identifier(_) | TypeModifier::String(_) => most,
        }),
        DataType::Array(ArrayElemTypeDef::SquareBracket(element, _)) => padding(element),
        _ => 0,
    }
}
