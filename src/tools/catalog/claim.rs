//! The claim of an entry: what it declares, and what its statement has to keep to.

use std::collections::BTreeMap;

use crate::guard::SensitiveWords;
use crate::guard::config::GuardConfig;

/// The declarations of an entry.
#[derive(Clone, Debug)]
pub(super) struct Claim<'a> {
    /// The statement as written, with `:name` for each parameter.
    pub(super) sql: &'a str,
    /// Every table that the catalog may read, as written: `name` or `schema.name`.
    pub(super) catalog_tables: &'a [String],
    /// The entry's own tables.
    pub(super) tables: &'a [String],
    /// The columns of the output, in order.
    pub(super) columns: &'a [String],
    /// Its parameters, in order.
    pub(super) params: &'a [ParamClaim],
    /// Names that the words would refuse, and the written reason why this entry may use them.
    pub(super) waived: &'a BTreeMap<String, String>,
    pub(super) words: &'a SensitiveWords,
    pub(super) guard: &'a GuardConfig,
}

/// The properties of a parameter that a proof may rely on, also of one that is wrong otherwise.
#[derive(Clone, Debug)]
pub(super) struct ParamClaim {
    pub(super) name: String,
    pub(super) matching: Option<Match>,
    /// It is a number or a list of numbers, which cannot hold a pattern.
    pub(super) numeric: bool,
    /// It may be NULL: `optional = true`.
    pub(super) optional: bool,
}

/// The way LIKE matches a text: `%`, `_` and `\` in it are escaped, and these wildcards added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Match {
    /// `%text%`
    Contains,
    /// `text%`
    Prefix,
}

impl Match {
    /// Returns the pattern that finds `text` itself, where `\` escapes.
    pub(super) fn pattern(self, text: &str) -> String {
        let mut pattern = String::with_capacity(text.len() + 2);
        pattern.push_str(match self {
            Self::Contains => "%",
            Self::Prefix => "",
        });
        for character in text.chars() {
            if matches!(character, '%' | '_' | '\\') {
                pattern.push('\\');
            }
            pattern.push(character);
        }
        pattern.push('%');
        pattern
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_finds_the_text_itself() {
        assert_eq!(Match::Contains.pattern(r"50%_\"), r"%50\%\_\\%");
        assert_eq!(Match::Prefix.pattern("a"), "a%");
        assert_eq!(Match::Contains.pattern(""), "%%");
    }
}
