//! The tables that the statement reads, against those that are declared.

use super::{Claim, Rule, faults::Faults};
use crate::problem::echo;

/// A table of the statement, `name` or `schema.name`, and the byte where it stands.
pub(super) struct Read {
    pub(super) table: String,
    pub(super) at: Option<usize>,
}

pub(super) fn check(claim: &Claim<'_>, read: &[Read], faults: &mut Faults<'_>) {
    let mut seen: Vec<&str> = Vec::new();
    for Read { table, at } in read {
        if seen.contains(&table.as_str()) {
            continue;
        }
        seen.push(table);
        if !claim.catalog_tables.contains(table) {
            not_allowed(table, *at, faults);
        } else if !claim.tables.contains(table) {
            faults.add(
                Rule::TableUndeclared,
                *at,
                format!("The statement reads {}, which the entry does not declare.", echo(table)),
                "Add it to the entry's tables, or do not read it.",
            );
        }
    }
    for table in claim.tables.iter().filter(|table| !seen.contains(&table.as_str())) {
        if claim.catalog_tables.contains(table) {
            faults.add(
                Rule::TableUnreferenced,
                None,
                format!("The entry declares the table {}, which the statement does not read.", echo(table)),
                "Remove it from the entry's tables.",
            );
        } else {
            not_allowed(table, None, faults);
        }
    }
}

fn not_allowed(table: &str, at: Option<usize>, faults: &mut Faults<'_>) {
    faults.add(
        Rule::TableNotAllowed,
        at,
        format!("The table {} is not among the catalog's tables.", echo(table)),
        "Add it to the tables at the top of the catalog, written as in the statement, or read another.",
    );
}
