//! The size of a text in a line to the client. A line has at most 8 MiB, escapes included (some clients close on 10 MiB),
//! and each body stands in its line twice: as it is, and escaped once more in the text block.

/// The longest line, less the envelope around the body.
pub(super) const MAX_LINE_BYTES: usize = 8 * 1024 * 1024 - 4096;

/// Returns the longest beginning of `text` whose two copies in a line, the body's and the escaped one, fit `budget`.
pub(super) fn fitting(text: &str, budget: usize) -> &str {
    // A special byte costs 13 at most: most pages are settled without a closer look.
    if 2 * text.len() + 11 * special_bytes(text.as_bytes()) <= budget {
        return text;
    }
    let mut left = budget;
    // A character's cost is counted at its first byte: where the budget ends, a character begins.
    let end = text.bytes().take_while(|byte| spend(&mut left, byte_cost(*byte))).count();
    text.get(..end).unwrap_or_default()
}

/// Counts the bytes of `text` that take more than one byte in JSON.
fn special_bytes(text: &[u8]) -> usize {
    let is_special = |byte: &u8| !matches!(byte, b' '..=b'~') | (*byte == b'"') | (*byte == b'\\');
    // Counted in single bytes as far as those reach: the compiler makes vector instructions of that, ten times faster.
    let count =
        |part: &[u8]| part.iter().fold(0_u8, |count, byte| count.wrapping_add(is_special(byte).into()));
    text.chunks(255).map(|part| usize::from(count(part))).sum()
}

fn spend(left: &mut usize, cost: usize) -> bool {
    left.checked_sub(cost).map(|rest| *left = rest).is_some()
}

/// Returns the most bytes that `text` takes in a line: once in the body, and once more in the text block, where the quotes and
/// backslashes of the first copy are escaped again.
pub(super) fn line_cost(text: &str) -> usize {
    text.bytes().map(byte_cost).sum()
}

/// Returns the part of [`line_cost`] that one byte of UTF-8 adds.
const fn byte_cost(byte: u8) -> usize {
    match byte {
        // `\"` and `\\\"`.
        b'"' | b'\\' => 6,
        b' '..=b'~' => 2,
        // `\n` and `\\n`.
        b'\n' | b'\r' | b'\t' => 5,
        // `\u0000` and `\\u0000`.
        0..=0x1f | 0x7f => 13,
        0x80..=0xbf => 0,
        0xc0..=0xef => 13,
        // Two surrogates.
        0xf0..=0xff => 26,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::ascii::AsciiWriter;

    /// Measures both copies of `text`, without the quotes around it.
    fn real_cost(text: &str) -> usize {
        let mut body = AsciiWriter::default();
        body.string(text);
        let body = body.finish().to_vec();
        let inside = &body[1..body.len() - 1];
        2 * inside.len() + inside.iter().filter(|byte| matches!(byte, b'"' | b'\\')).count()
    }

    #[test]
    fn no_text_costs_more_than_is_counted() {
        for exact in ["", "plain ~ text", "\"\\\n\r\t", "\0\u{1}\u{1f}", "é€\u{ffff}", "\u{1f600}"] {
            assert_eq!(line_cost(exact), real_cost(exact), "{exact:?}");
        }
        for c in (0..=0x2000).chain([0xffff, 0x10000, 0x10ffff]).filter_map(char::from_u32) {
            let text = c.to_string();
            assert!(line_cost(&text) >= real_cost(&text), "{text:?}");
            assert!(2 * text.len() + 11 * special_bytes(text.as_bytes()) >= line_cost(&text), "{text:?}");
        }
    }

    #[test]
    fn the_longest_beginning_that_fits_ends_at_a_character() {
        #[track_caller]
        fn check(text: &str, budget: usize, expected: &str) {
            assert_eq!(fitting(text, budget), expected);
        }
        check("abc", 6, "abc");
        check("abc", 5, "ab");
        check("abc", 0, "");
        check("a\"b", 9, "a\"");
        check("a\"b", 7, "a");
        check("aéb", 17, "aéb");
        check("aéb", 16, "aé");
        check("aéb", 14, "a");
        check("\u{1f600}a", 26, "\u{1f600}");
        check("\u{1f600}a", 25, "");
    }

    #[test]
    fn more_than_255_special_bytes_are_counted() {
        assert_eq!(special_bytes(&[b'\n'; 1000]), 1000);
        assert_eq!(special_bytes(&[b'a'; 1000]), 0);
    }
}
