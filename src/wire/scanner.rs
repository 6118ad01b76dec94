//! The grammar of JSON (RFC 8259): cuts a text into tokens. Holds no value and judges no meaning.

use serde_json::Value;

use crate::wire::ascii::string_run;
use crate::wire::fault::{Fault, FaultKind, MAX_DEPTH};

/// A place in a JSON text. Methods that pass a token begin at its first byte, where [`Scanner::next_byte`] stops.
#[derive(Clone, Debug)]
pub(super) struct Scanner<'t> {
    /// The line, up to its first byte that is not UTF-8.
    text: &'t str,
    /// Such a byte follows.
    cut: bool,
    at: usize,
    depth: usize,
}

/// A string, without its quotes, or a number, as it stands in the text.
#[derive(Debug)]
pub(super) struct Token<'t> {
    pub(super) text: &'t str,
    pub(super) offset: usize,
}

impl<'t> Scanner<'t> {
    pub(super) fn new(bytes: &'t [u8]) -> Self {
        let (text, cut) = match std::str::from_utf8(bytes) {
            Ok(text) => (text, false),
            Err(error) => {
                let valid = bytes.get(..error.valid_up_to()).unwrap_or_default();
                (std::str::from_utf8(valid).unwrap_or_default(), true)
            }
        };
        Self { text, cut, at: 0, depth: 0 }
    }

    /// Returns the bytes from the beginning of the text to here.
    pub(super) fn offset(&self) -> usize {
        self.at
    }

    /// Checks that nothing follows.
    pub(super) fn end(&mut self) -> Result<(), Fault> {
        self.skip_space();
        if self.at == self.text.len() && !self.cut {
            Ok(())
        } else {
            Err(self.expected("the end of the line"))
        }
    }

    /// Enters the array or object that begins here.
    pub(super) fn open(&mut self) -> Result<(), Fault> {
        if self.depth == MAX_DEPTH {
            return Err(Fault { kind: FaultKind::TooDeep, offset: self.at });
        }
        self.depth += 1;
        self.at += 1;
        Ok(())
    }

    /// Leaves the array or object if it ends here.
    pub(super) fn closes(&mut self, close: u8) -> bool {
        self.skip_space();
        let closes = self.eat(close);
        if closes {
            self.depth -= 1;
        }
        closes
    }

    /// Returns whether another value follows in an array or object that ends with `close`.
    pub(super) fn another(&mut self, close: u8) -> Result<bool, Fault> {
        if self.closes(close) {
            return Ok(false);
        }
        if self.eat(b',') { Ok(true) } else { Err(self.expected_another(close)) }
    }

