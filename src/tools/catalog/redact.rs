//! Redaction: JSON text without the members whose keys are a secret's, at any depth, also inside texts that are JSON
//! themselves. Everything else stays as it is written: numbers of any size, keys that stand twice.

use crate::guard::SensitiveWords;

/// The deepest nesting that is read. PostgreSQL allows more.
const MAX_DEPTH: u32 = 128;

/// The reason why a text was not searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unreadable {
    /// It is JSON so far, and ends early or nests too deep; or something was found in it, and it is no JSON behind that.
    Unfinished,
    /// It is no JSON.
    NotJson,
}

/// The text without those members; their keys are added to `dropped`.
pub(super) fn redact(
    text: &str,
    is_sensitive: &dyn Fn(&str) -> bool,
    dropped: &mut Vec<String>,
) -> Result<String, Unreadable> {
    let before = dropped.len();
    let mut redactor = Redactor {
        rest: text,
        out: String::with_capacity(text.len()),
        is_sensitive,
        dropped,
        is_within_secret: false,
    };
    let read = redactor.value(0).and_then(|()| {
        redactor.skip_space();
        if redactor.rest.is_empty() { Ok(()) } else { Err(Unreadable::NotJson) }
    });
    match read {
        Ok(()) => Ok(redactor.out),
        Err(Unreadable::NotJson) if redactor.dropped.len() == before => Err(Unreadable::NotJson),
        Err(Unreadable::NotJson | Unreadable::Unfinished) => Err(Unreadable::Unfinished),
    }
}

/// Returns whether a name is a secret's and not waived.
pub(super) fn is_secret<'w>(
    words: &'w SensitiveWords,
    waived: &'w std::collections::BTreeMap<String, String>,
) -> impl Fn(&str) -> bool + 'w {
    move |name| words.is_sensitive(name) && !waived.contains_key(name)
}

/// Returns whether a text may be JSON with members.
pub(super) fn may_be_json(text: &str) -> bool {
    text.trim_start().starts_with(['{', '['])
}

/// Returns whether a text that is not JSON holds a secret's name as JSON, hstore or XML write it: in quotes and before a colon
/// or `=>`, or in a tag.
pub(super) fn names_secret(text: &str, is_sensitive: &dyn Fn(&str) -> bool) -> bool {
    // CSV, and rows and arrays as PostgreSQL writes them, double quotes within quotes; Python writes single ones.
    let is_quoted = |(quote, doubled): (char, &str)| {
        names_secret_in_quotes(text, quote, is_sensitive)
            || text.contains(doubled)
                && names_secret_in_quotes(&text.replace(doubled, &quote.to_string()), quote, is_sensitive)
    };
    [('"', "\"\""), ('\'', "''")].into_iter().any(is_quoted)
        || text.split('<').skip(1).any(|tag| names_secret_in_tag(tag, is_sensitive))
}

/// The same with names in quotes of one kind: the name of a member, or of a pair as in `"key": "password", "value": …`.
fn names_secret_in_quotes(text: &str, quote: char, is_sensitive: &dyn Fn(&str) -> bool) -> bool {
    let read = |name: &str| {
        serde_json::from_str::<String>(&format!("\"{name}\"")).unwrap_or_else(|_| name.to_owned())
    };
    let mut parts = text.split(quote).peekable();
    while let Some(name) = parts.next() {
        let behind = parts.peek().map_or("", |behind| behind.trim_start());
        if !behind.starts_with(':') && !behind.starts_with("=>") {
            continue;
        }
        let name = read(name);
        let value = || parts.clone().nth(1).map(read).unwrap_or_default();
        if is_sensitive(&name) || names_pair(&name) && is_sensitive(&value()) {
            return true;
        }
    }
    false
}

