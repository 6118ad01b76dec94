use std::io::Write as _;
use std::time::Duration;

use serde_json::Value;

use super::tools::{add, add_gate, narrow_lane, quick, sleepy};
use super::{Client, Config, LIMIT, SMALL};
use crate::call::Answer;
use crate::tools::{LaneId, Toolbox};
use crate::wire::ascii::AsciiWriter;

fn code(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"]
        .as_str()
        .and_then(|text| text.split("\"code\":\"").nth(1))
        .and_then(|rest| rest.split('"').next())
        .unwrap_or("")
}

#[test]
fn a_panic_in_a_tool_is_one_internal_error_and_the_worker_goes_on() {
    let mut toolbox = Toolbox::default();
    add(&mut toolbox, "panics", LaneId::GENERAL, |_| panic!("a secret"));
    add(&mut toolbox, "quick", LaneId::GENERAL, quick);
    let mut client = Client::start(Config { max_concurrency: 1, ..SMALL }, toolbox);
    client.call(1, "panics");
    let answer = client.next();
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&Value::from(1), &Value::from(-32603)));
    assert!(!answer.to_string().contains("secret"));
    client.call(2, "quick");
    assert_eq!(client.next()["result"]["isError"], false);
    assert!(client.end().is_empty());
}

#[test]
fn a_cancelled_call_is_not_answered_and_its_id_can_be_used_at_once() {
    let mut toolbox = Toolbox::default();
    let gate = add_gate(&mut toolbox, "gate", LaneId::GENERAL);
    add(&mut toolbox, "quick", LaneId::GENERAL, quick);
    let mut client = Client::start(SMALL, toolbox);
    client.call(1, "gate");
    gate.began.recv_timeout(LIMIT).unwrap();
    client.call(1, "quick");
    let refused = client.next();
    assert_eq!(refused["error"]["code"], -32600);
    assert!(refused.get("id").is_none(), "the id belongs to the first request: {refused}");
    client.cancel(1);
    client.call(1, "quick");
    assert_eq!(client.next()["id"], 1);
    gate.open.send(()).unwrap();
    client.assert_silent();
    assert!(client.end().is_empty());
}

#[test]
fn the_calls_of_hung_workers_are_answered_and_the_workers_replaced_up_to_the_bound() {
    let mut toolbox = Toolbox::default();
    let gate = add_gate(&mut toolbox, "gate", LaneId::GENERAL);
    add(&mut toolbox, "quick", LaneId::GENERAL, quick);
    let config = Config { max_concurrency: 1, call_timeout: Duration::from_millis(30), ..SMALL };
    let mut client = Client::start(Config { queue_wait: Duration::from_secs(3), ..config }, toolbox);
    for (id, expected) in
        [(1, "MCP_EXECUTION_TIMEOUT"), (2, "MCP_EXECUTION_TIMEOUT"), (3, "MCP_CONCURRENCY_LIMIT")]
    {
        client.call(id, "gate");
        let answer = client.next();
        assert_eq!((answer["id"].as_u64(), code(&answer)), (Some(id), expected));
    }
    for _ in 0..2 {
        gate.open.send(()).unwrap();
    }
    client.call(4, "quick");
    assert_eq!(client.next()["id"], 4, "capacity did not come back");
    assert!(client.end().is_empty());
}

