//! Names of functions and types.

use sqlparser::ast::{ObjectName, ObjectNamePart};

/// Returns the name of a function or a type, without its schema.
pub(in crate::guard) fn last_name(ObjectName(parts): &ObjectName) -> &str {
    match parts.last() {
        Some(ObjectNamePart::Identifier(ident)) => &ident.value,
        Some(ObjectNamePart::Function(_)) | None => "",
    }
}
