//! Output is ASCII on one line, has the announced length, and decodes to the input.

use serde_json::{Value, json};

use crate::wire::ascii::{AsciiJson, AsciiWriter, string_cost};
use crate::wire::blocks::BLOCK_BYTES;
use crate::wire::line::{Line, Part};
use crate::wire::request_id::RequestId;

/// Bytes that control how much is written before the text: little, or so much that it falls on the end of a block.
const CONTROLS: usize = 2;

/// Runs the target.
pub fn run(data: &[u8]) {
    let Some((&[blocks, bytes], data)) = data.split_first_chunk::<CONTROLS>() else { return };
    let before = match blocks {
        1 | 2 => usize::from(blocks) * BLOCK_BYTES - usize::from(bytes),
        _ => usize::from(bytes),
    };
    let before = "b".repeat(before);
    let text = String::from_utf8_lossy(data);
    let value = serde_json::from_slice(data).unwrap_or_else(|_| json!({ &*text: [&text] }));
    let mut writer = AsciiWriter::default();
    writer.raw("[").string(&before).raw(",");
    let mark = writer.len();
    writer.string(&text);
    assert_eq!(writer.len() - mark, string_cost(&text) + 2);
    // Taken back and written once more.
    writer.raw(",").value(&value).rewind(mark);
    writer.string(&text).raw(",").value(&value).raw(",").base64(data).raw("]");
    let body = writer.finish();
    check_ascii(&body.to_vec());
    let expected = json!([before, text, value, base64(data)]);
    assert_eq!(serde_json::from_slice(&body.to_vec()).ok().as_ref(), Some(&expected));
    check_line(&body, &expected);
}

fn check_ascii(json: &[u8]) {
    assert!(json.iter().all(|byte| matches!(byte, b' '..=b'~')), "{}", String::from_utf8_lossy(json));
}

/// A line that holds `body` as it is and as a string.
fn check_line(body: &AsciiJson, expected: &Value) {
    let parts = vec![
        Part::Constant(r#"{"plain":"#),
        Part::Plain,
        Part::Constant(r#","quoted":""#),
        Part::Quoted,
        Part::Constant(r#""}"#),
    ];
    let mut line = Vec::new();
    let written = Line::result_of_parts(&RequestId::Unsigned(1), body, parts).write_to(&mut line);
    assert!(written.is_ok() && line.pop() == Some(b'\n'));
    check_ascii(&line);
    let message = serde_json::from_slice::<Value>(&line).unwrap_or_default();
    assert_eq!(message.pointer("/result/plain"), Some(expected));
    let quoted = message.pointer("/result/quoted").and_then(Value::as_str).unwrap_or_default();
    assert_eq!(serde_json::from_str(quoted).ok().as_ref(), Some(expected));
}

/// RFC 4648 section 4 bit by bit.
fn base64(data: &[u8]) -> String {
    let bits: Vec<u8> =
        data.iter().flat_map(|byte| (0..8).rev().map(move |place| byte >> place & 1)).collect();
    let mut text: String = bits
        .chunks(6)
        .map(|bits| bits.iter().chain(&[0; 6]).take(6).fold(0, |number, bit| number * 2 + bit))
        .map(|number: u8| match number {
            0..26 => char::from(b'A' + number),
            26..52 => char::from(b'a' + number - 26),
            52..62 => char::from(b'0' + number - 52),
            62 => '+',
            _ => '/',
        })
        .collect();
    while !text.len().is_multiple_of(4) {
        text.push('=');
    }
    text
}
