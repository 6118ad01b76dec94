//! The sanitizer against the contract's rules, said once more and slowly.

use serde_json::{Map, Value};

use crate::call::sanitizer::sanitize;
use crate::problem::Code;
use crate::wire::frame::FrameReader;
use crate::wire::jsonrpc::{self, Incoming};

/// The longest refusal in bytes.
const MAX_DETAIL_BYTES: usize = 600;

/// Runs the target. `data` is the JSON of a call's arguments.
pub fn run(data: &[u8]) {
    let line = [br#"{"jsonrpc":"2.0","method":"m","params":{"arguments":"#, data, b"}}"].concat();
    let mut reader = FrameReader::new(line.as_slice(), line.len());
    let Ok(Some(frame)) = reader.next_frame() else { return };
    let Ok(Incoming::Call { id: None, method: _, params: Some(params) }) =
        jsonrpc::parse(&frame, "arguments")
    else {
        return;
    };
    let (arguments, is_sound) = match params.quarantined {
        Some(Ok(Value::Object(arguments))) => (Ok(arguments.clone()), Some(arguments).filter(is_sound)),
        Some(Err(fault)) => (Err(fault), None),
        Some(Ok(_)) | None => return,
    };
    match sanitize(arguments) {
        Ok(passed) => assert_eq!(Some(passed), is_sound, "changed, or not sound"),
        Err(problem) => {
            let detail = problem.detail();
            assert_eq!(is_sound, None, "{detail}");
            assert_eq!(problem.code(), Code::Validation);
            assert!(detail.bytes().all(|byte| matches!(byte, b' '..=b'~')), "{detail:?}");
            assert!(detail.len() <= MAX_DETAIL_BYTES, "{detail}");
        }
    }
}

fn is_sound(arguments: &Map<String, Value>) -> bool {
    let mut items = 0;
    are_members_sound(arguments, 1, &mut items) && items <= 1_000
}

fn are_members_sound(members: &Map<String, Value>, depth: usize, items: &mut usize) -> bool {
    *items += members.len();
    depth <= 8 && members.iter().all(|(key, value)| is_key(key) && is_value_sound(value, depth, items))
}

fn is_value_sound(value: &Value, depth: usize, items: &mut usize) -> bool {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
        Value::String(text) => {
            text.chars().count() <= 65_536 && !text.chars().any(|c| is_forbidden(c.into()))
        }
        Value::Array(elements) => {
            *items += elements.len();
            depth < 8 && elements.iter().all(|element| is_value_sound(element, depth + 1, items))
        }
        Value::Object(members) => are_members_sound(members, depth + 1, items),
    }
}

/// `[A-Za-z_][A-Za-z0-9_]{0,63}`
fn is_key(key: &str) -> bool {
    let mut characters = key.chars();
    characters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && characters.all(|c| c.is_ascii_alphanumeric() || c == '_')
        && key.chars().count() <= 64
}

/// C0 but TAB, LF, CR; DEL and C1; bidirectional controls; the tag block; noncharacters.
fn is_forbidden(code_point: u32) -> bool {
    let control =
        code_point < 0x20 && ![9, 10, 13].contains(&code_point) || (0x7f..0xa0).contains(&code_point);
    let bidirectional = [0x61c, 0x200e, 0x200f].contains(&code_point)
        || (0x202a..=0x202e).contains(&code_point)
        || (0x2066..=0x2069).contains(&code_point);
    let tag = (0xe0000..0xe0080).contains(&code_point);
    let noncharacter = (0xfdd0..0xfdf0).contains(&code_point) || code_point % 0x10000 >= 0xfffe;
    control || bidirectional || tag || noncharacter
}
