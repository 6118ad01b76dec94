//! Limits that the role, the database or PostgreSQL itself put on a session, and many calls on few connections.

use std::thread;
use std::time::Duration;

use mcp_server_suite::call::Failure;
use mcp_server_suite::postgres::{Database, Pooler};
use mcp_server_suite::problem::Code;
use serde_json::{Value, json};

use crate::cluster::Cluster;
use crate::sql::faults::wait_until;
use crate::sql::run::{Rig, code, config, query};
use crate::support::{Client, problem};

const OTHERS: &str = "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";

#[test]
fn timeouts_of_the_role_and_the_database_neither_end_a_call_nor_stretch_it() {
    let rig = Rig::new(
        "CREATE ROLE hasty LOGIN; GRANT SELECT ON item TO hasty; ALTER ROLE hasty SET statement_timeout = '0.4 s';
         ALTER ROLE hasty SET lock_timeout = 1; ALTER ROLE hasty SET idle_in_transaction_session_timeout = 1;
         CREATE ROLE patient LOGIN; GRANT SELECT ON item TO patient; ALTER ROLE patient SET statement_timeout = 0;
         CREATE TABLE locked (); GRANT SELECT ON locked TO PUBLIC;
         CREATE VIEW nap AS SELECT pg_sleep(0.05)::text; GRANT SELECT ON nap TO PUBLIC;
         CREATE VIEW long AS SELECT pg_sleep(60)::text; GRANT SELECT ON long TO PUBLIC",
    );
    let on_database = format!(
        "ALTER DATABASE {0} SET lock_timeout = 100; ALTER DATABASE {0} SET idle_in_transaction_session_timeout = 1000",
        rig.name
    );
    rig.admin().batch_execute(&on_database).unwrap();
    for role in ["hasty", "patient"] {
        // What a session of a pooler's starts with is not ours to say.
        for pooler in
            [Pooler::None, Pooler::Transaction].into_iter().take(if role == "hasty" { 1 } else { 2 })
        {
            let mut settings = config(&Cluster::shared().socket_dsn(role, &rig.name));
            settings.statement_timeout = Duration::from_millis(500);
            settings.pooler = pooler;
            let db = Database::new(settings);
            query(&db, "SELECT count(*) FROM nap")
                .unwrap_or_else(|error| panic!("{role} {pooler:?}: {error}"));
            assert_eq!(code(query(&db, "SELECT * FROM long")), Code::ExecutionTimeout);
            // A lock that is never granted is a statement that takes too long, not another error.
            let mut holder = rig.admin();
            holder.batch_execute("BEGIN; LOCK TABLE locked IN ACCESS EXCLUSIVE MODE").unwrap();
            assert_eq!(code(query(&db, "SELECT FROM locked")), Code::ExecutionTimeout, "{role} {pooler:?}");
            drop(holder);
            query(&db, "SELECT FROM locked").unwrap();
        }
    }
}

#[test]
fn an_idle_session_that_the_server_ends_is_replaced_without_a_word() {
    let rig = Rig::new(
        "CREATE ROLE idler LOGIN; ALTER ROLE idler SET idle_session_timeout = 1000; GRANT SELECT ON item TO idler",
    );
    let db = Database::new(config(&Cluster::shared().socket_dsn("idler", &rig.name)));
    let mut admin = rig.admin();
    for _ in 0..2 {
        query(&db, "SELECT max(id) FROM item").unwrap();
        wait_until(&mut admin, &format!("SELECT count(*) = 0 {OTHERS}"));
    }
    // Now and then exactly when the next call begins.
    for _ in 0..4 {
        query(&db, "SELECT 1").unwrap();
        thread::sleep(Duration::from_millis(1000));
    }
}

#[test]
fn no_transaction_outlives_its_answer() {
    let rig = Rig::new("");
    rig.query("SELECT 1").unwrap();
    let idle = format!("SELECT count(*) = 0 {OTHERS} AND state LIKE 'idle in transaction%'");
    wait_until(&mut rig.admin(), &idle);
}

