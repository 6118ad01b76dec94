//! The strict reader against `serde_json`: both read the same value, or both refuse, or the text breaks a rule that only
//! the strict reader has.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::wire::fault::{Fault, FaultKind, MAX_DEPTH, MAX_VALUES};
use crate::wire::json::Reader;

/// Runs the target.
pub fn run(data: &[u8]) {
    let read = read(data);
    let theirs = model(data);
    match (&read, &theirs) {
        (Ok(ours), Some(theirs)) => assert!(alike(ours, theirs), "{ours} is not {theirs}"),
        (Ok(ours), None) => assert_eq!(Some(ours), None, "serde_json refuses it"),
        (Err(_), None) => {}
        (Err(fault), Some(theirs)) => {
            assert!(is_justified(fault, data, theirs), "{fault}, but serde_json reads {theirs}");
        }
    }
    if let Err(fault) = &read {
        assert!(fault.offset <= data.len(), "{fault}");
    }
    let is_json = is_json(data);
    assert_eq!(quarantined(data), if is_json { Some(read) } else { None });
    assert!(!skips(data) || is_json, "passed over what is no JSON");
    assert!(skips(data) || !is_json || depth_of_text(data) > MAX_DEPTH, "JSON was not passed over");
}

/// The value as `serde_json` reads it; `None` for a text that it refuses and for a key that stands twice in one object.
pub(crate) fn model(data: &[u8]) -> Option<Value> {
    serde_json::from_slice::<Strict>(data).ok().map(|Strict(value)| value)
}

/// Returns whether `value` is within the reader's limits.
pub(crate) fn is_within_limits(value: &Value) -> bool {
    depth(value) <= MAX_DEPTH && count(value) <= MAX_VALUES
}

fn read(data: &[u8]) -> Result<Value, Fault> {
    let mut reader = Reader::new(data);
    let value = reader.value()?;
    reader.scanner.end()?;
    Ok(value)
}

/// Reads a value in which faults of meaning are handed back; `None`: it is not JSON.
fn quarantined(data: &[u8]) -> Option<Result<Value, Fault>> {
    let mut reader = Reader::new(data);
    let value = reader.quarantined().ok()?;
    reader.scanner.end().ok()?;
    Some(value)
}

fn skips(data: &[u8]) -> bool {
    let mut reader = Reader::new(data);
    reader.skip().and_then(|()| reader.scanner.end()).is_ok()
}

/// Returns whether it is JSON by its grammar.
fn is_json(data: &[u8]) -> bool {
    std::str::from_utf8(data).is_ok_and(|text| serde_json::from_str::<IgnoredAny>(text).is_ok())
}

/// Returns the depth of the brackets of a JSON text, strings left out.
fn depth_of_text(data: &[u8]) -> usize {
    let (mut depth, mut deepest, mut quoted) = (0_usize, 0, false);
    let mut bytes = data.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => drop(bytes.next()),
            b'"' => quoted = !quoted,
            b'[' | b'{' if !quoted => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' if !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

/// Returns whether the text breaks the rule that the fault names, at its place.
pub(crate) fn is_justified(fault: &Fault, data: &[u8], theirs: &Value) -> bool {
    match &fault.kind {
        FaultKind::TooDeep => depth(theirs) > MAX_DEPTH,
        FaultKind::TooMany => count(theirs) > MAX_VALUES,
        // serde_json makes a double of an integer that is too large.
        FaultKind::NumberRange => {
            let number = data.get(fault.offset..).unwrap_or_default();
            let digits = number.strip_prefix(b"-").unwrap_or(number);
            let length = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let is_integer = !digits.get(length).is_some_and(|byte| b".eE".contains(byte));
            let most: &[u8] =
                if digits.len() == number.len() { b"18446744073709551615" } else { b"9223372036854775808" };
            is_integer && (length, digits.get(..length)) > (most.len(), Some(most))
        }
        FaultKind::Syntax(_)
        | FaultKind::InvalidUtf8
        | FaultKind::ByteOrderMark
        | FaultKind::DuplicateKey
        | FaultKind::LoneSurrogate => false,
    }
}

/// Equal, but for `-0`, which is an integer to us and a double to `serde_json`.
pub(crate) fn alike(ours: &Value, theirs: &Value) -> bool {
    match (ours, theirs) {
        (Value::Array(ours), Value::Array(theirs)) => {
            ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(ours, theirs)| alike(ours, theirs))
        }
        (Value::Object(ours), Value::Object(theirs)) => {
            let same = |((name, ours), (other, theirs)): ((&String, &Value), (&String, &Value))| {
                name == other && alike(ours, theirs)
            };
            ours.len() == theirs.len() && ours.iter().zip(theirs).all(same)
        }
        (Value::Number(ours), Value::Number(theirs)) if theirs.as_f64() == Some(0.0) => {
            ours.as_f64() == Some(0.0)
        }
        (ours, theirs) => ours == theirs,
    }
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or_default(),
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or_default(),
    }
}

fn count(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 1,
        Value::Array(items) => 1 + items.iter().map(count).sum::<usize>(),
        Value::Object(members) => 1 + members.values().map(count).sum::<usize>(),
    }
}

/// A value whose objects have each key once.
struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StrictVisitor).map(Self)
    }
}

struct StrictVisitor;

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("not a finite number"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        while let Some(Strict(item)) = items.next_element()? {
            array.push(item);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some((key, Strict(value))) = members.next_entry::<String, Strict>()? {
            if object.insert(key, value).is_some() {
                return Err(A::Error::custom("a duplicate key"));
            }
        }
        Ok(Value::Object(object))
    }
}
