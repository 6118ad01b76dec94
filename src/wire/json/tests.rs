use super::*;
use proptest::prelude::*;
use serde_json::json;

fn read(bytes: &[u8]) -> Result<Value, Fault> {
    let mut reader = Reader::new(bytes);
    let value = reader.value()?;
    reader.scanner.end()?;
    Ok(value)
}

/// Reads `bytes` as a value in which faults of meaning are handed back, and then the end of the line.
fn read_quarantined(bytes: &[u8]) -> Result<Result<Value, Fault>, Fault> {
    let mut reader = Reader::new(bytes);
    let value = reader.quarantined()?;
    reader.scanner.end()?;
    Ok(value)
}

#[track_caller]
fn check(text: &str, expected: &Value) {
    assert_eq!(read(text.as_bytes()).as_ref(), Ok(expected), "{text}");
    let with_space = format!(" \t{text}\r ");
    assert_eq!(read(with_space.as_bytes()).as_ref(), Ok(expected), "{with_space:?}");
}

/// `bytes` is refused with `message`, and quarantine, which takes back faults of meaning only, finds the same.
#[track_caller]
fn check_refused(bytes: &[u8], message: &str) {
    let text = String::from_utf8_lossy(bytes);
    let fault = read(bytes).unwrap_err();
    assert_eq!(fault.to_string(), message, "{text}");
    let quarantined = read_quarantined(bytes);
    if fault.kind.is_grammatical() {
        assert_eq!(quarantined, Ok(Err(fault)), "{text}");
    } else {
        assert_eq!(quarantined, Err(fault), "{text}");
    }
}

