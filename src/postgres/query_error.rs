//! The ways in which a prepared query fails.

use super::cells::Undecodable;
use super::sqlstate;
use crate::call::Failure;

/// A query brought no result.
#[derive(Debug, thiserror::Error)]
pub(crate) enum QueryError {
    /// The server refused, or is gone.
    #[error(transparent)]
    Database(#[from] postgres::Error),
    /// The transaction or the connection failed.
    #[error(transparent)]
    Failure(#[from] Failure),
    /// The server's answer is not of the form that was agreed.
    #[error("{0}")]
    Unexpected(String),
}

impl From<Undecodable> for QueryError {
    fn from(error: Undecodable) -> Self {
        Self::Unexpected(error.to_string())
    }
}

impl QueryError {
    /// Returns whether the statement was prepared for tables that have changed since, or is gone: once more may help.
    pub(crate) fn is_stale(&self) -> bool {
        // feature_not_supported, "cached plan must not change result type"; invalid_sql_statement_name.
        matches!(self, Self::Database(error)
            if error.code().is_some_and(|code| matches!(code.code(), "0A000" | "26000")))
    }

    /// Returns whether it takes the place of a row that no answer could hold.
    pub(crate) fn is_row_too_long(&self) -> bool {
        matches!(self, Self::Database(error) if sqlstate::is_row_too_long(error))
    }
}
