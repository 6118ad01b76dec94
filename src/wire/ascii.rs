//! JSON for a client, in ASCII: other characters are written as `\uXXXX`, so that an encoding cannot be mistaken.

use std::io::{self, Write};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};

use crate::wire::blocks::Blocks;

/// Bytes that are encoded in base64 at a time: whole groups of three, so that only the last piece is padded.
const BASE64_PIECE: usize = 3 * 1024;

/// The JSON of one value, all ASCII. Only this module makes one, so that it need not be checked again. Clones share the
/// bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AsciiJson(Arc<Blocks>);

impl AsciiJson {
    /// Encodes `value`. A value that serde cannot encode (a map whose keys are not strings) becomes `null`.
    pub fn of(value: &(impl Serialize + ?Sized)) -> Self {
        let mut writer = AsciiWriter::default();
        writer.value(value);
        writer.finish()
    }

    /// Returns its length in bytes.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether it has no bytes, which is not JSON.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Copies the bytes.
    pub fn to_vec(&self) -> Vec<u8> {
        self.blocks().flatten().copied().collect()
    }

    /// Returns the bytes, in the pieces in which they are held.
    pub(super) fn blocks(&self) -> impl Iterator<Item = &[u8]> {
        self.0.iter()
    }

    /// Returns the memory it takes.
    pub(super) fn held_bytes(&self) -> usize {
        self.0.held_bytes()
    }
}

/// Writes JSON piece by piece, for bodies that are built under a byte budget.
#[derive(Debug, Default)]
pub struct AsciiWriter {
    out: Blocks,
}

impl AsciiWriter {
    /// Writes JSON punctuation or a constant that is ASCII JSON already, such as `{"rows":[`.
    pub fn raw(&mut self, json: &'static str) -> &mut Self {
        debug_assert!(json.is_ascii(), "a constant is not ASCII");
        self.put(json.as_bytes());
        self
    }

    /// Writes a JSON string, quotes included.
    pub fn string(&mut self, text: &str) -> &mut Self {
        self.put(b"\"");
        let written = write_escaped(&mut self.out, text);
        debug_assert!(written.is_ok(), "blocks take every byte");
        self.put(b"\"");
        self
    }

    /// Writes any value; one that serde cannot encode becomes `null`.
    pub fn value(&mut self, value: &(impl Serialize + ?Sized)) -> &mut Self {
        let mark = self.len();
        if value.serialize(&mut Serializer::with_formatter(&mut self.out, AsciiFormatter)).is_err() {
            self.rewind(mark);
            self.raw("null");
        }
        self
    }

    /// Writes bytes as a JSON string in base64 (RFC 4648 section 4, padded).
    pub fn base64(&mut self, bytes: &[u8]) -> &mut Self {
        self.put(b"\"");
        let mut encoded = [0; BASE64_PIECE / 3 * 4];
        for piece in bytes.chunks(BASE64_PIECE) {
            let length = STANDARD.encode_slice(piece, &mut encoded);
            debug_assert!(length.is_ok(), "four characters for every three bytes");
            self.put(encoded.get(..length.unwrap_or_default()).unwrap_or_default());
        }
        self.put(b"\"");
        self
    }

    /// Returns the bytes written so far: a mark to come back to.
    pub fn len(&self) -> usize {
        self.out.len()
    }

    /// Returns whether nothing has been written.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Takes back everything after `mark`, a value that [`Self::len`] returned.
    pub fn rewind(&mut self, mark: usize) {
        self.out.truncate(mark);
    }

    /// Returns the finished JSON.
    pub fn finish(self) -> AsciiJson {
        AsciiJson(Arc::new(self.out))
    }

    /// Returns the written bytes, finished or not.
    pub(super) fn into_blocks(self) -> Blocks {
        self.out
    }

    fn put(&mut self, bytes: &[u8]) {
        let written = self.out.write_all(bytes);
        debug_assert!(written.is_ok(), "blocks take every byte");
    }
}

