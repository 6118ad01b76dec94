//! SQL calls in a session of the real binary: what they say, and what slow ones do to others.

use std::time::{Duration, Instant};
use std::{fs, thread};

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::cluster::Cluster;
use crate::support::{Client, LIMIT, problem, took};
use crate::tools::{check_output, listed};

/// Waits for the lock that [`Locked`] holds, and costs nothing meanwhile.
const SLOW: &str = "SELECT count(*) FROM locked";

/// A database with a table that no session can read as long as this lives.
struct Locked {
    name: String,
    /// Holds the lock in its open transaction.
    _holder: postgres::Client,
    admin: postgres::Client,
}

impl Locked {
    fn new() -> Self {
        let cluster = Cluster::shared();
        let name = cluster.database("CREATE TABLE locked (a int); GRANT SELECT ON locked TO reader");
        let mut holder = cluster.admin(&name);
        holder.batch_execute("BEGIN; LOCK TABLE locked IN ACCESS EXCLUSIVE MODE").unwrap();
        let admin = cluster.admin(&name);
        Self { name, _holder: holder, admin }
    }

    fn url(&self) -> String {
        Cluster::shared().url(&self.name)
    }

    /// Waits until one backend runs [`SLOW`], and returns its process.
    fn wait_for_one(&mut self) -> i32 {
        self.wait_for(1);
        let backend = "SELECT pid FROM pg_stat_activity \
            WHERE datname = current_database() AND usename = 'reader' AND wait_event_type = 'Lock'";
        self.admin.query_one(backend, &[]).unwrap().get(0)
    }

    /// Waits until so many backends run [`SLOW`].
    fn wait_for(&mut self, expected: i64) {
        let begun = Instant::now();
        let count = "SELECT count(*) FROM pg_stat_activity \
            WHERE datname = current_database() AND usename = 'reader' AND wait_event_type = 'Lock'";
        loop {
            let running: i64 = self.admin.query_one(count, &[]).unwrap().get(0);
            if running == expected {
                return;
            }
            assert!(begun.elapsed() < LIMIT, "{running} statements run, not {expected}");
            thread::sleep(Duration::from_millis(10));
        }
    }
}

fn query(client: &mut Client, text: &str) -> Value {
    client.call("read_only_sql", json!({"query": text}))
}

#[test]
fn sql_results_fit_the_output_schema() {
    let database = Cluster::shared().database("CREATE TABLE odd (a int[], b jsonb, c interval, d pair); \
        INSERT INTO odd VALUES ('{1,NULL}', '{\"k\": [null]}', '1 day', (1, 'x', now())), (NULL, NULL, NULL, NULL); \
        GRANT SELECT ON odd TO reader");
    let settings = [("MCP_SQL_DSN", &*Cluster::shared().url(&database))];
    let tools = listed(&settings);
    let mut client = Client::initialized(&settings, "2025-11-25");
    for (tool, arguments) in [
        ("read_only_sql", json!({"query": "SELECT * FROM item", "max_rows": 3})),
        ("read_only_sql", json!({"query": "SELECT * FROM odd"})),
        ("read_only_sql", json!({"query": "SELECT id FROM item WHERE id < 0"})),
        ("read_only_sql", json!({"query": "SELECT 1.5::numeric, 'NaN'::float8, 1e300::float8, true, NULL"})),
        ("explain_query", json!({"query": "SELECT * FROM item"})),
        ("explain_query", json!({"query": "SELECT * FROM item", "analyze": true})),
        ("describe_database", json!({})),
        ("describe_database", json!({"schema": "public", "table": "item"})),
    ] {
        check_output(&mut client, &tools, tool, arguments);
    }
    client.end().cleanly();
}

