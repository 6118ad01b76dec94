//! The judgements that the guard leaves open, closed in the transaction that runs the statement: types that must be enums or
//! domains of built-in types, and names behind a dot that must be columns.

use postgres::Client;
use postgres::types::{ToSql, Type};

use super::sqlstate;
use crate::call::Failure;
use crate::guard::judge::open::{Path, Relation};
use crate::guard::judge::types;
use crate::guard::statement::ReadOnlyStatement;
use crate::problem::Problem;

/// A name behind a dot that must be a column, else it would call a function.
#[derive(Debug)]
pub(super) struct OpenField {
    pub(super) relation: Relation,
    pub(super) column: String,
    /// The refusal when it is no column.
    pub(super) refusal: Problem,
}

/// Names that are to be columns, once the server has described the statement and holds its relations.
#[derive(Debug, Default)]
#[must_use]
pub(crate) struct OpenFields(pub(super) Vec<OpenField>);

/// The types behind each of the types `$1`: of domains and arrays also what they are made of. A domain is of users' code when a
/// check of it depends on an object that users made, itself excepted.
///
/// Runs with `pg_catalog` first in the path, where each operator is for exactly these types.
const TYPES: &str = r"
WITH RECURSIVE part(name, type) AS (
    SELECT n.name, pg_catalog.to_regtype(n.name)::pg_catalog.oid FROM pg_catalog.unnest($1) AS n(name)
    UNION SELECT p.name, x.type
      FROM part p JOIN pg_catalog.pg_type t ON t.oid = p.type,
           LATERAL (SELECT t.typbasetype AS type WHERE t.typtype = 'd'
                    UNION ALL SELECT t.typelem WHERE t.typelem <> '0' AND t.typlen = -1) x)
SELECT p.name, t.typname::pg_catalog.text, t.typtype::pg_catalog.text, t.oid < '16384',
       t.typelem <> '0' AND t.typlen = -1,
       EXISTS (SELECT FROM pg_catalog.pg_constraint k
                 JOIN pg_catalog.pg_depend d ON d.objid = k.oid
                WHERE k.contypid = t.oid AND d.refobjid >= '16384' AND d.refobjid <> t.oid
                      AND d.classid = 'pg_catalog.pg_constraint'::pg_catalog.regclass::pg_catalog.oid)
  FROM part p LEFT JOIN pg_catalog.pg_type t ON t.oid = p.type";

/// The relations and columns `$1` and `$2` that do not belong together. `$3`: only if there is such a relation.
const MISSING: &str = r"
SELECT w.number::pg_catalog.int8
  FROM ROWS FROM (pg_catalog.unnest($1), pg_catalog.unnest($2), pg_catalog.unnest($3))
       WITH ORDINALITY AS w(relation, name, may_be_query, number)
 WHERE NOT (w.may_be_query AND pg_catalog.to_regclass(w.relation) IS NULL)
   AND NOT EXISTS (SELECT FROM pg_catalog.pg_attribute a
                    WHERE a.attrelid = pg_catalog.to_regclass(w.relation)::pg_catalog.oid
                          AND a.attname = w.name::pg_catalog.name AND NOT a.attisdropped)
 ORDER BY 1";

/// Requires that every type that the guard does not know is an enum, or a domain over built-in types whose checks call no
/// user's code, or an array of these. Before anything of the statement is sent: PostgreSQL calls a type's input function
/// while it parses. `refuse_cast` judges the types that a cast passes: to a domain, that is a cast to its base type.
pub(super) fn check_types(
    client: &mut Client,
    statement: &ReadOnlyStatement,
    refuse_cast: impl Fn(&str) -> Option<String>,
) -> Result<(), Failure> {
    let open: Vec<&Path> = statement.open_types().keys().collect();
    if open.is_empty() {
        return Ok(());
    }
    let names: Vec<String> = open.iter().map(|path| quoted(path)).collect();
    let parameter: (&(dyn ToSql + Sync), Type) = (&names, Type::TEXT_ARRAY);
    let failed = |error: postgres::Error| sqlstate::failure(&error, None);
    for row in client.query_typed(TYPES, &[parameter]).map_err(failed)? {
        let is_harmless = || {
            let (name, kind): (Option<&str>, Option<&str>) = (row.try_get(1).ok()?, row.try_get(2).ok()?);
            let [is_own, is_array, has_code] =
                [3, 4, 5].map(|index| row.try_get::<_, Option<bool>>(index).ok().flatten());
            Some(match kind? {
                "e" => true,
                "d" => !has_code?,
                "b" if is_array? => true,
                "b" => is_own? && types::is_built_in(name?),
                _ => false,
            })
        };
        let name: &str = row.try_get(0).unwrap_or_default();
        let path = names.iter().position(|known| known == name).and_then(|index| open.get(index));
        let Some(path) = path else {
            return Err(Failure::Internal("a type that was not asked for".to_owned()));
        };
        if !is_harmless().unwrap_or(false) {
            return Err(statement.refuse_type(path).into());
        }
        let part: &str = row.try_get::<_, Option<&str>>(1).ok().flatten().unwrap_or_default();
        if let Some(detail) = refuse_cast(part) {
            return Err(statement.refuse_cast(path, detail).into());
        }
    }
    Ok(())
}

/// Requires that the names are columns of their relations.
pub(super) fn check_fields(client: &mut Client, OpenFields(open): OpenFields) -> Result<(), Failure> {
    if open.is_empty() {
        return Ok(());
    }
    let relations: Vec<String> = open.iter().map(|field| quoted(&field.relation.path)).collect();
    let columns: Vec<&str> = open.iter().map(|field| field.column.as_str()).collect();
    let may_be_query: Vec<bool> = open.iter().map(|field| field.relation.may_be_query).collect();
    let parameters: [(&(dyn ToSql + Sync), Type); 3] =
        [(&relations, Type::TEXT_ARRAY), (&columns, Type::TEXT_ARRAY), (&may_be_query, Type::BOOL_ARRAY)];
    let failed = |error: postgres::Error| sqlstate::failure(&error, None);
    let rows = client.query_typed(MISSING, &parameters).map_err(failed)?;
    let Some(row) = rows.first() else { return Ok(()) };
    let number: i64 = row.try_get(0).unwrap_or_default();
    let index = usize::try_from(number).ok().and_then(|number| number.checked_sub(1)).unwrap_or_default();
    let refusal = open.into_iter().nth(index).map(|field| Failure::from(field.refusal));
    Err(refusal.unwrap_or_else(|| Failure::Internal("a field that was not asked for".to_owned())))
}

/// A name as SQL takes it whatever its letters are.
fn quoted((schema, name): &Path) -> String {
    let quote = |part: &String| format!("\"{}\"", part.replace('"', "\"\""));
    schema.iter().chain([name]).map(quote).collect::<Vec<_>>().join(".")
}
