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

/// Would run for days: the statement timeout ends it.
const SLOW: &str = "SELECT count(*) FROM item a, item b, item c, item d, item e";

fn query(client: &mut Client, text: &str) -> Value {
    client.call("read_only_sql", json!({"query": text}))
}

/// Waits until so many backends of this database run a statement of ours.
fn wait_for_backends(admin: &mut postgres::Client, database: &str, expected: i64) {
    let begun = Instant::now();
    let count = "SELECT count(*) FROM pg_stat_activity \
        WHERE datname = $1 AND usename = 'reader' AND state = 'active' AND query LIKE '%item%'";
    loop {
        let running: i64 = admin.query_one(count, &[&database]).unwrap().get(0);
        if running == expected {
            return;
        }
        assert!(begun.elapsed() < LIMIT, "{running} statements run, not {expected}");
        thread::sleep(Duration::from_millis(10));
    }
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
    let database = Cluster::shared().database("");
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("file"), "text").unwrap();
    let settings = [
        ("MCP_SQL_DSN", &*Cluster::shared().url(&database)),
        ("MCP_SAFE_DATA_DIR", directory.path().to_str().unwrap()),
        ("MCP_QUEUE_WAIT_MS", "60000"),
    ];
    let mut admin = Cluster::shared().admin(&database);
    let mut client = Client::initialized(&settings, "2025-11-25");
    let slow: Vec<Value> = (0..4).map(|_| query(&mut client, SLOW)).collect();
    wait_for_backends(&mut admin, &database, 4);
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
    wait_for_backends(&mut admin, &database, 3);
    took(begun, 0, 2_000);

    slow[1..].iter().for_each(|id| client.cancel(id));
    wait_for_backends(&mut admin, &database, 0);
    assert_eq!(client.end().cleanly().messages, [] as [Value; 0]);
}

#[test]
fn a_statement_is_stopped_on_time_and_at_the_end_of_the_session() {
    let database = Cluster::shared().database("");
    let mut admin = Cluster::shared().admin(&database);
    let settings = [
        ("MCP_SQL_DSN", &*Cluster::shared().url(&database)),
        ("MCP_SQL_STATEMENT_TIMEOUT_MS", "500"),
        ("MCP_SHUTDOWN_GRACE_MS", "0"),
    ];
    let mut client = Client::initialized(&settings, "2025-11-25");
    let begun = Instant::now();
    let late = query(&mut client, SLOW);
    assert_eq!(problem(&client.answer(&late)["result"])["code"], "MCP_EXECUTION_TIMEOUT");
    took(begun, 500, 5_000);

    let last = query(&mut client, SLOW);
    wait_for_backends(&mut admin, &database, 1);
    let ended = client.end().cleanly();
    assert_eq!(ended.messages.len(), 1);
    assert_eq!((&ended.messages[0]["id"], &ended.messages[0]["error"]["code"]), (&last, &json!(-32603)));
    wait_for_backends(&mut admin, &database, 0);
}
