//! A kind of document with no rules but those that every kind has.

use std::fmt;

use super::finding::{DocumentRule, Severity};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    Syntax,
    UnknownKey,
    InvalidValue,
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

impl DocumentRule for Rule {
    const SYNTAX: Self = Self::Syntax;
    const UNKNOWN_KEY: Self = Self::UnknownKey;
    const INVALID_VALUE: Self = Self::InvalidValue;

    fn severity(self) -> Severity {
        Severity::Error
    }
}