/// Returns whether a member of this name holds the name of another: `{"key": "password", "value": …}`.
fn names_pair(name: &str) -> bool {
    ["key", "name", "field", "attribute", "property"].iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// Returns whether a member of this name holds the value of such a pair.
fn holds_value(name: &str) -> bool {
    ["value", "val", "content", "data"].iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// A tag without its `<`, and whatever is behind it: its own name, and those of its attributes.
fn names_secret_in_tag(tag: &str, is_sensitive: &dyn Fn(&str) -> bool) -> bool {
    let inside = tag.get(..end_of_tag(tag)).unwrap_or_default().trim_start_matches('/');
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':');
    let own = inside.split(|c| !is_part(c)).next().unwrap_or_default();
    if !own.starts_with(|c: char| c.is_alphabetic() || c == '_') {
        return false;
    }
    let mut before_values = inside.split('=').map(str::trim_end);
    let attribute = |text: &str| is_sensitive(text.rsplit(|c| !is_part(c)).next().unwrap_or_default());
    // What is behind the last `=` is no name.
    let last = before_values.next_back();
    is_sensitive(own) || last.is_some() && before_values.any(attribute)
}

/// Returns where the `>` stands that ends a tag: not within quotes, unless these are not closed.
fn end_of_tag(tag: &str) -> usize {
    let mut quote = None;
    let end = tag.find(|c| match (quote, c) {
        (None, '"' | '\'') => {
            quote = Some(c);
            false
        }
        (None, _) => c == '>',
        (Some(open), _) => {
            quote = quote.filter(|_| c != open);
            false
        }
    });
    end.or_else(|| tag.find('>')).unwrap_or(tag.len())
}

/// The pair that an object holds: the secret that it names, and where values stand in the text.
#[derive(Default)]
struct Pair {
    secret: Option<String>,
    values: Vec<(usize, usize)>,
}

struct Redactor<'t> {
    rest: &'t str,
    out: String,
    is_sensitive: &'t dyn Fn(&str) -> bool,
    dropped: &'t mut Vec<String>,
    /// The value that is being read is dropped as a whole.
    is_within_secret: bool,
}

impl<'t> Redactor<'t> {
    fn skip_space(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r']);
    }

    /// The next character that is no space.
    fn peek(&mut self) -> Result<char, Unreadable> {
        self.skip_space();
        self.rest.chars().next().ok_or(Unreadable::Unfinished)
    }

    /// Takes one character, the one that must come.
    fn expect(&mut self, expected: char) -> Result<(), Unreadable> {
        if self.peek()? != expected {
            return Err(Unreadable::NotJson);
        }
        self.rest = self.rest.get(expected.len_utf8()..).unwrap_or_default();
        Ok(())
    }

    fn value(&mut self, depth: u32) -> Result<(), Unreadable> {
        if depth > MAX_DEPTH {
            return Err(Unreadable::Unfinished);
        }
        match self.peek()? {
            '{' => self.object(depth),
            '[' => self.array(depth),
            '"' => {
                let written = self.string()?;
                let inner = self.inside(written)?;
                self.out.push_str(inner.as_deref().unwrap_or(written));
                Ok(())
            }
            _ => self.word(),
        }
    }

    fn object(&mut self, depth: u32) -> Result<(), Unreadable> {
        self.expect('{')?;
        self.out.push('{');
        let mut is_first = true;
        let mut pair = Pair::default();
        if self.peek()? == '}' {
            return self.close('}');
        }
        loop {
            if self.peek()? != '"' {
                return Err(Unreadable::NotJson);
            }
            let written = self.string()?;
            self.expect(':')?;
            let mark = self.out.len();
            is_first &= !self.member(written, is_first, depth)?;
            self.note(written, mark, &mut pair);
            if self.peek()? == '}' {
                self.redact_pair(&pair);
                return self.close('}');
            }
            self.expect(',')?;
        }
    }

    /// Notes a member that was written from `mark` on, if it may be half of a pair.
    fn note(&self, written: &str, mark: usize, pair: &mut Pair) {
        let member = self.out.get(mark..).unwrap_or_default();
        let Some((key, value)) = serde_json::from_str::<String>(written).ok().zip(member.split_once(':'))
        else {
            return;
        };
        let (before, value) = value;
        if names_pair(&key) {
            let name = serde_json::from_str::<String>(value).ok();
            pair.secret = name.filter(|name| (self.is_sensitive)(name)).or(pair.secret.take());
        } else if holds_value(&key) {
            pair.values.push((mark + before.len() + 1, self.out.len()));
        }
    }

    /// Writes null in place of the values of a pair whose name is a secret's.
    fn redact_pair(&mut self, pair: &Pair) {
        let Some(secret) = &pair.secret else { return };
        for (from, to) in pair.values.iter().rev() {
            self.out.replace_range(from..to, "null");
        }
        if !pair.values.is_empty() && !self.is_within_secret {
            self.dropped.push(secret.clone());
        }
    }

    /// The value of a key; `false` when both are dropped.
    fn member(&mut self, written: &str, is_first: bool, depth: u32) -> Result<bool, Unreadable> {
        // A key that cannot be read may say anything.
        let key = serde_json::from_str::<String>(written).ok();
        let is_secret = key.as_deref().is_none_or(self.is_sensitive);
        let (mark, is_within) = (self.out.len(), self.is_within_secret);
        self.is_within_secret |= is_secret;
        self.out.push_str(if is_first { "" } else { "," });
        self.out.push_str(written);
        self.out.push(':');
        self.value(depth + 1)?;
        self.is_within_secret = is_within;
        if is_secret {
            self.out.truncate(mark);
        }
        if is_secret && !is_within {
            self.dropped.push(key.unwrap_or_else(|| "?".to_owned()));
        }
        Ok(!is_secret)
    }