/// Counts the bytes that `text` takes inside an ASCII JSON string, without the quotes.
pub fn string_cost(text: &str) -> usize {
    text.bytes().map(byte_cost).sum()
}

/// Counts the bytes that a byte of UTF-8 adds to an ASCII JSON string; a character's whole cost is its first byte's.
const fn byte_cost(byte: u8) -> usize {
    match byte {
        b'"' | b'\\' | 0x08 | b'\t' | b'\n' | 0x0c | b'\r' => 2,
        0x20..=0x7e => 1,
        0x80..=0xbf => 0,
        0xf0.. => 12,
        _ => 6,
    }
}

/// serde_json's compact format, in ASCII. serde_json itself escapes quotes, backslashes and controls below U+0020.
struct AsciiFormatter;

impl Formatter for AsciiFormatter {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, out: &mut W, fragment: &str) -> io::Result<()> {
        write_escaped(out, fragment)
    }
}

/// Writes the inside of a JSON string.
fn write_escaped<W: ?Sized + Write>(out: &mut W, text: &str) -> io::Result<()> {
    let mut rest = text;
    while let Some((plain, special)) = rest.split_at_checked(plain_run(rest.as_bytes())) {
        out.write_all(plain.as_bytes())?;
        let mut characters = special.chars();
        let Some(character) = characters.next() else { break };
        write_escape(out, character)?;
        rest = characters.as_str();
    }
    Ok(())
}

/// Counts the bytes from the first on that are printable ASCII, but for quotes and backslashes.
fn plain_run(bytes: &[u8]) -> usize {
    run(bytes, |word| ends_of_string(word) | below(1, word ^ (EACH * 0x7f)) | (word & HIGH_BITS))
}

/// Counts the bytes from the first on that may stand in a JSON string: no quote, backslash or control.
pub(super) fn string_run(bytes: &[u8]) -> usize {
    run(bytes, ends_of_string)
}

/// Counts the bytes before the first that `marks` marks by its high bit, eight at a time. Marks need to
/// be right up to the first one only.
fn run(bytes: &[u8], marks: impl Fn(u64) -> u64) -> usize {
    let (words, rest) = bytes.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let marked = marks(u64::from_le_bytes(*word));
        if marked != 0 {
            return index * 8 + marked.trailing_zeros() as usize / 8;
        }
    }
    words.len() * 8 + rest.iter().take_while(|byte| marks(EACH * u64::from(**byte)) == 0).count()
}

/// A factor that repeats a byte eight times.
const EACH: u64 = 0x0101_0101_0101_0101;
const HIGH_BITS: u64 = EACH * 0x80;

/// Marks quotes, backslashes and controls below U+0020.
const fn ends_of_string(word: u64) -> u64 {
    below(0x20, word) | below(1, word ^ (EACH * b'"' as u64)) | below(1, word ^ (EACH * b'\\' as u64))
}

/// Marks bytes below `limit`. The borrow of the subtraction can mislead only behind a byte that is.
const fn below(limit: u64, word: u64) -> u64 {
    word.wrapping_sub(EACH * limit) & !word & HIGH_BITS
}

/// Writes one character that cannot stand for itself.
fn write_escape<W: ?Sized + Write>(out: &mut W, character: char) -> io::Result<()> {
    let short = match character {
        '"' => b'"',
        '\\' => b'\\',
        '\u{8}' => b'b',
        '\t' => b't',
        '\n' => b'n',
        '\u{c}' => b'f',
        '\r' => b'r',
        _ => {
            for unit in character.encode_utf16(&mut [0; 2]) {
                let [high, low] = unit.to_be_bytes();
                let digits = [high >> 4, high & 15, low >> 4, low & 15].map(hex_digit);
                out.write_all(b"\\u")?;
                out.write_all(&digits)?;
            }
            return Ok(());
        }
    };
    out.write_all(&[b'\\', short])
}

