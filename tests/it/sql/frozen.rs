//! A server that accepts and is silent: frozen, or never one.

use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::thread;
use std::time::{Duration, Instant};

use mcp_server_suite::call::Failure;
use mcp_server_suite::guard::{GuardConfig, SensitiveWords};
use mcp_server_suite::postgres::Database;
use mcp_server_suite::tools::catalog::{Catalog, CatalogConfig};
use serde_json::{Value, json};

use crate::cluster::Cluster;
use crate::sql::faults::wait_until;
use crate::sql::run::{LIMIT, config, query};
use crate::support::{Client, problem, took};

/// The most threads of a session that has used all its workers for SQL, while nothing hangs.
const USUAL_THREADS: usize = 16;

#[test]
fn a_frozen_server_is_reported_by_the_probe_and_used_again_when_it_thaws() {
    let cluster = Cluster::start();
    let mut settings = config(&cluster.url("seed"));
    settings.connect_timeout = Duration::from_millis(200);
    let db = Database::new(settings);
    db.probe().unwrap();
    let frozen = cluster.freeze();
    let error = db.probe().unwrap_err().to_string();
    drop(frozen);
    assert!(error.contains("hangs or is frozen"), "{error}");
    db.probe().unwrap();
}

#[test]
fn a_server_that_accepts_and_is_silent_is_given_up_in_time_and_the_next_one_is_asked() {
    // The kernel accepts; no server answers.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    let directory = tempfile::tempdir().unwrap();
    let _silent = UnixListener::bind(directory.path().join(".s.PGSQL.5432")).unwrap();
    let database = |dsn: &str, connect_ms: u64| {
        let mut settings = config(dsn);
        settings.connect_timeout = Duration::from_millis(connect_ms);
        Database::new(settings)
    };
    let alone = |dsn: &str, causes: &[&str]| {
        let alone = database(dsn, 300);
        for expected in causes {
            match query(&alone, "SELECT 1") {
                Err(Failure::Unavailable(_, why)) => assert!(why.contains(expected), "{why}"),
                outcome => panic!("{outcome:?}"),
            }
        }
    };
    // A login over TCP ends by itself. One over a socket cannot be called back, so that there are so many and no more.
    let silence = ["no answer within 300 ms"; 12];
    alone(&format!("postgres://reader@127.0.0.1:{port}/seed"), &silence);
    let causes: Vec<&str> = silence.into_iter().take(8).chain(["earlier logins still wait"]).collect();
    alone(&format!("host='{}' user=reader dbname=seed", directory.path().display()), &causes);
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

/// The two steps of `check`: one question, and then each entry of the catalog.
#[test]
fn a_server_that_freezes_between_the_probe_and_the_examples_holds_no_thread() {
    const CATALOG: &str = "version = 1\ntables = [\"item\"]\n[[query]]\nname = \"items\"\ntitle = \"Items\"
        description = \"Lists all items by their numbers.\"\ntables = [\"item\"]\ncolumns = [\"id\"]
        sql = \"SELECT i.id FROM item i ORDER BY i.id LIMIT 10\"\nexample = {}\n";
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("catalog.toml");
    std::fs::write(&path, CATALOG).unwrap();
    let guard = GuardConfig::default();
    let judged_by = CatalogConfig { words: SensitiveWords::default(), guard: &guard, max_rows: 1_000 };
    let catalog = Catalog::load(&path, &judged_by).unwrap();
    let cluster = Cluster::start();
    for dsn in [cluster.url("seed"), cluster.socket_dsn("reader", "seed")] {
        let mut settings = config(&dsn);
        (settings.connect_timeout, settings.call_timeout) = (LIMIT, Duration::from_secs(2));
        let database = Database::new(settings);
        database.probe().unwrap();
        // With a connection in the pool.
        assert!(catalog.examine(&database).unwrap()[0].outcome.is_ok());
        let frozen = cluster.freeze();
        let (sender, outcome) = std::sync::mpsc::channel();
        thread::scope(|scope| {
            scope.spawn(|| sender.send(catalog.examine(&database).map(|_| ())));
            let outcome = outcome.recv_timeout(LIMIT);
            drop(frozen);
            let error = outcome.expect("it hangs").unwrap_err();
            assert!(error.to_string().contains("in time") || error.to_string().contains("frozen"), "{error}");
        });
    }
}

/// Everything of the server stops in the middle of four statements, and in the middle of logins. At most `most` threads
/// are left while no call runs.
#[track_caller]
fn freeze_and_thaw(cluster: &Cluster, dsn: &str, most: usize) {
    let settings = [
        ("MCP_SQL_DSN", dsn),
        ("MCP_CALL_TIMEOUT_MS", "3000"),
        ("MCP_SQL_STATEMENT_TIMEOUT_MS", "3000"),
        ("MCP_SQL_CONNECT_TIMEOUT_MS", "1000"),
        ("MCP_QUEUE_WAIT_MS", "1000"),
        ("MCP_SHUTDOWN_GRACE_MS", "500"),
    ];
    let mut admin = cluster.admin("seed");
    let mut client = Client::initialized(&settings, "2025-11-25");
    let ask = |client: &mut Client, sql: &str| client.call("read_only_sql", json!({ "query": sql }));
    let under_way: Vec<Value> = (0..4).map(|_| ask(&mut client, "SELECT * FROM nap")).collect();
    let active =
        "FROM pg_stat_activity WHERE usename = 'reader' AND query LIKE '%FROM nap%' AND state = 'active'";
    wait_until(&mut admin, &format!("SELECT count(*) = 4 {active}"));

    let frozen = cluster.freeze();
    let begun = Instant::now();
    for id in under_way {
        let answer = client.answer(&id);
        assert_eq!(problem(&answer["result"])["code"], "MCP_EXECUTION_TIMEOUT", "{answer}");
    }
    took(begun, 0, 15_000);
    // Wave after wave: each call has its answer, and the rest of the session goes on.
    for _ in 0..6 {
        let begun = Instant::now();
        let wave: Vec<Value> = (0..6).map(|_| ask(&mut client, "SELECT 1")).collect();
        for id in wave {
            let answer = client.answer(&id);
            assert!(answer["error"]["code"] == -32603 || answer["result"]["isError"] == true, "{answer}");
        }
        took(begun, 0, 20_000);
        assert_eq!(client.use_tool("system_metrics", json!({"sample_ms": 0}))["isError"], false);
    }
    let begun = Instant::now();
    while client.process.threads() > most {
        assert!(begun.elapsed() < LIMIT, "{:?}", client.process.thread_names());
        thread::yield_now();
    }

    drop(frozen);
    wait_until(&mut admin, &format!("SELECT count(*) = 0 {active}"));
    // Logins that hung may still be ending.
    let thawed = Instant::now();
    loop {
        let id = ask(&mut client, "SELECT max(id) FROM item");
        let answer = client.answer(&id);
        if answer["result"]["structuredContent"]["rows"] == json!([[1000]]) {
            break;
        }
        assert_eq!(answer["error"]["code"], -32603, "{answer}");
        assert!(thawed.elapsed() < LIMIT, "{}", client.end().stderr);
    }

    // The end does not wait for a server that is silent.
    let frozen = cluster.freeze();
    let last = ask(&mut client, "SELECT 1");
    let begun = Instant::now();
    let ended = client.end().cleanly();
    took(begun, 0, 15_000);
    drop(frozen);
    assert_eq!(ended.messages.len(), 1, "{:?}", ended.messages);
    assert_eq!(ended.messages[0]["id"], last);
}

#[test]
fn a_frozen_server_costs_calls_their_time_and_holds_nothing() {
    let cluster = Cluster::start();
    let nap = "CREATE VIEW nap AS SELECT pg_sleep(60)::text; GRANT SELECT ON nap TO reader";
    cluster.admin("seed").batch_execute(nap).unwrap();
    freeze_and_thaw(&cluster, &cluster.url("seed"), USUAL_THREADS);
    // Over a Unix socket what waits cannot be called back: workers, logins, cancels and the one that closes.
    freeze_and_thaw(&cluster, &cluster.socket_dsn("reader", "seed"), USUAL_THREADS + 16 + 8 + 32);
}
