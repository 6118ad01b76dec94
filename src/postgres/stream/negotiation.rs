//! The two ways in which TLS begins.

/// The beginning of TLS on a connection (libpq's `sslnegotiation`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Negotiation {
    /// The server is asked for TLS first, as every version understands.
    Postgres,
    /// TLS begins with the first byte.
    Direct,
}