#[test]
fn calls_wait_their_turn_in_order_while_pings_are_answered() {
    let mut toolbox = Toolbox::default();
    let gate = add_gate(&mut toolbox, "gate", LaneId::GENERAL);
    let mut client = Client::start(Config { queue_capacity: 3, max_concurrency: 1, ..SMALL }, toolbox);
    for id in 1..=5 {
        client.call(id, "gate");
    }
    let refused = client.next();
    assert_eq!((refused["id"].as_u64(), code(&refused)), (Some(5), "MCP_CONCURRENCY_LIMIT"));
    client.send(r#"{"jsonrpc":"2.0","id":"ping","method":"ping"}"#);
    assert_eq!(client.next()["id"], "ping");
    for id in 1..=4 {
        gate.open.send(()).unwrap();
        assert_eq!(client.next()["id"], id);
    }
    assert!(client.end().is_empty());
}

#[test]
fn a_full_sql_lane_does_not_hold_up_other_calls() {
    let mut toolbox = Toolbox::default();
    let sql = narrow_lane(&mut toolbox);
    let gate = add_gate(&mut toolbox, "sql", sql);
    add(&mut toolbox, "quick", LaneId::GENERAL, quick);
    let mut client = Client::start(SMALL, toolbox);
    for id in 1..=3 {
        client.call(id, "sql");
    }
    gate.began.recv_timeout(LIMIT).unwrap();
    client.call(9, "quick");
    assert_eq!(client.next()["id"], 9);
    assert!(gate.began.try_recv().is_err(), "two SQL calls ran at once in a lane of one");
    for id in 1..=3 {
        gate.open.send(()).unwrap();
        assert_eq!(client.next()["id"], id);
    }
    assert!(client.end().is_empty());
}

#[test]
fn progress_grows_while_a_call_runs_and_stops_before_its_answer() {
    let mut toolbox = Toolbox::default();
    let gate = add_gate(&mut toolbox, "gate", LaneId::GENERAL);
    let mut client = Client::start(SMALL, toolbox);
    client.send(
        r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"gate","_meta":{"progressToken":7}}}"#,
    );
    let mut last = 0;
    for _ in 0..2 {
        let notification = client.next();
        assert_eq!(notification["method"], "notifications/progress");
        assert_eq!(notification["params"]["progressToken"], 7);
        let progress = notification["params"]["progress"].as_u64().unwrap();
        assert!(progress > last);
        last = progress;
    }
    gate.open.send(()).unwrap();
    assert_eq!(client.next()["id"], 7);
    assert!(client.end().is_empty());
}

#[test]
fn the_end_waits_for_the_grace_period_and_then_answers_the_other_calls() {
    let mut toolbox = Toolbox::default();
    add(&mut toolbox, "sleepy", LaneId::GENERAL, sleepy);
    let mut client = Client::start(Config { shutdown_grace: Duration::from_millis(20), ..SMALL }, toolbox);
    client.call(1, "sleepy");
    client.send(
        r#"{"jsonrpc":"2.0","id":"sub","method":"subscriptions/listen","params":{"notifications":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#,
    );
    assert_eq!(client.next()["method"], "notifications/subscriptions/acknowledged");
    let rest = client.end();
    assert_eq!(rest.len(), 3, "{rest:?}");
    assert_eq!(rest[0]["error"]["message"], "server is shutting down");
    assert_eq!(rest[1]["params"]["requestId"], "sub");
    assert_eq!(rest[2]["result"]["resultType"], "complete");
}

#[test]
fn every_answer_arrives_when_a_client_reads_late() {
    const CALLS: u64 = 60;
    let mut toolbox = Toolbox::default();
    add(&mut toolbox, "big", LaneId::GENERAL, |_| {
        let mut body = AsciiWriter::default();
        body.raw("{\"text\":").string(&"x".repeat(1_000_000)).raw("}");
        Ok(Answer::from(body.finish()))
    });
    let config = Config { queue_capacity: 100, max_concurrency: 8, ..SMALL };
    let mut unread = Client::start_unread(config, toolbox);
    let hello = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#;
    writeln!(unread.to_server, "{hello}").unwrap();
    for id in 1..=CALLS {
        writeln!(
            unread.to_server,
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"big"}}}}"#
        )
        .unwrap();
    }
    let mut ids: Vec<u64> = unread.reading().end().iter().map(|line| line["id"].as_u64().unwrap()).collect();
    ids.sort_unstable();
    assert_eq!(ids, (0..=CALLS).collect::<Vec<_>>());
}

