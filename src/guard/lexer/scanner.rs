//! The text and the place that the lexer has reached in it.

use crate::guard::refusal::Refusal;

/// A text that is read from left to right.
pub(super) struct Scanner<'s> {
    source: &'s str,
    /// Byte offset of the next character.
    pub(super) at: usize,
}

impl<'s> Scanner<'s> {
    pub(super) const fn new(source: &'s str) -> Self {
        Self { source, at: 0 }
    }

    pub(super) fn rest(&self) -> &'s str {
        self.source.get(self.at..).unwrap_or_default()
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(super) fn since(&self, start: usize) -> &'s str {
        self.source.get(start..self.at).unwrap_or_default()
    }

    pub(super) fn skip_while(&mut self, mut wanted: impl FnMut(char) -> bool) {
        let rest = self.rest();
        self.at += rest.find(|c| !wanted(c)).unwrap_or(rest.len());
    }

    /// Skips `expected` if it comes next. Returns whether it did.
    pub(super) fn eat(&mut self, expected: &str) -> bool {
        let found = self.rest().starts_with(expected);
        if found {
            self.at += expected.len();
        }
        found
    }

    /// Skips white space and comments. Block comments nest; a line comment ends at LF or CR.
    pub(super) fn skip_blanks(&mut self) -> Result<(), Refusal> {
        loop {
            self.skip_while(is_space);
            if self.eat("--") {
                self.skip_while(|c| !matches!(c, '\n' | '\r'));
            } else if self.rest().starts_with("/*") {
                self.skip_block_comment()?;
            } else {
                return Ok(());
            }
        }
    }

    fn skip_block_comment(&mut self) -> Result<(), Refusal> {
        let start = self.at;
        let mut open = 0_usize;
        loop {
            if self.eat("/*") {
                open += 1;
            } else if self.eat("*/") {
                open -= 1;
            } else if let Some(c) = self.peek() {
                self.at += c.len_utf8();
            } else {
                return Err(Refusal::invalid(start, "This comment is never closed; end it with */."));
            }
            if open == 0 {
                return Ok(());
            }
        }
    }

    /// Skips white space and line comments. Returns whether a line break was among them.
    pub(super) fn skip_to_next_line(&mut self) -> bool {
        let mut broken = false;
        loop {
            self.skip_while(|c| {
                broken |= matches!(c, '\n' | '\r');
                is_space(c)
            });
            if !self.eat("--") {
                return broken;
            }
            self.skip_while(|c| !matches!(c, '\n' | '\r'));
        }
    }
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r' | '\u{b}' | '\u{c}')
}
