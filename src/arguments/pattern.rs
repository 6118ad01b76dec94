//! The regular expressions that a parameter may have.
//!
//! Only the syntax that regex-lite and ECMA-262 (with the flag `u`, as JSON Schema advises) both read, and read alike: a
//! client that checks a value by the schema comes to our verdict.

use regex_lite::RegexBuilder;

/// The longest pattern, in characters: a reviewer does not read a longer one.
const MAX_CHARS: usize = 256;
/// The most memory of a compiled pattern, in bytes. A value is matched in time proportional to its length times this.
const MAX_COMPILED_BYTES: usize = 32 * 1024;
/// The deepest nesting of groups.
const MAX_DEPTH: u32 = 16;
/// The characters that are escaped to stand for themselves outside a class, in both languages.
const SPECIAL: &str = r"^$\.*+?()[]{}|/";

/// A pattern is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PatternError {
    /// It has more than [`MAX_CHARS`] characters.
    #[error("it is longer than {MAX_CHARS} characters")]
    TooLong,
    /// Its groups nest deeper than [`MAX_DEPTH`].
    #[error("groups nest deeper than {MAX_DEPTH}")]
    TooDeep,
    /// A group, a class or a count does not end, or a group does not begin.
    #[error("a group, a class or a count does not begin or end: literal brackets are escaped")]
    Unbalanced,
    /// A group has a name, flags or looks around.
    #[error("groups are `(…)` or `(?:…)`: no names, flags or lookaround")]
    SpecialGroup,
    /// A dot, which matches other characters elsewhere.
    #[error("`.` is not the same everywhere: write a class such as `[^\\n]`, or `\\.`")]
    Dot,
    /// An anchor.
    #[error("it matches the whole value anyway: leave out `^` and `$`, or escape them")]
    Anchor,
    /// A special character stands where it has no meaning.
    #[error("`{0}` has nothing to belong to: to stand for itself it is escaped")]
    Stray(char),
    /// A backslash, and behind it nothing that the two languages share.
    #[error(
        "a backslash escapes nothing that is shared: there are \\d \\D \\w \\W \\n \\r \\t and {SPECIAL} escaped"
    )]
    Escape,
    /// Something else than numbers stands between braces, or a count is counted.
    #[error("counts are {{n}}, {{n,}} or {{n,m}}, one at a time")]
    Count,
    /// A class is empty, or not read alike everywhere.
    #[error(
        "a class holds characters and ranges from lower to higher; escape `[`, `&`, `~` and a hyphen that is no range"
    )]
    Class,
    /// The pattern is too large once compiled, or wrong otherwise.
    #[error("{0}")]
    Compilation(String),
}

/// Returns the pattern as the schema shows it.
pub(crate) fn anchored(pattern: &str) -> Result<String, PatternError> {
    if pattern.chars().count() > MAX_CHARS {
        return Err(PatternError::TooLong);
    }
    let mut reader = Reader { rest: pattern };
    reader.alternatives(0)?;
    if !reader.rest.is_empty() {
        return Err(PatternError::Unbalanced);
    }
    let anchored = format!("^(?:{pattern})$");
    let compiled =
        RegexBuilder::new(&anchored).size_limit(MAX_COMPILED_BYTES).nest_limit(MAX_DEPTH * 4).build();
    compiled.map(|_| anchored).map_err(|error| PatternError::Compilation(error.to_string()))
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

    /// Reads `a|b`, up to a `)` or the end.
    fn alternatives(&mut self, depth: u32) -> Result<(), PatternError> {
        if depth > MAX_DEPTH {
            return Err(PatternError::TooDeep);
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

    fn atom(&mut self, depth: u32) -> Result<(), PatternError> {
        match self.next() {
            Some('(') => {
                self.take("?:");
                if self.peek() == Some('?') {
                    return Err(PatternError::SpecialGroup);
                }
                self.alternatives(depth + 1)?;
                if self.take(")") { Ok(()) } else { Err(PatternError::Unbalanced) }
            }
            Some('[') => self.class(),
            Some('\\') => self.escape(SPECIAL).map(drop),
            Some('.') => Err(PatternError::Dot),
            Some('^' | '$') => Err(PatternError::Anchor),
            Some(special @ ('*' | '+' | '?' | '{' | '}' | ']')) => Err(PatternError::Stray(special)),
            Some(_) | None => Ok(()),
        }
    }

    /// Reads behind a backslash: the character that is meant, or `None` for a class such as `\d`.
    fn escape(&mut self, special: &str) -> Result<Option<char>, PatternError> {
        match self.next() {
            Some('d' | 'D' | 'w' | 'W') => Ok(None),
            Some('n') => Ok(Some('\n')),
            Some('r') => Ok(Some('\r')),
            Some('t') => Ok(Some('\t')),
            Some(character) if special.contains(character) => Ok(Some(character)),
            Some(_) | None => Err(PatternError::Escape),
        }
    }

    fn quantifier(&mut self) -> Result<(), PatternError> {
        if self.take("{") {
            let (counts, rest) = self.rest.split_once('}').ok_or(PatternError::Unbalanced)?;
            let (least, most) = counts.split_once(',').unwrap_or((counts, counts));
            let is_count = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            if !is_count(least) || !(most.is_empty() || is_count(most)) {
                return Err(PatternError::Count);
            }
            self.rest = rest;
        } else if !["*", "+", "?"].iter().any(|mark| self.take(mark)) {
            return Ok(());
        }
        // As few as possible: makes no difference to whether the whole value matches.
        self.take("?");
        match self.peek() {
            Some('*' | '+' | '?' | '{') => Err(PatternError::Count),
            _ => Ok(()),
        }
    }

    /// Reads `[…]` behind its opening bracket.
    fn class(&mut self) -> Result<(), PatternError> {
        self.take("^");
        let mut empty = true;
        loop {
            match (self.take("]"), empty) {
                (true, true) => return Err(PatternError::Class),
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
                _ => return Err(PatternError::Class),
            }
        }
    }

    fn class_member(&mut self) -> Result<Option<char>, PatternError> {
        match self.next() {
            None => Err(PatternError::Unbalanced),
            Some('\\') => self.escape(r"^$\.*+?()[]{}|/-"),
            Some('[') => Err(PatternError::Class),
            // `--`, `&&` and `~~` are operators elsewhere.
            Some(mark @ ('-' | '&' | '~')) if self.peek() == Some(mark) => Err(PatternError::Class),
            Some('-') if self.peek() != Some(']') => Err(PatternError::Class),
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
    fn syntax_that_is_not_shared_is_refused() {
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
