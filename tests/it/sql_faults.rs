//! What goes wrong around a statement: told to stop, killed, restarted, frozen, many at once.

use std::{
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use mcp_server_suite::{
    call::{Call, Interrupt, Serial},
    governance::{Governor, Verdict},
    problem::Code,
    tools::{
        Failure, Tool as _,
        sql::{Database, Pooler, ReadOnlySql},
    },
};
use serde_json::json;

use crate::{
    cluster::Cluster,
    sql_run::{LIMIT, Rig, call_with, code, config, database, query},
};

/// A view that nobody sees the end of.
const NAP: &str = "CREATE VIEW nap AS SELECT pg_sleep(60)::text; GRANT SELECT ON nap TO reader;";

/// Waits until `sql` says true, with a limit.
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
    // A late cancel hits nobody: the connection is gone.
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
        assert!(matches!(running.join().unwrap(), Err(Failure::Internal(_))));
    });
    query(&db, "SELECT 3").unwrap();
}

#[test]
fn an_answer_that_nobody_wants_leaves_no_transaction_behind() {
    let name = Cluster::shared().database("");
    let db = database(&name);
    let tool = ReadOnlySql::new(Arc::clone(&db));
    let prepared = tool.prepare(json!({ "query": "SELECT 1" }).as_object().unwrap().clone()).unwrap();
    let Verdict::Allow(permit) = Governor.authorize(&tool.spec().name, &prepared.arguments) else { panic!() };
    let call = Call::new(Serial(1), Instant::now() + LIMIT, Interrupt::default());
    drop((prepared.run)(permit, &call).unwrap());
    let mut admin = Cluster::shared().admin(&name);
    wait_until(
        &mut admin,
        "SELECT count(*) = 0 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
    );
    query(&db, "SELECT 1").unwrap();
}

#[test]
fn a_failed_connection_names_cause_and_cure_but_no_password() {
    let shared = Cluster::shared();
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    for (dsn, expected) in [
        (format!("postgres://reader:wrong-horse@127.0.0.1:{}/seed", shared.port()), "check the password"),
        (format!("postgres://reader@127.0.0.1:{}/seed", shared.port()), "give a password"),
        (shared.url("nowhere"), "check the database's name"),
        (format!("postgres://reader:wrong-horse@127.0.0.1:{free}/seed"), "is PostgreSQL running"),
        (format!("{}?sslmode=require", shared.url("seed")), "does not support TLS"),
    ] {
        let error = Database::new(config(&dsn)).probe().unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
        assert!(!error.contains("horse") && !error.contains("p@ss"), "{error}");
    }
    let several = format!(
        "host=127.0.0.1,127.0.0.1 port={free},{} user=reader password='{}' dbname={} target_session_attrs=primary",
        shared.port(),
        crate::cluster::PASSWORD,
        shared.database("")
    );
    Database::new(config(&several)).probe().unwrap();
}

#[test]
fn a_server_that_comes_back_is_used_again() {
    let cluster = Cluster::start();
    let db = Database::new(config(&cluster.url("seed")));
    for mode in ["fast", "immediate"] {
        query(&db, "SELECT 1").unwrap();
        cluster.pg_ctl(&["stop", "-m", mode]);
        let outcome = query(&db, "SELECT 1");
        assert!(matches!(outcome, Err(Failure::Internal(_))), "{outcome:?}");
        cluster.pg_ctl(&["start", "-l", "server.log"]);
        query(&db, "SELECT 1").unwrap();
        cluster.pg_ctl(&["restart", "-m", mode, "-l", "server.log"]);
        query(&db, "SELECT 1").unwrap();
    }
}

#[test]
fn a_frozen_server_is_told_by_the_probe_and_used_again_when_it_thaws() {
    let cluster = Cluster::start();
    let mut settings = config(&cluster.url("seed"));
    settings.connect_timeout = Duration::from_millis(200);
    let db = Database::new(settings);
    db.probe().unwrap();
    cluster.signal("STOP");
    let error = db.probe().unwrap_err().to_string();
    cluster.signal("CONT");
    assert!(error.contains("hangs or is frozen"), "{error}");
    db.probe().unwrap();
}

#[test]
fn a_server_that_accepts_and_is_silent_is_given_up_in_time_and_the_next_one_is_asked() {
    // The kernel accepts; nobody answers.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    let database = |dsn: &str, connect_ms: u64| {
        let mut settings = config(dsn);
        settings.connect_timeout = Duration::from_millis(connect_ms);
        Database::new(settings)
    };
    let alone = database(&format!("postgres://reader@127.0.0.1:{port}/seed"), 300);
    for expected in ["no answer within 300 ms"; 8].into_iter().chain(["earlier logins still wait"]) {
        match query(&alone, "SELECT 1") {
            Err(Failure::Internal(why)) => assert!(why.contains(expected), "{why}"),
            outcome => panic!("{outcome:?}"),
        }
    }
    // Time enough for the one that answers, also on a busy host.
    let dsn = format!(
        "host=127.0.0.1,127.0.0.1 port={port},{} user=reader password='{}' dbname={}",
        Cluster::shared().port(),
        crate::cluster::PASSWORD,
        Cluster::shared().database("")
    );
    let several = database(&dsn, 5_000);
    assert_eq!(query(&several, "SELECT 1").unwrap()["rows"], json!([[1]]));
    several.probe().unwrap();
}

#[test]
fn a_pool_of_four_serves_two_hundred_calls_at_once() {
    let rig = Rig::new("");
    let ask = |own: usize| {
        let answer =
            rig.query(&format!("SELECT {own}, lpad('', id, 'x') FROM item WHERE id = {own}")).unwrap();
        assert_eq!(answer["rows"], json!([[own, "x".repeat(own)]]));
    };
    // As many workers as may take SQL calls; each serves its share of the calls.
    thread::scope(|scope| {
        let ask = &ask;
        for worker in 0..4_usize {
            scope.spawn(move || (1..=50_usize).for_each(|turn| ask(worker * 50 + turn)));
        }
    });
    let count = "SELECT count(*) <= 4 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";
    assert!(rig.admin().query_one(count, &[]).unwrap().get::<_, bool>(0));
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
    assert_eq!((&first[1], &first[2], &first[3]), (&json!("off"), &json!("UTC"), &json!("sad")));
    assert_eq!(code(rig.seen(1, "SELECT nextval('s')")), Code::QueryViolation);
    wait_until(
        &mut rig.admin(),
        "SELECT count(*) = 0 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
    );
}
