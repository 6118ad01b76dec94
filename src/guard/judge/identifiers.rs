//! Names of relations, schemas and columns: plain identifiers only.

use sqlparser::ast::{Ident, ObjectName, ObjectNamePart};

use super::walk::Walk;
use crate::guard::parser::words;
use crate::guard::refusal::Refusal;
use crate::problem::Code;

/// Judges the name of a relation, a column or a schema.
pub(super) fn judge_object<'t>(
    walk: &mut Walk<'t, '_>,
    name: &'t ObjectName,
) -> Result<Vec<&'t Ident>, Refusal> {
    let names = parts(walk, name)?;
    names.iter().try_for_each(|ident| judge_identifier(walk, ident))?;
    Ok(names)
}

/// Returns the identifiers of a name.
pub(super) fn parts<'t>(
    walk: &Walk<'t, '_>,
    ObjectName(parts): &'t ObjectName,
) -> Result<Vec<&'t Ident>, Refusal> {
    let idents = parts.iter().map(|part| match part {
        ObjectNamePart::Identifier(ident) => Ok(ident),
        ObjectNamePart::Function(_) => Err(walk.refuse_foreign()),
    });
    idents.collect()
}

/// Judges an identifier, which sqlparser also reads from a string literal.
pub(super) fn judge_identifier(walk: &mut Walk<'_, '_>, ident: &Ident) -> Result<(), Refusal> {
    walk.stand_at(ident);
    match ident.quote_style {
        None | Some('"') => Ok(()),
        Some(_) => Err(walk.refuse("A string cannot stand for a name; write name or \"name\".")),
    }
}

/// Judges a name that stands for a column, or before its dot.
pub(super) fn judge_column(walk: &mut Walk<'_, '_>, ident: &Ident) -> Result<(), Refusal> {
    walk.stand_at(ident);
    if ident.quote_style.is_some() || !words::is_reserved(&ident.value) {
        return Ok(());
    }
    Err(Refusal {
        code: Code::Validation,
        ..walk.refuse(format!(
            "{} is a reserved word; quote it to name a column, and put AS before it where it names a result.",
            ident.value.to_ascii_uppercase()
        ))
    })
}
