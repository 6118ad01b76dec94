//! Tokens.

use std::borrow::Cow;

use crate::guard::refusal::Refusal;
use crate::problem::echo;

/// The longest name, in bytes (`NAMEDATALEN - 1`). PostgreSQL cuts a longer one silently, so that the guard would check
/// another name than PostgreSQL uses.
const MAX_NAME_BYTES: usize = 63;

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// A keyword or a name without quotes.
    Word,
    /// A name in double quotes.
    QuotedName,
    /// A number.
    Number,
    /// `'…'`, in which a backslash is a backslash.
    String,
    /// `E'…'`, `B'…'` or `X'…'`.
    PrefixedString,
    /// `$tag$…$tag$`.
    DollarString,
    /// An operator of the closed list.
    Operator,
    /// `( ) [ ] , . : :: := =>`.
    Punctuation,
    /// `:name` in a catalog's statement; its text is `$1`, `$2`, …, the same for the same name.
    Placeholder,
}

/// One token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token<'s> {
    pub(crate) kind: TokenKind,
    /// As written, without comments and Unicode escapes: the token's canonical text.
    pub(crate) text: Cow<'s, str>,
    /// A name as PostgreSQL knows it: folded when unquoted, without quotes otherwise; a placeholder's name. Empty for
    /// anything else.
    pub(crate) name: String,
    /// Byte offset in the client's text.
    pub(crate) at: usize,
}

impl<'s> Token<'s> {
    /// Makes a token. A name that PostgreSQL would cut is refused.
    pub(super) fn new(
        kind: TokenKind,
        text: impl Into<Cow<'s, str>>,
        name: String,
        at: usize,
    ) -> Result<Self, Refusal> {
        if name.len() > MAX_NAME_BYTES {
            let name = echo(&name);
            return Err(Refusal::invalid(
                at,
                format!("The name {name} is longer than {MAX_NAME_BYTES} bytes, which PostgreSQL would cut."),
            ));
        }
        Ok(Self { kind, text: text.into(), name, at })
    }

    /// Returns whether this is the unquoted word `word` (given in lower case).
    pub(crate) fn is_word(&self, word: &str) -> bool {
        self.kind == TokenKind::Word && self.name == word
    }

    /// Returns whether this is one of the unquoted words (given in lower case).
    pub(crate) fn is_one_of(&self, words: &[&str]) -> bool {
        self.kind == TokenKind::Word && words.contains(&self.name.as_str())
    }

    /// Returns whether this is the punctuation `mark`.
    pub(crate) fn is_mark(&self, mark: &str) -> bool {
        self.kind == TokenKind::Punctuation && self.text == mark
    }

    /// Returns whether this is a word or a quoted name.
    pub(crate) fn is_name(&self) -> bool {
        matches!(self.kind, TokenKind::Word | TokenKind::QuotedName)
    }

    /// Returns whether this is a string literal of any spelling.
    pub(crate) fn is_string(&self) -> bool {
        matches!(self.kind, TokenKind::String | TokenKind::PrefixedString | TokenKind::DollarString)
    }
}
