//! Refusals: the reason why a text is not run, and the place in it.

use crate::problem::Code;

/// A refusal of a text, with the place of its cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) code: Code,
    pub(crate) reason: Reason,
    /// Byte offset in the client's text.
    pub(crate) at: usize,
    /// One sentence: the construct, and what to write instead.
    pub(crate) detail: String,
}

/// The subject of a refusal, as far as the catalog's rules have names for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    /// A function that may not be called.
    Function,
    /// A statement that is not a query.
    Statement,
    /// A change of data, or a lock.
    Write,
    /// A second statement.
    SecondStatement,
    /// Anything else.
    Construct,
}

impl Refusal {
    /// Refuses text that cannot be lexed or parsed.
    pub(crate) fn invalid(at: usize, detail: impl Into<String>) -> Self {
        Self { code: Code::Validation, reason: Reason::Construct, at, detail: detail.into() }
    }

    /// Refuses text that is understood and not allowed.
    pub(crate) fn violation(at: usize, detail: impl Into<String>) -> Self {
        Self { code: Code::QueryViolation, reason: Reason::Construct, at, detail: detail.into() }
    }

    /// Gives the refusal another reason.
    pub(crate) fn about(self, reason: Reason) -> Self {
        Self { reason, ..self }
    }
}
