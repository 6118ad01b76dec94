//! # The map
//!
//! An MCP server on stdin and stdout that gives a model narrow, recorded, bounded access to PostgreSQL, to one
//! directory of files and to host metrics. This page is what a newcomer reads first.
//!
//! ## The life of one `tools/call`
//!
//! ```text
//! stdin -> reader --------------- cheap answers (ping, list, discover, errors) ------------+
//!           | Frame -> Message -> Call (waits in InFlight, in order, watched)               v
//!           v wake, never blocks                                                         writer -> stdout
//!      worker x N - pick the oldest call with a slot - execute: authorize -> Permit -> run -> Reply -^
//!           ^                                   | registers how to stop it                   |
//!           +---- watchdog: queue wait, deadline, grace, progress -- InFlight ---------------+
//! ```
//!
//! Six types carry it, each made only by its step, so that no step can be skipped:
//!
//! | type | means | made by |
//! |---|---|---|
//! | [`wire::frame::Frame`] | bounded bytes | [`wire::frame::FrameReader`] |
//! | [`protocol::request::Message`] | understood, one of a closed set | [`protocol::request::understand`] |
//! | [`call::Call`] | in flight: serial, deadline, interrupt | [`server::in_flight::InFlight`] |
//! | [`governance::Permit`] | may run, once | [`governance::Governor::authorize`] |
//! | `ReadOnlyStatement`, `RelPath` | an argument that passed its checker | the tool's parser |
//! | [`protocol::reply::Reply`] | owed once | whoever removed the call from [`server::in_flight::InFlight`] |
//!
//! ## Rooms
//!
//! One folder per layer. A file may use what stands to its left in this line, never what stands to its right; a
//! test checks the first segment of every `crate::` path against it:
//!
//! `diagnostics, wire → problem → protocol → call → governance → tools → server → confine → settings → commands → main`
//!
//! ## Invariants (mostly absences)
//!
//! - `wire` knows no MCP; `protocol` no threads; `governance` runs no tool; tools know no JSON-RPC. Only the writer
//!   thread writes a session's stdout; only [`diagnostics`] writes stderr.
//! - Confinement comes before the first thread: one that runs already stays free. Single files of `/proc` stay readable,
//!   never all of it: its `environ` holds the DSN.
//! - The reader never waits for a worker. Nothing grows without a bound that has a name.
//! - Authorization is decided on the worker, right before the run, on normalised arguments. What ran is on record
//!   before its answer leaves.
//! - An unknown tool takes one path, whatever the reason it is not there.
//! - An id, a token, a tenant, a role is never read from arguments, `_meta` or `clientInfo`.

pub mod diagnostics;
pub mod wire;
pub mod problem;
pub mod protocol;
pub mod call;
pub mod governance;
pub mod tools;
pub mod server;
pub mod confine;
pub mod settings;
pub mod commands;
#[cfg(test)]
mod fuzz_targets;

/// The name this program gives itself on the wire (`serverInfo.name`) and in PostgreSQL's `application_name`.
pub const NAME: &str = env!("CARGO_PKG_NAME");
/// The crate's version, which is also `serverInfo.version`.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
