//! Relations of PostgreSQL's own that report on other sessions, on roles and on the server: reading them needs `@catalog`.
//!
//! The rest of the catalog describes the database's objects, as `describe_database` does.

use super::functions;

/// Names, or prefixes that end in `*`, by their subject. In every schema: extensions have some, too.
#[rustfmt::skip]
const REVEALING: &[(&str, &[&str])] = &[
    (
        "other sessions: the text of their statements, their addresses, their locks",
        &[
            "pg_cursors", "pg_locks", "pg_prepared_statements", "pg_prepared_xacts", "pg_stat_activity",
            "pg_stat_gssapi", "pg_stat_monitor*", "pg_stat_progress_*", "pg_stat_ssl", "pg_stat_statements*",
        ],
    ),
    (
        "roles and what they are configured with",
        &[
            "pg_auth_members", "pg_authid", "pg_db_role_setting", "pg_group", "pg_roles", "pg_shadow", "pg_user",
            "pg_user_mapping", "pg_user_mappings",
        ],
    ),
    (
        "the server: its settings, files and memory, its replicas and remote servers",
        &[
            "pg_aios", "pg_available_extension_versions", "pg_available_extensions", "pg_backend_memory_contexts",
            "pg_buffercache*", "pg_config", "pg_file_settings", "pg_foreign_server", "pg_hba_file_rules",
            "pg_ident_file_mappings", "pg_replication_*", "pg_settings", "pg_shmem_allocations*",
            "pg_stat_archiver", "pg_stat_replication*", "pg_stat_subscription*", "pg_stat_wal_receiver",
            "pg_subscription", "pg_timezone_abbrevs", "pg_timezone_names",
        ],
    ),
];

#[rustfmt::skip]
/// Views of `information_schema` on the same subjects, under names that a user's tables may have.
const STANDARD: &[&str] = &[
    "_pg_foreign_*", "_pg_user_mappings", "administrable_role_authorizations", "applicable_roles", "enabled_roles",
    "foreign_data_wrapper*", "foreign_server*", "user_mapping*",
];

/// Returns the subject beyond this database's objects that a relation reports on; `None` for any other.
pub(crate) fn subject(schema: Option<&str>, name: &str) -> Option<&'static str> {
    if schema == Some("information_schema") && functions::matches_any(STANDARD, name) {
        return Some("roles and remote servers");
    }
    REVEALING.iter().find(|(_, names)| functions::matches_any(names, name)).map(|(subject, _)| *subject)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted() {
        assert!(REVEALING.iter().all(|(_, names)| names.is_sorted()) && STANDARD.is_sorted());
    }
}