    fn array(&mut self, depth: u32) -> Result<(), Unreadable> {
        self.expect('[')?;
        self.out.push('[');
        if self.peek()? == ']' {
            return self.close(']');
        }
        loop {
            self.value(depth + 1)?;
            if self.peek()? == ']' {
                return self.close(']');
            }
            self.expect(',')?;
            self.out.push(',');
        }
    }

    fn close(&mut self, bracket: char) -> Result<(), Unreadable> {
        self.expect(bracket)?;
        self.out.push(bracket);
        Ok(())
    }

    /// A string as it is written, quotes included.
    fn string(&mut self) -> Result<&'t str, Unreadable> {
        let mut escaped = false;
        let end = self.rest.char_indices().skip(1).find(|(_, character)| {
            let ends = *character == '"' && !escaped;
            escaped = *character == '\\' && !escaped;
            ends
        });
        let (written, rest) =
            end.and_then(|(end, _)| self.rest.split_at_checked(end + 1)).ok_or(Unreadable::Unfinished)?;
        self.rest = rest;
        Ok(written)
    }

    /// A string that is JSON with members itself, looked through; none when it is not, or stays as it is.
    fn inside(&mut self, written: &str) -> Result<Option<String>, Unreadable> {
        if self.is_within_secret {
            return Ok(None);
        }
        let Ok(text) = serde_json::from_str::<String>(written) else {
            // Half a surrogate pair: not to be looked into. Only JSON in it would have to be.
            return if written.contains(['{', '[']) { Err(Unreadable::Unfinished) } else { Ok(None) };
        };
        // In a text that is not JSON, a secret cannot be separated from the rest.
        let unless_named = |text: &str| {
            if names_secret(text, self.is_sensitive) { Err(Unreadable::Unfinished) } else { Ok(None) }
        };
        if !may_be_json(&text) {
            return unless_named(&text);
        }
        let before = self.dropped.len();
        match redact(&text, self.is_sensitive, self.dropped) {
            Ok(text) if self.dropped.len() > before => {
                serde_json::to_string(&text).map(Some).map_err(|_| Unreadable::NotJson)
            }
            Ok(_) => Ok(None),
            Err(Unreadable::NotJson) => unless_named(&text),
            Err(Unreadable::Unfinished) => Err(Unreadable::Unfinished),
        }
    }

    /// A number, `true`, `false` or `null`.
    fn word(&mut self) -> Result<(), Unreadable> {
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
        let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at_checked(end).ok_or(Unreadable::NotJson)?;
        let is_number = word.starts_with(|c: char| c.is_ascii_digit() || c == '-')
            && word.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'e' | b'E' | b'+' | b'-' | b'.'));
        let names = ["true", "false", "null"];
        let is_whole = is_number || names.contains(&word);
        let is_cut = rest.is_empty() && !word.is_empty() && names.iter().any(|name| name.starts_with(word));
        if !is_whole && !is_cut {
            return Err(Unreadable::NotJson);
        }
        self.rest = rest;
        self.out.push_str(word);
        if is_whole { Ok(()) } else { Err(Unreadable::Unfinished) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Result<&str, Unreadable>, keys: &[&str]) {
        let words = SensitiveWords::default();
        let mut dropped = Vec::new();
        let redacted = redact(text, &|name| words.is_sensitive(name), &mut dropped);
        assert_eq!(redacted, expected.map(str::to_owned), "{text}");
        assert_eq!(dropped, keys, "{text}");
    }

    #[test]
    fn sensitive_members_are_dropped_at_any_depth_and_the_rest_stays() {
        check(r#"{"a": 1, "b": [true, null]}"#, Ok(r#"{"a":1,"b":[true,null]}"#), &[]);
        check(r#"{"password_hash":"x","a":1}"#, Ok(r#"{"a":1}"#), &["password_hash"]);
        check(r#"{"a":1,"API_KEY":{"b":[{}]}}"#, Ok(r#"{"a":1}"#), &["API_KEY"]);
        check(r#"[{"a":[{"x":{"mfa":1,"y":2}}]}]"#, Ok(r#"[{"a":[{"x":{"y":2}}]}]"#), &["mfa"]);
        check(r#"{"pass\u0077ord":1}"#, Ok("{}"), &["password"]);
        check(r#"{"\ud800":1,"a":2}"#, Ok(r#"{"a":2}"#), &["?"]);
        check(
            r#"{"a":1,"a":12345678901234567890.10,"b":1e400}"#,
            Ok(r#"{"a":1,"a":12345678901234567890.10,"b":1e400}"#),
            &[],
        );
        check(r#" "a { \" } [" "#, Ok(r#""a { \" } [""#), &[]);
        check("-1.5e3", Ok("-1.5e3"), &[]);
        check(r#"{"passenger":"p","password":"{"}"#, Ok(r#"{"passenger":"p"}"#), &["password"]);
        check(r#"{"token":{"secret":1,"salt":["{"]}}"#, Ok("{}"), &["token"]);
    }

    #[test]
    fn json_inside_a_text_is_searched() {
        check(r#"{"log":"{\"token\":\"t\",\"a\":1}"}"#, Ok(r#"{"log":"{\"a\":1}"}"#), &["token"]);
        check(r#"["[{\"a\":\"{\\\"secret\\\":1}\"}]"]"#, Ok(r#"["[{\"a\":\"{}\"}]"]"#), &["secret"]);
        check(r#"{"log":"[2026] done"}"#, Ok(r#"{"log":"[2026] done"}"#), &[]);
        check(r#"{"log":"{\"token\":\"t"}"#, Err(Unreadable::Unfinished), &[]);
        check(r#"["failed: {\"token\": \"t\"}"]"#, Err(Unreadable::Unfinished), &[]);
        check(r#"["[1] {\"token\": \"t\"}"]"#, Err(Unreadable::Unfinished), &[]);
        check(r#"["failed: {\"a\": \"t\"}"]"#, Ok(r#"["failed: {\"a\": \"t\"}"]"#), &[]);
        check(r#"{"log":"\ud800{\"token\":1}"}"#, Err(Unreadable::Unfinished), &[]);
    }

    #[test]
    fn a_pair_that_names_a_secret_loses_its_value() {
        check(r#"{"key":"password","value":"x"}"#, Ok(r#"{"key":"password","value":null}"#), &["password"]);
        check(
            r#"[{"value":["x",{"a":1}],"id":1,"Name":"api_key"},{"name":"a","value":"x"}]"#,
            Ok(r#"[{"value":null,"id":1,"Name":"api_key"},{"name":"a","value":"x"}]"#),
            &["api_key"],
        );
        check(
            r#"{"name":"session cookie","val":1,"data":2}"#,
            Ok(r#"{"name":"session cookie","val":null,"data":null}"#),
            &["session cookie"],
        );
        check(r#"{"name":"Ada","value":"password"}"#, Ok(r#"{"name":"Ada","value":"password"}"#), &[]);
        check(r#"{"key":"password"}"#, Ok(r#"{"key":"password"}"#), &[]);
    }

    #[test]
    fn json_behind_other_text_is_seen() {
        let words = SensitiveWords::default();
        let names = |text: &str| names_secret(text, &|name| words.is_sensitive(name));
        for text in [
            r#"x {"a": 1, "password": "p"}"#,
            r#""mfa_secret" : 1}"#,
            r#"x {"p\u0061ssword":1}"#,
            r#"x {\"token\":1}"#,
            r#"a "token": "#,
            r#""password"=>"x", "a"=>"b""#,
            r#"{""password"=>"x""}"#,
            r#"2026-11-30,login,"{""user"": ""joe"", ""password"": ""x""}""#,
            r#"<conn url="a>b" password="x"/>"#,
            "it's < 3 <a password='x'>",
            r#""a"=>"b", "mfa" => NULL"#,
            "<password>x</password>",
            "a <b><ns:apiToken>x",
            "</password>",
            r#"<user name="a" token = "x"/>"#,
            "<user secret='x'",
            "{'password': 'x'}",
            "(1,'{''api_key'': ''x''}')",
            "[{'key': 'password', 'value': 'x'}]",
            r#"log {"name": "access_key", "value": "x"}"#,
            r#"(7,"{""key"": ""jwt"", ""value"": ""x""}")"#,
        ] {
            assert!(names(text), "{text}");
        }
        for text in [
            "",
            "password: x",
            r#"the "password" is"#,
            r#"x {"a": "password"}"#,
            r#"":"#,
            "token",
            r#""a"=>"password""#,
            "a < password",
            "<a>password</a>",
            r#"<a b="password">"#,
            "<a token>",
            "1 <2 and token = 3",
            "it's a 'password' I use",
            r#"{"name": "Ada", "value": "password"}"#,
            "{'name': 'x'}",
        ] {
            assert!(!names(text), "{text}");
        }
    }

    #[test]
    fn cut_json_is_distinguished_from_other_text() {
        for text in [&"[".repeat(200), "{", "[1,", r#"{"a"#, r#"{"a":"#, r#"{"a":tr"#, "[", "[{}", ""] {
            check(text, Err(Unreadable::Unfinished), &[]);
        }
        for text in ["[2026-01-01] log", "{a:1}", "[1}", "{} x", "[x]"] {
            check(text, Err(Unreadable::NotJson), &[]);
        }
        check("{\"otp\":1}\n{\"otp\":2}", Err(Unreadable::Unfinished), &["otp"]);
    }
}
