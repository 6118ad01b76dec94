//! The tables that the statement reads, against those that are declared.

use super::super::claim::Claim;
use super::super::diagnoses;
use super::faults::Faults;
use crate::problem::echo;

/// A table of the statement, `name` or `schema.name`, and the byte where it stands.
pub(super) type Read = (String, Option<usize>);

pub(super) fn check(claim: &Claim<'_>, read: &[Read], faults: &mut Faults<'_>) {
    let mut seen: Vec<&String> = Vec::new();
    for (table, at) in read {
        if seen.contains(&table) {
            continue;
        }
        seen.push(table);
        if !claim.catalog_tables.contains(table) {
            faults.add(&diagnoses::TABLE_NOT_ALLOWED, *at, &[&echo(table)]);
        } else if !claim.tables.contains(table) {
            faults.add(&diagnoses::TABLE_UNDECLARED, *at, &[&echo(table)]);
        }
    }
    for table in claim.tables.iter().filter(|table| !seen.contains(table)) {
        let is_allowed = claim.catalog_tables.contains(table);
        let diagnosis = if is_allowed { diagnoses::TABLE_UNREFERENCED } else { diagnoses::TABLE_NOT_ALLOWED };
        faults.add(&diagnosis, None, &[&echo(table)]);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{
        super::rule::Rule,
        testing::{case, filter, proven, refused},
    };

    #[test]
    fn table_not_allowed() {
        refused(
            Rule::TableNotAllowed,
            &[
                case("SELECT full_name FROM salaries").tables(""),
                case("SELECT full_name FROM salaries").tables("salaries"),
                case("SELECT full_name FROM people").tables("people salaries"),
                case("SELECT full_name FROM public.people").tables(""),
                case("SELECT full_name FROM \"People\"").tables(""),
                case("SELECT full_name FROM people, salaries"),
                case("SELECT full_name FROM people JOIN salaries USING (id)"),
                case("SELECT full_name FROM (people JOIN salaries USING (id))"),
                case("SELECT full_name FROM people, ONLY salaries"),
                case("SELECT full_name FROM people, ONLY (salaries)"),
                case("SELECT full_name FROM people, salaries *"),
                case(
                    "WITH q AS (SELECT 1 AS one) SELECT full_name FROM people WHERE id IN (SELECT id FROM hr.q)",
                ),
                // Its own name means the table within it.
                case(
                    "WITH salaries AS (SELECT full_name FROM salaries) SELECT full_name FROM salaries, people",
                ),
                // It is not yet, or no more, what the name means.
                case(
                    "WITH a AS (SELECT 1 AS x FROM b), b AS (SELECT 1 AS y) SELECT full_name FROM a, b, people",
                ),
                case("SELECT full_name FROM people, (WITH q AS (SELECT 1 AS x) SELECT x FROM q) z, q"),
            ],
        );
        proven(&[
            case("SELECT full_name FROM people"),
            case("SELECT full_name FROM hr.people").tables("hr.people"),
            case("SELECT full_name FROM \"people\" AS p, LATERAL (SELECT 1 AS one FROM sites) x")
                .tables("people sites"),
            case("WITH salaries AS (SELECT full_name FROM people) SELECT full_name FROM salaries"),
            case(
                "WITH salaries AS (SELECT full_name FROM people) SELECT (SELECT max(full_name) FROM salaries) AS full_name",
            ),
            case(
                "WITH RECURSIVE up AS (SELECT full_name, boss FROM people UNION ALL SELECT p.full_name, p.boss \
                 FROM up JOIN people p ON p.id = up.boss) SELECT full_name FROM up",
            ),
        ]);
    }

    #[test]
    fn the_view_of_the_parser_hides_no_table() {
        // A WITH query called columns is shown to the parser where there is none.
        refused(
            Rule::TableUndeclared,
            &[
                filter("id IN ((SELECT id FROM columns) UNION (SELECT 1))"),
                filter("id IN (VALUES ((SELECT id FROM columns)))"),
            ],
        );
        proven(&[filter("id IN (VALUES ((SELECT id FROM columns)))").tables("people columns")]);
    }

    #[test]
    fn table_undeclared() {
        refused(
            Rule::TableUndeclared,
            &[
                case("SELECT full_name FROM people, sites"),
                case("SELECT full_name FROM people, hr.people x"),
                filter("EXISTS (SELECT 1 FROM devices)"),
            ],
        );
        proven(&[case("SELECT full_name FROM people, sites").tables("people sites")]);
    }

    #[test]
    fn table_unreferenced() {
        refused(
            Rule::TableUnreferenced,
            &[
                case("SELECT full_name FROM people").tables("people sites"),
                case("SELECT full_name FROM people").tables("people hr.people"),
                case("WITH sites AS (SELECT full_name FROM people) SELECT full_name FROM sites")
                    .tables("people sites"),
            ],
        );
        proven(&[
            case("SELECT full_name FROM people WHERE id IN (SELECT id FROM sites)").tables("people sites"),
            case("SELECT 1 AS full_name").tables(""),
        ]);
    }
}
