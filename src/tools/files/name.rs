//! File names as a model sees them: any bytes, shown without loss and without anything that controls a terminal or
//! turns text around.

use crate::call::sanitizer::is_forbidden;

/// The longest shown name in characters: 255 bytes (`NAME_MAX`), four characters each.
pub(super) const MAX_SHOWN_CHARS: usize = 4 * 255;

/// The name as it is shown, and whether that is the name itself.
///
/// Backslashes, controls, characters that arguments may not hold and bytes that are not UTF-8 become `\xNN`, a byte each.
pub(super) fn shown(raw: &[u8]) -> (String, bool) {
    let mut shown = String::with_capacity(raw.len());
    let mut readable = true;
    for chunk in raw.utf8_chunks() {
        for c in chunk.valid().chars() {
            if c == '\\' || c.is_control() || is_forbidden(c) {
                readable = false;
                escape(c.encode_utf8(&mut [0; 4]).as_bytes(), &mut shown);
            } else {
                shown.push(c);
            }
        }
        readable &= chunk.invalid().is_empty();
        escape(chunk.invalid(), &mut shown);
    }
    (shown, readable)
}

fn escape(bytes: &[u8], shown: &mut String) {
    shown.extend(bytes.iter().map(|byte| format!("\\x{byte:02x}")));
}

/// Reads back a name that was shown as `text`; `None` for a text that [`shown`] never writes.
pub(super) fn bytes_of(text: &str) -> Option<Vec<u8>> {
    let mut parts = text.split("\\x");
    let mut raw = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let (digits, rest) = part.split_at_checked(2)?;
        raw.push(u8::from_str_radix(digits, 16).ok()?);
        raw.extend_from_slice(rest.as_bytes());
    }
    (shown(&raw).0 == text).then_some(raw)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(raw: &[u8], expected: &str) {
        let (text, readable) = shown(raw);
        assert_eq!(text, expected);
        assert_eq!(readable, text.as_bytes() == raw);
        assert_eq!(bytes_of(&text).as_deref(), Some(raw), "{text:?} read back");
    }

    #[test]
    fn a_name_is_shown_without_loss_and_without_controls() {
        check(b"report 2026.csv", "report 2026.csv");
        check("Übersicht-\u{1f600}".as_bytes(), "Übersicht-\u{1f600}");
        check(b"", "");
        check(b"\\", r"\x5c");
        check(br"\x41", r"\x5cx41");
        check(b"a\nb", r"a\x0ab");
        check(b"\x1b[31mred", r"\x1b[31mred");
        check(b"a\x7f", r"a\x7f");
        check("a\u{85}b".as_bytes(), r"a\xc2\x85b");
        check("a\u{202e}gpj.exe".as_bytes(), r"a\xe2\x80\xaegpj.exe");
        check("\u{61c}\u{2066}".as_bytes(), r"\xd8\x9c\xe2\x81\xa6");
        check("\u{e0041}".as_bytes(), r"\xf3\xa0\x81\x81");
        check("\u{ffff}".as_bytes(), r"\xef\xbf\xbf");
        check(b"\xff\xfea", r"\xff\xfea");
        check(b"\xe2\x82", r"\xe2\x82");
        check(b"\xc3(", r"\xc3(");
    }

    #[test]
    fn every_byte_is_shown_and_read_back() {
        for byte in 1..=255_u8 {
            let (text, _) = shown(&[b'a', byte, b'z']);
            assert_eq!(bytes_of(&text).unwrap(), [b'a', byte, b'z']);
        }
        assert_eq!(shown(&[0xff; 255]).0.chars().count(), MAX_SHOWN_CHARS);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_name_is_read_back(raw: Vec<u8>) {
            let (text, readable) = shown(&raw);
            prop_assert_eq!(readable, text.as_bytes() == raw);
            prop_assert!(text.chars().all(|c| !c.is_control() && !is_forbidden(c)));
            prop_assert_eq!(bytes_of(&text), Some(raw));
        }

        #[test]
        fn a_text_is_read_only_if_it_is_shown_so(text in r"(\\\\x?|[0-9a-f]{1,2}|\PC){0,12}") {
            if let Some(raw) = bytes_of(&text) {
                prop_assert_eq!(shown(&raw).0, text);
            }
        }
    }

    #[test]
    fn a_text_that_is_never_shown_is_not_read() {
        for text in
            [r"\x", r"\x5", r"\x5C", r"\xzz", r"\x+5", "\\", r"\\x5c", r"\x41", r"a\xc3\xa9", "a\nb", r"\xé"]
        {
            assert_eq!(bytes_of(text), None, "{text:?}");
        }
    }
}