#[test]
fn a_pool_of_four_serves_two_hundred_calls_at_once() {
    let rig = Rig::new("");
    let url = Cluster::shared().url(&rig.name);
    let settings = [("MCP_SQL_DSN", url.as_str()), ("MCP_QUEUE_WAIT_MS", "60000")];
    let mut client = Client::initialized(&settings, "2025-11-25");
    let calls: Vec<Value> = (1..=200)
        .map(|own: usize| {
            let query = format!("SELECT {own}, lpad('', id, 'x') FROM item WHERE id = {own}");
            client.call("read_only_sql", json!({ "query": query }))
        })
        .collect();
    for (own, id) in (1..=200_usize).zip(&calls) {
        let answer = client.answer(id);
        assert_eq!(
            answer["result"]["structuredContent"]["rows"],
            json!([[own, "x".repeat(own)]]),
            "{answer}"
        );
    }
    let count = format!("SELECT count(*) BETWEEN 1 AND 4 {OTHERS}");
    assert!(rig.admin().query_one(&count, &[]).unwrap().get::<_, bool>(0));
    // Half of them cancelled: the others do not notice.
    let calls: Vec<Value> = (1..=200)
        .map(|own: usize| {
            let query =
                format!("SELECT {own}, count(*) FROM item a, item b WHERE a.id + b.id > {own} - 100000");
            client.call("read_only_sql", json!({ "query": query }))
        })
        .collect();
    calls.iter().step_by(2).for_each(|id| client.cancel(id));
    for (own, id) in (1..=200_usize).zip(&calls).skip(1).step_by(2) {
        let answer = client.answer(id);
        assert_eq!(answer["result"]["structuredContent"]["rows"], json!([[own, 1_000_000]]), "{answer}");
    }
    client.end().cleanly();
    wait_until(&mut rig.admin(), &format!("SELECT count(*) = 0 {OTHERS}"));
}

#[test]
fn a_query_that_exhausts_a_limit_of_the_role_says_which() {
    let rig = Rig::new(
        "CREATE ROLE narrow LOGIN; ALTER ROLE narrow SET temp_file_limit = 1024;
        GRANT SELECT ON item TO narrow",
    );
    let db = Database::new(config(&Cluster::shared().socket_dsn("narrow", &rig.name)));
    match query(&db, "SELECT a.id, b.name FROM item a, item b ORDER BY b.name, a.id LIMIT 1 OFFSET 900000") {
        Err(Failure::Problem(problem)) => {
            assert!(problem.detail().contains("temporary file size exceeds temp_file_limit"), "{problem:?}");
        }
        outcome => panic!("{outcome:?}"),
    }
    query(&db, "SELECT 1").unwrap();
}

/// An error that comes when rows have been sent already is an error.
#[test]
fn a_late_error_is_an_error_and_never_fewer_rows() {
    let rig = Rig::new("");
    let url = Cluster::shared().url(&rig.name);
    let mut client = Client::initialized(&[("MCP_SQL_DSN", url.as_str())], "2025-11-25");
    let mut ask = |sql: &str, max_rows: u32| {
        client.use_tool("read_only_sql", json!({"query": sql, "max_rows": max_rows}))
    };
    let sql = "SELECT id, 1 / (id - 500) AS q FROM item WHERE id <= 600";
    for max_rows in [500, 599, 600, 1000] {
        let problem = problem(&ask(sql, max_rows));
        assert_eq!(
            (&problem["code"], &problem["metadata"]["sqlstate"]),
            (&json!("MCP_VALIDATION_ERROR"), &json!("22012"))
        );
    }
    // The row behind those that were asked for shows whether there are more: it is the one that fails.
    assert_eq!(problem(&ask(sql, 499))["metadata"]["sqlstate"], "22012");
    let answer = ask(sql, 498);
    let answer = &answer["structuredContent"];
    assert_eq!(
        (&answer["row_count"], &answer["has_more"], &answer["truncated"]),
        (&json!(498), &json!(true), &json!(false))
    );
    // The last row, the one behind the last, and the end.
    for (last, max_rows) in [(600, 599), (600, 600), (600, 601)] {
        let sql = format!("SELECT id, 1 / (id - {last}) FROM item WHERE id <= {last}");
        assert_eq!(problem(&ask(&sql, max_rows))["metadata"]["sqlstate"], "22012", "{max_rows}");
    }
    client.end().cleanly();
}

/// The time for a login is the login's alone.
#[test]
fn the_rights_of_the_role_are_asked_beyond_the_time_for_a_login() {
    let rig = Rig::with("", |settings| settings.connect_timeout = Duration::from_secs(2));
    let mut holder = rig.admin();
    holder.batch_execute("BEGIN; LOCK TABLE pg_catalog.pg_init_privs IN ACCESS EXCLUSIVE MODE").unwrap();
    thread::scope(|scope| {
        let answer = scope.spawn(|| rig.query("SELECT 1"));
        let waits = "SELECT count(*) > 0 FROM pg_stat_activity WHERE usename = 'reader' AND datname = current_database() \
             AND wait_event_type = 'Lock' AND clock_timestamp() > query_start + interval '3 seconds'";
        wait_until(&mut rig.admin(), waits);
        holder.batch_execute("ROLLBACK").unwrap();
        assert_eq!(answer.join().unwrap().unwrap()["rows"], json!([[1]]));
    });
}
