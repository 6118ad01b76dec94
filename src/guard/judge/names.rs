//! Names of columns, functions and types.

use sqlparser::ast::{DataType, Expr, ObjectName, ObjectNamePart};

/// Returns the name that PostgreSQL gives to an output column, as far as a constant can have one.
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

/// Returns the name of a function or a type, without its schema.
pub(super) fn last_name(ObjectName(parts): &ObjectName) -> &str {
    match parts.last() {
        Some(ObjectNamePart::Identifier(ident)) => &ident.value,
        Some(ObjectNamePart::Function(_)) | None => "",
    }
}

/// Returns the name of a type; empty for those that have their own grammar.
pub(super) fn type_name(data_type: &DataType) -> &str {
    let DataType::Custom(name, _) = data_type else { return "" };
    last_name(name)
}