    /// Passes over a key and its colon.
    pub(super) fn key(&mut self) -> Result<Token<'t>, Fault> {
        if self.next_byte() != Some(b'"') {
            return Err(self.expected("a key in double quotes"));
        }
        let key = self.string()?;
        self.skip_space();
        if self.eat(b':') { Ok(key) } else { Err(self.expected("a colon")) }
    }

    /// Passes `true`, `false` or `null`, the only other values there are.
    pub(super) fn literal(&mut self) -> Result<Value, Fault> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let literals = [("true", Value::Bool(true)), ("false", Value::Bool(false)), ("null", Value::Null)];
        for (name, value) in literals {
            if rest.starts_with(name) {
                self.at += name.len();
                return Ok(value);
            }
        }
        if self.at == 0 && rest.starts_with('\u{feff}') {
            return Err(Fault { kind: FaultKind::ByteOrderMark, offset: 0 });
        }
        Err(self.expected("a value"))
    }

    /// Passes over one value whose text may be `max_depth` levels deep, and keeps one byte for each open level.
    pub(super) fn skip_value(&mut self, max_depth: usize) -> Result<(), Fault> {
        let mut open = Vec::new();
        loop {
            let at_value = match self.next_byte() {
                Some(b'{') => self.skip_into(b'}', &mut open, max_depth)?,
                Some(b'[') => self.skip_into(b']', &mut open, max_depth)?,
                Some(b'"') => self.string().map(|_| false)?,
                Some(b'-' | b'0'..=b'9') => self.number().map(|_| false)?,
                _ => self.literal().map(|_| false)?,
            };
            if !at_value && !self.skip_to_next_value(&mut open)? {
                return Ok(());
            }
        }
    }

    /// Enters an array or object up to its first value; `false`: it has none and is passed.
    fn skip_into(&mut self, close: u8, open: &mut Vec<u8>, max_depth: usize) -> Result<bool, Fault> {
        if self.depth + open.len() == max_depth {
            return Err(Fault { kind: FaultKind::TooDeep, offset: self.at });
        }
        self.at += 1;
        self.skip_space();
        if self.eat(close) {
            return Ok(false);
        }
        open.push(close);
        self.skip_key(close).map(|()| true)
    }

    /// Closes, after a value, the arrays and objects that end here, and stops before the next value, if there is one.
    fn skip_to_next_value(&mut self, open: &mut Vec<u8>) -> Result<bool, Fault> {
        while let Some(&close) = open.last() {
            self.skip_space();
            if self.eat(b',') {
                return self.skip_key(close).map(|()| true);
            }
            if !self.eat(close) {
                return Err(self.expected_another(close));
            }
            open.pop();
        }
        Ok(false)
    }

    /// Passes over the key before a value if `close` ends an object.
    fn skip_key(&mut self, close: u8) -> Result<(), Fault> {
        if close == b'}' { self.key().map(drop) } else { Ok(()) }
    }

    /// Passes over a string; the token is the text between its quotes, with its escapes.
    pub(super) fn string(&mut self) -> Result<Token<'t>, Fault> {
        self.at += 1;
        let begin = self.at;
        loop {
            let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
            self.at += string_run(rest);
            match self.peek() {
                Some(b'"') => {
                    let text = self.text.get(begin..self.at).unwrap_or_default();
                    self.at += 1;
                    return Ok(Token { text, offset: begin });
                }
                Some(b'\\') => self.pass_escape()?,
                Some(_) => return Err(self.expected("a control character to be escaped")),
                None => return Err(self.expected("a double quote at the end of the string")),
            }
        }
    }

    fn pass_escape(&mut self) -> Result<(), Fault> {
        let escape = self.text.as_bytes().get(self.at + 1..).unwrap_or_default();
        let length = match escape {
            [b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => 2,
            [b'u', a, b, c, d, ..] if [a, b, c, d].iter().all(|digit| digit.is_ascii_hexdigit()) => 6,
            _ => return Err(self.expected("an escape that JSON knows")),
        };
        self.at += length;
        Ok(())
    }

    /// Passes over a number (RFC 8259 section 6).
    pub(super) fn number(&mut self) -> Result<Token<'t>, Fault> {
        let begin = self.at;
        self.eat(b'-');
        if !self.eat(b'0') {
            self.pass_digits()?;
        }
        if self.eat(b'.') {
            self.pass_digits()?;
        }
        if self.eat(b'e') || self.eat(b'E') {
            let _signed = self.eat(b'+') || self.eat(b'-');
            self.pass_digits()?;
        }
        // A number has no end of its own: one that is cut off behind a digit must not pass for a whole one.
        match self.peek() {
            Some(b',' | b']' | b'}' | b' ' | b'\t' | b'\r' | b'\n') => {}
            None if self.depth == 0 => {}
            _ => return Err(self.expected("the end of the number")),
        }
        Ok(Token { text: self.text.get(begin..self.at).unwrap_or_default(), offset: begin })
    }

    fn pass_digits(&mut self) -> Result<(), Fault> {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits == 0 {
            return Err(self.expected("a digit"));
        }
        self.at += digits;
        Ok(())
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\t' | b'\r' | b'\n') = self.peek() {
            self.at += 1;
        }
    }

    /// Returns the next byte that is not white space; stops before it.
    pub(super) fn next_byte(&mut self) -> Option<u8> {
        self.skip_space();
        self.peek()
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn eat(&mut self, byte: u8) -> bool {
        let eaten = self.peek() == Some(byte);
        if eaten {
            self.at += 1;
        }
        eaten
    }

    fn expected_another(&self, close: u8) -> Fault {
        self.expected(if close == b'}' {
            "a comma or a closing brace"
        } else {
            "a comma or a closing bracket"
        })
    }

    /// Makes a syntax fault here; where the text was cut, the reason is the cut.
    fn expected(&self, token: &'static str) -> Fault {
        let cut = self.cut && self.at >= self.text.len();
        Fault { kind: if cut { FaultKind::InvalidUtf8 } else { FaultKind::Syntax(token) }, offset: self.at }
    }
}
