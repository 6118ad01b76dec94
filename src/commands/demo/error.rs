//! The reasons for which the demo ends early.

use std::fmt::Display;

/// The demo ended early.
#[derive(Debug, thiserror::Error)]
pub(super) enum DemoError {
    /// A signal came.
    #[error("interrupted")]
    Interrupted,
    /// An attempt failed.
    #[error("cannot {attempt}: {reason}")]
    Failed {
        /// The attempt, a verb phrase.
        attempt: String,
        /// The reason.
        reason: String,
    },
    /// A program did not do its work.
    #[error("{program} {what}\n{log}")]
    Program {
        /// Its name.
        program: &'static str,
        /// The fault.
        what: String,
        /// The end of its log.
        log: String,
    },
    /// PostgreSQL refused the demo's schema.
    #[error("PostgreSQL: {0}")]
    Sql(#[from] postgres::Error),
    /// A wait reached its limit.
    #[error("gave up waiting for {0}")]
    TooSlow(&'static str),
}

impl DemoError {
    /// Wraps the reason of a failed attempt, for `map_err`.
    pub(super) fn cannot<R: Display>(attempt: &str) -> impl FnOnce(R) -> Self {
        move |reason| Self::Failed { attempt: attempt.to_owned(), reason: reason.to_string() }
    }
}
