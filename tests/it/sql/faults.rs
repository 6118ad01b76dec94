//! Faults around a statement: it is told to stop, its connection is killed, the server restarts.

use std::sync::Arc;
use std::thread;
use std::time::Instant;

use mcp_server_suite::call::{Call, Failure, Interrupt, Unavailable};
use mcp_server_suite::governance::Governor;
use mcp_server_suite::postgres::{Database, Pooler};
use mcp_server_suite::problem::Code;
use mcp_server_suite::tools::Tool as _;
use mcp_server_suite::tools::sql::ReadOnlySql;
use serde_json::json;

use crate::cluster::Cluster;
use crate::sql::run::{LIMIT, Rig, call_with, code, config, database, query};

/// A view whose rows never come.
const NAP: &str = "CREATE VIEW nap AS SELECT pg_sleep(60)::text; GRANT SELECT ON nap TO reader;";

/// Waits until `sql` returns true, with a limit.
#[track_caller]
pub(crate) fn wait_until(admin: &mut postgres::Client, sql: &str) {
    let started = Instant::now();
    while !admin.query_one(sql, &[]).unwrap().get::<_, bool>(0) {
        assert!(started.elapsed() < LIMIT, "never true: {sql}");
        thread::yield_now();
    }
}

#[test]
fn a_call_that_is_told_to_stop_stops_on_the_server() {
    let name = Cluster::shared().database(NAP);
    let db = database(&name);
    query(&db, "SELECT 1").unwrap();
    let interrupt = Interrupt::default();
    let mut admin = Cluster::shared().admin(&name);
    let active = "FROM pg_stat_activity WHERE datname = current_database() AND state = 'active' AND query LIKE '%FROM nap%' \
                  AND pid <> pg_backend_pid()";
    thread::scope(|scope| {
        let running = scope.spawn(|| {
            let tool = ReadOnlySql::new(Arc::clone(&db));
            call_with(&tool, json!({ "query": "SELECT * FROM nap" }), &interrupt)
        });
        wait_until(&mut admin, &format!("SELECT count(*) = 1 {active}"));
        interrupt.set().expect("a way to stop it")();
        assert!(matches!(running.join().unwrap(), Err(Failure::Interrupted(_))));
        wait_until(&mut admin, &format!("SELECT count(*) = 0 {active}"));
    });
    // A late cancel hits no statement: the connection is gone.
    wait_until(
        &mut admin,
        "SELECT count(*) = 0 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
    );
    for _ in 0..20 {
        query(&db, "SELECT 1").unwrap();
    }
}

#[test]
fn a_connection_killed_between_calls_is_replaced_and_one_killed_during_a_call_is_one_error() {
    let name = Cluster::shared().database(NAP);
    let db = database(&name);
    let mut admin = Cluster::shared().admin(&name);
    let others = "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";
    query(&db, "SELECT 1").unwrap();
    admin.batch_execute(&format!("SELECT pg_terminate_backend(pid) {others}")).unwrap();
    wait_until(&mut admin, &format!("SELECT count(*) = 0 {others}"));
    query(&db, "SELECT 2").unwrap();
    thread::scope(|scope| {
        let running = scope.spawn(|| query(&db, "SELECT * FROM nap"));
        wait_until(
            &mut admin,
            &format!("SELECT count(*) = 1 {others} AND state = 'active' AND query LIKE '%FROM nap%'"),
        );
        admin.batch_execute(&format!("SELECT pg_terminate_backend(pid) {others}")).unwrap();
        assert!(matches!(
            running.join().unwrap(),
            Err(Failure::Unavailable(Unavailable::Database { retry_after: Some(_) }, _))
        ));
    });
    query(&db, "SELECT 3").unwrap();
}

#[test]
fn an_answer_that_is_dropped_leaves_no_transaction_behind() {
    let name = Cluster::shared().database("");
    let db = database(&name);
    let tool = ReadOnlySql::new(Arc::clone(&db));
    let prepared = tool.prepare(json!({ "query": "SELECT 1" }).as_object().unwrap().clone()).unwrap();
    let permit = Governor.authorize(&tool.spec().name, &prepared.arguments).unwrap();
    let call = Call::new(Instant::now() + LIMIT, Interrupt::default());
    drop((prepared.run)(permit, &call).unwrap());
    let mut admin = Cluster::shared().admin(&name);
    wait_until(
        &mut admin,
        "SELECT count(*) = 0 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
    );
    query(&db, "SELECT 1").unwrap();
}

#[test]
fn a_server_that_ends_is_one_error_a_call_and_is_used_again_when_it_is_back() {
    let cluster = Cluster::start();
    cluster.admin("seed").batch_execute(NAP).unwrap();
    let db = Database::new(config(&cluster.url("seed")));
    let lost = |outcome| {
        assert!(
            matches!(outcome, Err(Failure::Unavailable(Unavailable::Database { retry_after: Some(_) }, _))),
            "{outcome:?}"
        )
    };
    let ends: [(&str, &dyn Fn()); 3] = [
        ("fast", &|| cluster.pg_ctl(&["stop", "-m", "fast"])),
        ("immediate", &|| cluster.pg_ctl(&["stop", "-m", "immediate"])),
        ("kill -9", &|| cluster.crash()),
    ];
    for (how, end) in ends {
        let start = || cluster.pg_ctl(&["start", "-l", "server.log"]);
        // Between calls, and while it is gone.
        query(&db, "SELECT 1").unwrap();
        end();
        lost(query(&db, "SELECT 1"));
        start();
        query(&db, "SELECT 1").unwrap_or_else(|error| panic!("{how}: {error}"));
        // During a call.
        thread::scope(|scope| {
            let running = scope.spawn(|| query(&db, "SELECT * FROM nap"));
            let active = "SELECT count(*) = 1 FROM pg_stat_activity WHERE usename = 'reader' AND query LIKE '%FROM nap%'";
            wait_until(&mut cluster.admin("seed"), active);
            end();
            lost(running.join().unwrap());
        });
        start();
        query(&db, "SELECT 1").unwrap_or_else(|error| panic!("{how}: {error}"));
        // Between calls, and back before the next one.
        end();
        start();
        query(&db, "SELECT 1").unwrap_or_else(|error| panic!("{how}: {error}"));
    }
}

#[test]
fn behind_a_pooler_nothing_outlives_a_call() {
    let rig = Rig::with("CREATE SEQUENCE s; GRANT USAGE ON SEQUENCE s TO reader", |settings| {
        settings.pooler = Pooler::Transaction
    });
    rig.view(
        "session",
        4,
        "SELECT pg_backend_pid(), current_setting('default_transaction_read_only'), current_setting('TimeZone'), 'sad'::mood",
    );
    let session = || rig.query("SELECT * FROM session").unwrap()["rows"][0].clone();
    let (first, second) = (session(), session());
    assert_ne!(first[0], second[0]);
    assert_eq!((&first[1], &first[2], &first[3]), (&json!("off"), &second[2], &json!("sad")));
    assert_eq!(code(rig.seen(1, "SELECT nextval('s')")), Code::QueryViolation);
    wait_until(
        &mut rig.admin(),
        "SELECT count(*) = 0 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
    );
}
