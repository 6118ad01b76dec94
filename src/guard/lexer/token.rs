//! Tokens, and why a text is refused.

use crate::problem::Code;

/// Why a text is refused, and at which byte of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) code: Code,
    pub(crate) reason: Reason,
    /// Byte offset in the client's text.
    pub(crate) at: usize,
    /// One sentence: the construct, and what to write instead.
    pub(crate) detail: String,
}

/// What a refusal is about, as far as the catalog's rules have names for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    /// A function that may not be called.
    Function,
    /// A statement that is no query.
    Statement,
    /// Something that changes data, or locks it.
    Write,
    /// A second statement.
    SecondStatement,
    /// Anything else.
    Construct,
}

impl Refusal {
    /// What cannot be lexed or parsed.
    pub(crate) fn invalid(at: usize, detail: impl Into<String>) -> Self {
        Self { code: Code::Validation, reason: Reason::Construct, at, detail: detail.into() }
    }

    /// What is understood and not allowed.
    pub(crate) fn violation(at: usize, detail: impl Into<String>) -> Self {
        Self { code: Code::QueryViolation, reason: Reason::Construct, at, detail: detail.into() }
    }

    /// The same, about `reason`.
    pub(crate) fn about(self, reason: Reason) -> Self {
        Self { reason, ..self }
    }
}

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
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
    pub(crate) kind: Kind,
    /// As written, without comments and Unicode escapes: the token's canonical text.
    pub(crate) text: std::borrow::Cow<'s, str>,
    /// A name as PostgreSQL knows it: folded when unquoted, without quotes otherwise; a placeholder's name. Empty for
    /// anything else.
    pub(crate) name: String,
    /// Byte offset in the client's text.
    pub(crate) at: usize,
}

impl Token<'_> {
    /// Whether this is the unquoted word `word` (given in lower case).
    pub(crate) fn is_word(&self, word: &str) -> bool {
        self.kind == Kind::Word && self.name == word
    }

    /// Whether this is the punctuation `mark`.
    pub(crate) fn is_mark(&self, mark: &str) -> bool {
        self.kind == Kind::Punctuation && self.text == mark
    }

    /// Whether this is a word or a quoted name.
    pub(crate) fn is_name(&self) -> bool {
        matches!(self.kind, Kind::Word | Kind::QuotedName)
    }

    /// Whether this is a string literal of any spelling.
    pub(crate) fn is_string(&self) -> bool {
        matches!(self.kind, Kind::String | Kind::PrefixedString | Kind::DollarString)
    }
}