/// Returns the digit of a value from 0 to 15.
const fn hex_digit(nibble: u8) -> u8 {
    if nibble < 10 { b'0' + nibble } else { b'a' - 10 + nibble }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    #[track_caller]
    fn check(value: &Value, expected: &str) {
        let json = AsciiJson::of(value);
        assert_eq!(String::from_utf8_lossy(&json.to_vec()), expected);
        if let Value::String(text) = value {
            let mut writer = AsciiWriter::default();
            writer.string(text);
            assert_eq!(writer.finish(), json, "a string alone is written like one inside a value");
            assert_eq!(string_cost(text), expected.len() - 2);
        }
    }

    #[test]
    fn all_output_is_ascii() {
        check(&json!("plain"), r#""plain""#);
        check(&json!(""), r#""""#);
        check(&json!("a\"b\\c/d"), r#""a\"b\\c/d""#);
        check(&json!("\u{0}\u{8}\t\n\u{b}\u{c}\r\u{1f}\u{7f}"), r#""\u0000\b\t\n\u000b\f\r\u001f\u007f""#);
        check(&json!("\u{80}é€\u{2028}\u{ffff}"), r#""\u0080\u00e9\u20ac\u2028\uffff""#);
        check(&json!("😀\u{10ffff}"), r#""\ud83d\ude00\udbff\udfff""#);
        check(&json!("this one is longer than a step of the scan é"), {
            r#""this one is longer than a step of the scan \u00e9""#
        });
        check(&json!({"é": [1, -2, 1.5, true, null], "b": {}}), r#"{"\u00e9":[1,-2,1.5,true,null],"b":{}}"#);
    }

    #[test]
    fn a_value_that_serde_cannot_encode_is_null() {
        let unencodable = std::collections::HashMap::from([(vec![1], 2)]);
        let mut writer = AsciiWriter::default();
        writer.raw("[").value(&unencodable).raw("]");
        assert_eq!(writer.finish().to_vec(), b"[null]");
    }

    #[test]
    fn base64_is_that_of_rfc_4648() {
        let cases = ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"];
        for (length, expected) in cases.into_iter().enumerate() {
            let mut writer = AsciiWriter::default();
            writer.base64(&b"foobar"[..length]);
            assert_eq!(String::from_utf8_lossy(&writer.finish().to_vec()), format!("\"{expected}\""));
        }
        let mut writer = AsciiWriter::default();
        writer.base64(&[0xfb, 0xef, 0xff]);
        assert_eq!(writer.finish().to_vec(), b"\"++//\"");
    }

    #[test]
    fn a_run_ends_at_the_first_byte_it_looks_for() {
        let ends_strings = |byte: u8| matches!(byte, b'"' | b'\\' | 0..0x20);
        for byte in 0..=0xff_u8 {
            for at in 0..20 {
                let mut bytes = [b'~'; 30];
                bytes[at..].fill(b' ');
                bytes[at] = byte;
                let until = |ends: bool| [bytes.len(), at][usize::from(ends)];
                assert_eq!(string_run(&bytes), until(ends_strings(byte)), "{byte:#x}");
                assert_eq!(plain_run(&bytes), until(ends_strings(byte) || byte >= 0x7f), "{byte:#x}");
            }
        }
    }

    #[test]
    fn a_body_is_taken_back_to_a_mark() {
        let mut writer = AsciiWriter::default();
        let mark = writer.raw("[1").len();
        writer.raw(",").string("dropped");
        writer.rewind(mark);
        writer.raw("]");
        assert_eq!(writer.finish().to_vec(), b"[1]");
    }

    proptest! {
        #[test]
        fn a_string_survives_and_has_the_announced_length(text in any::<String>()) {
            let mut writer = AsciiWriter::default();
            writer.string(&text);
            let json = writer.finish().to_vec();
            prop_assert!(json.iter().all(|byte| matches!(byte, 0x20..=0x7e)));
            prop_assert_eq!(string_cost(&text), json.len() - 2);
            prop_assert_eq!(serde_json::from_slice::<String>(&json).unwrap(), text);
        }
    }
}
