//! Names that are refused whatever else allows them, so that no mistake elsewhere lets them through.
//!
//! A function need not look like a call: `('/etc/passwd'::text).pg_read_file` and `t.pg_read_file` call it too. So
//! these names are looked for wherever a name can stand. All start with what is no usual name of a column.

use super::patterns::matches_any;

/// Dangerous functions, by what they would do: names, or what names start with before a `*`. Nothing allows them.
#[rustfmt::skip]
const DANGEROUS: &[(&str, &[&str])] = &[
    (
        "reads, writes or lists files of the database server",
        &[
            "lo_close", "lo_creat", "lo_create", "lo_export", "lo_from_bytea", "lo_get", "lo_import*",
            "lo_lseek*", "lo_manage", "lo_open", "lo_put", "lo_tell*", "lo_truncate*", "lo_unlink", "loread",
            "lowrite", "pg_available_wal_summaries", "pg_current_logfile", "pg_file_*", "pg_filenode_relation",
            "pg_get_loaded_modules", "pg_hba_file_rules", "pg_ident_file_mappings", "pg_logdir_ls", "pg_ls_*",
            "pg_read_*", "pg_relation_filepath", "pg_show_all_file_settings", "pg_stat_file",
            "pg_tablespace_databases", "pg_wal_summary_*", "pg_write_*",
        ],
    ),
    (
        "runs SQL that it is given as text",
        &[
            "cursor_to_xml*", "database_to_xml*", "dblink*", "pg_background_*", "query_to_xml*",
            "schema_to_xml*", "table_to_xml*", "ts_rewrite", "ts_stat", "xpath_table",
        ],
    ),
    ("waits", &["pg_sleep*"]),
    ("takes locks that outlive the query", &["pg_advisory_*", "pg_try_advisory_*"]),
    (
        "reaches other sessions or the server process",
        &[
            "autoprewarm_*", "pg_cancel_*", "pg_execute_server_program", "pg_isolation_test_*",
            "pg_log_backend_*", "pg_log_standby_*", "pg_prewarm", "pg_promote", "pg_reload_conf",
            "pg_rotate_logfile*", "pg_signal_backend", "pg_stat_clear_snapshot", "pg_stat_force_next_flush",
            "pg_stat_get_activity", "pg_stat_get_backend_*", "pg_stat_reset*", "pg_stat_statements_reset*",
            "pg_terminate_*", "pg_wal_replay_*", "postgres_fdw_disconnect*",
        ],
    ),
    (
        "changes write-ahead logging, replication or backups",
        &[
            "pg_backup_*", "pg_copy_*", "pg_create_*", "pg_drop_replication_*", "pg_logical_*",
            "pg_replication_origin_*", "pg_replication_slot_*", "pg_start_backup*", "pg_stop_backup*",
            "pg_switch_*", "pg_sync_replication_*",
        ],
    ),
    ("changes settings or sequences", &["nextval", "pg_nextoid", "set_config", "setseed", "setval"]),
    ("sends notifications", &["pg_notify"]),
    (
        "takes a transaction number or exports a snapshot",
        &["currtid2", "pg_current_xact_id*", "pg_export_snapshot", "txid_current*"],
    ),
    (
        "is for the server's own maintenance",
        &[
            "binary_upgrade_*", "brin_desummarize_*", "brin_summarize_*", "gin_clean_pending_list",
            "heap_force_*", "pg_clear_*", "pg_extension_config_dump", "pg_import_*", "pg_restore_*",
            "pg_stop_making_pinned_objects", "pg_truncate_visibility_map", "plperl*", "plpgsql_*", "plpython*",
            "pltcl*",
        ],
    ),
];

/// One-argument functions beyond the dangerous ones, not on the allowlist, that a name behind a dot could call:
/// they report on the catalog, settings and files. `*` ends a prefix.
#[rustfmt::skip]
const NOT_BEHIND_A_DOT: &[&str] = &[
    "amvalidate", "connectby*", "crosstab*", "current_schemas", "current_setting", "currval", "get_raw_page",
    "mxid_age", "obj_description", "oidvectortypes", "pg_*", "row_security_active", "shobj_description",
    "to_reg*", "txid_*", "xpath*", "xml_*",
];

/// The dangerous names as PostgreSQL's regular expression, for a comparison on the server.
pub(crate) fn pattern() -> String {
    let names = DANGEROUS.iter().flat_map(|(_, patterns)| patterns.iter().copied());
    let names: Vec<String> = names.map(|pattern| pattern.replace('*', ".*")).collect();
    format!("^({})$", names.join("|"))
}

/// Returns the harm that a function of a dangerous name would do; `None` for any other name.
pub(crate) fn danger(name: &str) -> Option<&'static str> {
    let name = name.to_ascii_lowercase();
    DANGEROUS.iter().find(|(_, patterns)| matches_any(patterns, &name)).map(|(does, _)| *does)
}

/// Returns true where a name behind a dot could call a built-in function that is not on the allowlist.
pub(crate) fn may_call_behind_a_dot(name: &str) -> bool {
    matches_any(NOT_BEHIND_A_DOT, name) || danger(name).is_some()
}
