use super::*;
use crate::wire::frame::FrameReader;
use serde_json::json;

fn read(line: &[u8]) -> Result<Incoming, Malformed> {
    let mut reader = FrameReader::new(line, 1 << 24);
    parse(&reader.next_frame().unwrap().unwrap(), "arguments")
}

/// A message, its id, method, params and quarantined member, as JSON; `""` for an absent member.
#[track_caller]
fn check(line: &str, expected: &Value) {
    let found = match read(line.as_bytes()).unwrap() {
        Incoming::Call { id: Some(id), method, params } => {
            json!({"id": id, "method": method, "params": shown(params)})
        }
        Incoming::Call { id: None, method, params } => json!({"method": method, "params": shown(params)}),
        Incoming::Response => json!("response"),
    };
    assert_eq!(&found, expected, "{line}");
}

fn shown(params: Option<Params>) -> Value {
    let Some(params) = params else { return json!("") };
    let quarantined = match params.quarantined {
        None => json!(""),
        Some(Ok(value)) => value,
        Some(Err(fault)) => json!(fault.to_string()),
    };
    json!([params.members, quarantined])
}

/// A line that is refused, with the id that is echoed (JSON; empty for none).
#[track_caller]
fn check_refused(line: impl AsRef<[u8]>, id: &str, why: &str) {
    let line = line.as_ref();
    let malformed = read(line).unwrap_err();
    let echoed = malformed.id.map_or(String::new(), |id| serde_json::to_string(&id).unwrap());
    let found = (echoed.as_str(), malformed.why.to_string());
    assert_eq!(found, (id, why.to_owned()), "{}", String::from_utf8_lossy(line));
}

