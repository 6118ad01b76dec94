//! `json` and `jsonb` inside our JSON: as JSON when every reader of it can hold it, else as its text.
//!
//! PostgreSQL's `json` keeps duplicate keys and numbers of any size. A reader would silently lose such parts, so a value
//! that has one is written as a string.

use serde_json::Value;

use crate::wire::ascii::AsciiWriter;

/// Writes the value, or its text where JSON cannot carry it.
pub(crate) fn write<'o>(out: &'o mut AsciiWriter, text: &str) -> &'o mut AsciiWriter {
    match faithful(text) {
        Some(value) => out.value(&value),
        None => out.string(text),
    }
}

/// Writes what `to_json` made of a record, in which a `numeric` is a number: one that a double does not carry, or whose scale
/// it would lose, is written as a string of its digits, as in a cell of its own. `1.5` stays a number, for it
/// looks like a `float8`; and a `timestamptz` ends in `+00:00`.
pub(crate) fn write_record<'o>(out: &'o mut AsciiWriter, text: &str) -> &'o mut AsciiWriter {
    let mut quoted = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, number, behind)) = next_number(rest) {
        let has_scale = number.contains('.') && number.ends_with('0');
        let mark = if double_carries(number) && !has_scale { "" } else { "\"" };
        quoted.extend([before, mark, number, mark]);
        rest = behind;
    }
    quoted.push_str(rest);
    write(out, &quoted)
}

/// The value, if no key stands twice in an object and a double carries every number.
fn faithful(text: &str) -> Option<Value> {
    if !numbers(text).all(double_carries) {
        return None;
    }
    // Of members with the same key a value holds the last.
    serde_json::from_str(text).ok().filter(|value| held_members(value) == written_members(text))
}

/// The tokens of JSON text that are numbers.
fn numbers(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (_, number, behind) = next_number(rest)?;
        rest = behind;
        Some(number)
    })
}

/// The text before the first number in JSON text, the number, and the text behind it.
fn next_number(text: &str) -> Option<(&str, &str, &str)> {
    let mut rest = text;
    loop {
        let start = rest.find(|character: char| matches!(character, '"' | '-' | '0'..='9'))?;
        let (_, found) = rest.split_at_checked(start)?;
        if let Some(string) = found.strip_prefix('"') {
            rest = behind_string(string);
            continue;
        }
        let is_part = |character: char| matches!(character, '0'..='9' | '-' | '+' | '.' | 'e' | 'E');
        let end = found.find(|character| !is_part(character)).unwrap_or(found.len());
        let (number, behind) = found.split_at_checked(end)?;
        let before = text.get(..text.len().checked_sub(found.len())?)?;
        return Some((before, number, behind));
    }
}

/// The text behind a string whose opening quote is gone.
fn behind_string(text: &str) -> &str {
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '"' => break,
            '\\' => drop(characters.next()),
            _ => {}
        }
    }
    characters.as_str()
}

/// Returns whether the double nearest to the number, written as short as possible, has the number's own digits.
fn double_carries(number: &str) -> bool {
    let Ok(double) = number.parse::<f64>() else { return false };
    double.is_finite() && significant(&format!("{double:e}")) == significant(number)
}

/// A number's significant digits, and the power of ten of the first of them.
fn significant(number: &str) -> Option<(String, i64)> {
    let unsigned = number.trim_start_matches('-');
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let leading = digits.len() - digits.trim_start_matches('0').len();
    let significant = digits.trim_matches('0').to_owned();
    if significant.is_empty() {
        return Some((significant, 0));
    }
    let first = i64::try_from(whole.len()).ok()?.checked_sub(i64::try_from(leading).ok()?)?;
    Some((significant, exponent.parse::<i64>().ok()?.checked_add(first)?))
}

/// The members of all objects in JSON text, by the colons outside of strings.
fn written_members(text: &str) -> usize {
    let (mut count, mut rest) = (0, text);
    while let Some((outside, string)) = rest.split_once('"') {
        count += outside.matches(':').count();
        rest = behind_string(string);
    }
    count + rest.matches(':').count()
}

/// The members of all objects in a value. No value is nested more deeply than `serde_json` reads.
fn held_members(value: &Value) -> usize {
    match value {
        Value::Object(members) => members.len() + members.values().map(held_members).sum::<usize>(),
        Value::Array(items) => items.iter().map(held_members).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let mut out = AsciiWriter::default();
        write(&mut out, text);
        assert_eq!(String::from_utf8(out.finish().to_vec()).unwrap(), expected, "{text}");
    }

    #[test]
    fn values_that_every_reader_can_hold_are_json() {
        check(
            r#" {"b" : [1, 2.50, null, true], "a": "é\u0000"} "#,
            r#"{"b":[1,2.5,null,true],"a":"\u00e9\u0000"}"#,
        );
        check("9007199254740991", "9007199254740991");
        check("1e22", "1e+22");
        check("-0.0001", "-0.0001");
        check("0.1", "0.1");
        check("0e999", "0.0");
        check(r#"{"a:\":":{"b":[{"c":1},{"c":2}]}}"#, r#"{"a:\":":{"b":[{"c":1},{"c":2}]}}"#);
        check("[1.3e100, 8.41e21]", "[1.3e+100,8.41e+21]");
        check(r#""1e400""#, r#""1e400""#);
        check(r#"{"a\"1e400": 1}"#, r#"{"a\"1e400":1}"#);
    }

    #[test]
    fn values_that_a_reader_would_lose_are_text() {
        check("9007199254740993", r#""9007199254740993""#);
        check("1e400", r#""1e400""#);
        check("1e-400", r#""1e-400""#);
        check("0.12345678901234567890", r#""0.12345678901234567890""#);
        check(r#"{"a":1,"a":1}"#, r#""{\"a\":1,\"a\":1}""#);
        check(r#"{"a":1,"\u0061":{":":2}}"#, r#""{\"a\":1,\"\\u0061\":{\":\":2}}""#);
        check(r#"[{"a":{"b":1,"b":2}}]"#, r#""[{\"a\":{\"b\":1,\"b\":2}}]""#);
        check(r#""\ud800""#, r#""\"\\ud800\"""#);
        check(&"[".repeat(200), &format!("\"{}\"", "[".repeat(200)));
    }

    #[test]
    fn numbers_of_a_record_are_exact() {
        let mut out = AsciiWriter::default();
        let text = r#"{"f1":1.50,"f2":9007199254740993,"f3":[-1.5, 1e22, 0.0],"1.50":"2.50 \" 3.0","n":null,"d":9007199254740991}"#;
        write_record(&mut out, text);
        assert_eq!(
            String::from_utf8(out.finish().to_vec()).unwrap(),
            r#"{"f1":"1.50","f2":"9007199254740993","f3":[-1.5,1e+22,"0.0"],"1.50":"2.50 \" 3.0","n":null,"d":9007199254740991}"#
        );
    }
}