#[test]
fn a_strictly_sequential_client_is_never_refused_even_when_nothing_may_wait() {
    let mut toolbox = Toolbox::default();
    let sql = narrow_lane(&mut toolbox);
    add(&mut toolbox, "sql", sql, |call| {
        let afterwards: Box<dyn FnOnce() + Send> = Box::new(std::thread::yield_now);
        quick(call).map(|answer| Answer { afterwards: Some(afterwards), ..answer })
    });
    let mut client =
        Client::start(Config { queue_wait: Duration::ZERO, max_concurrency: 1, ..SMALL }, toolbox);
    for id in 1..=300 {
        client.call(id, "sql");
        assert_eq!(client.next()["result"]["isError"], false, "{id}");
    }
    assert!(client.end().is_empty());
}

#[test]
fn calls_of_both_lanes_are_served_in_the_order_they_came() {
    let mut toolbox = Toolbox::default();
    let sql = narrow_lane(&mut toolbox);
    let gate = add_gate(&mut toolbox, "gate", sql);
    add(&mut toolbox, "sql", sql, quick);
    add(&mut toolbox, "quick", LaneId::GENERAL, quick);
    let mut client = Client::start(Config { max_concurrency: 1, ..SMALL }, toolbox);
    client.call(1, "gate");
    gate.began.recv_timeout(LIMIT).unwrap();
    for id in [2, 4, 6] {
        client.call(id, "sql");
        client.call(id + 1, "quick");
    }
    // All of them wait before the first ends.
    client.send(r#"{"jsonrpc":"2.0","id":"ping","method":"ping"}"#);
    assert_eq!(client.next()["id"], "ping");
    gate.open.send(()).unwrap();
    for id in 1..=7 {
        assert_eq!(client.next()["id"], id);
    }
    assert!(client.end().is_empty());
}

#[test]
fn an_error_never_carries_the_id_of_a_request_that_is_in_flight() {
    let mut toolbox = Toolbox::default();
    let gate = add_gate(&mut toolbox, "gate", LaneId::GENERAL);
    let mut client = Client::start(SMALL, toolbox);
    client.call(5, "gate");
    gate.began.recv_timeout(LIMIT).unwrap();
    for line in [
        r#"{"jsonrpc":"2.0","id":5,"method":"x","params":{"a":1,"a":2}}"#,
        r#"{"jsonrpc":"2.0","id":5,"result":{},"x":1}"#,
        r#"{"jsonrpc":"1.0","id":5,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":5,"method":"ping","params":[]}"#,
        r#"{"jsonrpc":"2.0","id":5,"method":"unknown"}"#,
        r#"{"jsonrpc":"2.0","id":5,"method":"ping"}"#,
    ] {
        client.send(line);
        let error = client.next();
        assert!(error["error"]["code"].is_number() && error.get("id").is_none(), "{line}: {error}");
    }
    gate.open.send(()).unwrap();
    assert_eq!(client.next()["result"]["isError"], false);
    assert!(client.end().is_empty());
}

#[test]
fn memory_reserved_by_hung_calls_is_released_when_they_are_answered() {
    const CALLS: u64 = 30;
    let mut toolbox = Toolbox::default();
    let gate = add_gate(&mut toolbox, "gate", LaneId::GENERAL);
    add(&mut toolbox, "quick", LaneId::GENERAL, quick);
    let config = Config {
        max_concurrency: 40,
        queue_capacity: 100,
        call_timeout: Duration::from_millis(50),
        queue_wait: Duration::from_millis(50),
        ..SMALL
    };
    let mut client = Client::start(config, toolbox);
    for id in 1..=CALLS {
        client.call(id, "gate");
    }
    // Some have memory reserved for their answers, and hang; the others got none in time.
    for _ in 1..=CALLS {
        assert!(["MCP_EXECUTION_TIMEOUT", "MCP_CONCURRENCY_LIMIT"].contains(&code(&client.next())));
    }
    client.call(100, "quick");
    assert_eq!(client.next()["result"]["isError"], false, "no memory came back");
    for _ in 1..=CALLS {
        gate.open.send(()).ok();
    }
    assert!(client.end().is_empty());
}
