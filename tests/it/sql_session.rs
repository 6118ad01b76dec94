//! SQL calls in a session of the real binary: what they say, and what slow ones do to others.

use std::{
    fs, thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{
    cluster::Cluster,
    support::{Client, LIMIT, problem, took},
    tools::{check_output, listed},
};

/// Waits for the lock that [`Locked`] holds, and costs nobody anything meanwhile.
const SLOW: &str = "SELECT count(*) FROM locked";

/// A database with a table that nobody can read as long as this lives.
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
fn sql_results_are_what_the_output_schema_says() {
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

    // A cancelled statement ends at the server, and whoever waited for its connection goes on.
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
fn a_statement_is_stopped_on_time_and_at_the_end_of_the_session() {
    let mut database = Locked::new();
    let settings = [
        ("MCP_SQL_DSN", &*database.url()),
        ("MCP_SQL_STATEMENT_TIMEOUT_MS", "500"),
        ("MCP_SHUTDOWN_GRACE_MS", "0"),
    ];
    let mut client = Client::initialized(&settings, "2025-11-25");
    let begun = Instant::now();
    let late = query(&mut client, SLOW);
    assert_eq!(problem(&client.answer(&late)["result"])["code"], "MCP_EXECUTION_TIMEOUT");
    took(begun, 500, 5_000);

    let last = query(&mut client, SLOW);
    database.wait_for(1);
    let ended = client.end().cleanly();
    assert_eq!(ended.messages.len(), 1);
    assert_eq!((&ended.messages[0]["id"], &ended.messages[0]["error"]["code"]), (&last, &json!(-32603)));
    database.wait_for(0);
}
