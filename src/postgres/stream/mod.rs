//! The bytes under a connection: no wait is longer than its deadline, no message longer than its bound.
//!
//! The driver bounds neither how long it waits nor how much it takes in. It does take a stream of ours in place of its own
//! where it expects TLS, so a plain connection is one whose "TLS" changes nothing (with `Direct`, nothing is negotiated, and
//! not a byte differs). A Unix socket has no host name, without which the driver wants no TLS: there its own stream remains,
//! a frozen server holds the thread that waits for it, and a message is as long as it is.
//!
//! | file | holds |
//! |---|---|
//! | `filter.rs` | messages bounded as they come in, without I/O |
//! | `deadline.rs` | the stream whose waits end, and its deadline |
//! | `plain.rs`, `encrypted.rs` | that stream over TCP, and over TLS |

mod filter;
mod deadline;
mod plain;
#[cfg(feature = "tls")]
mod encrypted;

pub(crate) use deadline::Deadline;
#[cfg(feature = "tls")]
pub(crate) use encrypted::Encrypted;
pub(crate) use filter::{MAX_OTHER, ROW_TOO_LONG};
pub(crate) use plain::Plain;
