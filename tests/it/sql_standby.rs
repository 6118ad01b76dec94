//! A hot standby: queries that recovery ends, and what it is to `target_session_attrs`.

use std::{thread, time::Instant};

use mcp_server_suite::tools::{
    Failure,
    sql::{Database, ReadOnlySql},
};
use serde_json::json;

use crate::{
    cluster::{Cluster, PASSWORD},
    sql_faults::wait_until,
    sql_run::{LIMIT, call_with, config, query},
};

#[test]
fn recovery_that_ends_a_query_is_one_error_and_the_next_call_is_well() {
    let primary = Cluster::start();
    let mut writer = primary.admin("seed");
    // Reads a page that the standby must not change meanwhile, and then waits.
    writer
        .batch_execute(
            "CREATE VIEW slow AS SELECT pg_sleep(30)::text, (SELECT count(*) FROM item); GRANT SELECT ON slow TO reader;
             CREATE VIEW backend AS SELECT pg_backend_pid(); GRANT SELECT ON backend TO reader",
        )
        .unwrap();
    writer.batch_execute("ALTER SYSTEM SET max_standby_streaming_delay = 0").unwrap();
    let standby = primary.standby();
    let db = Database::new(config(&standby.url("seed")));
    let mut reader = standby.admin("seed");
    let active = "SELECT count(*) = 1 FROM pg_stat_activity WHERE usename = 'reader' AND state = 'active'";
    let backend = || query(&db, "SELECT * FROM backend").unwrap()["rows"][0][0].clone();
    assert_eq!(backend(), backend(), "the connection is clean and pooled on a standby, too");

    // Old rows that go, and a lock that nobody may share.
    for (conflict, cause) in [
        ("DELETE FROM item WHERE id > 900; VACUUM item", "40001"),
        ("ALTER TABLE item ADD COLUMN extra int; ALTER TABLE item DROP COLUMN extra", "40001"),
    ] {
        let outcome = thread::scope(|scope| {
            let running = scope.spawn(|| query(&db, "SELECT * FROM slow"));
            wait_until(&mut reader, active);
            for statement in conflict.split("; ") {
                writer.batch_execute(statement).unwrap();
            }
            running.join().unwrap()
        });
        match outcome {
            Err(Failure::Internal(why)) => {
                assert!(why.contains(cause) && why.contains("conflict with recovery"), "{why}");
            }
            outcome => panic!("{conflict}: {outcome:?}"),
        }
        query(&db, "SELECT count(*) FROM item").unwrap();
    }
    // An idle connection whose database goes.
    writer.batch_execute("CREATE DATABASE gone TEMPLATE template0").unwrap();
    let begun = Instant::now();
    let exists = "SELECT count(*) = 1 FROM pg_database WHERE datname = 'gone'";
    wait_until(&mut reader, exists);
    let gone = Database::new(config(&standby.url("gone")));
    query(&gone, "SELECT 1").unwrap();
    writer.batch_execute("DROP DATABASE gone").unwrap();
    while query(&gone, "SELECT 1").is_ok() {
        assert!(begun.elapsed() < LIMIT, "the database does not go");
    }
    match query(&gone, "SELECT 1") {
        Err(Failure::Internal(why)) => assert!(why.contains("check the database's name"), "{why}"),
        outcome => panic!("{outcome:?}"),
    }

    // Which of the two: as libpq would choose.
    let both = |target: &str| {
        let dsn = format!(
            "host=127.0.0.1,127.0.0.1 port={},{} user=reader password='{PASSWORD}' dbname=seed target_session_attrs={target}",
            primary.port(),
            standby.port()
        );
        Database::new(config(&dsn))
    };
    for (target, is_standby) in [
        ("any", false),
        ("read-write", false),
        ("primary", false),
        ("read-only", true),
        ("standby", true),
        ("prefer-standby", true),
    ] {
        let db = both(target);
        let tool = ReadOnlySql::new(db);
        let port = call_with(&tool, json!({"query": "SELECT * FROM backend"}), &Default::default()).unwrap();
        let pid = port["rows"][0][0].as_i64().unwrap();
        let alive = format!("SELECT count(*) FROM pg_stat_activity WHERE pid = {pid}");
        let (on_primary, on_standby) = (count(&primary, &alive), count(&standby, &alive));
        assert_eq!((on_primary, on_standby), (i64::from(!is_standby), i64::from(is_standby)), "{target}");
    }
    // Failing over: the standby becomes what was asked for.
    drop((writer, reader));
    primary.pg_ctl(&["stop", "-m", "immediate"]);
    let db = both("read-write");
    match query(&db, "SELECT 1") {
        Err(Failure::Internal(why)) => {
            assert!(why.contains("is PostgreSQL running") && why.contains("target_session_attrs"), "{why}");
        }
        outcome => panic!("{outcome:?}"),
    }
    standby.pg_ctl(&["promote"]);
    assert_eq!(query(&db, "SELECT 1").unwrap()["rows"], json!([[1]]));
}

fn count(cluster: &Cluster, sql: &str) -> i64 {
    cluster.admin("seed").query_one(sql, &[]).unwrap().get(0)
}
