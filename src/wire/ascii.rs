//! JSON out, in ASCII: everything else is written as `\uXXXX`, so that no client can trip over an encoding.

use serde::Serialize;
use std::sync::Arc;

/// The JSON of one value, all ASCII. Only this module makes one, so that what holds it need not look again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AsciiJson(Arc<[u8]>);

impl AsciiJson {
    /// Encodes `value`. A value that serde cannot encode (a map whose keys are not strings) becomes `null`.
    pub fn of(value: &(impl Serialize + ?Sized)) -> Self {
        let mut writer = AsciiWriter::default();
        writer.value(value);
        writer.finish()
    }

    /// The bytes.
    pub fn bytes(&self) -> &Arc<[u8]> {
        &self.0
    }
}

/// Writes JSON piece by piece, for bodies that are built under a byte budget.
#[derive(Debug, Default)]
pub struct AsciiWriter {
    out: Vec<u8>,
}

impl AsciiWriter {
    /// Writes JSON punctuation or a constant that is ASCII JSON already, such as `{"rows":[`.
    pub fn raw(&mut self, json: &'static str) -> &mut Self {
        self.out.extend_from_slice(json.as_bytes());
        self
    }

    /// Writes a JSON string, quotes included.
    pub fn string(&mut self, text: &str) -> &mut Self {
        self.value(text)
    }

    /// Writes any value.
    pub fn value(&mut self, value: &(impl Serialize + ?Sized)) -> &mut Self {
        for c in serde_json::to_string(value).unwrap_or_default().chars() {
            if c.is_ascii() {
                self.out.push(u8::try_from(c).unwrap_or_default());
            } else {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    self.out.extend_from_slice(format!("\\u{unit:04x}").as_bytes());
                }
            }
        }
        self
    }

    /// Writes bytes as a JSON string in base64 (RFC 4648 section 4, padded).
    pub fn base64(&mut self, bytes: &[u8]) -> &mut Self {
        const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        self.out.push(b'"');
        for chunk in bytes.chunks(3) {
            let n = chunk.iter().chain(&[0; 2]).take(3).fold(0_usize, |n, byte| n << 8 | usize::from(*byte));
            for i in 0..4 {
                let sign = ALPHABET.get(n >> (18 - 6 * i) & 63).copied().unwrap_or_default();
                self.out.push(if i > chunk.len() { b'=' } else { sign });
            }
        }
        self.out.push(b'"');
        self
    }

    /// Bytes written so far: a mark to come back to.
    pub fn len(&self) -> usize {
        self.out.len()
    }

    /// Whether nothing has been written.
    pub fn is_empty(&self) -> bool {
        self.out.is_empty()
    }

    /// Takes back everything after `mark`, a value that [`Self::len`] returned.
    pub fn rewind(&mut self, mark: usize) {
        self.out.truncate(mark);
    }

    /// The finished JSON.
    pub fn finish(self) -> AsciiJson {
        AsciiJson(self.out.into())
    }
}

/// Bytes that `text` takes inside an ASCII JSON string, without the quotes.
pub fn string_cost(text: &str) -> usize {
    let mut writer = AsciiWriter::default();
    writer.value(text);
    writer.len().saturating_sub(2)
}
