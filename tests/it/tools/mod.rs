//! The listing of tools: names, descriptions, schemas, and results that match them.

mod schemas;
mod files;

use std::fs;

use mcp_server_suite::tools::BUILT_IN;
use serde_json::{Value, json};

use crate::support::{Client, MODERN, Settings, modern};

/// A database that does not exist: listing must not connect to it.
pub(crate) const NO_DATABASE: (&str, &str) = ("MCP_SQL_DSN", "postgres://nobody@127.0.0.1:1/none");

pub(crate) fn listed(settings: Settings) -> Vec<Value> {
    let mut client = Client::initialized(settings, "2025-11-25");
    let tools = client.ask("tools/list", json!({}))["result"]["tools"].take();
    client.end().cleanly();
    tools.as_array().unwrap().clone()
}

#[track_caller]
fn check_names(settings: Settings, expected: &[&str]) {
    let tools = listed(settings);
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, expected, "{settings:?}");
}

#[test]
fn a_tool_is_listed_when_its_resource_is_configured() {
    let files = ("MCP_SAFE_DATA_DIR", env!("CARGO_MANIFEST_DIR"));
    let no_metrics = ("MCP_METRICS_ENABLED", "false");
    check_names(&[], &["system_metrics"]);
    check_names(&[no_metrics], &[]);
    check_names(&[files, no_metrics], &["sandbox_fs_read", "sandbox_fs_list"]);
    check_names(&[NO_DATABASE, no_metrics], &["read_only_sql", "explain_query", "describe_database"]);
    check_names(&[NO_DATABASE, no_metrics, ("MCP_SQL_ADHOC", "false")], &[]);
    // A catalog's entry may have none of these names.
    check_names(&[NO_DATABASE, files], &BUILT_IN);
}

#[test]
fn the_listing_is_the_same_on_every_connection() {
    let settings = [NO_DATABASE, ("MCP_SAFE_DATA_DIR", env!("CARGO_MANIFEST_DIR"))];
    let first = Value::from(listed(&settings)).to_string();
    assert_eq!(Value::from(listed(&settings)).to_string(), first);

    let mut client = Client::start(&settings);
    for _ in 0..2 {
        let answer = client.ask("tools/list", modern(json!({})));
        assert_eq!(answer["result"]["tools"].to_string(), first, "{MODERN}");
        client.ask("tools/call", modern(json!({"name": "sandbox_fs_list"})));
    }
    client.end().cleanly();
}

#[test]
fn every_tool_describes_itself() {
    let tools = listed(&[NO_DATABASE, ("MCP_SAFE_DATA_DIR", env!("CARGO_MANIFEST_DIR"))]);
    for tool in tools {
        let name = tool["name"].as_str().unwrap();
        let title = tool["title"].as_str().unwrap();
        assert!(!title.is_empty() && !tool["description"].as_str().unwrap().is_empty(), "{name}");
        assert_eq!(
            tool["annotations"],
            json!({
                "title": title,
                "readOnlyHint": true,
                "destructiveHint": false,
                "idempotentHint": true,
                "openWorldHint": false,
            })
        );
        for schema in [&tool["inputSchema"], &tool["outputSchema"]] {
            jsonschema::draft202012::meta::validate(schema).unwrap();
        }
    }
}

/// Calls a tool and holds the result against the tool's own `outputSchema`.
#[track_caller]
pub(crate) fn check_output(client: &mut Client, tools: &[Value], tool: &str, arguments: Value) -> Value {
    let schema = &tools.iter().find(|listed| listed["name"] == tool).unwrap()["outputSchema"];
    let validator = jsonschema::validator_for(schema).unwrap();
    let result = client.use_tool(tool, arguments);
    assert_eq!(result["isError"], false, "{tool}: {result}");
    let faults: Vec<String> =
        validator.iter_errors(&result["structuredContent"]).map(|fault| fault.to_string()).collect();
    assert!(faults.is_empty(), "{tool}: {faults:#?}\n{result}");
    result["structuredContent"].clone()
}

#[test]
fn results_match_the_output_schema() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("text"), "h\u{e9}llo\n").unwrap();
    fs::write(directory.path().join("bytes"), b"\xff\xfe").unwrap();
    fs::create_dir(directory.path().join("empty")).unwrap();
    std::os::unix::fs::symlink("text", directory.path().join("link")).unwrap();
    let settings = [("MCP_SAFE_DATA_DIR", directory.path().to_str().unwrap())];
    let tools = listed(&settings);
    let mut client = Client::initialized(&settings, "2025-11-25");
    for (tool, arguments) in [
        ("sandbox_fs_read", json!({"relative_path": "text"})),
        ("sandbox_fs_read", json!({"relative_path": "link", "max_bytes": 2})),
        ("sandbox_fs_read", json!({"relative_path": "text", "offset": 100})),
        ("sandbox_fs_read", json!({"relative_path": "bytes", "encoding": "base64"})),
        ("sandbox_fs_list", json!({})),
        ("sandbox_fs_list", json!({"max_entries": 1})),
        ("sandbox_fs_list", json!({"relative_path": "empty"})),
        ("system_metrics", json!({})),
        ("system_metrics", json!({"sample_ms": 0})),
    ] {
        check_output(&mut client, &tools, tool, arguments);
    }
    client.end().cleanly();
}

#[test]
fn a_running_sample_delays_no_other_call() {
    let mut client = Client::initialized(&[("MCP_MAX_CONCURRENCY", "2")], "2025-11-25");
    let sample = client.call("system_metrics", json!({"sample_ms": 2000}));
    for _ in 0..50 {
        assert_eq!(client.use_tool("system_metrics", json!({"sample_ms": 0}))["isError"], false);
    }
    assert_eq!(client.until_pong(), [] as [Value; 0], "the sample is not over");
    let sampled = &client.answer(&sample)["result"]["structuredContent"]["sampled_ms"];
    assert!(sampled.as_u64() >= Some(2_000), "{sampled}");
    client.end().cleanly();
}

#[test]
fn what_clients_add_to_every_call_is_dropped_where_the_operator_names_it() {
    let added = json!({"sample_ms": 0, "toolCallId": {"a": [null]}, "a": 1});
    let mut client = Client::initialized(&[("MCP_IGNORE_ARGUMENTS", "toolCallId, a")], "2025-11-25");
    assert_eq!(client.use_tool("system_metrics", added.clone())["isError"], false);
    assert_eq!(client.use_tool("system_metrics", json!({"b": 1}))["isError"], true);
    client.end().cleanly();
    let mut client = Client::initialized(&[], "2025-11-25");
    assert_eq!(client.use_tool("system_metrics", added)["isError"], true);
    client.end().cleanly();
}
