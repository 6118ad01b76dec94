//! Names of columns, functions and types.

use sqlparser::ast::{DataType, ObjectName, ObjectNamePart};

/// Returns the name of a function or a type, without its schema.
pub(in crate::guard) fn last_name(ObjectName(parts): &ObjectName) -> &str {
    match parts.last() {
        Some(ObjectNamePart::Identifier(ident)) => &ident.value,
        Some(ObjectNamePart::Function(_)) | None => "",
    }
}

/// Returns the name of a type; empty for those that have their own grammar.
pub(in crate::guard) fn type_name(data_type: &DataType) -> &str {
    let DataType::Custom(name, _) = data_type else { return "" };
    last_name(name)
}
