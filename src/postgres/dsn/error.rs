//! The reasons to refuse a connection string.

use std::fmt::Display;
use std::path::{Path, PathBuf};

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
    /// A parameter of another driver.
    #[error(
        "the parameter '{key}' is not one that PostgreSQL's libpq knows; leave it out, or see the manual's chapter settings"
    )]
    Foreign {
        /// Its name.
        key: String,
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
        allowed: String,
    },
    /// Two parameters contradict each other, or this build or this host lacks a part of TLS.
    #[error("{0}")]
    Conflict(&'static str),
    /// A file that the DSN names cannot be used.
    #[error("the file '{}' of '{key}' cannot be used: {reason}", path.display())]
    File {
        /// The parameter that names it.
        key: &'static str,
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
}

impl DsnError {
    pub(in crate::postgres) fn value(key: &'static str, allowed: &str) -> Self {
        Self::Value { key, allowed: allowed.to_owned() }
    }

    pub(in crate::postgres) fn file(key: &'static str, path: &Path, reason: &dyn Display) -> Self {
        Self::File { key, path: path.to_owned(), reason: reason.to_string() }
    }
}
