//! Text from outside, made safe to look at.

/// Makes text from outside safe to look at: control characters, line ends, bidirectional controls and invisible tags
/// become escapes. Escaping twice is escaping once.
pub fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                safe.extend(c.escape_unicode());
            }
            '\u{feff}' | '\u{e0000}'..='\u{e007f}' => safe.extend(c.escape_unicode()),
            c if c.is_control() => safe.extend(c.escape_default()),
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(escape(text), expected);
        assert_eq!(escape(expected), expected, "escaping twice is escaping once");
    }

    #[test]
    fn text_from_outside_cannot_forge_a_line_and_is_visible() {
        check("plain, ünïcode and \\ stay", "plain, ünïcode and \\ stay");
        check("a\nERROR b\r\t", "a\\nERROR b\\r\\t");
        check("\u{1b}[31m\u{7f}\u{85}", "\\u{1b}[31m\\u{7f}\\u{85}");
        check("\u{202e}txt\u{2066}\u{200f}", "\\u{202e}txt\\u{2066}\\u{200f}");
        check("\u{2028}\u{feff}\u{e0041}", "\\u{2028}\\u{feff}\\u{e0041}");
    }
}
