//! Strings and quoted names: where they end, and what continues them.

use super::{
    cut::{Lexer, check_name, is_name_part, is_space},
    token::{Kind, Refusal, Token},
    unicode,
};
use crate::problem::echo;

/// How a string spells a quote within it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Escapes {
    /// `''` only.
    Doubled,
    /// `''`, or a backslash before anything.
    Backslash,
}

impl<'s> Lexer<'s> {
    /// `U&'…'` or `U&"…"`, as the plain literal or name that PostgreSQL takes it for.
    pub(super) fn unicode(&mut self, quote: &str) -> Result<Token<'s>, Refusal> {
        let at = self.at;
        self.at += "U&".len();
        let start = self.at;
        let kind = if quote == "'" {
            self.string(Escapes::Doubled)?;
            Kind::String
        } else {
            self.quoted_name()?;
            Kind::QuotedName
        };
        let mut written = unquoted(self.since(start), quote);
        while kind == Kind::String
            && let Some(more) = self.continuation(Escapes::Doubled)?
        {
            written.push_str(&unquoted(more, quote));
        }
        let escape = self.escape()?;
        let value = unicode::decode(&written, escape)
            .map_err(|error| Refusal::invalid(at, format!("This U& literal cannot be read: {error}.")))?;
        let text = format!("{quote}{}{quote}", value.replace(quote, &quote.repeat(2)));
        let name = if kind == Kind::QuotedName { value } else { String::new() };
        check_name(&name, at)?;
        Ok(Token { kind, text: text.into(), name, at })
    }

    /// The escape that `UESCAPE` names behind a U& literal.
    fn escape(&mut self) -> Result<char, Refusal> {
        let end = self.at;
        self.skip_blanks()?;
        let word = self.rest().split(|c| !is_name_part(c)).next().unwrap_or_default();
        if !word.eq_ignore_ascii_case("uescape") {
            self.at = end;
            return Ok(unicode::BACKSLASH);
        }
        self.at += word.len();
        self.skip_blanks()?;
        let mut named = self.rest().chars();
        match (named.next(), named.next(), named.next()) {
            (Some('\''), Some(escape), Some('\'')) if unicode::is_escape(escape) => {
                self.at += "'!'".len();
                match self.continuation(Escapes::Doubled)? {
                    None => Ok(escape),
                    Some(_) => {
                        Err(Refusal::invalid(end + 1, "UESCAPE is followed by one character, in one piece."))
                    }
                }
            }
            _ => Err(Refusal::invalid(
                self.at,
                "UESCAPE is followed by one character in quotes, such as '!': no digit, letter a to f, plus, quote or space.",
            )),
        }
    }

    pub(super) fn prefixed(&mut self, escapes: Escapes) -> Result<Kind, Refusal> {
        self.at += 1;
        self.string(escapes).map(|()| Kind::PrefixedString)
    }

    pub(super) fn string(&mut self, escapes: Escapes) -> Result<(), Refusal> {
        let start = self.at;
        self.at += 1;
        loop {
            self.skip_while(|c| !matches!(c, '\'' | '\\' | '\0'));
            if self.eat("''") || (escapes == Escapes::Doubled && self.eat("\\")) {
                continue;
            }
            if self.eat("'") {
                return Ok(());
            }
            let escaped = if self.eat("\\") { self.peek().filter(|c| *c != '\0') } else { None };
            let Some(c) = escaped else { return Err(self.unclosed(start, "string", "'")) };
            self.at += c.len_utf8();
        }
    }

    /// What is wrong with a literal that has no end: a NUL, or the end of the text.
    fn unclosed(&self, start: usize, what: &str, end: &str) -> Refusal {
        match self.peek() {
            Some('\0') => {
                Refusal::invalid(self.at, format!("A {what} cannot hold U+0000 in PostgreSQL; remove it."))
            }
            Some(_) | None => {
                Refusal::invalid(start, format!("This {what} is never closed; end it with {end}."))
            }
        }
    }

    /// `'a'` LF `'b'` is one literal. The line break stays in the canonical text, for it is what joins them.
    pub(super) fn continued(
        &mut self,
        first: std::borrow::Cow<'s, str>,
    ) -> Result<std::borrow::Cow<'s, str>, Refusal> {
        let escapes = if first.starts_with(['e', 'E']) { Escapes::Backslash } else { Escapes::Doubled };
        let mut text = first;
        while let Some(more) = self.continuation(escapes)? {
            let joined = text.to_mut();
            joined.push('\n');
            joined.push_str(more);
        }
        Ok(text)
    }

    /// The next part of a literal, behind a line break.
    fn continuation(&mut self, escapes: Escapes) -> Result<Option<&'s str>, Refusal> {
        let end = self.at;
        if !self.skip_to_next_line() || self.peek() != Some('\'') {
            self.at = end;
            return Ok(None);
        }
        let start = self.at;
        self.string(escapes)?;
        Ok(Some(self.since(start)))
    }

    /// White space and line comments. Whether there was a line break among them.
    fn skip_to_next_line(&mut self) -> bool {
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

    pub(super) fn quoted_name(&mut self) -> Result<(), Refusal> {
        let start = self.at;
        self.at += 1;
        loop {
            self.skip_while(|c| !matches!(c, '"' | '\0'));
            if self.eat("\"\"") {
                continue;
            }
            if !self.eat("\"") {
                return Err(self.unclosed(start, "quoted name", "\""));
            }
            if self.since(start) == "\"\"" {
                return Err(Refusal::invalid(start, "A quoted name cannot be empty."));
            }
            return Ok(());
        }
    }

    pub(super) fn dollar_string(&mut self) -> Result<(), Refusal> {
        let start = self.at;
        self.at += 1;
        self.skip_while(|c| c.is_ascii_alphanumeric() || c == '_');
        let tag = self.since(start).get(1..).unwrap_or_default();
        if tag.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(Refusal::invalid(start, "Parameters such as $1 are not supported; write the value."));
        }
        if !self.eat("$") {
            return Err(Refusal::invalid(
                start,
                "A dollar-quoted string begins with $$ or $tag$, its tag of ASCII letters, digits and underscores.",
            ));
        }
        let fence = self.since(start);
        let body = self.rest();
        let end = body.find(fence);
        // Not beyond the end: with many strings that would be quadratic.
        let held = body.get(..end.unwrap_or(body.len())).unwrap_or_default();
        if let Some(nul) = held.find('\0') {
            self.at += nul;
            return Err(self.unclosed(start, "string", fence));
        }
        let Some(end) = end else {
            return Err(Refusal::invalid(
                start,
                format!("This dollar-quoted string is never closed; end it with {}.", echo(fence)),
            ));
        };
        self.at += end + fence.len();
        Ok(())
    }
}

/// What stands between quotes, in which they are doubled.
pub(super) fn unquoted(text: &str, quote: &str) -> String {
    let inner = text.strip_prefix(quote).and_then(|t| t.strip_suffix(quote)).unwrap_or_default();
    inner.replace(&quote.repeat(2), quote)
}
