//! TLS to PostgreSQL: rustls with ring, and libpq's verdicts on certificates.
//!
//! Without the feature `tls` a [`Connector`] cannot exist: every mode that could encrypt is refused when the DSN is read.
//!
//! | file | holds |
//! |---|---|
//! | `trust.rs` | the authorities that are trusted |
//! | `verifier.rs` | the verdicts of the modes that check less than rustls |
//! | `connector.rs` | the connector, from the files that the DSN names |
//! | `disabled.rs` | its stand-in in a build without TLS |

mod trust;
#[cfg(feature = "tls")]
mod verifier;
#[cfg(feature = "tls")]
mod connector;
#[cfg(not(feature = "tls"))]
mod disabled;

#[cfg(feature = "tls")]
pub(crate) use connector::Connector;
#[cfg(not(feature = "tls"))]
pub(crate) use disabled::Connector;
pub(crate) use trust::Trust;
