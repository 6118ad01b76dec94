//! A strict JSON reader: no duplicate keys, bounded depth, no number that cannot be held, no lone surrogate.
//!
//! Linear in the text, and never deeper in the stack than `MAX_DEPTH`.

use std::str::FromStr;

use memchr::memchr;
use serde_json::map::Entry;
use serde_json::{Map, Number, Value};

use crate::wire::fault::{Fault, FaultKind, MAX_DEPTH, MAX_VALUES};
use crate::wire::scanner::{Scanner, Token};

/// Reads one JSON text from its beginning to its end.
#[derive(Debug)]
pub(super) struct Reader<'t> {
    pub(super) scanner: Scanner<'t>,
    /// The values that may still be held.
    values_left: usize,
}

impl<'t> Reader<'t> {
    pub(super) fn new(bytes: &'t [u8]) -> Self {
        Self { scanner: Scanner::new(bytes), values_left: MAX_VALUES }
    }

    /// Reads an object. `member` reads each value; it gets the key and where its text begins.
    pub(super) fn object(
        &mut self,
        mut member: impl FnMut(&mut Self, String, usize) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        self.scanner.open()?;
        let mut follows = !self.scanner.closes(b'}');
        while follows {
            let token = self.scanner.key()?;
            member(self, unescape(&token)?, token.offset)?;
            follows = self.scanner.another(b'}')?;
        }
        Ok(())
    }

    /// Reads any value.
    pub(super) fn value(&mut self) -> Result<Value, Fault> {
        self.count_value()?;
        match self.scanner.next_byte() {
            Some(b'{') => {
                let mut members = Map::new();
                self.object(|reader, key, offset| reader.member(&mut members, key, offset))?;
                Ok(Value::Object(members))
            }
            Some(b'[') => self.array().map(Value::Array),
            Some(b'"') => Ok(Value::String(unescape(&self.scanner.string()?)?)),
            Some(b'-' | b'0'..=b'9') => Ok(Value::Number(number(&self.scanner.number()?)?)),
            _ => self.scanner.literal(),
        }
    }

    /// Reads the value of a member into the object that holds it.
    pub(super) fn member(
        &mut self,
        members: &mut Map<String, Value>,
        key: String,
        offset: usize,
    ) -> Result<(), Fault> {
        match members.entry(key) {
            Entry::Occupied(_) => Err(Fault { kind: FaultKind::DuplicateKey, offset }),
            Entry::Vacant(slot) => {
                slot.insert(self.value()?);
                Ok(())
            }
        }
    }

    /// Reads a value in which a fault that leaves the text JSON is handed back, while the text behind it goes on.
    pub(super) fn quarantined(&mut self) -> Result<Result<Value, Fault>, Fault> {
        let begin = self.scanner.clone();
        let values_left = std::mem::replace(&mut self.values_left, MAX_VALUES);
        let value = self.value();
        self.values_left = values_left;
        match value {
            Err(fault) if fault.kind.is_grammatical() => {
                self.scanner = begin;
                self.scanner.skip_value(usize::MAX)?;
                Ok(Err(fault))
            }
            Err(fault) => Err(fault),
            Ok(value) => Ok(Ok(value)),
        }
    }

    /// Passes over a value that is not needed: its grammar and its depth are judged, and nothing of it is held.
    pub(super) fn skip(&mut self) -> Result<(), Fault> {
        // It may be a member, and the key of a member is held.
        self.count_value()?;
        self.scanner.skip_value(MAX_DEPTH)
    }

    fn array(&mut self) -> Result<Vec<Value>, Fault> {
        self.scanner.open()?;
        let mut items = Vec::new();
        let mut follows = !self.scanner.closes(b']');
        while follows {
            items.push(self.value()?);
            follows = self.scanner.another(b']')?;
        }
        Ok(items)
    }

    fn count_value(&mut self) -> Result<(), Fault> {
        let too_many = Fault { kind: FaultKind::TooMany, offset: self.scanner.offset() };
        self.values_left = self.values_left.checked_sub(1).ok_or(too_many)?;
        Ok(())
    }
}

fn number(token: &Token<'_>) -> Result<Number, Fault> {
    let out_of_range = || Fault { kind: FaultKind::NumberRange, offset: token.offset };
    if token.text.bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E')) {
        return f64::from_str(token.text).ok().and_then(Number::from_f64).ok_or_else(out_of_range);
    }
    u64::from_str(token.text)
        .map(Number::from)
        .or_else(|_| i64::from_str(token.text).map(Number::from))
        .map_err(|_| out_of_range())
}

/// Decodes a string whose escapes are known to be well-formed.
fn unescape(token: &Token<'_>) -> Result<String, Fault> {
    let mut text = String::with_capacity(token.text.len());
    let mut rest = token.text;
    while let Some((plain, escape)) = memchr(b'\\', rest.as_bytes()).and_then(|at| rest.split_at_checked(at))
    {
        let offset = token.offset + token.text.len() - escape.len();
        let fault = Fault { kind: FaultKind::LoneSurrogate, offset };
        let (character, length) = escaped_character(escape).ok_or(fault)?;
        text.push_str(plain);
        text.push(character);
        rest = escape.get(length..).unwrap_or_default();
    }
    text.push_str(rest);
    Ok(text)
}

/// Decodes the escape at the beginning of `text`, and returns its length in bytes; `None` for a lone surrogate.
fn escaped_character(text: &str) -> Option<(char, usize)> {
    let character = match text.as_bytes().get(1)? {
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => {
            let first = code_unit(text)?;
            if let Some(character) = char::from_u32(first.into()) {
                return Some((character, 6));
            }
            let second = text.get(6..).and_then(code_unit)?;
            return char::decode_utf16([first, second]).next()?.ok().map(|character| (character, 12));
        }
        itself => char::from(*itself),
    };
    Some((character, 2))
}

/// Decodes the UTF-16 code unit of an escape such as `\u00e9`.
fn code_unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests;
