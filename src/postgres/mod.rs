//! PostgreSQL: from a connection string to a session, to a read-only transaction, to rows. It knows neither tools nor MCP.
//!
//! # The way of a call
//!
//! 1. The settings name a server: [`Dsn::parse`] reads `MCP_SQL_DSN` once, at start-up. Nothing connects yet.
//! 2. Each call begins a `Transaction` on the shared [`Database`]. It takes a *slot* of the pool and a connection that an
//!    earlier call left clean. When there is none, it connects: each server of the DSN in turn,
//!    each way of encrypting, then the login.
//! 3. A connection becomes a *session* when the server has answered for itself, for the role and for user-defined objects that
//!    shadow a built-in name. A role that a `READ ONLY` transaction cannot hold is refused here: the role is the boundary.
//! 4. The session begins a `READ ONLY` transaction and pins the settings that change the meaning or the look of values.
//! 5. A judged statement runs in a wrapper that cuts long cells at the database. Its columns arrive in binary form, as JSON
//!    or as text, and each cell becomes JSON under the budget of the answer.
//! 6. The answer leaves; then comes the ROLLBACK. A session that proves itself clean goes back to the pool; any other is
//!    closed.
//!
//! # Its threads
//!
//! | thread | file | does | ends |
//! |---|---|---|---|
//! | *sql-login* | `login.rs` | one login that may hang | when the login is done, late or not |
//! | *sql-cancel* | `cancel.rs` | one CancelRequest | when the backend has stopped, or was reported |
//! | *sql-close* | `pool.rs` | waits for the end of a connection whose statement may still run | with the connection |
//! | *sql-slots* | `pool.rs` | r2d2's own: makes the slots | with the pool |
//!
//! # The files
//!
//! | for | file | holds |
//! |---|---|---|
//! | where | `config.rs` | the settings |
//! | | `dsn/`, `named_file.rs` | connection strings, and the files that they name |
//! | the wire | `stream/` | deadlines and bounds on the bytes under a connection |
//! | | `tls/`, `transport.rs` | TLS, and the ways to log in and to cancel |
//! | a session | `connect.rs`, `login.rs`, `connect_error.rs` | a connection, or the reasons why there is none |
//! | | `server_info.rs`, `role_check/`, `shadowing.rs` | facts about the server, the role and user-defined objects |
//! | | `open_names.rs` | types and columns that the guard leaves to the server |
//! | | `session.rs`, `simple_query.rs` | the beginning of a transaction, and the proof that a session is clean |
//! | the pool | `pool.rs`, `retirement.rs` | slots, idle connections, and the end of their working life |
//! | | `cancel.rs` | the server process behind a connection, and how its statement is stopped |
//! | | `database.rs`, `probe.rs` | all of it, as the tools share it, and the report for `check` |
//! | a statement | `transaction.rs` | a read-only transaction of one call |
//! | | `columns.rs`, `cells/`, `rows.rs` | the wrapper, cells to JSON, rows under a budget |
//! | | `prepared.rs`, `statement_cache.rs`, `result.rs` | the queries of a catalog, prepared once a connection |
//! | errors | `sqlstate.rs` | PostgreSQL's errors as problems |

pub mod dsn;
mod named_file;
mod stream;
mod tls;
mod transport;
mod config;
mod simple_query;
pub mod role_check;
mod open_names;
mod shadowing;
pub(crate) mod sqlstate;
pub mod cells;
mod server_info;
pub(crate) mod columns;
mod statement_cache;
mod cancel;
mod retirement;
pub(crate) mod session;
mod probe;
mod connect_error;
pub(crate) mod login;
mod connect;
mod pool;
mod database;
pub(crate) mod transaction;
pub(crate) mod rows;
mod result;
pub(crate) mod prepared;

pub use config::{Pooler, SqlConfig};
pub use connect_error::ConnectError;
pub use database::Database;
pub use dsn::{Dsn, DsnEnvironment, DsnError, Password};
pub use probe::{Probe, StuckBackend};
pub use role_check::{Need, RoleFinding, UnsafeRole};
