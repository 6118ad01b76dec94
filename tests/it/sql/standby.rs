//! A hot standby: queries that recovery ends, and what it is to `target_session_attrs`.

use std::thread;

use mcp_server_suite::call::Failure;
use mcp_server_suite::postgres::Database;
use serde_json::{Value, json};

use crate::cluster::{Cluster, PASSWORD};
use crate::sql::faults::wait_until;
use crate::sql::run::{config, query};

const SETUP: &str = "
    CREATE TABLE gate AS SELECT true AS shut;
    CREATE VIEW slow AS SELECT CASE WHEN shut THEN pg_sleep(30)::text ELSE 'done' END, (SELECT count(*) FROM item) FROM gate;
    GRANT SELECT ON slow TO reader;
    CREATE VIEW backend AS SELECT pg_backend_pid(); GRANT SELECT ON backend TO reader";

/// A server and one that follows it, whose recovery waits for no query.
fn pair() -> (Cluster, Cluster) {
    let primary = Cluster::start();
    let mut writer = primary.admin("seed");
    writer.batch_execute(SETUP).unwrap();
    writer.batch_execute("ALTER SYSTEM SET max_standby_streaming_delay = 0").unwrap();
    let standby = primary.standby();
    (primary, standby)
}

#[track_caller]
fn failed(outcome: Result<Value, Failure>, causes: &[&str]) {
    match outcome {
        Err(Failure::Unavailable(_, why)) => assert!(causes.iter().all(|cause| why.contains(cause)), "{why}"),
        outcome => panic!("{outcome:?}"),
    }
}

#[test]
fn a_query_that_recovery_ends_is_run_once_more_and_the_next_call_is_well() {
    let (primary, standby) = pair();
    let db = Database::new(config(&standby.url("seed")));
    let (mut writer, mut reader) = (primary.admin("seed"), standby.admin("seed"));
    let backend = || query(&db, "SELECT * FROM backend").unwrap()["rows"][0][0].clone();
    assert_eq!(backend(), backend(), "a connection is clean and pooled on a standby, too");

    // Old rows that go, and a lock that no session may share. What opens the gate is recovered before.
    for (conflict, count) in [
        ("DELETE FROM item WHERE id > 900; VACUUM (TRUNCATE false) item", 900),
        ("ALTER TABLE item ADD COLUMN extra int", 900),
    ] {
        writer.batch_execute("UPDATE gate SET shut = true").unwrap();
        wait_until(&mut reader, "SELECT shut FROM gate");
        let outcome = thread::scope(|scope| {
            let running = scope.spawn(|| query(&db, "SELECT * FROM slow"));
            let active = "SELECT count(*) = 1 FROM pg_stat_activity WHERE usename = 'reader' AND wait_event = 'PgSleep'";
            wait_until(&mut reader, active);
            writer.batch_execute("UPDATE gate SET shut = false").unwrap();
            conflict.split("; ").for_each(|statement| writer.batch_execute(statement).unwrap());
            running.join().unwrap()
        });
        assert_eq!(outcome.unwrap()["rows"], json!([["done", count]]), "{conflict}");
        query(&db, "SELECT count(*) FROM item").unwrap();
    }

    // An idle connection whose database goes.
    writer.batch_execute("CREATE DATABASE gone TEMPLATE template0").unwrap();
    wait_until(&mut reader, "SELECT count(*) = 1 FROM pg_database WHERE datname = 'gone'");
    let gone = Database::new(config(&standby.url("gone")));
    query(&gone, "SELECT 1").unwrap();
    writer.batch_execute("DROP DATABASE gone").unwrap();
    wait_until(&mut reader, "SELECT count(*) = 0 FROM pg_stat_activity WHERE datname = 'gone'");
    wait_until(&mut reader, "SELECT count(*) = 0 FROM pg_database WHERE datname = 'gone'");
    failed(query(&gone, "SELECT 1"), &["check the database's name"]);
}

#[test]
fn of_several_servers_the_one_that_is_wanted_answers_also_when_it_has_just_become_so() {
    let (primary, standby) = pair();
    let both = |target: &str| {
        Database::new(config(&format!(
            "host=127.0.0.1,127.0.0.1 port={},{} user=reader password='{PASSWORD}' dbname=seed \
             target_session_attrs={target}",
            primary.port(),
            standby.port()
        )))
    };
    for (target, of_standby) in [
        ("any", false),
        ("read-write", false),
        ("primary", false),
        ("read-only", true),
        ("standby", true),
        ("prefer-standby", true),
    ] {
        let db = both(target);
        let pid = query(&db, "SELECT * FROM backend").unwrap()["rows"][0][0].as_i64().unwrap();
        let is_there = |cluster: &Cluster| {
            let alive =
                format!("SELECT count(*) = 1 FROM pg_stat_activity WHERE pid = {pid} AND usename = 'reader'");
            cluster.admin("seed").query_one(&alive, &[]).unwrap().get::<_, bool>(0)
        };
        assert_eq!((is_there(&primary), is_there(&standby)), (!of_standby, of_standby), "{target}");
    }
    let db = both("read-write");
    query(&db, "SELECT 1").unwrap();
    primary.pg_ctl(&["stop", "-m", "immediate"]);
    failed(query(&db, "SELECT 1"), &["is PostgreSQL running", "target_session_attrs"]);
    standby.pg_ctl(&["promote"]);
    assert_eq!(query(&db, "SELECT 1").unwrap()["rows"], json!([[1]]));
}
