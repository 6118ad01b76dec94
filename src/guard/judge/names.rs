//! Names of columns, functions and types.

use sqlparser::ast::{DataType, Expr, ObjectName, ObjectNamePart};

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

/// The name of a type that is no grammar's own; empty for those.
pub(super) fn type_name(data_type: &DataType) -> &str {
    let DataType::Custom(name, _) = data_type else { return "" };
    last_name(name)
}
