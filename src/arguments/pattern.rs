//! Patterns of parameters: only what regex-lite and ECMA-262 (with the flag `u`, as JSON Schema advises) both read, and
//! read alike, so that a client that checks a value by the schema comes to our verdict.

use regex_lite::RegexBuilder;

/// The longest pattern, in characters: one that is longer is not reviewed.
const MAX_CHARS: usize = 256;
/// What a compiled pattern may take, in bytes. A value is matched in time proportional to its length times this.
const MAX_COMPILED_BYTES: usize = 32 * 1024;
/// How deep groups may nest.
const MAX_DEPTH: u32 = 16;
/// What must be escaped to stand for itself outside a class, in both.
const SPECIAL: &str = r"^$\.*+?()[]{}|/";

/// The pattern as the schema shows it, or what is wrong with it.
pub(crate) fn anchored(pattern: &str) -> Result<String, String> {
    if pattern.chars().count() > MAX_CHARS {
        return Err(format!("it is longer than {MAX_CHARS} characters"));
    }
    let mut reader = Reader { rest: pattern };
    reader.alternatives(0)?;
    if !reader.rest.is_empty() {
        return Err("a `)` closes no group".to_owned());
    }
    let anchored = format!("^(?:{pattern})$");
    let compiled =
        RegexBuilder::new(&anchored).size_limit(MAX_COMPILED_BYTES).nest_limit(MAX_DEPTH * 4).build();
    compiled.map(|_| anchored).map_err(|error| error.to_string())
}

/// Walks a pattern by the shared grammar.
struct Reader<'p> {
    rest: &'p str,
}

