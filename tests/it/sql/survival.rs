//! Statements that the guard lets pass and the server cannot stop or forget: they cost their own place and no more.

use std::process::Stdio;
use std::sync::Arc;
use std::time::Instant;

use mcp_server_suite::tools::sql::ExplainQuery;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use crate::cluster::Cluster;
use crate::sql::faults::wait_until;
use crate::sql::run::{LIMIT, Rig, call};
#[cfg(feature = "tls")]
use crate::sql::tls::asset;
use crate::support::{Client, command, problem};

/// A backend that does nothing, as one in a long uncancellable function. Dropped, it goes on.
struct Stopped(i32);

impl Stopped {
    fn new(pid: i32) -> Self {
        kill(Pid::from_raw(pid), Signal::SIGSTOP).unwrap();
        Self(pid)
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        kill(Pid::from_raw(self.0), Signal::SIGCONT).unwrap_or_default();
    }
}

const READERS: &str = "FROM pg_stat_activity WHERE usename = 'reader'";

/// Two of two backends do not stop: each keeps its place until it does.
#[track_caller]
fn check(cluster: &Cluster, dsn: &str) {
    let settings = [
        ("MCP_SQL_DSN", dsn),
        ("MCP_SQL_POOL_MAX_SIZE", "2"),
        ("MCP_CALL_TIMEOUT_MS", "3000"),
        ("MCP_SQL_STATEMENT_TIMEOUT_MS", "1000"),
        ("MCP_SQL_CONNECT_TIMEOUT_MS", "1000"),
    ];
    let mut admin = cluster.admin("seed");
    let mut client = Client::initialized(&settings, "2025-11-25");
    let one = |client: &mut Client| client.use_tool("read_only_sql", json!({ "query": "SELECT 1" }));
    let mut stopped: Vec<Stopped> = Vec::new();
    for _ in 0..2 {
        assert_eq!(one(&mut client)["isError"], false);
        let under_way = client.call("read_only_sql", json!({ "query": "SELECT * FROM nap" }));
        let others: Vec<i32> = stopped.iter().map(|stopped| stopped.0).collect();
        let active = format!("{READERS} AND state = 'active' AND pid <> ALL (ARRAY{others:?}::int[])");
        wait_until(&mut admin, &format!("SELECT count(*) = 1 {active} AND query LIKE '%FROM nap%'"));
        stopped.push(Stopped::new(admin.query_one(&format!("SELECT pid {active}"), &[]).unwrap().get(0)));
        let answer = client.answer(&under_way);
        assert_eq!(problem(&answer["result"])["code"], "MCP_EXECUTION_TIMEOUT", "{answer}");
    }
    let count = |admin: &mut postgres::Client| -> i64 {
        admin.query_one(&format!("SELECT count(*) {READERS}"), &[]).unwrap().get(0)
    };
    for _ in 0..3 {
        let refusal = problem(&one(&mut client));
        assert_eq!(refusal["code"], "MCP_CONCURRENCY_LIMIT", "{refusal}");
        assert!(refusal["metadata"]["retry_after_ms"].is_u64(), "{refusal}");
        assert_eq!(count(&mut admin), 2, "a connection beyond the pool");
    }
    assert_eq!(client.use_tool("system_metrics", json!({"sample_ms": 0}))["isError"], false);
    let report = command(&settings).arg("check").stdin(Stdio::null()).output().unwrap();
    let report = String::from_utf8(report.stdout).unwrap();
    let cures: Vec<String> =
        stopped.iter().map(|stopped| format!("SELECT pg_terminate_backend({})", stopped.0)).collect();
    assert!(cures.iter().all(|cure| report.contains(cure)), "{report}");
    assert!(
        report.contains("neither work_mem nor temp_file_limit") && report.contains("MemoryMax="),
        "{report}"
    );

    drop(stopped);
    let begun = Instant::now();
    while one(&mut client)["isError"] == true {
        assert!(begun.elapsed() < LIMIT, "their places are lost");
    }
    wait_until(&mut admin, &format!("SELECT count(*) = 0 {READERS} AND state = 'active'"));
    let log = client.end().cleanly().stderr;
    assert!(cures.iter().all(|cure| log.contains(cure)), "{log}");
    wait_until(&mut admin, &format!("SELECT count(*) = 0 {READERS}"));
}

#[test]
fn a_backend_that_does_not_stop_keeps_its_place_until_it_does() {
    let cluster = Cluster::start();
    let nap = "CREATE VIEW nap AS SELECT pg_sleep(60)::text; GRANT SELECT ON nap TO reader";
    cluster.admin("seed").batch_execute(nap).unwrap();
    check(&cluster, &cluster.url("seed"));
    check(&cluster, &cluster.socket_dsn("reader", "seed"));
    #[cfg(feature = "tls")]
    {
        cluster.encrypt(&asset("server.pem"), &asset("server.key"), &asset("ca.pem"));
        check(&cluster, &format!("{}?sslmode=require", cluster.url("seed")));
    }
}

/// A rig with one connection, and the number of the process behind it.
fn one_connection() -> (Rig, impl Fn(&Rig) -> Value) {
    let rig = Rig::with("", |settings| settings.pool_max_size = 1);
    rig.view("process", 1, "SELECT pg_backend_pid()");
    let process = |rig: &Rig| rig.query("SELECT * FROM process").unwrap()["rows"][0][0].clone();
    (rig, process)
}

#[test]
fn a_connection_is_replaced_after_a_long_pattern() {
    let (rig, process) = one_connection();
    let pattern = |chars: usize| format!("SELECT count(*) FROM item WHERE name ~ '{}'", "a".repeat(chars));
    let first = process(&rig);
    rig.query(&pattern(1_000)).unwrap();
    assert_eq!(process(&rig), first, "a short one");
    rig.query(&pattern(1_001)).unwrap();
    let second = process(&rig);
    assert_ne!(second, first, "a long one");
    let explain = json!({ "query": pattern(1_001), "analyze": true });
    call(&ExplainQuery::new(Arc::clone(&rig.db)), explain).unwrap();
    assert_ne!(process(&rig), second, "a long one that was explained");
}

#[test]
fn a_connection_is_replaced_after_a_thousand_calls() {
    let (rig, process) = one_connection();
    let first = process(&rig);
    for call in 2..=1_000 {
        assert_eq!(process(&rig), first, "call {call}");
    }
    assert_ne!(process(&rig), first, "call 1001");
}

#[test]
fn no_statement_is_compiled_by_llvm() {
    let rig = Rig::new("");
    let set = format!("ALTER ROLE reader IN DATABASE {} SET jit = on", rig.name);
    rig.admin().batch_execute(&set).unwrap();
    assert_eq!(rig.seen(1, "SELECT current_setting('jit')").unwrap()["rows"], json!([["off"]]));
}
