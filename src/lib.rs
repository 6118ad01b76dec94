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
//! ## SQL, from a text to rows
//!
//! ```text
//! a query ----- judged on every call ----> ReadOnlyStatement -+
//!                                                             +-> Transaction -> Session -> stream -> PostgreSQL
//! the catalog - proven once, at start ---> Entry -------------+   read-only      pooled     deadlines, bounds
//! ```
//!
//! Both ways pass the same guard ([`tools::sql`]). An entry of [the catalog](tools::catalog) is proven besides: it reads the
//! tables that it declares and no others, answers with the columns that it declares, and its arguments are bind values. The
//! stream beneath the driver ends what waits too long, and cuts what no answer could hold before it is held.
//!
//! ## Rooms
//!
//! One folder per layer. A file may use what stands in a row above its own, never what stands below; a test checks the first
//! segment of every `crate::` path against this order (`diagnostics` and
//! `wire` do not know each other):
//!
//! | room | holds |
//! |---|---|
//! | [`diagnostics`] | the log |
//! | [`wire`] | streams, frames, strict JSON, JSON-RPC |
//! | [`problem`] | what a model is told of a refusal |
//! | [`protocol`] | MCP's messages, in all its revisions |
//! | [`call`] | what a running call knows; the sanitizer of arguments |
//! | [`governance`] | who calls, what may run, the record of it |
//! | [`tools`] | the work: metrics, files, SQL, the catalog |
//! | [`server`] | the threads that carry a call |
//! | [`confine`] | what the process gives up before the first of them |
//! | [`settings`] | the environment, checked, with what it names |
//! | [`commands`] | serve, check, demo, client-config, deploy |
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
//! - A catalog that is empty, unreadable or not proven is an error at the start; it never means that all is allowed.
//! - An unknown tool takes one path, whatever the reason it is not there.
//! - An id, a token, a tenant, a role is never read from arguments, `_meta` or `clientInfo`.

pub mod diagnostics;
pub mod wire;
pub mod problem;
pub mod protocol;
pub mod call;
pub mod arguments;
pub mod document;
pub mod governance;
pub mod guard;
pub mod postgres;
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
