//! An MCP server on stdin and stdout that gives a model narrow, bounded access to PostgreSQL, to one directory of files
//! and to host metrics. This page is the map: read it first, then [`server`]'s `execute.rs`.
//!
//! # The life of one `tools/call`
//!
//! ```text
//! stdin ─▶ reader ───────────── cheap answers (ping, list, discover, errors) ─────────────┐
//!           │ Frame → Message → entry of the in-flight table, watched                       ▼
//!           ▼ wakes a worker, never waits for one                                         writer ─▶ stdout
//!      worker × N ─ execute: prepare → authorize → Permit → reserve → Call → run → Reply ──▲
//!           ▲                                   │ registers how to stop it                  │
//!           └──── watchdog: queue wait, deadline, stuck workers, progress ──────────────────┘
//! ```
//!
//! Six types carry it; each step takes the value of the step before, so that none can be left out:
//!
//! | type | meaning | made by |
//! |---|---|---|
//! | [`wire::frame::Frame`] | a line of bounded length | [`wire::frame::FrameReader`] |
//! | [`protocol::request::Message`] | one of a closed set of messages | [`protocol::request::understand`] |
//! | `ReadOnlyStatement`, `RelPath`, a bound query | an argument that passed its checker | the tool's `bind` |
//! | [`governance::Permit`] | the right to run, once | [`governance::Governor::authorize`] |
//! | [`call::Call`] | a running call: deadline, interrupt, wait guard | `Table::start`, behind [`server::in_flight::InFlight`] |
//! | [`protocol::reply::Reply`] | the one answer that is owed | the removal from [`server::in_flight::InFlight`], or a refusal before registration |
//!
//! **The owner of an answer.** The in-flight table maps a request id to its call. The thread that removes the entry owns
//! the answer: the worker with a result, the watchdog at the end of the queue wait or at the deadline, the reader with a
//! cancellation (which sends nothing), or the end of the session. A worker that comes too late drops its result.
//!
//! **Lanes.** Calls wait in the table, oldest first. A [lane](tools::Lane) is a name and a capacity; each tool is registered
//! in one. The lane of SQL is as wide as the connection pool, so that slow SQL cannot hold up files and metrics, and a
//! worker waits for a connection only while a statement that does not stop holds it, at most 1 s. The
//! worker that becomes free takes the oldest call whose lane is not full.
//!
//! **Threads.** [`server`] and [`postgres`] list them: what each does and what ends it.
//!
//! # SQL, from a text to rows
//!
//! ```text
//! a query ────── judged on every call ────▶ ReadOnlyStatement ─┐
//!                                                              ├▶ Transaction ─▶ Session ─▶ stream ─▶ PostgreSQL
//! the catalog ── proven once, at start ───▶ entry ─────────────┘   read-only       pooled     deadlines, bounds
//! ```
//!
//! Both pass the same [`guard`]. An entry of [the catalog](tools::catalog) is proven besides: it reads the tables that it
//! declares and no others, answers with the columns that it declares, and its arguments are bind values. Over TCP,
//! [`postgres`] ends every wait at its deadline, and cuts an answer that is too long before it is held; over a Unix socket
//! neither holds (`stream/mod.rs`).
//!
//! # Layers
//!
//! One folder for each layer. A file may use its own layer and those above it in this table, never those below; a test
//! checks every path in the source against this order, and that files do not use each other in circles (but in
//! `guard/judge`, where the SQL grammar itself recurses):
//!
//! | layer | holds |
//! |---|---|
//! | [`diagnostics`] | the log |
//! | [`wire`] | streams, frames, strict JSON, JSON-RPC; does not know [`diagnostics`] |
//! | [`problem`] | the refusals that a model reads: a closed table of codes |
//! | [`protocol`] | the messages of MCP, in all its revisions |
//! | [`call`] | a running call, its outcome, the sanitizer of arguments |
//! | [`arguments`] | JSON Schema of arguments: checker, defaults, suggestions |
//! | [`document`] | strict TOML with the place of every key, and all faults at once |
//! | [`governance`] | the decision whether a call may run, and its log line |
//! | [`guard`] | SQL text to a statement that only reads; knows no database |
//! | [`postgres`] | a connection string to rows; knows no tool |
//! | [`tools`] | the work: metrics, files, SQL, the catalog |
//! | [`server`] | the threads that carry a call |
//! | [`confine`] | the rights that the process gives up before its first thread |
//! | [`settings`] | the environment, checked |
//! | [`manual`] | the user's manual, a file a chapter |
//! | [`commands`] | serve, check, demo, client-config, deploy, manual |
//!
//! # Invariants (mostly absences)
//!
//! - `wire` knows no MCP; `protocol` no threads; `governance` runs no tool; tools know no JSON-RPC; `guard` no database;
//!   `postgres` no tool. Only the writer writes a session's stdout; only [`diagnostics`] writes stderr.
//! - Confinement comes before the first thread: a thread that runs already stays free. Single files of `/proc` stay readable,
//!   never all of it: its `environ` holds the connection string.
//! - The reader never waits for a worker. Nothing grows without a bound that has a name.
//! - A call that runs has a deadline, and an alarm in case its worker does not come back.
//! - Whether a call may run is decided before the run, with only the wait for memory in between, on arguments with every
//!   default filled in.
//! - A catalog that is empty, unreadable or not proven is an error at the start; it never means that everything is allowed.
//! - Unknown and unconfigured tools look the same in every answer and in time.
//! - A caller's id, access token, tenant or role is never read from arguments, `_meta` or `clientInfo`.
//! - The default of a judge is to refuse: a name, node or kind that is not classified is not allowed.
//!
//! # Where to add something
//!
//! | to add | do this |
//! |---|---|
//! | an SQL function | one line in `guard/functions/table.rs`, sorted by name |
//! | a setting | one line in `settings/table.rs`; its field in `Settings` (`settings/checked.rs`) or in the config that it fills; its read in `settings/process.rs` or `settings/database.rs` |
//! | a rule of the catalog | a variant in `tools/catalog/rule.rs`; its sentence and cure in `diagnoses.rs`; its check in `tools/catalog/prove` or, for a key of the file, in `document.rs`, `params.rs`, `kinds.rs`, `names.rs`, `entry.rs`, `load.rs` or `members.rs`; its case in `tools/catalog/tests.rs`; a row in `manual/catalog.md` |
//! | an MCP method | a variant of [`protocol::request::Request`], its parameters beside it, its arm in `modern` or `legacy` of `protocol/request.rs`; its answer in [`protocol::session`] (a list's in `protocol/listing.rs`); its arm in `server/dispatch.rs` |
//! | a tool | a type that implements `TypedTool` in a folder of [`tools`], its name in [`tools::BUILT_IN`], its registration in `commands/serve.rs` |
//! | a code of a refusal | a row in [`problem`], and one of `CONTRACT` in its tests |
//!
//! # Where to change something
//!
//! | to change | look at |
//! |---|---|
//! | a call's deadline | `server/table/arbiter.rs` (`time_out`); `server/watchdog.rs` answers |
//! | PostgreSQL's cancel | `postgres/cancel.rs` (`Canceller::send`, thread *sql-cancel*), registered in `postgres/transaction.rs` |

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
pub mod manual;
#[cfg(test)]
mod fuzz_targets;

/// The name of this program on the wire (`serverInfo.name`) and in PostgreSQL's `application_name`.
pub const NAME: &str = env!("CARGO_PKG_NAME");
/// The crate's version, which is also `serverInfo.version`.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