#[test]
fn slow_statements_hold_up_nothing_but_statements() {
    let mut database = Locked::new();
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("file"), "text").unwrap();
    let settings = [
        ("MCP_SQL_DSN", &*database.url()),
        ("MCP_SAFE_DATA_DIR", directory.path().to_str().unwrap()),
        ("MCP_QUEUE_WAIT_MS", "60000"),
        ("MCP_CALL_TIMEOUT_MS", "60000"),
        ("MCP_SQL_STATEMENT_TIMEOUT_MS", "60000"),
    ];
    let mut client = Client::initialized(&settings, "2025-11-25");
    let slow: Vec<Value> = (0..4).map(|_| query(&mut client, SLOW)).collect();
    database.wait_for(4);
    let waits = query(&mut client, "SELECT max(id) FROM item");

    let begun = Instant::now();
    assert_eq!(client.use_tool("sandbox_fs_read", json!({"relative_path": "file"}))["isError"], false);
    assert_eq!(client.use_tool("system_metrics", json!({"sample_ms": 0}))["isError"], false);
    client.ask("ping", json!({}));
    took(begun, 0, 1_000);

    // A cancelled statement ends at the server, and a call that waited for its connection goes on.
    let begun = Instant::now();
    client.cancel(&slow[0]);
    let answer = client.answer(&waits);
    assert_eq!(answer["result"]["structuredContent"]["rows"], json!([[1000]]), "{answer}");
    took(begun, 0, 2_000);
    database.wait_for(3);
    took(begun, 0, 2_000);

    slow[1..].iter().for_each(|id| client.cancel(id));
    database.wait_for(0);
    assert_eq!(client.end().cleanly().messages, [] as [Value; 0]);
}

#[test]
fn a_statement_is_stopped_on_time() {
    let database = Locked::new();
    let settings = [("MCP_SQL_DSN", &*database.url()), ("MCP_SQL_STATEMENT_TIMEOUT_MS", "500")];
    let mut client = Client::initialized(&settings, "2025-11-25");
    let begun = Instant::now();
    let late = query(&mut client, SLOW);
    assert_eq!(problem(&client.answer(&late)["result"])["code"], "MCP_EXECUTION_TIMEOUT");
    took(begun, 500, 5_000);
    client.end().cleanly();
}

#[test]
fn nothing_runs_on_in_the_database_when_the_session_has_ended() {
    let mut database = Locked::new();
    let over_tcp = database.url();
    let over_socket = Cluster::shared().socket_dsn("reader", &database.name);
    type End = fn(&mut Client, &Value);
    let ends: [(&str, &str, End); 4] = [
        ("0", "-32603", |client, _| client.end_input()),
        ("60000", "-32603", |client, _| {
            client.end_input();
            client.insist(Signal::SIGTERM);
        }),
        ("0", "-32603", |client, _| client.insist(Signal::SIGINT)),
        ("60000", "", |client, id| {
            client.cancel(id);
            client.end_input();
        }),
    ];
    for dsn in [&over_tcp, &over_socket] {
        for (grace, code, end) in ends {
            let settings = [("MCP_SQL_DSN", &**dsn), ("MCP_SHUTDOWN_GRACE_MS", grace)];
            let mut client = Client::initialized(&settings, "2025-11-25");
            let id = query(&mut client, SLOW);
            let backend = database.wait_for_one();
            end(&mut client, &id);
            let ended = client.wait().cleanly();
            let codes: Vec<String> =
                ended.messages.iter().map(|it| it["error"]["code"].to_string()).collect();
            assert_eq!(codes.concat(), code, "{:?}", ended.messages);
            database.wait_for(0);
            assert!(has_logged(backend, "canceling statement due to user request"), "{dsn} {grace}");
        }
    }
}

#[test]
fn a_statement_ends_soon_after_a_process_that_was_killed() {
    let mut database = Locked::new();
    let mut client = Client::initialized(&[("MCP_SQL_DSN", &database.url())], "2025-11-25");
    query(&mut client, SLOW);
    let backend = database.wait_for_one();
    client.kill();
    client.wait();
    database.wait_for(0);
    assert!(has_logged(backend, "connection to client lost"));
    assert!(!has_logged(backend, "canceling statement"), "only its timeout ended it");
}

/// Returns whether the log holds this message of a backend.
fn has_logged(backend: i32, message: &str) -> bool {
    let log = Cluster::shared().log();
    log.lines().any(|line| line.contains(&format!("[{backend}]")) && line.contains(message))
}
