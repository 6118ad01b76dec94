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
        ObjectNamePart::Function(_) => walk.refuse_foreign(),
    });
    idents.collect()
}

/// Returns the name of a function or a type, and its schema.
pub(super) fn qualified<'t>(
    walk: &mut Walk<'t, '_>,
    name: &'t ObjectName,
) -> Result<(Option<String>, &'t Ident), Refusal> {
    let names = parts(walk, name)?;
    let Some((last, schemas)) = names.split_last() else { return walk.refuse_foreign() };
    walk.stand_at(last);
    let schema = schemas.iter().map(|ident| ident.value.as_str()).collect::<Vec<_>>().join(".");
    Ok(((!schemas.is_empty()).then_some(schema), last))
}

/// Writes a name into a sentence, with its schema.
pub(super) fn written(schema: Option<&str>, name: &Ident) -> String {
    schema.into_iter().chain([name.value.as_str()]).collect::<Vec<_>>().join(".")
}

/// Judges an identifier, which sqlparser also reads from a string literal.
pub(super) fn judge_identifier(walk: &mut Walk<'_, '_>, ident: &Ident) -> Result<(), Refusal> {
    walk.stand_at(ident);
    match ident.quote_style {
        None | Some('"') => Ok(()),
        Some(_) => walk.refuse("A string cannot stand for a name; write name or \"name\"."),
    }
}

/// Judges a name that stands for a column, or before its dot.
pub(super) fn judge_column(walk: &mut Walk<'_, '_>, ident: &Ident) -> Result<(), Refusal> {
    walk.stand_at(ident);
    if ident.quote_style.is_some() || !words::is_reserved(&ident.value) {
        return Ok(());
    }
    let word = ident.value.to_ascii_uppercase();
    let refused = walk.refuse(format!(
        "{word} is a reserved word; quote it to name a column, and put AS before it where it names a result."
    ));
    refused.map_err(|refusal| Refusal { code: Code::Validation, ..refusal })
}
