//! Strings and quoted names: their ends, and the parts that continue them.

use std::borrow::Cow;

use super::names::is_name_part;
use super::scanner::Scanner;
use super::token::{Token, TokenKind};
use super::unicode;
use crate::guard::refusal::Refusal;
use crate::problem::echo;

/// The spelling of a quote within a string.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Escapes {
    /// `''` only.
    Doubled,
    /// `''`, or a backslash before anything.
    Backslash,
}

/// Reads `U&'…'` or `U&"…"`, as the plain literal or name that PostgreSQL takes it for.
pub(super) fn unicode<'s>(scanner: &mut Scanner<'s>, quote: &str) -> Result<Token<'s>, Refusal> {
    let at = scanner.at;
    scanner.at += "U&".len();
    let start = scanner.at;
    let kind = if quote == "'" {
        quoted(scanner, '\'', Escapes::Doubled)?;
        TokenKind::String
    } else {
        quoted_name(scanner)?;
        TokenKind::QuotedName
    };
    let mut written = unquoted(scanner.since(start), quote);
    while kind == TokenKind::String
        && let Some(more) = continuation(scanner, Escapes::Doubled)?
    {
        written.push_str(&unquoted(more, quote));
    }
    let escape = escape(scanner)?;
    let value = unicode::decode(&written, escape)
        .map_err(|error| Refusal::invalid(at, format!("This U& literal cannot be read: {error}.")))?;
    let text = format!("{quote}{}{quote}", value.replace(quote, &quote.repeat(2)));
    let name = if kind == TokenKind::QuotedName { value } else { String::new() };
    Token::new(kind, text, name, at)
}

/// Returns the escape that `UESCAPE` names behind a U& literal.
fn escape(scanner: &mut Scanner<'_>) -> Result<char, Refusal> {
    let end = scanner.at;
    scanner.skip_blanks()?;
    let word = scanner.rest().split(|c| !is_name_part(c)).next().unwrap_or_default();
    if !word.eq_ignore_ascii_case("uescape") {
        scanner.at = end;
        return Ok(unicode::BACKSLASH);
    }
    scanner.at += word.len();
    scanner.skip_blanks()?;
    let mut named = scanner.rest().chars();
    let escape = match (named.next(), named.next(), named.next()) {
        (Some('\''), Some(escape), Some('\'')) if unicode::is_escape(escape) => escape,
        _ => {
            return Err(Refusal::invalid(
                scanner.at,
                "UESCAPE is followed by one character in quotes, such as '!': no digit, letter a to f, plus, quote or space.",
            ));
        }
    };
    scanner.at += "'!'".len();
    match continuation(scanner, Escapes::Doubled)? {
        None => Ok(escape),
        Some(_) => Err(Refusal::invalid(end + 1, "UESCAPE is followed by one character, in one piece.")),
    }
}

/// Skips a string or a name that begins at its quote.
pub(super) fn quoted(scanner: &mut Scanner<'_>, quote: char, escapes: Escapes) -> Result<(), Refusal> {
    let start = scanner.at;
    scanner.at += 1;
    loop {
        scanner.skip_while(|c| c != quote && c != '\0' && (c != '\\' || escapes == Escapes::Doubled));
        if scanner.peek() == Some(quote) {
            scanner.at += 1;
            if scanner.peek() != Some(quote) {
                return Ok(());
            }
        } else if scanner.peek() == Some('\\') {
            scanner.at += 1;
        }
        // A doubled quote, or the character that a backslash escapes.
        let Some(held) = scanner.peek().filter(|c| *c != '\0') else {
            let what = if quote == '"' { "quoted name" } else { "string" };
            return Err(unclosed(scanner, start, what, quote.encode_utf8(&mut [0; 4])));
        };
        scanner.at += held.len_utf8();
    }
}

/// Refuses a literal that has no end, because of a NUL or the end of the text.
fn unclosed(scanner: &Scanner<'_>, start: usize, what: &str, end: &str) -> Refusal {
    match scanner.peek() {
        Some('\0') => {
            Refusal::invalid(scanner.at, format!("A {what} cannot hold U+0000 in PostgreSQL; remove it."))
        }
        Some(_) | None => Refusal::invalid(start, format!("This {what} is never closed; end it with {end}.")),
    }
}

/// Adds the parts that continue a literal: `'a'` LF `'b'` is one. The line break stays in the canonical text, because it
/// joins the parts.
pub(super) fn continued<'s>(scanner: &mut Scanner<'s>, first: &'s str) -> Result<Cow<'s, str>, Refusal> {
    let escapes = if first.starts_with(['e', 'E']) { Escapes::Backslash } else { Escapes::Doubled };
    let mut text = Cow::Borrowed(first);
    while let Some(more) = continuation(scanner, escapes)? {
        let joined = text.to_mut();
        joined.push('\n');
        joined.push_str(more);
    }
    Ok(text)
}

/// Reads the next part of a literal, behind a line break.
fn continuation<'s>(scanner: &mut Scanner<'s>, escapes: Escapes) -> Result<Option<&'s str>, Refusal> {
    let end = scanner.at;
    if !scanner.skip_to_next_line() || scanner.peek() != Some('\'') {
        scanner.at = end;
        return Ok(None);
    }
    let start = scanner.at;
    quoted(scanner, '\'', escapes)?;
    Ok(Some(scanner.since(start)))
}

/// Skips a name in double quotes.
pub(super) fn quoted_name(scanner: &mut Scanner<'_>) -> Result<(), Refusal> {
    let start = scanner.at;
    quoted(scanner, '"', Escapes::Doubled)?;
    if scanner.since(start) == "\"\"" {
        return Err(Refusal::invalid(start, "A quoted name cannot be empty."));
    }
    Ok(())
}

/// Skips a `$tag$…$tag$`.
pub(super) fn dollar_string(scanner: &mut Scanner<'_>) -> Result<(), Refusal> {
    let start = scanner.at;
    scanner.at += 1;
    scanner.skip_while(|c| c.is_ascii_alphanumeric() || c == '_');
    let tag = scanner.since(start).get(1..).unwrap_or_default();
    if tag.starts_with(|c: char| c.is_ascii_digit()) {
        return Err(Refusal::invalid(start, "Parameters such as $1 are not supported; write the value."));
    }
    if !scanner.eat("$") {
        return Err(Refusal::invalid(
            start,
            "A dollar-quoted string begins with $$ or $tag$, its tag of ASCII letters, digits and underscores.",
        ));
    }
    let fence = scanner.since(start);
    let body = scanner.rest();
    let end = body.find(fence);
    // Not beyond the end: with many strings that would be quadratic.
    let held = body.get(..end.unwrap_or(body.len())).unwrap_or_default();
    if let Some(nul) = held.find('\0') {
        scanner.at += nul;
        return Err(unclosed(scanner, start, "string", fence));
    }
    let Some(end) = end else {
        let fence = echo(fence);
        let detail = format!("This dollar-quoted string is never closed; end it with {fence}.");
        return Err(Refusal::invalid(start, detail));
    };
    scanner.at += end + fence.len();
    Ok(())
}

/// Returns the text between quotes, in which they are doubled.
pub(super) fn unquoted(text: &str, quote: &str) -> String {
    let inner = text.strip_prefix(quote).and_then(|t| t.strip_suffix(quote)).unwrap_or_default();
    inner.replace(&quote.repeat(2), quote)
}