#[test]
fn messages_are_distinguished() {
    check(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, &json!({"id": 1, "method": "ping", "params": ""}));
    let any_order = r#"{"method":"m","params":{},"id":"é","jsonrpc":"2.0"}"#;
    check(any_order, &json!({"id": "é", "method": "m", "params": [{}, ""]}));
    check(r#"{"jsonrpc":"2.0","method":"m"}"#, &json!({"method": "m", "params": ""}));
    check(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, &json!("response"));
    check(r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}}"#, &json!("response"));
    check(r#"{"jsonrpc":"2.0","error":{"code":1,"message":"m"}}"#, &json!("response"));
}

#[test]
fn a_response_may_hold_anything_else() {
    for rest in [
        r#""id":null,"error":{"code":-32600,"message":"m"}"#,
        r#""id":1.5,"error":{}"#,
        r#""id":[],"result":{}"#,
        r#""result":1"#,
        r#""id":1,"result":1,"error":{}"#,
        r#""id":1,"result":1,"params":[]"#,
    ] {
        check(&format!(r#"{{"jsonrpc":"2.0",{rest}}}"#), &json!("response"));
    }
}

#[test]
fn ids_are_strings_or_integers() {
    let check_id = |id: &str, is_valid: bool| {
        let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m"}}"#);
        if is_valid {
            check(
                &line,
                &json!({"id": serde_json::from_str::<Value>(id).unwrap(), "method": "m", "params": ""}),
            );
        } else {
            let why =
                "Invalid request: `id` must be a string of at most 256 bytes or an integer within 64 bits";
            check_refused(line, "", why);
        }
    };
    for id in ["0", "-1", "18446744073709551615", "-9223372036854775808", "\"\"", "\"1\""] {
        check_id(id, true);
    }
    for id in ["null", "true", "1.0", "1e0", "-0.0", "[]", "{}"] {
        check_id(id, false);
    }
    check_id(&format!("\"{}\"", "x".repeat(256)), true);
    check_id(&format!("\"{}\"", "x".repeat(257)), false);
    check_id(&format!("\"{}\"", "é".repeat(129)), false);
}

#[test]
fn an_envelope_that_is_no_message_is_refused_with_its_id() {
    let refused =
        |line: &str, id: &str, why: &str| check_refused(line, id, &format!("Invalid request: {why}"));
    let batch = "batches are not supported: send each message as an object on a line of its own";
    refused("[]", "", batch);
    refused(r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, "", batch);
    for scalar in ["1", "\"x\"", "null", "true"] {
        refused(scalar, "", "a message must be an object");
    }
    refused(r#"{"id":1,"method":"m"}"#, "1", "`jsonrpc` must be \"2.0\"");
    refused(r#"{"jsonrpc":"1.0","method":"m","id":1}"#, "1", "`jsonrpc` must be \"2.0\"");
    refused(r#"{"jsonrpc":2.0,"method":"m","id":"a"}"#, "\"a\"", "`jsonrpc` must be \"2.0\"");
    refused(r#"{"jsonrpc":"2.0","x":1,"method":"m","id":1}"#, "1", {
        "a message has no members but `jsonrpc`, `id`, `method`, `params`, `result` and `error`"
    });
    refused(r#"{"jsonrpc":"2.0","id":1}"#, "1", "`method` is missing");
    refused(r#"{"jsonrpc":"2.0","method":5,"id":1}"#, "1", "`method` must be a string");
    for params in ["[]", "true", "1"] {
        refused(&format!(r#"{{"jsonrpc":"2.0","method":"m","params":{params},"id":1}}"#), "1", {
            "`params` must be an object"
        });
    }
    let both = "`method` and `result` or `error` exclude each other";
    refused(r#"{"jsonrpc":"2.0","method":"m","result":1,"id":1}"#, "1", both);
    refused(r#"{"jsonrpc":"2.0","method":"m","error":{},"id":1}"#, "1", both);
}

#[test]
fn a_line_that_is_not_json_is_refused_with_the_id_that_was_read_before() {
    let duplicate = |offset: usize| format!("Parse error: a duplicate key at byte {offset}");
    check_refused(r#"{"id":1,"id":2}"#, "1", &duplicate(9));
    check_refused(r#"{"id":null,"id":2}"#, "", &duplicate(12));
    check_refused(r#"{"x":1,"x":2,"id":1}"#, "", &duplicate(8));
    check_refused(r#"{"params":1,"params":{},"id":1}"#, "", &duplicate(13));
    check_refused(r#"{"id":1,"params":{"a":1,"a":2}}"#, "1", &duplicate(25));
    check_refused(r#"{"id":1,"params":{"arguments":1,"arguments":2}}"#, "1", &duplicate(33));
    check_refused(r#"{"id":1,"params":{"_meta":{"b":1,"b":2}}}"#, "1", &duplicate(34));
    let range = "Parse error: a number that cannot be represented at byte";
    check_refused(r#"{"id":1,"params":{"n":1e400}}"#, "1", &format!("{range} 22"));
    check_refused(r#"{"id":18446744073709551616}"#, "", &format!("{range} 6"));
    check_refused(r#"{"id":"\ud800"}"#, "", "Parse error: a lone surrogate at byte 7");
    check_refused(b"{\"id\":1,\"a\":\"\xff\"}", "1", "Parse error: invalid UTF-8 at byte 13");
    check_refused(b"{\"a\":\"\xff\",\"id\":1}", "", "Parse error: invalid UTF-8 at byte 6");
    let deep = "[".repeat(1_000_000);
    let too_deep = |line: &str, offset| {
        check_refused(line, "1", &format!("Parse error: nesting deeper than 64 at byte {offset}"));
    };
    too_deep(&format!(r#"{{"id":1,"params":{{"_meta":{deep}"#), 88);
    too_deep(&format!(r#"{{"id":1,"result":{deep}"#), 80);
    check_refused(&deep, "", "Parse error: nesting deeper than 64 at byte 64");
    check_refused(r#"{"id":12"#, "", "Parse error: not JSON: expected the end of the number at byte 8");
    check_refused(r#"{"id":"12"#, "", {
        "Parse error: not JSON: expected a double quote at the end of the string at byte 9"
    });
    check_refused(r#"{"id":"12""#, "\"12\"", {
        "Parse error: not JSON: expected a comma or a closing brace at byte 10"
    });
    check_refused(r#"{"jsonrpc":"2.0","id":1,"method":"m"} x"#, "1", {
        "Parse error: not JSON: expected the end of the line at byte 38"
    });
}

#[test]
fn the_values_of_a_line_are_bounded_and_unread_members_are_not_held() {
    let zeros = format!("[{}0]", "0,".repeat(500_000));
    let members = (0..20_000).map(|n| format!(r#","{n}":0"#)).collect::<String>();
    for line in [
        format!(r#"{{"id":1,"params":{{"_meta":{zeros}}}}}"#),
        format!(r#"{{"id":1,"params":{{"x":{zeros}}}}}"#),
        format!(r#"{{"id":1{members}}}"#),
    ] {
        let Malformed { id, why: EnvelopeFault::Json(fault) } = read(line.as_bytes()).unwrap_err() else {
            panic!("it is JSON that is not accepted");
        };
        assert_eq!(id, Some(RequestId::Unsigned(1)));
        assert!(matches!(fault.kind, FaultKind::TooMany), "{fault}");
    }
    check(&format!(r#"{{"jsonrpc":"2.0","id":1,"result":{zeros}}}"#), &json!("response"));
    check(&format!(r#"{{"jsonrpc":"2.0","id":1,"error":{zeros}}}"#), &json!("response"));
    let refused = |line: &str, id: &str, why: &str| {
        check_refused(line, id, &format!("Invalid request: {why}"));
    };
    refused(&zeros, "", "batches are not supported: send each message as an object on a line of its own");
    refused(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{zeros}}}"#), "1", {
        "`params` must be an object"
    });
    refused(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","x":{zeros}}}"#), "1", {
        "a message has no members but `jsonrpc`, `id`, `method`, `params`, `result` and `error`"
    });
}

#[test]
fn a_fault_inside_the_quarantined_member_does_not_fault_the_line() {
    let check_arguments = |arguments: &str, expected: &Value| {
        let line = format!(
            r#"{{"jsonrpc":"2.0","params":{{"name":"t","arguments":{arguments},"_meta":{{}}}},"id":1,"method":"m"}}"#
        );
        let params = json!([{"name": "t", "_meta": {}}, expected]);
        check(&line, &json!({"id": 1, "method": "m", "params": params}));
    };
    check_arguments(r#"{"a":[1,"b"]}"#, &json!({"a": [1, "b"]}));
    check_arguments("null", &json!(null));
    check_arguments(r#"{"a":1,"a":2}"#, &json!("a duplicate key at byte 58"));
    check_arguments(r#"{"a":{"b":1,"b":[{}]}}"#, &json!("a duplicate key at byte 63"));
    check_arguments(r#"{"a":1e400}"#, &json!("a number that cannot be represented at byte 55"));
    check_arguments(r#"{"a":"\udead"}"#, &json!("a lone surrogate at byte 56"));
    let deep = "[".repeat(500_000) + &"]".repeat(500_000);
    check_arguments(&deep, &json!("nesting deeper than 64 at byte 112"));
}

#[test]
fn a_line_with_a_quarantined_fault_must_still_be_json() {
    check_refused(br#"{"id":1,"params":{"arguments":{"a":1,"a":2,}}}"#, "1", {
        "Parse error: not JSON: expected a key in double quotes at byte 43"
    });
    check_refused(b"{\"id\":1,\"params\":{\"arguments\":[1e400,\"\xff\"]}}", "1", {
        "Parse error: invalid UTF-8 at byte 38"
    });
    check_refused(r#"{"id":1,"params":{"arguments":[1e400],"a":1,"a":1}}"#, "1", {
        "Parse error: a duplicate key at byte 45"
    });
}
