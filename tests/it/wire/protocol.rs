//! Lines and their answers: frames, ids, both eras, every method.

use std::time::Instant;

use serde_json::{Value, json};

use crate::support::{Client, LEGACY, MODERN, initialize_params, modern, problem};

const PARSE: i64 = -32700;
const INVALID: i64 = -32600;
const METHOD: i64 = -32601;
const PARAMS: i64 = -32602;
const VERSION: i64 = -32022;

/// The answer to a line.
#[derive(Debug, PartialEq)]
enum Answer {
    Nothing,
    /// An error without an id.
    Error(i64),
    /// An error with this id.
    ErrorFor(Value, i64),
    /// A result with this id.
    Result(Value),
}

use Answer::{Error, ErrorFor, Nothing};

fn ok(id: impl Into<Value>) -> Answer {
    Answer::Result(id.into())
}

fn error_for(id: impl Into<Value>, code: i64) -> Answer {
    ErrorFor(id.into(), code)
}

/// Classifies a message of the server.
fn shown(message: &Value) -> Answer {
    match (message.get("error"), message.get("id")) {
        (Some(error), None) => Error(error["code"].as_i64().unwrap()),
        (Some(error), Some(id)) => ErrorFor(id.clone(), error["code"].as_i64().unwrap()),
        (None, _) => Answer::Result(message["id"].clone()),
    }
}

/// Sends each line, and checks after each that the session goes on.
#[track_caller]
fn check_lines(client: &mut Client, table: impl IntoIterator<Item = (Vec<u8>, Answer)>) {
    for (line, expected) in table {
        let text = String::from_utf8_lossy(&line).chars().take(200).collect::<String>();
        match serde_json::from_slice::<Value>(&line) {
            Ok(message) if matches!(expected, Answer::Result(_)) => client.send(&message),
            _ => client.send_raw(&[&line[..], b"\n"].concat()),
        }
        let mut found: Vec<Answer> = client.until_pong().iter().map(shown).collect();
        let found = found.pop().unwrap_or(Nothing);
        assert_eq!(found, expected, "{text}");
    }
}

#[track_caller]
fn check_text(client: &mut Client, table: impl IntoIterator<Item = (&'static str, Answer)>) {
    check_lines(client, table.into_iter().map(|(line, expected)| (line.as_bytes().to_vec(), expected)));
}

#[test]
fn a_line_that_is_not_json_is_a_parse_error_and_the_next_line_is_read() {
    let mut client = Client::initialized(&[], "2025-11-25");
    let deep = |depth| {
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"_meta":{}}}}}"#, nested(depth))
    };
    let table: Vec<(Vec<u8>, Answer)> = vec![
        (b"{".to_vec(), Error(PARSE)),
        (b"nonsense".to_vec(), Error(PARSE)),
        (b"{'a':1}".to_vec(), Error(PARSE)),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"} x".to_vec(), error_for(1, PARSE)),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",}".to_vec(), error_for(1, PARSE)),
        (b"\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}".to_vec(), Error(PARSE)),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}".to_vec(), error_for(1, PARSE)),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xc0\xaf\"}".to_vec(), error_for(1, PARSE)),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xed\xa0\x80\"}".to_vec(), error_for(1, PARSE)),
        (b"\xff".to_vec(), Error(PARSE)),
        (b"{\"jsonrpc\":\"2.0\",\"id\":NaN,\"method\":\"ping\"}".to_vec(), Error(PARSE)),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":Infinity}".to_vec(), error_for(1, PARSE)),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":-Infinity}".to_vec(), error_for(1, PARSE)),
        (deep(65).into_bytes(), error_for(1, PARSE)),
        (deep(100_000).into_bytes(), error_for(1, PARSE)),
    ];
    check_lines(&mut client, table);
    check_text(
        &mut client,
        [
            (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#, error_for(1, PARSE)),
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":1,"a":1}}"#, error_for(1, PARSE)),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"a":{"b":1,"b":1}}}}"#,
                error_for(1, PARSE),
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"a":1e999}}}"#,
                error_for(1, PARSE),
            ),
            (r#"{"jsonrpc":"2.0","id":1,"method":"\ud800"}"#, error_for(1, PARSE)),
            (r#"{"jsonrpc":"2.0","id":1,"method":"\udc00\ud800"}"#, error_for(1, PARSE)),
            (r#"{"jsonrpc":"2.0","method":"\ud800","id":1}"#, Error(PARSE)),
            (r#"{"jsonrpc":"2.0","id":"cut"#, Error(PARSE)),
            (r#"{"jsonrpc":"2.0","id":01,"method":"ping"}"#, Error(PARSE)),
            (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}"#, Error(PARSE)),
            (
                r#"{"jsonrpc":"2.0","id":7,"method":"ping","params":{"arguments":{"a":1,"a":2}}}"#,
                error_for(7, PARSE),
            ),
        ],
    );
    client.end().cleanly();
}

fn nested(depth: usize) -> String {
    // `params` and `_meta` stand around it already.
    let depth = depth - 2;
    format!(r#"{}1{}"#, r#"{"a":"#.repeat(depth), "}".repeat(depth))
}

#[test]
fn nesting_is_allowed_up_to_its_limit() {
    let mut client = Client::initialized(&[], "2025-11-25");
    let line = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"_meta":{}}}}}"#, nested(63));
    check_lines(&mut client, [(line.into_bytes(), ok(1))]);
}

