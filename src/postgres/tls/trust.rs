//! The authorities whose certificates are trusted, and why a connector could not be made.

use std::path::PathBuf;

use super::super::named_file::FileError;

/// The authorities whose certificates are trusted.
#[derive(Debug)]
#[cfg_attr(not(feature = "tls"), expect(dead_code, reason = "without TLS no certificate is looked at"))]
pub(crate) enum Trust {
    /// Any: encryption against listeners, not against impostors.
    AnyAuthority,
    /// Those of this PEM file.
    File {
        /// The PEM file.
        file: PathBuf,
        /// True if the certificate must be made out to the host's name.
        check_name: bool,
    },
    /// Those of the operating system's bundle, for certificates made out to the host's name.
    System,
}

/// TLS cannot be set up.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TlsError {
    /// This build or this host lacks a part of it.
    #[error("{0}")]
    Unavailable(&'static str),
    /// A file cannot be used.
    #[error(transparent)]
    File(#[from] FileError),
}
