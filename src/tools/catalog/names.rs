//! Names in a catalog: of tables, columns and parameters.

use super::diagnoses;
use super::rule::Rule;
use crate::document::section::{Located, Report};
use crate::problem::echo;

/// A placeholder and a key that the sanitizer lets through.
const MAX_PARAM_BYTES: usize = 63;
/// PostgreSQL's `NAMEDATALEN` less one.
const MAX_NAME_BYTES: usize = 63;

/// Names that promise SQL.
const SQL: [&str; 4] = ["sql", "query", "statement", "raw_sql"];

/// Names that claim an identity, which only the server sets; also with one of [`ENDINGS`].
#[rustfmt::skip]
const IDENTITY: [&str; 22] = [
    "user", "users", "username", "current_user", "session_user", "login", "tenant", "tenants", "role", "roles", "caller",
    "agent", "actor", "principal", "identity", "impersonate", "on_behalf_of", "act_as", "run_as", "as_user", "sudo",
    "acting_user",
];

/// Endings that make another name of an identity.
const ENDINGS: [&str; 5] = ["_id", "_ids", "_name", "_names", "_uuid"];

/// `name` or `schema.name`.
pub(super) fn is_table(name: &str) -> bool {
    name.split('.').count() <= 2 && name.split('.').all(is_identifier)
}

/// Returns whether PostgreSQL takes a name without quotes, apart from the case of its letters.
pub(super) fn is_identifier(name: &str) -> bool {
    name.len() <= MAX_NAME_BYTES
        && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// A parameter's name: lower case, as a placeholder is written. `false`: it can have no placeholder.
pub(super) fn check_param(name: &Located<String>, report: &mut Report<'_, Rule>) -> bool {
    let Located { value: name, line } = name;
    let is_valid = name.len() <= MAX_PARAM_BYTES
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    if !is_valid {
        diagnoses::PARAM_NAME.report(report, *line, &[&echo(name), &MAX_PARAM_BYTES]);
    }
    if let Some(promises) = forbidden(name) {
        diagnoses::PARAM_PROMISES.report(report, *line, &[&echo(name), &promises]);
    }
    is_valid
}

/// Returns a promise of the name that a parameter cannot keep.
fn forbidden(name: &str) -> Option<&'static str> {
    let name = name.to_ascii_lowercase();
    let base = ENDINGS.iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(&name);
    if SQL.contains(&name.as_str()) || name.split('_').any(|word| word == "sql") {
        Some("SQL")
    } else if IDENTITY.contains(&name.as_str()) || IDENTITY.contains(&base) {
        Some("an identity")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_promise_too_much_are_forbidden_and_their_neighbours_are_not() {
        for name in [
            "sql",
            "Query",
            "statement",
            "where_sql",
            "user",
            "user_id",
            "TENANT_ID",
            "roles",
            "caller",
            "agent_name",
            "on_behalf_of",
        ] {
            assert!(forbidden(name).is_some(), "{name}");
        }
        for name in [
            "site",
            "full_name",
            "owner",
            "query_date",
            "user_agent",
            "rolex",
            "department",
            "person_id",
            "mysqlish",
        ] {
            assert_eq!(forbidden(name), None, "{name}");
        }
    }

    #[test]
    fn tables_have_a_schema_or_none() {
        for (name, good) in [
            ("sites", true),
            ("inventory.sites", true),
            ("a.b.c", false),
            ("", false),
            ("a.", false),
            ("a b", false),
            ("\"a\"", false),
            ("1a", false),
        ] {
            assert_eq!(is_table(name), good, "{name}");
        }
    }
}