#[test]
fn json_that_is_not_a_message_is_an_invalid_request() {
    let mut client = Client::initialized(&[], "2025-11-25");
    check_text(
        &mut client,
        [
            ("[]", Error(INVALID)),
            (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, Error(INVALID)),
            ("1", Error(INVALID)),
            ("null", Error(INVALID)),
            (r#""ping""#, Error(INVALID)),
            ("{}", Error(INVALID)),
            (r#"{"id":1,"method":"ping"}"#, error_for(1, INVALID)),
            (r#"{"jsonrpc":"1.0","id":"a","method":"ping"}"#, error_for("a", INVALID)),
            (r#"{"jsonrpc":2.0,"id":1,"method":"ping"}"#, error_for(1, INVALID)),
            (r#"{"jsonrpc":"1.0","method":"ping","id":3}"#, error_for(3, INVALID)),
            (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, Error(INVALID)),
            (r#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#, Error(INVALID)),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, Error(INVALID)),
            (r#"{"jsonrpc":"2.0","id":1.0,"method":"ping"}"#, Error(INVALID)),
            (r#"{"jsonrpc":"2.0","id":1e2,"method":"ping"}"#, Error(INVALID)),
            (r#"{"jsonrpc":"2.0","id":[1],"method":"ping"}"#, Error(INVALID)),
            (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, Error(INVALID)),
            (r#"{"jsonrpc":"2.0","id":1}"#, error_for(1, INVALID)),
            (r#"{"jsonrpc":"2.0","id":1,"method":1}"#, error_for(1, INVALID)),
            (r#"{"jsonrpc":"2.0","id":1,"method":null}"#, error_for(1, INVALID)),
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}"#, error_for(1, INVALID)),
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":true}"#, error_for(1, INVALID)),
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":"a"}"#, error_for(1, INVALID)),
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping","extra":1}"#, error_for(1, INVALID)),
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}"#, error_for(1, INVALID)),
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping","error":{}}"#, error_for(1, INVALID)),
            (r#"{"jsonrpc":"2.0","method":"notifications/initialized","params":1}"#, Error(INVALID)),
        ],
    );
    client.end().cleanly();
}

#[test]
fn messages_that_need_no_answer_get_none() {
    let mut client = Client::initialized(&[], "2025-11-25");
    check_text(
        &mut client,
        [
            ("", Nothing),
            ("\r", Nothing),
            (" \t ", Nothing),
            (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, Nothing),
            (r#"{"jsonrpc":"2.0","id":"of nobody","error":{"code":1,"message":"m"}}"#, Nothing),
            (r#"{"jsonrpc":"2.0","error":{"code":1,"message":"m"}}"#, Nothing),
            (r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, Nothing),
            (r#"{"jsonrpc":"2.0","method":"notifications/unheard-of","params":{"a":1}}"#, Nothing),
            (
                r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"of nobody"}}"#,
                Nothing,
            ),
            (r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":null}}"#, Nothing),
            (r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#, Nothing),
            (r#"{"jsonrpc":"2.0","method":"ping"}"#, Nothing),
        ],
    );
    client.end().cleanly();
}

#[test]
fn ids_are_echoed_exactly() {
    let mut client = Client::initialized(&[], "2025-06-18");
    let longest = "i".repeat(256);
    let ids = [
        json!(0),
        json!(-1),
        json!(i64::MIN),
        json!(u64::MAX),
        json!(""),
        json!("0"),
        json!(longest),
        json!("é".repeat(128)),
        json!("\u{0}\"\\\u{7f}\u{2028}\u{1f600}"),
    ];
    for id in ids {
        client.send(&json!({"jsonrpc": "2.0", "id": id, "method": "ping"}));
        assert_eq!(client.next()["id"], id);
    }
    let too_long =
        |id: String| json!({"jsonrpc": "2.0", "id": id, "method": "ping"}).to_string().into_bytes();
    check_lines(
        &mut client,
        [
            (too_long("i".repeat(257)), Error(INVALID)),
            (too_long("é".repeat(129)), Error(INVALID)),
            (br#"{"jsonrpc":"2.0","id":-9223372036854775809,"method":"ping"}"#.to_vec(), Error(PARSE)),
            (br#"{"jsonrpc":"2.0","id":18446744073709551616,"method":"ping"}"#.to_vec(), Error(PARSE)),
        ],
    );
}

#[test]
fn a_line_end_may_be_crlf_and_the_last_line_may_have_none() {
    let mut client = Client::initialized(&[], "2025-11-25");
    let ping = br#"{"jsonrpc":"2.0","id":"crlf","method":"ping"}"#;
    client.send(&serde_json::from_slice(ping).unwrap());
    client.answer(&json!("crlf"));
    check_lines(
        &mut client,
        [(b"{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"none\"}\r".to_vec(), error_for("x", METHOD))],
    );
    client.send_raw(br#"{"jsonrpc":"2.0","id":"last","method":"none"}"#);
    let ended = client.end().cleanly();
    assert_eq!(ended.messages.iter().map(shown).collect::<Vec<_>>(), [error_for("last", METHOD)]);
}

#[test]
fn a_line_over_the_limit_is_refused_and_named_by_its_limit() {
    let mut client = Client::initialized(&[("MCP_MAX_FRAME_BYTES", "1024")], "2025-11-25");
    let ping = |bytes: usize| {
        let line = r#"{"jsonrpc":"2.0","id":5,"method":"ping","params":{"_meta":{"a":""}}}"#;
        line.replace(r#""a":"""#, &format!(r#""a":"{}""#, "x".repeat(bytes - line.len()))).into_bytes()
    };
    check_lines(
        &mut client,
        [
            (ping(1024), ok(5)),
            (ping(1025), Error(INVALID)),
            (vec![b'x'; 3_000_000], Error(INVALID)),
            (vec![b' '; 3_000_000], Error(INVALID)),
        ],
    );
    client.send_raw(&[&ping(2000)[..], b"\n"].concat());
    assert_eq!(client.next()["error"]["data"], json!({"max_frame_bytes": 1024}));
    client.end().cleanly();
}

#[test]
fn an_id_in_flight_stays_with_its_first_request() {
    let mut client = Client::initialized(&[], "2025-11-25");
    let call = |id: &Value| {
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
            "params": {"name": "system_metrics", "arguments": {"sample_ms": 1000}}})
    };
    let id = json!("twice");
    client.send(&call(&id));
    for second in [call(&id), json!({"jsonrpc": "2.0", "id": id, "method": "ping"})] {
        client.send(&second);
        let refusal = client.next();
        assert_eq!(shown(&refusal), Error(INVALID));
        assert!(refusal["error"]["message"].as_str().unwrap().contains("twice"), "{refusal}");
    }
    assert_eq!(client.answer(&id)["result"]["isError"], false);
    client.send(&json!({"jsonrpc": "2.0", "id": id, "method": "ping"}));
    assert_eq!(client.answer(&id)["result"], json!({}));
    client.end().cleanly();
}

#[test]
fn initialize_negotiates_each_legacy_revision_and_offers_the_newest_to_others() {
    let known = LEGACY.map(|revision| (revision, revision));
    for (asked, offered) in
        known.into_iter().chain([(MODERN, LEGACY[0]), ("2099-01-01", LEGACY[0]), ("", LEGACY[0])])
    {
        let mut client = Client::start(&[]);
        let answer = client.initialize(asked);
        assert_eq!(
            answer["result"],
            json!({
                "protocolVersion": offered,
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "mcp-server-suite", "version": env!("CARGO_PKG_VERSION")},
            }),
            "{asked}"
        );
        let again = client.ask("initialize", initialize_params(asked));
        assert_eq!(again["error"]["code"], INVALID, "{again}");
        assert!(!client.ask("tools/list", json!({}))["result"]["tools"].as_array().unwrap().is_empty());
        assert_eq!(client.use_tool("system_metrics", json!({"sample_ms": 0}))["isError"], false);
        client.end().cleanly();
    }
}

#[test]
fn before_a_handshake_only_ping_and_initialize_are_answered() {
    let mut client = Client::start(&[]);
    for (method, params) in
        [("tools/list", json!({})), ("tools/call", json!({"name": "system_metrics"})), ("nope", json!({}))]
    {
        let refusal = client.ask(method, params);
        assert_eq!(refusal["error"]["code"], PARAMS, "{refusal}");
        let message = refusal["error"]["message"].as_str().unwrap();
        assert!(
            message.contains("initialize") && message.contains("io.modelcontextprotocol/protocolVersion"),
            "{message}"
        );
    }
    assert_eq!(client.ask("ping", json!({}))["result"], json!({}));
    client.initialize("2024-11-05");
    assert_eq!(client.ask("nope", json!({}))["error"]["code"], METHOD);
    client.end().cleanly();
}

#[test]
fn a_modern_request_is_judged_by_itself() {
    let mut client = Client::start(&[]);
    let discovered = client.ask("server/discover", modern(json!({})));
    assert_eq!(
        discovered["result"],
        json!({
            "supportedVersions": [MODERN],
            "capabilities": {"tools": {}},
            "ttlMs": 300_000,
            "cacheScope": "private",
            "resultType": "complete",
            "_meta": {"io.modelcontextprotocol/serverInfo":
                {"name": "mcp-server-suite", "version": env!("CARGO_PKG_VERSION")}},
        })
    );
    let listed = client.ask("tools/list", modern(json!({})));
    assert_eq!(listed["result"]["ttlMs"], 300_000);
    assert_eq!(listed["result"]["cacheScope"], "private");
    let called =
        client.ask("tools/call", modern(json!({"name": "system_metrics", "arguments": {"sample_ms": 0}})));
    assert_eq!(called["result"]["isError"], false);
    // It does not allow legacy requests.
    assert_eq!(client.ask("tools/list", json!({}))["error"]["code"], PARAMS);
    client.end().cleanly();
}

#[test]
fn both_eras_are_served_interleaved() {
    let mut client = Client::start(&[]);
    let before = client.ask("tools/list", modern(json!({})));
    client.initialize("2025-03-26");
    for _ in 0..2 {
        assert_eq!(client.ask("tools/list", modern(json!({})))["result"], before["result"]);
        assert_eq!(
            client.ask("tools/list", json!({}))["result"],
            json!({"tools": before["result"]["tools"]})
        );
        assert_eq!(
            client.ask("server/discover", modern(json!({})))["result"]["supportedVersions"],
            json!([MODERN])
        );
        let call = json!({"name": "system_metrics", "arguments": {"sample_ms": 0}});
        assert_eq!(client.ask("tools/call", modern(call.clone()))["result"]["isError"], false);
        assert_eq!(client.ask("tools/call", call)["result"]["isError"], false);
    }
    client.end().cleanly();
}

#[test]
fn a_modern_request_must_name_a_version_that_is_spoken_and_its_capabilities() {
    let mut client = Client::start(&[]);
    for version in ["2025-11-25", "2026-07-29", ""] {
        let mut params = modern(json!({}));
        params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!(version);
        for method in ["server/discover", "tools/list", "initialize", "nope"] {
            let refusal = client.ask(method, params.clone());
            assert_eq!(refusal["error"]["code"], VERSION, "{refusal}");
            assert_eq!(refusal["error"]["data"], json!({"supported": [MODERN], "requested": version}));
        }
    }
    let meta = |meta: Value| json!({"_meta": meta});
    let version = "io.modelcontextprotocol/protocolVersion";
    let capabilities = "io.modelcontextprotocol/clientCapabilities";
    for params in [
        meta(json!({version: MODERN})),
        meta(json!({version: MODERN, capabilities: null})),
        meta(json!({version: MODERN, capabilities: []})),
        meta(json!({version: 1, capabilities: {}})),
        meta(json!({version: null, capabilities: {}})),
    ] {
        let refusal = client.ask("tools/list", params);
        assert_eq!(refusal["error"]["code"], PARAMS, "{refusal}");
    }
    client.end().cleanly();
}

#[test]
fn each_era_has_methods_of_its_own() {
    let mut client = Client::initialized(&[], "2025-11-25");
    for method in ["initialize", "ping", "resources/list", "prompts/list", "logging/setLevel", "nope", ""] {
        assert_eq!(client.ask(method, modern(json!({})))["error"]["code"], METHOD, "modern {method}");
    }
    let legacy = ["server/discover", "subscriptions/listen", "resources/read", "prompts/get", "nope", ""];
    for method in legacy.into_iter().chain(["notifications/initialized", "tasks/get", "completion/complete"])
    {
        assert_eq!(client.ask(method, json!({}))["error"]["code"], METHOD, "legacy {method}");
    }
    client.end().cleanly();
}

#[test]
fn an_unknown_param_is_refused() {
    let mut client = Client::initialized(&[], "2025-11-25");
    let legacy = [
        ("ping", json!({"a": 1})),
        ("ping", json!({"arguments": {}})),
        ("tools/list", json!({"a": 1})),
        ("tools/list", json!({"cursor": "next"})),
        ("tools/list", json!({"cursor": 1})),
        ("tools/call", json!({"name": "system_metrics", "extra": 1})),
        ("tools/call", json!({"name": "system_metrics", "inputResponses": {}})),
        ("tools/call", json!({"name": 1})),
        ("tools/call", json!({"name": null})),
        ("tools/call", json!({})),
        ("tools/call", json!({"name": "system_metrics", "arguments": []})),
        ("tools/call", json!({"name": "system_metrics", "arguments": null})),
        ("tools/call", json!({"name": "system_metrics", "arguments": "{}"})),
    ];
    for (method, params) in legacy {
        let refusal = client.ask(method, params.clone());
        assert_eq!(refusal["error"]["code"], PARAMS, "{method} {params} {refusal}");
    }
    let of_modern = [
        ("server/discover", json!({"a": 1})),
        ("tools/list", json!({"cursor": ""})),
        ("tools/call", json!({"name": "system_metrics", "extra": 1})),
        ("subscriptions/listen", json!({})),
        ("subscriptions/listen", json!({"notifications": []})),
        ("subscriptions/listen", json!({"notifications": {}, "extra": 1})),
    ];
    for (method, params) in of_modern {
        let refusal = client.ask(method, modern(params.clone()));
        assert_eq!(refusal["error"]["code"], PARAMS, "{method} {params} {refusal}");
    }
    client.end().cleanly();
}

#[test]
fn a_param_of_any_revision_is_accepted() {
    let mut client = Client::initialized(&[], "2025-11-25");
    let name = "system_metrics";
    let quick = json!({"sample_ms": 0});
    for (method, params) in [
        ("ping", json!({"_meta": {"anything": [1, {"a": null}]}})),
        ("tools/list", json!({"cursor": null})),
        ("tools/list", json!({"_meta": {"progressToken": 0}})),
        ("tools/call", json!({"name": name})),
        ("tools/call", json!({"name": name, "arguments": quick, "task": {"ttl": 1}, "_meta": {"x": 1}})),
        ("tools/call", json!({"name": name, "arguments": {"sample_ms": 0.0}})),
    ] {
        let answer = client.ask(method, params.clone());
        assert!(answer.get("result").is_some(), "{method} {params} {answer}");
    }
    for params in [
        json!({"name": name, "arguments": quick, "inputResponses": {}, "requestState": "s", "task": {}}),
        json!({"name": name, "arguments": quick}),
    ] {
        let answer = client.ask("tools/call", modern(params.clone()));
        assert_eq!(answer["result"]["isError"], false, "{params} {answer}");
    }
    client.end().cleanly();
}

#[test]
fn an_unknown_tool_is_an_error_with_the_problem_as_its_data() {
    let mut client = Client::initialized(&[], "2025-11-25");
    for name in ["nope", "System_Metrics", "read_only_sql", "sandbox_fs_read", ""] {
        for params in [json!({"name": name}), modern(json!({"name": name, "arguments": {"\u{202e}": 1}}))] {
            let refusal = client.ask("tools/call", params);
            let error = &refusal["error"];
            assert_eq!(error["code"], PARAMS, "{refusal}");
            assert_eq!(error["message"], format!("Unknown tool: '{name}'"));
            assert_eq!(error["data"]["code"], "MCP_VALIDATION_ERROR");
            assert_eq!(error["data"]["invalid_params"], json!(["name"]));
            assert_eq!(error["data"]["type"], "urn:mcp-server-suite:problem:validation-error");
        }
    }
    let long = client.ask("tools/call", json!({"name": "n".repeat(100_000)}));
    assert!(long.to_string().len() < 2_000, "an echo of {} bytes", long.to_string().len());
    client.end().cleanly();
}

#[test]
fn faults_inside_arguments_are_reported_to_the_model() {
    let mut client = Client::initialized(&[], "2025-11-25");
    let deep = format!("{}1{}", "[".repeat(5_000), "]".repeat(5_000));
    for arguments in [
        r#"{"sample_ms":1,"sample_ms":1}"#,
        r#"{"a":{"b":1,"b":2}}"#,
        r#"{"a":1e999}"#,
        r#"{"a":"\ud800"}"#,
        r#"{"\udc00":1}"#,
        r#"{"a-b":1}"#,
        r#"{"":1}"#,
        r#"{"a":"\u0000"}"#,
        r#"{"a":"\u202e"}"#,
        r#"{"a":"\u009f"}"#,
        r#"{"a":"\uffff"}"#,
        r#"{"a":[[[[[[[[[[1]]]]]]]]]]}"#,
        r#"{"sample_ms":"0"}"#,
        r#"{"sample_ms":0.5}"#,
        r#"{"sample_ms":-1}"#,
        r#"{"sample_ms":2001}"#,
        r#"{"sample_ms":true}"#,
        r#"{"unknown":1}"#,
        &format!(r#"{{"a":{deep}}}"#),
        &format!(r#"{{"a":[{}1]}}"#, "1,".repeat(1_000)),
        &format!(r#"{{"a":"{}"}}"#, "x".repeat(65_537)),
    ] {
        let line = format!(
            r#"{{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{{"name":"system_metrics","arguments":{arguments}}}}}"#
        );
        // The judge must know of the request, whose arguments no serde_json can hold.
        client.send_raw_as(&line, &json!({"id": "a", "method": "tools/call"}));
        let answer = client.answer(&json!("a"));
        let problem = problem(&answer["result"]);
        let shown: String = line.chars().take(200).collect();
        assert_eq!(problem["code"], "MCP_VALIDATION_ERROR", "{shown} {answer}");
    }
    client.end().cleanly();
}

#[test]
fn sixteen_subscriptions_are_held_open_and_ended_in_words() {
    let mut client = Client::start(&[]);
    let listen = || modern(json!({"notifications": {"toolsListChanged": true}}));
    let open: Vec<Value> = (0..16).map(|_| client.request("subscriptions/listen", listen())).collect();
    for id in &open {
        let acknowledged = client.next();
        assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
        assert_eq!(acknowledged["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], *id);
        assert_eq!(acknowledged["params"]["notifications"], json!({}));
    }
    let refusal = client.ask("subscriptions/listen", listen());
    assert_eq!(refusal["error"]["code"], INVALID, "{refusal}");
    client.cancel(&open[0]);
    let replacement = client.request("subscriptions/listen", listen());
    assert_eq!(client.next()["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], replacement);

    let ended = client.end().cleanly();
    let held: Vec<Value> = open[1..].iter().cloned().chain([replacement]).collect();
    assert_eq!(ended.messages.len(), 2 * held.len());
    for id in held {
        let of_it = |message: &&Value| message["id"] == id || message["params"]["requestId"] == id;
        let found: Vec<&Value> = ended.messages.iter().filter(of_it).collect();
        assert_eq!(found[0]["method"], "notifications/cancelled");
        assert_eq!(found[1]["result"]["_meta"]["io.modelcontextprotocol/subscriptionId"], id);
    }
}

#[test]
fn a_cancelled_call_is_not_answered_and_its_slot_is_free() {
    let mut client = Client::initialized(&[("MCP_MAX_CONCURRENCY", "1")], "2025-11-25");
    let begun = Instant::now();
    let running = client.call("system_metrics", json!({"sample_ms": 2000}));
    let waiting = client.call("system_metrics", json!({"sample_ms": 2000}));
    client.cancel(&waiting);
    client.cancel(&running);
    client.cancel(&running);
    let result = client.use_tool("system_metrics", json!({"sample_ms": 0}));
    assert_eq!(result["isError"], false, "{result}");
    crate::support::took(begun, 0, 1_500);
    assert_eq!(client.end().cleanly().messages, [] as [Value; 0]);
}

#[test]
fn an_id_may_be_used_again_once_its_call_was_cancelled() {
    let mut client = Client::initialized(&[], "2025-11-25");
    let id = json!("again");
    let call = |ms| {
        let params = json!({"name": "system_metrics", "arguments": {"sample_ms": ms}});
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
    };
    for _ in 0..50 {
        client.send(&call(2000));
        client.cancel(&id);
        client.send(&call(1));
        let answer = client.answer(&id);
        assert!(answer["result"]["structuredContent"]["sampled_ms"].as_u64() < Some(1_000), "{answer}");
    }
    assert_eq!(client.end().cleanly().messages, [] as [Value; 0]);
}

#[test]
fn progress_comes_while_a_call_runs_and_never_after_its_answer() {
    let mut client = Client::initialized(&[], "2025-06-18");
    for token in [json!(0), json!("token")] {
        let arguments = json!({"sample_ms": 2000});
        let params =
            json!({"name": "system_metrics", "arguments": arguments, "_meta": {"progressToken": token}});
        let id = client.request("tools/call", params);
        let mut last = -1.0;
        let mut count = 0;
        loop {
            let message = client.next();
            if message["id"] == id {
                break;
            }
            assert_eq!(message["method"], "notifications/progress");
            assert_eq!(message["params"]["progressToken"], token);
            let progress = message["params"]["progress"].as_f64().unwrap();
            assert!(progress > last, "{progress} after {last}");
            last = progress;
            count += 1;
        }
        assert!((1..=2).contains(&count), "{count} notifications in two seconds");
    }
    assert_eq!(client.until_pong(), [] as [Value; 0]);
    client.end().cleanly();
}

#[test]
fn habits_of_clients_in_the_field_are_no_faults() {
    let mut client = Client::start(&[]);
    let mut params = initialize_params("2025-06-18");
    params["trace"] = json!("off");
    params["workspaceFolders"] = json!(null);
    let answer = client.ask("initialize", params);
    assert_eq!(answer["result"]["protocolVersion"], "2025-06-18", "{answer}");
    check_text(
        &mut client,
        [
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":null}"#, ok(1)),
            (r#"{"jsonrpc":"2.0","method":"notifications/initialized","params":null}"#, Nothing),
            (r#"{"jsonrpc":"2.0","id":2,"method":"tools/list","params":null}"#, ok(2)),
            (r#"{"jsonrpc":"2.0","id":3,"method":"ping","params":nul}"#, error_for(3, PARSE)),
            (r#"{"jsonrpc":"2.0","id":4,"method":"ping","params":null,"params":{}}"#, error_for(4, PARSE)),
        ],
    );
    for (method, member) in [
        ("resources/list", "resources"),
        ("resources/templates/list", "resourceTemplates"),
        ("prompts/list", "prompts"),
    ] {
        assert_eq!(client.ask(method, json!({}))["result"], json!({member: []}));
        // The revision without a handshake knows what is declared.
        assert_eq!(client.ask(method, modern(json!({})))["error"]["code"], METHOD);
    }
    client.end().cleanly();
}

#[test]
fn refused_lines_are_logged_once_a_second_without_their_bytes() {
    let mut client = Client::initialized(&[("MCP_MAX_FRAME_BYTES", "2000")], "2025-11-25");
    for _ in 0..50 {
        client.send_raw(b"{\"hunter2\": \n");
    }
    client.send_raw(format!("{}\n", "x".repeat(3_000)).as_bytes());
    client.until_pong();
    let stderr = client.end().cleanly().stderr;
    let warnings: Vec<&str> = stderr.lines().filter(|line| line.contains("was refused")).collect();
    assert!((1..=3).contains(&warnings.len()) && !stderr.contains("hunter2"), "{stderr}");
    assert!(warnings[0].contains("a line of 12 bytes was refused: Parse error"), "{stderr}");
}

#[test]
fn arguments_that_clients_add_are_dropped_and_null_is_absent() {
    let directory = tempfile::tempdir().unwrap();
    let settings = [
        ("MCP_SAFE_DATA_DIR", directory.path().to_str().unwrap()),
        ("MCP_IGNORE_ARGUMENTS", "toolCallId, $meta"),
    ];
    let mut client = Client::initialized(&settings, "2025-11-25");
    for arguments in [
        json!({"toolCallId": "x", "$meta": {"deep": [1]}}),
        json!({"relative_path": null, "max_entries": null, "after": null}),
        json!({"relative_path": "", "after": ""}),
    ] {
        let result = client.use_tool("sandbox_fs_list", arguments.clone());
        assert_eq!(result["isError"], false, "{arguments}: {result}");
    }
    let refused = problem(&client.use_tool("sandbox_fs_list", json!({"other": 1, "max_entries": "10"})));
    let detail =
        "`max_entries` is the string \"10\": send the number 10. Not a parameter of this tool: 'other'.";
    assert!(refused["detail"].as_str().unwrap().starts_with(detail), "{refused}");
    client.end().cleanly();
}
