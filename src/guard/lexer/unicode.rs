//! Escapes of `U&'…'` and `U&"…"`, decoded as PostgreSQL does, so that later steps see only the characters.
//!
//! `\hhhh` and `\+hhhhhh` stand for a code point, a doubled escape for itself; another escape than the backslash is
//! named behind `UESCAPE`.

/// The default escape.
pub(super) const BACKSLASH: char = '\\';

/// An escape cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum EscapeError {
    /// Not four digits, and not a plus and six digits.
    #[error("write four hexadecimal digits behind the escape, or + and six, or the escape twice")]
    Digits,
    /// A character that PostgreSQL cannot store: U+0000, half of a pair, or beyond U+10FFFF.
    #[error("an escape stands for a character other than U+0000, at most U+10FFFF, surrogates only in pairs")]
    CodePoint,
}

/// Returns whether `UESCAPE` may name this character.
pub(super) fn is_escape(c: char) -> bool {
    c.is_ascii()
        && !c.is_ascii_hexdigit()
        && !matches!(c, '+' | '\'' | '"' | ' ' | '\t' | '\n' | '\r' | '\x0b' | '\x0c')
}

/// Decodes `text`, in which quotes are no longer doubled.
pub(super) fn decode(text: &str, escape: char) -> Result<String, EscapeError> {
    let mut decoded = String::with_capacity(text.len());
    let mut rest = text;
    let mut units = Vec::new();
    while let Some(c) = rest.chars().next() {
        let behind = rest.get(c.len_utf8()..).unwrap_or_default();
        if c != escape {
            flush(&mut decoded, &mut units)?;
            decoded.push(c);
            rest = behind;
        } else if let Some(twice) = behind.strip_prefix(escape) {
            flush(&mut decoded, &mut units)?;
            decoded.push(escape);
            rest = twice;
        } else {
            let (digits, width) = behind.strip_prefix('+').map_or((behind, 4), |digits| (digits, 6));
            let (number, behind) = digits.split_at_checked(width).ok_or(EscapeError::Digits)?;
            if !number.bytes().all(|c| c.is_ascii_hexdigit()) {
                return Err(EscapeError::Digits);
            }
            units.push(u32::from_str_radix(number, 16).map_err(|_| EscapeError::Digits)?);
            rest = behind;
        }
    }
    flush(&mut decoded, &mut units)?;
    Ok(decoded)
}

/// Adds the characters of a run of escapes: two surrogates that belong together are one.
fn flush(decoded: &mut String, units: &mut Vec<u32>) -> Result<(), EscapeError> {
    let mut left = units.drain(..);
    while let Some(unit) = left.next() {
        let point = match unit {
            0xD800..=0xDBFF => match left.next() {
                Some(low @ 0xDC00..=0xDFFF) => 0x1_0000 + ((unit - 0xD800) << 10) + (low - 0xDC00),
                Some(_) | None => return Err(EscapeError::CodePoint),
            },
            unit => unit,
        };
        let c = char::from_u32(point).filter(|c| *c != '\0').ok_or(EscapeError::CodePoint)?;
        decoded.push(c);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, escape: char, expected: Result<&str, EscapeError>) {
        assert_eq!(decode(text, escape), expected.map(str::to_owned), "{text}");
    }

    #[test]
    fn escapes_are_the_characters_they_stand_for() {
        check("d\\0061t\\+000061", '\\', Ok("data"));
        check("d!0061t!+000061\\0061", '!', Ok("data\\0061"));
        check("a\\\\b!!", '\\', Ok("a\\b!!"));
        check("a!!0061", '!', Ok("a!0061"));
        check("\\00e9\\00E9é", '\\', Ok("ééé"));
        check("\\d83d\\de00\\+00d83d\\+00de00\\+01F600", '\\', Ok("😀😀😀"));
        check("\\0027\\0022", '\\', Ok("'\""));
        check("", '\\', Ok(""));
    }

    #[test]
    fn escapes_that_postgresql_cannot_read_are_refused() {
        for text in ["\\", "\\006", "\\006g", "\\+00006", "\\+00006g", "\\ 0061", "\\é061", "\\+0000é"] {
            check(text, '\\', Err(EscapeError::Digits));
        }
        for text in [
            "\\0000",
            "\\+000000",
            "\\d83d",
            "\\d83dx",
            "\\d83d\\\\de00",
            "\\d83d\\0061",
            "\\de00",
            "\\+110000",
        ] {
            check(text, '\\', Err(EscapeError::CodePoint));
        }
    }

    #[test]
    fn digits_quotes_and_spaces_are_refused_as_escapes() {
        for c in "aF0+'\" \t\n".chars().chain(['é', 'א']) {
            assert!(!is_escape(c), "{c}");
        }
        for c in "!\\gz*~_;".chars() {
            assert!(is_escape(c), "{c}");
        }
    }
}
