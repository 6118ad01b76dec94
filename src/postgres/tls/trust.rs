//! The authorities whose certificates are trusted.

use std::path::PathBuf;

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