#[test]
fn json_is_read() {
    check("null", &json!(null));
    check("[true,false , [ ], { }]", &json!([true, false, [], {}]));
    check(r#"{"b":1,"a":{"b":[{}]},"":"é"}"#, &json!({"b": 1, "a": {"b": [{}]}, "": "é"}));
    check(r#""\"\\\/\b\f\n\r\t""#, &json!("\"\\/\u{8}\u{c}\n\r\t"));
    check(r#""a\u00e9b\u20AC\ud83d\ude00\u0000""#, &json!("aéb€😀\0"));
    check("\"\u{7f}\u{feff}\"", &json!("\u{7f}\u{feff}"));
}

#[test]
fn numbers_are_kept_exactly_or_refused() {
    check("0", &json!(0));
    check("-0", &json!(0));
    check("18446744073709551615", &json!(u64::MAX));
    check("-9223372036854775808", &json!(i64::MIN));
    check("1.0", &json!(1.0));
    check("-0.0", &json!(-0.0));
    check("1E2", &json!(100.0));
    check("0.1e+1", &json!(1.0));
    check("1e-400", &json!(0.0));
    check("1.7976931348623157e308", &json!(f64::MAX));
    check("123456789012345678901234567890.0", &json!(123_456_789_012_345_678_901_234_567_890.0));
    let refused = "a number that cannot be represented at byte";
    check_refused(b"[18446744073709551616]", &format!("{refused} 1"));
    check_refused(b"-9223372036854775809", &format!("{refused} 0"));
    check_refused(b"[0,1e400]", &format!("{refused} 3"));
    check_refused(b"-1e999999999999999999999", &format!("{refused} 0"));
}

#[test]
fn text_that_is_not_json_is_refused() {
    for text in ["", "  ", "NaN", "Infinity", "nul", "True", "'a'", "[,1]", "[1,]", "/**/1", "+1", ".5"] {
        assert!(matches!(read(text.as_bytes()).unwrap_err().kind, FaultKind::Syntax(_)), "{text}");
    }
    check_refused(b"-Infinity", "not JSON: expected a digit at byte 1");
    check_refused(b"[01]", "not JSON: expected the end of the number at byte 2");
    check_refused(b"1.", "not JSON: expected a digit at byte 2");
    check_refused(b"1e+", "not JSON: expected a digit at byte 3");
    check_refused(b"0x10", "not JSON: expected the end of the number at byte 1");
    check_refused(b"[1", "not JSON: expected the end of the number at byte 2");
    check_refused(b"[1 2]", "not JSON: expected a comma or a closing bracket at byte 3");
    check_refused(b"{} {}", "not JSON: expected the end of the line at byte 3");
    check_refused(b"{\"a\":1}}", "not JSON: expected the end of the line at byte 7");
    check_refused(b"{\"a\"}", "not JSON: expected a colon at byte 4");
    check_refused(b"{\"a\":1,}", "not JSON: expected a key in double quotes at byte 7");
    check_refused(b"{a:1}", "not JSON: expected a key in double quotes at byte 1");
    check_refused(b"{\"a\":1]", "not JSON: expected a comma or a closing brace at byte 6");
    check_refused(b"\"a", "not JSON: expected a double quote at the end of the string at byte 2");
    check_refused(b"\"a\tb\"", "not JSON: expected a control character to be escaped at byte 2");
    check_refused(b"\"a\x00\"", "not JSON: expected a control character to be escaped at byte 2");
    check_refused(br#""\x41""#, "not JSON: expected an escape that JSON knows at byte 1");
    check_refused(br#""\u+123""#, "not JSON: expected an escape that JSON knows at byte 1");
    check_refused(br#""\u12""#, "not JSON: expected an escape that JSON knows at byte 1");
}

#[test]
fn bytes_that_are_not_plain_utf_8_are_refused() {
    check_refused(b"\xef\xbb\xbf{}", "a byte order mark at byte 0");
    check_refused(b"\xff\xfe{\0}\0", "invalid UTF-8 at byte 0");
    check_refused(b"[\"a\xff\"]", "invalid UTF-8 at byte 3");
    check_refused(b"\"\xc0\xaf\"", "invalid UTF-8 at byte 1");
    check_refused(b"\"\xed\xa0\x80\"", "invalid UTF-8 at byte 1");
    check_refused(b"{}\xff", "invalid UTF-8 at byte 2");
    check_refused(b"{\"a\":1,\"a\":2}", "a duplicate key at byte 8");
}

#[test]
fn ambiguous_json_and_lone_surrogates_are_refused() {
    check_refused(br#"{"a":{"k":1,"\u006b":2}}"#, "a duplicate key at byte 13");
    check_refused(br#"["\ud83d"]"#, "a lone surrogate at byte 2");
    check_refused(br#""a\ude00b""#, "a lone surrogate at byte 2");
    check_refused(br#""\ud83d\ud83d\ude00""#, "a lone surrogate at byte 1");
    check_refused(br#""\ud83d\n""#, "a lone surrogate at byte 1");
    check_refused(br#"{"\udc00":1}"#, "a lone surrogate at byte 2");
}

#[test]
fn nesting_is_bounded() {
    let nested = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
    assert!(read(nested(MAX_DEPTH).as_bytes()).is_ok());
    check_refused(nested(MAX_DEPTH + 1).as_bytes(), "nesting deeper than 64 at byte 64");
    check_refused(nested(1_000_000).as_bytes(), "nesting deeper than 64 at byte 64");
    let skip = |levels| Reader::new(nested(levels).as_bytes()).skip();
    assert_eq!(skip(MAX_DEPTH), Ok(()));
    assert_eq!(skip(MAX_DEPTH + 1).unwrap_err().to_string(), "nesting deeper than 64 at byte 64");
    let objects = "{\"a\":".repeat(1_000_000) + "1" + &"}".repeat(1_000_000);
    check_refused(objects.as_bytes(), "nesting deeper than 64 at byte 320");
    let wide = format!("[{}[]]", "[],".repeat(1000));
    assert!(read(wide.as_bytes()).is_ok(), "closed brackets are not counted");
}

#[test]
fn behind_a_quarantined_fault_the_text_must_still_be_json() {
    let check = |text: &str, message: &str| {
        assert_eq!(read_quarantined(text.as_bytes()).unwrap_err().to_string(), message, "{text}");
    };
    check(r#"{"a":1,"a":2,}"#, "not JSON: expected a key in double quotes at byte 13");
    check(r#"[1e400,{"a":[}]"#, "not JSON: expected a value at byte 13");
    check(r#"[1e400,"\q"]"#, "not JSON: expected an escape that JSON knows at byte 8");
    check(r#"[1e400,{"a" 1}]"#, "not JSON: expected a colon at byte 12");
    check(&"[".repeat(1_000_000), "not JSON: expected a value at byte 1000000");
    let first = read_quarantined(br#"["\ud800",{"a":1e400,"a":1},[]]"#).unwrap().unwrap_err();
    assert_eq!(first.to_string(), "a lone surrogate at byte 2", "the first fault is kept");
}

#[test]
fn a_value_is_not_built_beyond_the_limit() {
    let zeros = |count: usize| format!("[{}0]", "0,".repeat(count - 1));
    let most = zeros(MAX_VALUES - 1);
    assert!(read(most.as_bytes()).is_ok());
    assert!(read_quarantined(most.as_bytes()).unwrap().is_ok());
    let many = zeros(500_000);
    check_refused(many.as_bytes(), "more than 16384 values at byte 32767");
    let mut reader = Reader::new(many.as_bytes());
    assert_eq!(
        reader.skip().and_then(|()| reader.scanner.end()),
        Ok(()),
        "a value that is not held is not counted"
    );
}

#[test]
fn a_quarantined_value_has_values_of_its_own_and_gives_none_back() {
    let most = format!("[{}0]", "0,".repeat(MAX_VALUES - 2));
    let text = [most.as_str(), "0", most.as_str(), "0"].join(" ");
    let mut reader = Reader::new(text.as_bytes());
    assert!(reader.quarantined().unwrap().is_ok());
    assert_eq!(reader.value(), Ok(json!(0)));
    let fault = reader.value().unwrap_err();
    assert_eq!(fault.kind, FaultKind::TooMany);
}

/// Text that is JSON or nearly so.
fn near_json() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        "\"a\"",
        "\"b\"",
        "\"\\u00e9\"",
        "\"\\ud83d\\ude00\"",
        "\"",
        "\\",
        " ",
        "0",
        "-1",
        "1.5",
        "1e9",
        "2.5e-3",
        "true",
        "null",
        "é",
        "\n",
    ]);
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

/// Any JSON value, written with all its keys unique.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
            prop::collection::vec((any::<String>(), inner), 0..8)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn output_of_serde_json_is_read_back(value in any_json()) {
        prop_assert_eq!(read(value.to_string().as_bytes()), Ok(value));
    }

    #[test]
    fn serde_json_reads_and_refuses_the_same_texts(text in near_json()) {
        match (read(text.as_bytes()), serde_json::from_str::<Value>(&text)) {
            (Ok(ours), Ok(theirs)) => prop_assert_eq!(ours, theirs),
            (Err(Fault { kind: FaultKind::DuplicateKey, .. }), Ok(_)) | (Err(_), Err(_)) => {}
            (ours, theirs) => prop_assert!(false, "{:?} but {:?}", ours, theirs),
        }
    }

    #[test]
    fn a_key_is_refused_exactly_when_it_is_repeated(keys in prop::collection::vec("[a-d]{1,2}", 0..8)) {
        let members: Vec<_> = keys.iter().map(|key| format!("\"{key}\":0")).collect();
        let unique: std::collections::HashSet<_> = keys.iter().collect();
        let text = format!("[{{{}}}]", members.join(","));
        prop_assert_eq!(read(text.as_bytes()).is_ok(), unique.len() == keys.len());
    }

    #[test]
    fn passing_over_a_value_judges_its_grammar_like_reading_it(text in near_json()) {
        let mut reader = Reader::new(text.as_bytes());
        let skipped = reader.scanner.skip_value(usize::MAX).and_then(|()| reader.scanner.end());
        match read(text.as_bytes()) {
            Err(fault) if fault.kind.is_grammatical() => {}
            read => prop_assert_eq!(read.map(drop).map_err(|fault| fault.offset), skipped.map_err(|fault| fault.offset)),
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        prop_assert!(read(&bytes).is_err() || serde_json::from_slice::<Value>(&bytes).is_ok());
    }
}
