//! The reasons to refuse a connection string.

use super::super::named_file::FileError;
use super::super::tls::TlsError;

/// A DSN was refused. No variant holds text of the DSN that could be a secret.
#[derive(Debug, thiserror::Error)]
pub enum DsnError {
    /// Neither a URL nor `key=value` pairs.
    #[error("not a connection string: {0}")]
    Syntax(&'static str),
    /// The URL falls apart where an unencoded character of the user or password would make it fall apart.
    #[error(
        "the URL falls apart around the user or password: write '@' as %40, '/' as %2F, '?' as %3F, ':' as %3A \
         and '%' as %25 there"
    )]
    Encoding,
    /// A parameter of libpq that is not supported here.
    #[error("the parameter '{key}' is not supported")]
    Unsupported {
        /// Its name.
        key: &'static str,
    },
    /// A parameter that libpq does not know either. Its name is not shown: it may be a piece of a password.
    #[error("parameter {ordinal} is not one that PostgreSQL's libpq knows; a value with spaces needs quotes")]
    Unknown {
        /// Its place, from 1.
        ordinal: usize,
    },
    /// A parameter stands there twice.
    #[error("the parameter '{key}' is given twice")]
    Twice {
        /// Its name.
        key: &'static str,
    },
    /// A parameter's value is not one of those allowed.
    #[error("the value of '{key}' is not valid: {allowed}")]
    Value {
        /// The parameter.
        key: &'static str,
        /// The values that are allowed.
        allowed: &'static str,
    },
    /// Two parameters contradict each other.
    #[error("{0}")]
    Conflict(&'static str),
    /// A file that the DSN names cannot be used.
    #[error(transparent)]
    File(#[from] FileError),
}

impl From<TlsError> for DsnError {
    fn from(error: TlsError) -> Self {
        match error {
            TlsError::Unavailable(text) => Self::Conflict(text),
            TlsError::File(error) => Self::File(error),
        }
    }
}
