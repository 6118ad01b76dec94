//! The state of a cluster, as far as a statement could change it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::cluster::Cluster;
use crate::sql::psql::rows;

/// The questions, each with a name.
const QUESTIONS: &[(&str, &str)] = &[
    ("rows written", "SELECT relname, n_tup_ins, n_tup_upd, n_tup_del FROM pg_stat_user_tables ORDER BY 1"),
    ("settings", "SELECT name, setting, source, pending_restart FROM pg_settings ORDER BY 1"),
    ("settings of roles", "SELECT * FROM pg_db_role_setting ORDER BY 1, 2"),
    ("sequences", "SELECT sequencename, last_value FROM pg_sequences ORDER BY 1"),
    ("locks", "SELECT locktype, classid, objid FROM pg_locks WHERE locktype = 'advisory' ORDER BY 1, 2, 3"),
    ("prepared transactions", "SELECT gid FROM pg_prepared_xacts ORDER BY 1"),
    ("replication slots", "SELECT slot_name FROM pg_replication_slots ORDER BY 1"),
    ("replication origins", "SELECT roname FROM pg_replication_origin ORDER BY 1"),
    ("large objects", "SELECT oid FROM pg_largeobject_metadata ORDER BY 1"),
    ("catalog", "SELECT count(*), max(oid) FROM pg_class"),
    ("functions", "SELECT count(*), max(oid) FROM pg_proc"),
    ("the next transaction", "SELECT pg_snapshot_xmax(pg_current_snapshot())"),
    ("notifications", "SELECT pg_notification_queue_usage()"),
];

/// The state of a cluster at one time.
pub(super) struct Snapshot {
    parts: BTreeMap<String, String>,
}

impl Snapshot {
    pub(super) fn take(cluster: &Cluster, database: &str) -> Self {
        let mut parts = BTreeMap::from([
            ("dump".to_owned(), dump(cluster)),
            ("files".to_owned(), files(&cluster.data()).join("\n")),
        ]);
        let mut admin = cluster.admin(database);
        for (name, question) in QUESTIONS {
            let messages = admin.simple_query(question).unwrap();
            let rows = rows(&messages).map(|row| {
                (0..row.len()).map(|i| row.get(i).unwrap_or_default()).collect::<Vec<_>>().join("|")
            });
            parts.insert((*name).to_owned(), rows.collect::<Vec<_>>().join("\n"));
        }
        Self { parts }
    }

    #[track_caller]
    pub(super) fn assert_same(&self, before: &Self) {
        for (name, after) in &self.parts {
            assert!(before.parts[name] == *after, "{name}:\n{}\nnow:\n{after}", before.parts[name]);
        }
    }
}

/// Everything that SQL can see, as SQL.
fn dump(cluster: &Cluster) -> String {
    let mut command = Command::new(cluster.binary("pg_dumpall"));
    command.arg("-d").arg(cluster.socket_dsn("postgres", "postgres"));
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("COPY public.item"), "{text}");
    // Newer ones guard their scripts with random words.
    text.lines().filter(|line| !line.contains("restrict ")).collect::<Vec<_>>().join("\n")
}

/// The names of the cluster's files, but for those that come and go by themselves.
fn files(directory: &Path) -> Vec<String> {
    const FLEETING: &[&str] = &[
        "pg_wal",
        "pg_stat_tmp",
        "pg_stat",
        "pg_subtrans",
        "pg_logical",
        "pgsql_tmp",
        "pg_internal.init",
        "postmaster.pid",
        "server.log",
    ];
    let mut names = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        if FLEETING.contains(&name.as_str()) || name.ends_with("_fsm") || name.ends_with("_vm") {
            continue;
        }
        if entry.file_type().unwrap().is_dir() {
            names.extend(files(&entry.path()).into_iter().map(|inner| format!("{name}/{inner}")));
        }
        names.push(name);
    }
    names.sort();
    names
}