impl Reader<'_> {
    fn next(&mut self) -> Option<char> {
        let mut characters = self.rest.chars();
        let next = characters.next();
        self.rest = characters.as_str();
        next
    }

    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn take(&mut self, text: &str) -> bool {
        let rest = self.rest.strip_prefix(text);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// `a|b`, up to a `)` or the end.
    fn alternatives(&mut self, depth: u32) -> Result<(), String> {
        if depth > MAX_DEPTH {
            return Err(format!("groups nest deeper than {MAX_DEPTH}"));
        }
        loop {
            match self.peek() {
                None | Some(')') => return Ok(()),
                Some('|') => drop(self.next()),
                Some(_) => {
                    self.atom(depth)?;
                    self.quantifier()?;
                }
            }
        }
    }

    fn atom(&mut self, depth: u32) -> Result<(), String> {
        match self.next() {
            Some('(') => {
                self.take("?:");
                if self.peek() == Some('?') {
                    return Err("groups are `(…)` or `(?:…)`: no names, flags or lookaround".to_owned());
                }
                self.alternatives(depth + 1)?;
                if self.take(")") { Ok(()) } else { Err("a group is not closed".to_owned()) }
            }
            Some('[') => self.class(),
            Some('\\') => self.escape(SPECIAL).map(drop),
            Some('.') => {
                Err("`.` is not the same everywhere: write a class such as `[^\\n]`, or `\\.`".to_owned())
            }
            Some('^' | '$') => {
                Err("it matches the whole value anyway: leave out `^` and `$`, or escape them".to_owned())
            }
            Some(special @ ('*' | '+' | '?' | '{' | '}' | ']')) => {
                Err(format!("`{special}` has nothing to belong to: to stand for itself it is escaped"))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// What follows a backslash: the character it is, or none for a class such as `\d`.
    fn escape(&mut self, special: &str) -> Result<Option<char>, String> {
        match self.next() {
            Some('d' | 'D' | 'w' | 'W') => Ok(None),
            Some('n') => Ok(Some('\n')),
            Some('r') => Ok(Some('\r')),
            Some('t') => Ok(Some('\t')),
            Some(character) if special.contains(character) => Ok(Some(character)),
            Some(other) => Err(format!(
                "`\\{other}` is not shared: there are \\d \\D \\w \\W \\n \\r \\t and {SPECIAL} escaped"
            )),
            None => Err("it ends in a backslash".to_owned()),
        }
    }

    fn quantifier(&mut self) -> Result<(), String> {
        let is_plain = ["*", "+", "?"].iter().any(|mark| self.take(mark));
        if !is_plain {
            if !self.take("{") {
                return Ok(());
            }
            let Some((counts, rest)) = self.rest.split_once('}') else {
                return Err("a `{` is not closed".to_owned());
            };
            let (least, most) = counts.split_once(',').unwrap_or((counts, counts));
            let is_count = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            if !is_count(least) || !(most.is_empty() || is_count(most)) {
                return Err("counts are {n}, {n,} or {n,m}".to_owned());
            }
            self.rest = rest;
        }
        // As few as possible: makes no difference to whether the whole value matches.
        self.take("?");
        match self.peek() {
            Some('*' | '+' | '?' | '{') => Err("one count follows another".to_owned()),
            _ => Ok(()),
        }
    }

    /// `[…]`, whose bracket is gone.
    fn class(&mut self) -> Result<(), String> {
        self.take("^");
        let mut empty = true;
        loop {
            match (self.take("]"), empty) {
                (true, true) => return Err("a class is empty".to_owned()),
                (true, false) => return Ok(()),
                (false, _) => empty = false,
            }
            let first = self.class_member()?;
            // Before the end a hyphen stands for itself.
            if self.rest.starts_with("-]") || !self.take("-") {
                continue;
            }
            match (first, self.class_member()?) {
                (Some(first), Some(last)) if first <= last => {}
                _ => return Err("a range of a class goes from a lower character to a higher".to_owned()),
            }
        }
    }

    fn class_member(&mut self) -> Result<Option<char>, String> {
        match self.next() {
            None => Err("a class is not closed".to_owned()),
            Some('\\') => self.escape(r"^$\.*+?()[]{}|/-"),
            Some('[') => Err("a `[` inside a class is escaped".to_owned()),
            // `--`, `&&` and `~~` are operators elsewhere.
            Some(mark @ ('-' | '&' | '~')) if self.peek() == Some(mark) => {
                Err(format!("`{mark}{mark}` inside a class is not shared"))
            }
            Some('-') if self.peek() != Some(']') => {
                Err("a hyphen that is no range is escaped or stands last".to_owned())
            }
            Some(character) => Ok(Some(character)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use regex_lite::Regex;

    #[track_caller]
    fn check(pattern: &str, matches: &[&str], differs: &[&str]) {
        let regex = Regex::new(&anchored(pattern).unwrap()).unwrap();
        for text in matches {
            assert!(regex.is_match(text), "{pattern} {text}");
        }
        for text in differs {
            assert!(!regex.is_match(text), "{pattern} {text}");
        }
    }

    #[test]
    fn a_pattern_matches_the_whole_value() {
        check("[A-Z]{3}", &["ABC"], &["ABCD", "xABC", "ABC\n", ""]);
        check("a|bc", &["a", "bc"], &["ac", "abc", "a\n"]);
        check("(?:ab)+(c|d)?", &["ab", "ababd"], &["", "abcd"]);
        check(r"[\w.+-]+@[a-z0-9-]+(\.[a-z]{2,})+", &["a.b@c-d.org"], &["a@b", "é@b.de"]);
        check(r"\d{4}-\d{2}", &["2026-01"], &["٢٠٢٦-01"]);
        check("[^\\n]*?", &["", "any thing"], &["a\nb"]);
        check("", &[""], &["x"]);
        check(r"[\]\[\-]\/é", &["]/é", "-/é"], &["x/é"]);
    }

    #[test]
    fn what_is_not_shared_is_refused() {
        for pattern in [
            "^a$",
            ".",
            ".*",
            r"\s",
            r"\bword",
            r"\1",
            "(?i)a",
            "(?<n>a)",
            "(?P<n>a)",
            "(?=a)",
            "a**",
            "a{,3}",
            "a{x}",
            "a{1",
            "*a",
            "(a",
            "a)",
            "[a",
            "[]",
            "[^]",
            "[z-a]",
            r"[a-\d]",
            "[[:alpha:]]",
            "[a&&b]",
            "[a--b]",
            "[-a]",
            "{",
            "}",
            "]",
            r"\p{L}",
            r"\x41",
            r"\",
            "a{2}{3}",
            "(?",
            r"[\b]",
            "a{1000}{1000}",
            "[a-z]{3000}",
            "(?#x)",
            r"\-",
            "a{5,2}",
        ] {
            assert!(anchored(pattern).is_err(), "{pattern}");
        }
        assert!(anchored(&"(".repeat(200)).is_err());
        assert!(anchored(&"a".repeat(257)).is_err());
    }
}
