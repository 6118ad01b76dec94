//! State that a call leaves behind, of which the next one on the same connection finds nothing.

use std::sync::{Arc, Barrier};
use std::thread;

use mcp_server_suite::call::Interrupt;
use mcp_server_suite::tools::sql::ReadOnlySql;
use serde_json::json;

use crate::cluster::Cluster;
use crate::sql::faults::wait_until;
use crate::sql::run::{Rig, call_with};
use crate::support::Client;

/// Everything that a session can hold, of which a clean one holds nothing. A view shows it, since the guard would not.
const STATE: &str = "SELECT \
     (SELECT md5(string_agg(name || '=' || setting, ' ' ORDER BY name)) FROM pg_settings \
        WHERE name NOT IN ('statement_timeout', 'idle_in_transaction_session_timeout') AND name NOT LIKE 'plpgsql.%'), \
     (SELECT count(*) FROM pg_prepared_statements WHERE from_sql), (SELECT count(*) FROM pg_cursors WHERE name <> ''), \
     (SELECT count(*) FROM pg_listening_channels()), \
     (SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'advisory'), \
     (SELECT count(*) FROM pg_class WHERE relnamespace = pg_my_temp_schema())";

/// A function of an administrator's that does `body`, and a view that calls it.
fn spoiler(rig: &Rig, body: &str) {
    let quoted = body.replace('\'', "''");
    rig.admin()
        .batch_execute(&format!(
            "DROP VIEW IF EXISTS spoil; CREATE OR REPLACE FUNCTION spoil() RETURNS text LANGUAGE plpgsql
                 AS 'BEGIN {quoted}; RETURN ''spoiled''; END';
             CREATE VIEW spoil AS SELECT spoil(); GRANT SELECT ON spoil TO reader"
        ))
        .unwrap();
}

#[test]
fn nothing_that_a_call_does_to_its_session_reaches_the_next_one() {
    let setup = "CREATE SEQUENCE s; GRANT USAGE ON SEQUENCE s TO reader;
        CREATE TABLE moody AS SELECT 'sad'::mood; GRANT SELECT ON moody TO reader";
    let rig = Rig::with(setup, |settings| {
        (settings.pool_max_size, settings.max_stuck) = (1, 0);
    });
    rig.view("state", 6, STATE);
    let state = || rig.query("SELECT * FROM state").unwrap()["rows"][0].clone();
    let before = state();
    assert_eq!(before.as_array().unwrap()[1..], [0, 0, 0, 0, 0].map(|none| json!(none)), "{before}");
    for (spoils, body) in [
        (true, "PERFORM set_config('TimeZone', 'Asia/Tokyo', false), set_config('search_path', 'x', false)"),
        (true, "SET default_transaction_read_only = off"),
        (true, "SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE"),
        (true, "SET statement_timeout = 0"),
        (true, "SET work_mem = '1GB'"),
        (true, "PERFORM pg_advisory_lock(7), pg_advisory_lock_shared(8), pg_advisory_xact_lock(9)"),
        (true, "EXECUTE 'LISTEN a'"),
        (true, "EXECUTE 'PREPARE mine AS SELECT 1'"),
        (true, "EXECUTE 'PREPARE s1 AS SELECT 1'"),
        (true, "EXECUTE 'DECLARE mine CURSOR WITH HOLD FOR SELECT 1'"),
        (false, "EXECUTE 'CREATE TEMP TABLE mine ()'"),
        (false, "EXECUTE 'COMMIT'"),
        (false, "EXECUTE 'SET ROLE postgres'"),
        (false, "PERFORM nextval('s')"),
        (false, "PERFORM 1 / 0"),
        // The state stays, the statement fails.
        (
            false,
            "SET TimeZone = 'Asia/Tokyo'; PERFORM pg_advisory_lock(7); EXECUTE 'PREPARE mine AS SELECT 1'; PERFORM 1 / 0",
        ),
    ] {
        spoiler(&rig, body);
        assert_eq!(rig.query("SELECT * FROM spoil").is_ok(), spoils, "{body}");
        assert_eq!(state(), before, "{body}");
    }
    // The driver's own statements do not collide with statements that others have prepared, under any name.
    for number in 0..40 {
        spoiler(&rig, &format!("EXECUTE 'PREPARE s{number} AS SELECT 1'"));
        rig.query("SELECT * FROM spoil").unwrap();
        rig.query("SELECT * FROM moody").unwrap();
    }
    let mut admin = rig.admin();
    wait_until(
        &mut admin,
        "SELECT count(*) = 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
    );
}

#[test]
fn an_untroubled_connection_is_used_again() {
    let rig = Rig::new("CREATE TABLE moody AS SELECT 'sad'::mood; GRANT SELECT ON moody TO reader");
    rig.view("backend", 1, "SELECT pg_backend_pid()");
    let backend = || rig.query("SELECT * FROM backend").unwrap()["rows"][0][0].clone();
    let first = backend();
    rig.query("SELECT 1 / 0").unwrap_err();
    rig.query("SELECT secret FROM hidden").unwrap_err();
    rig.query("SELECT mood, repeat('x', 2000) FROM moody").unwrap();
    assert_eq!(backend(), first);
}

/// A cancel is sent at every moment of a statement's life, from before its beginning to after its end.
#[test]
fn a_late_cancel_never_hits_the_next_query() {
    let rig = Rig::with("", |settings| settings.pool_max_size = 1);
    let tool = ReadOnlySql::new(Arc::clone(&rig.db));
    for turn in 0..60_u32 {
        let interrupt = Interrupt::default();
        let barrier = Barrier::new(2);
        let outcome = thread::scope(|scope| {
            let running = scope.spawn(|| {
                barrier.wait();
                call_with(&tool, json!({"query": "SELECT max(id) FROM item"}), &interrupt)
            });
            barrier.wait();
            // From at once to a few milliseconds later, in steps that a busy loop can keep.
            (0..turn * 400).for_each(|number| {
                std::hint::black_box(number);
                thread::yield_now();
            });
            if let Some(stop) = interrupt.set() {
                stop();
            }
            running.join().unwrap()
        });
        if let Ok(answer) = outcome {
            assert_eq!(answer["rows"], json!([[1000]]));
        }
        for _ in 0..3 {
            assert_eq!(rig.query("SELECT min(id) FROM item").unwrap()["rows"], json!([[1]]), "turn {turn}");
        }
    }
}

#[test]
fn a_notice_goes_to_the_log_on_one_line_and_nowhere_else() {
    let rig = Rig::new("");
    spoiler(
        &rig,
        "RAISE NOTICE E'first\\nsecond \\x1b[31m'; RAISE WARNING 'watch out'; RAISE DEBUG 'whisper'",
    );
    let url = Cluster::shared().url(&rig.name);
    let mut client = Client::initialized(&[("MCP_SQL_DSN", url.as_str())], "2025-11-25");
    let answer = client.use_tool("read_only_sql", json!({"query": "SELECT * FROM spoil"}));
    assert_eq!(answer["structuredContent"]["rows"], json!([["spoiled"]]));
    assert!(!answer.to_string().contains("watch out"));
    let stderr = client.end().cleanly().stderr;
    let notices: Vec<&str> = stderr.lines().filter(|line| line.contains("notice from PostgreSQL")).collect();
    assert_eq!(notices.len(), 2, "{stderr}");
    assert!(
        notices[0].ends_with("first\\nsecond \\u{1b}[31m") && notices[1].ends_with("watch out"),
        "{stderr}"
    );
}
