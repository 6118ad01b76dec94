//! The values of string literals.

use super::token::{Token, TokenKind};

/// Returns the value of a string token: its parts joined, doubled quotes and escapes undone.
///
/// A limit must hold for the value that PostgreSQL reads, in every spelling.
pub(crate) fn value_of(token: &Token<'_>) -> String {
    if token.kind == TokenKind::DollarString {
        return dollar_body(&token.text).to_owned();
    }
    let escapes = token.text.starts_with(['e', 'E']);
    let mut value = String::with_capacity(token.text.len());
    let mut within = false;
    let mut rest = token.text.as_ref();
    while let Some(c) = rest.chars().next() {
        rest = rest.get(c.len_utf8()..).unwrap_or_default();
        match c {
            '\'' if within && rest.starts_with('\'') => {
                value.push('\'');
                rest = rest.get(1..).unwrap_or_default();
            }
            '\'' => within = !within,
            '\\' if within && escapes => rest = unescape(rest, &mut value),
            _ if within => value.push(c),
            _ => {}
        }
    }
    value
}

/// Reads an escape behind the backslash of an `E'…'`. Returns the rest.
fn unescape<'t>(text: &'t str, value: &mut String) -> &'t str {
    let Some(c) = text.chars().next() else { return text };
    let behind = text.get(c.len_utf8()..).unwrap_or_default();
    let (digits, radix, most) = match c {
        '0'..='7' => (text, 8, 3),
        'x' => (behind, 16, 2),
        'u' => (behind, 16, 4),
        'U' => (behind, 16, 8),
        _ => (behind, 10, 0),
    };
    let length = digits.chars().take(most).take_while(|c| c.is_digit(radix)).count();
    let (number, rest) = digits.split_at_checked(length).unwrap_or((digits, ""));
    match u32::from_str_radix(number, radix) {
        // A byte that is not a character by itself is part of one; which one does not matter to any limit.
        Ok(point) if point >= 0x80 && most < 4 => value.push(char::REPLACEMENT_CHARACTER),
        Ok(point) => value.push(char::from_u32(point).unwrap_or(char::REPLACEMENT_CHARACTER)),
        Err(_) => value.push(match c {
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\u{b}',
            other => other,
        }),
    }
    rest
}

fn dollar_body(text: &str) -> &str {
    let fence = text.get(1..).and_then(|rest| rest.find('$')).map_or(0, |end| end + 2);
    text.get(fence..text.len().saturating_sub(fence)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::lexer::lex;

    #[track_caller]
    fn check(literal: &str, expected: &str) {
        let tokens = lex(literal).unwrap();
        assert_eq!(value_of(tokens.first().unwrap()), expected, "{literal}");
    }

    #[test]
    fn values_are_what_postgresql_reads() {
        check("'a''b'", "a'b");
        check("'1e13'\n'1071'", "1e131071");
        check("'\\x41'", "\\x41");
        check("E'\\x41\\x4g\\101\\7\\u0042\\U00000043\\n\\q\\'\\\\'", "A\u{4}gA\u{7}BC\nq'\\");
        check("e'\\xe9' -- x\n'\\x39''9'", "\u{fffd}9'9");
        check("b'01'\n'1'", "011");
        check("X'1F'", "1F");
        check("$x$a'$$b$x$", "a'$$b");
    }
}
