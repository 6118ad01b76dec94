//! Whole rows as values: `p`, `to_json(p)`, `p.to_json`, and every member of a JSON value.

use sqlparser::ast::{Expr, Ident};

use super::super::claim::Claim;
use super::super::diagnoses::{self, Diagnosis};
use super::faults::Faults;
use super::found::Found;
use super::literals::is_empty_path;
use super::parts::{Call, argument, fields};
use crate::guard::functions::{self, Members};
use crate::problem::echo;

/// Refuses whole rows and every member of a value.
pub(super) fn check(claim: &Claim<'_>, found: &Found<'_>, faults: &mut Faults<'_>) {
    let mut rows = Rows { claim, found, faults };
    found.exprs.iter().for_each(|(expr, scope)| rows.expr(expr, *scope));
    found.calls.iter().for_each(|call| rows.call(call));
}

struct Rows<'r, 't, 'f> {
    claim: &'r Claim<'r>,
    found: &'r Found<'t>,
    faults: &'r mut Faults<'f>,
}

impl Rows<'_, '_, '_> {
    #[expect(clippy::wildcard_enum_match_arm, reason = "whole rows have these forms only")]
    fn expr(&mut self, expr: &Expr, scope: Option<usize>) {
        match expr {
            Expr::Identifier(ident) if self.found.scopes.is_row(scope, &ident.value) => {
                self.refuse(&diagnoses::ROW_BY_NAME, ident);
            }
            Expr::CompoundIdentifier(parts) => {
                let [.., relation, field] = parts.as_slice() else { return };
                let of_relation = || self.found.scopes.is_column(scope, &relation.value, &field.value);
                let is_column = if parts.len() == 2 { of_relation() } else { None };
                if is_column != Some(true) {
                    self.field(field);
                }
                if is_column == Some(false) {
                    self.refuse(&diagnoses::NO_COLUMN_HERE, field);
                }
            }
            Expr::CompoundFieldAccess { root: _, access_chain } => {
                for field in fields(access_chain) {
                    self.field(field);
                    self.nameless(field);
                }
            }
            _ => {}
        }
    }

    /// A name behind a dot. It may be a function, also one that no query can call: `any_out`, `record_send`.
    fn field(&mut self, field: &Ident) {
        let name = field.value.as_str();
        let is_of_types = (name.starts_with("any") || name.starts_with("record"))
            && (name.ends_with("_out") || name.ends_with("_send"));
        let takes_rows = functions::find(name).is_some_and(|function| function.takes_rows);
        if is_of_types || takes_rows || self.claim.guard.adds_function(name) {
            self.refuse(&diagnoses::ROW_BEHIND_DOT, field);
        }
    }

    /// `(ROW(c)).f1`: the name of the field does not say where the row was made.
    fn nameless(&mut self, field: &Ident) {
        let number = field.value.strip_prefix('f').unwrap_or_default();
        if !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit()) {
            self.refuse(&diagnoses::ROW_FIELD, field);
        }
    }

    fn call(&mut self, call: &Call<'_>) {
        let name = call.name.value.as_str();
        let mut path = call.args.iter().skip(1).filter_map(argument);
        let without_path = name.ends_with("_extract_path_text") && path.all(is_empty_path);
        let spreads = functions::find(name).is_some_and(|function| function.members == Members::Spreads);
        if spreads || without_path {
            self.refuse(&diagnoses::EVERY_MEMBER, call.name);
        }
        if call.args.iter().any(|arg| argument(arg).is_none()) && name != "count" {
            self.refuse(&diagnoses::WILDCARD_ARGUMENT, call.name);
        }
    }

    fn refuse(&mut self, diagnosis: &Diagnosis, name: &Ident) {
        self.faults.add(diagnosis, self.found.place(name), &[&echo(&name.value)]);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{
        super::rule::Rule,
        testing::{case, filter, proven, refused},
    };

    #[test]
    fn wildcard_select() {
        refused(
            Rule::WildcardSelect,
            &[
                case("SELECT * FROM people"),
                case("SELECT p.* FROM people p"),
                case("SELECT DISTINCT * FROM people"),
                case("SELECT full_name, * FROM people"),
                case("SELECT (p.auth).* FROM people p"),
                case("TABLE people"),
                case("SELECT full_name FROM (TABLE people) q"),
                filter("EXISTS (SELECT * FROM people)"),
                filter("ROW(p.*) IS NULL"),
                case("SELECT p AS full_name FROM people p"),
                case("SELECT people AS full_name FROM people"),
                case("SELECT people AS full_name FROM hr.people").tables("hr.people"),
                case("SELECT to_json(p) AS full_name FROM people p"),
                case("SELECT json_agg(p ORDER BY p.id) AS full_name FROM people p"),
                case("SELECT count(p) AS full_name FROM people p"),
                case("SELECT count(p.*) AS full_name FROM people p"),
                case("SELECT p.to_json AS full_name FROM people p"),
                case("SELECT (p).full_name FROM people p"),
                case("SELECT full_name FROM people p WHERE p IS NOT NULL"),
                case("SELECT full_name FROM people p WHERE EXISTS (SELECT p FROM sites)")
                    .tables("people sites"),
                case("SELECT row_to_json(q) AS full_name FROM (SELECT full_name FROM people) q"),
                case("WITH q AS (SELECT full_name FROM people) SELECT q::text AS full_name FROM q"),
                case("SELECT j AS full_name FROM people JOIN sites USING (id) AS j").tables("people sites"),
                case("SELECT full_name FROM people p GROUP BY full_name, p"),
                case("SELECT full_name FROM people p ORDER BY p LIMIT 9"),
                case("SELECT p.hstore AS full_name FROM people p").guard("@hstore"),
                case("SELECT ((ROW(c)).f1)::text AS full_name FROM people"),
                case("SELECT (q.r).f12 AS full_name FROM (SELECT ROW(c) AS r FROM people) q"),
                case("SELECT p.record_out AS full_name FROM people p"),
                case("SELECT e.text AS full_name FROM people, jsonb_array_elements(data) AS e"),
            ],
        );
        proven(&[
            case("SELECT count(*) AS full_name FROM people"),
            case("SELECT 2 * 3 AS full_name FROM people"),
            case("SELECT p.a * p.b AS full_name FROM people p"),
            filter("EXISTS (SELECT 1 FROM people)"),
            case("SELECT n AS full_name FROM people, unnest(tags) AS n"),
            case("SELECT q.count AS full_name FROM (SELECT count(*) AS count FROM people) q"),
            case("SELECT count(*) AS people FROM people ORDER BY people LIMIT 9").columns("people"),
            case("SELECT status AS people FROM people GROUP BY people").columns("people"),
            case("SELECT q AS full_name FROM (SELECT full_name AS q FROM people) q"),
            case("SELECT to_json(p.full_name) AS full_name FROM people p"),
            filter("data @? '$.a[*].b'"),
        ]);
    }

    #[test]
    fn every_member_of_a_value() {
        refused(
            Rule::WildcardSelect,
            &[
                case("SELECT value AS full_name FROM people, jsonb_each_text(data) AS m"),
                case("SELECT jsonb_pretty(data) AS full_name FROM people"),
                case("SELECT svals(data) AS full_name FROM people").guard("@hstore"),
                case("SELECT jsonb_to_tsvector('simple', data, '[\"all\"]') AS full_name FROM people"),
                case("SELECT json_to_tsvector(data, '\"all\"') AS full_name FROM people"),
                case("SELECT jsonb_extract_path_text(data, VARIADIC '{}') AS full_name FROM people"),
                case(
                    "SELECT jsonb_extract_path_text(data, VARIADIC ARRAY[]::text[]) AS full_name FROM people",
                ),
                filter("data @? '$.*'"),
                filter("data @@ '$.* == \"x\"'"),
                filter("data @@ '$.keyvalue().value == \"x\"'"),
                filter("data #>> '{}' = 'x'"),
                filter("data #>> (ARRAY[]::text[]) = 'x'"),
                filter("jsonb_extract_path_text(data) = 'x'"),
                case("SELECT full_name FROM people, jsonb_path_query(data, '$.keyvalue()') AS x"),
                case("SELECT (jsonb_each_text(data)).value AS full_name FROM people"),
                filter("jsonb_path_exists(data, '$ . **.a'::jsonpath)"),
            ],
        );
    }
}
