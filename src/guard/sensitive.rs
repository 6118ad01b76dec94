//! Sensitive names: names of columns and members that announce a secret.

use crate::problem::echo;

/// Words that count anywhere in a name. `_` stands for one sign that is no letter and no digit, or for nothing.
#[rustfmt::skip]
const ANYWHERE: &[&str] = &[
    "password", "passwd", "passphrase", "passcode", "secret", "token", "hash", "credential", "bearer",
    "api_key", "private_key", "access_key", "auth_key", "encryption_key", "session_id",
];
/// The shortest word that may be added. A shorter one stands in too many names.
const SHORTEST_ADDED: usize = 3;

/// The built-in words, and those that the operator adds (`MCP_SENSITIVE_WORDS`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SensitiveWords {
    /// In lower case; anywhere in a name.
    added: Vec<String>,
}

/// An entry of the operator's list is not a word.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} is no word; allowed are {SHORTEST_ADDED} or more letters, digits, '_' and '-'", echo(.0))]
pub struct NotAWord(String);

impl SensitiveWords {
    /// Words that count as a whole word of a name: `pass_code` holds one, `passenger` does not.
    pub const WORDS: [&str; 9] = ["cookie", "cookies", "cvv", "jwt", "mfa", "otp", "pass", "pwd", "salt"];

    /// The words that count anywhere in a name, in lower case.
    fn anywhere(&self) -> impl Iterator<Item = &str> {
        ANYWHERE.iter().copied().chain(self.added.iter().map(String::as_str))
    }

    /// Returns PostgreSQL's regular expression for them, for a name in lower case.
    pub fn anywhere_pattern(&self) -> String {
        self.anywhere().map(|word| word.replace('_', "[^[:alnum:]]?")).collect::<Vec<_>>().join("|")
    }

    /// Reads the operator's own words, a comma list.
    ///
    /// # Errors
    /// The first entry that is not a word.
    pub fn parse(list: &str) -> Result<Self, NotAWord> {
        let words = list.split(',').map(str::trim).filter(|word| !word.is_empty());
        let added = words.map(|word| {
            let plain = word.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'));
            let is_word = plain && word.chars().count() >= SHORTEST_ADDED;
            is_word.then(|| word.to_lowercase()).ok_or_else(|| NotAWord(word.to_owned()))
        });
        Ok(Self { added: added.collect::<Result<_, _>>()? })
    }

    /// Returns whether the name of a column, or of a member of a JSON object, announces a secret.
    pub fn is_sensitive(&self, name: &str) -> bool {
        let lower = name.to_lowercase();
        let plain: String = lower.chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect();
        let holds = |word: &str| {
            lower.contains(word)
                || plain.contains(word)
                || word.contains('_') && plain.contains(&word.replace('_', ""))
        };
        self.anywhere().any(holds) || words(name).any(is_word)
    }
}

fn is_word(word: &str) -> bool {
    SensitiveWords::WORDS.iter().any(|sensitive| word.eq_ignore_ascii_case(sensitive))
}

/// Splits a name into words: at `_`, digits and anything else that is not a letter, and at changes of case, as in
/// `userMfaCode` and `MFACode`.
fn words(name: &str) -> impl Iterator<Item = &str> {
    name.split(|c: char| !c.is_alphabetic()).flat_map(|part| {
        let mut rest = part;
        std::iter::from_fn(move || {
            let (word, behind) = rest.split_at(end_of_word(rest));
            rest = behind;
            if word.is_empty() { None } else { Some(word) }
        })
    })
}

/// Returns the byte at which the first word of some letters ends.
fn end_of_word(letters: &str) -> usize {
    let mut before = [None::<char>; 2];
    for (index, c) in letters.char_indices() {
        if let [_, Some(last)] = before
            && last.is_lowercase()
            && c.is_uppercase()
        {
            return index;
        }
        // Of `MFACode` the last capital letter is the next word's.
        if let [Some(second), Some(last)] = before
            && second.is_uppercase()
            && last.is_uppercase()
            && c.is_lowercase()
        {
            return index - last.len_utf8();
        }
        before = [before[1], Some(c)];
    }
    letters.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(names: &[&str], expected: bool) {
        let words = SensitiveWords::parse("iban, Blood_Group").unwrap();
        for name in names {
            assert_eq!(words.is_sensitive(name), expected, "{name}");
        }
    }

    #[test]
    fn a_name_that_announces_a_secret_is_sensitive() {
        check(&["password", "PASSWD", "old_passphrase", "client_secret", "tokens", "hashed", "rehash"], true);
        check(&["apikey", "api_key", "API-KEY", "myApiKey", "api.key", "api\tkey", "my api/key"], true);
        check(&["bloodgroup", "blood-group"], true);
        check(&["pass", "user_pass", "pass2", "salt", "Salt", "mfa_code", "otp1", "x-otp"], true);
        check(&["userPass", "MFACode", "userMFACode", "codeOTP", "aSalt"], true);
        check(
            &[
                "pwd",
                "user_pwd",
                "passcode",
                "credentials",
                "aws_credential",
                "bearer",
                "jwt",
                "cvv2",
                "Cookie",
            ],
            true,
        );
        check(
            &[
                "private_key",
                "privateKey",
                "ACCESS-KEY",
                "encryption key",
                "authKey",
                "session_id",
                "sessionId",
            ],
            true,
        );
        check(&["iban", "IBAN_1", "blood_group"], true);
    }

    #[test]
    fn other_names_are_not_sensitive() {
        check(
            &[
                "passenger_name",
                "compass",
                "passed",
                "bypass",
                "salted",
                "basalt",
                "smfa",
                "laptop",
                "primary_key",
                "keyboard",
                "session_count",
                "fwd",
            ],
            false,
        );
        check(&["", "_", "1", "full_name", "key", "api", "MFAx", "é"], false);
    }

    #[test]
    fn an_added_entry_must_be_a_word() {
        for (list, part) in [("a b", "'a b'"), ("ab", "3 or more"), ("x.y", "'x.y'"), ("", ""), (" , ", "")] {
            match SensitiveWords::parse(list) {
                Ok(words) => assert!(part.is_empty() && words == SensitiveWords::default(), "{list}"),
                Err(error) => {
                    assert!(!part.is_empty() && error.to_string().contains(part), "{list}: {error}")
                }
            }
        }
    }
}
