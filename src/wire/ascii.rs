//! JSON out, in ASCII: everything else is written as `\uXXXX`, so that no client can trip over an encoding.

use serde::Serialize;
use std::sync::Arc;

/// The JSON of one value, all ASCII. Only this module makes one, so that what holds it need not look again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AsciiJson(Arc<[u8]>);

impl AsciiJson {
    /// Encodes `value`. A value that serde cannot encode (a map whose keys are not strings) becomes `null`.
    pub fn of(value: &(impl Serialize + ?Sized)) -> Self {
        let _ = serde_json::to_value(value);
        todo!()
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
        let _ = json;
        todo!()
    }

    /// Writes a JSON string, quotes included.
    pub fn string(&mut self, text: &str) -> &mut Self {
        let _ = text;
        todo!()
    }

    /// Writes any value.
    pub fn value(&mut self, value: &(impl Serialize + ?Sized)) -> &mut Self {
        let _ = serde_json::to_value(value);
        todo!()
    }

    /// Writes bytes as a JSON string in base64 (RFC 4648 section 4, padded).
    pub fn base64(&mut self, bytes: &[u8]) -> &mut Self {
        let _ = bytes;
        todo!()
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
    let _ = text;
    todo!()
}
