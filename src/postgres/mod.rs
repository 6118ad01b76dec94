//! Guarded SQL: text to a read-only statement (pure), and its bounded run on PostgreSQL.
//!
//! ```text
//! query ─ ReadOnlyStatement::parse ─▶ Transaction::begin ─▶ prepare ─▶ Plan (wrapper) ─▶ rows ─▶ Body ─▶ answer ─▶ ROLLBACK
//!          statement.rs, judge/        pool.rs, connect.rs, session.rs  columns.rs        cells/   rows.rs
//!                                      transport.rs, stream/: how bytes come and go
//! ```
//! What a catalog runs is prepared once a connection instead: `kept.rs`.

pub mod dsn;
mod tls;
mod stream;
mod transport;
pub mod role_check;
mod shadowing;
mod session;
pub(crate) mod login;
pub mod connect;
mod pool;
pub(crate) mod transaction;
pub(crate) mod sqlstate;
pub mod cells;
pub(crate) mod columns;
pub(crate) mod rows;
pub(crate) mod prepared;

use std::{
    fmt,
    sync::{Arc, OnceLock},
    time::{Duration, Instant},
};

pub use connect::ConnectError;
pub use dsn::{Dsn, DsnEnvironment, DsnError};
pub use role_check::{Need, RoleFinding, UnsafeRole};

use connect::Cause;
use login::{Logins, within};
use pool::SlotPool;
use role_check::Reviews;
use session::{Facts, Session};

use crate::guard::statement::GuardConfig;

/// What stands between us and the server (`MCP_SQL_POOLER`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pooler {
    /// Nothing.
    #[default]
    None,
    /// PgBouncer or its kind, in transaction mode: nothing of a session outlives a transaction.
    Transaction,
}

/// Everything the SQL tools are configured with.
#[derive(Clone, Debug)]
pub struct SqlConfig {
    /// Where the database is (`MCP_SQL_DSN`).
    pub dsn: Dsn,
    /// Connections that healthy calls may use at once (`MCP_SQL_POOL_MAX_SIZE`).
    pub pool_max_size: u32,
    /// What stands in between (`MCP_SQL_POOLER`).
    pub pooler: Pooler,
    /// Time for logging in to one server (`MCP_SQL_CONNECT_TIMEOUT_MS`); the DSN's own `connect_timeout` wins.
    pub connect_timeout: Duration,
    /// Time for a statement (`MCP_SQL_STATEMENT_TIMEOUT_MS`).
    pub statement_timeout: Duration,
    /// The ceiling of `max_rows` (`MCP_SQL_MAX_ROWS`).
    pub max_rows: u32,
    /// The longest cell, in characters (`MCP_SQL_MAX_CELL_CHARS`).
    pub max_cell_chars: u32,
    /// The longest body of an answer, in bytes (`MCP_MAX_RESPONSE_BYTES`).
    pub max_response_bytes: usize,
    /// The deadline of a call (`MCP_CALL_TIMEOUT_MS`), which also bounds how long sent data may stay unacknowledged.
    pub call_timeout: Duration,
    /// Workers that may be stuck at once: each holds a connection that nobody else can use.
    pub max_stuck: u32,
    /// What the guard allows beyond its built-in lists (`MCP_SQL_ALLOW_FUNCTIONS`).
    pub guard: GuardConfig,
    /// What to do with a role that may more than read (`MCP_SQL_UNSAFE_ROLE`).
    pub unsafe_role: UnsafeRole,
    /// What the role has to read: the catalog's tables (`MCP_CATALOG`), and no secrets (`MCP_SENSITIVE_WORDS`).
    pub need: Need,
}

impl SqlConfig {
    /// How long logging in to one server may take: reaching it, TLS, authentication and the first questions.
    pub fn login_timeout(&self) -> Duration {
        self.dsn.connect_timeout.unwrap_or(self.connect_timeout)
    }

    /// The longest row that is taken from the server, in bytes. A value takes at most 8 bytes for each byte of its JSON (an
    /// empty array 16 for `[]`, an interval 20 for `"PT0S"`), so that a row twelve times as long as an answer never fits.
    /// What we ask ourselves has rows that are no answers.
    fn max_row_bytes(&self) -> usize {
        self.max_response_bytes.saturating_mul(12).max(stream::MAX_OTHER)
    }

    /// The most descriptors that connections hold at once: those lent, those that wait to be closed, those on which a
    /// CancelRequest goes out, and those whose login was given up.
    pub fn descriptors(&self) -> u64 {
        // The socket, and what the driver's runtime waits with.
        const A_CONNECTION: u64 = 4;
        let lent = u64::from(self.pool_max_size).saturating_add(self.max_stuck.into());
        let passing = u64::try_from(pool::CLOSER_QUEUE.saturating_add(pool::MAX_CANCELS)).unwrap_or(u64::MAX);
        let servers = u64::try_from(self.dsn.servers.len()).unwrap_or(u64::MAX);
        let given_up = servers.saturating_mul(login::MAX_GIVEN_UP.into());
        lent.saturating_add(passing).saturating_add(given_up).saturating_mul(A_CONNECTION)
    }
}

/// One database, as all SQL tools share it. Nothing is started and nobody connects before the first call.
pub struct Database {
    config: SqlConfig,
    pool: OnceLock<SlotPool>,
    /// In the order of the DSN's servers.
    logins: Vec<Logins>,
    reviews: Reviews,
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Database").field("dsn", &self.config.dsn).finish_non_exhaustive()
    }
}

/// What `check` tells of a database that can be reached.
#[derive(Clone, Debug)]
pub struct Probe {
    /// `server_version`.
    pub server_version: String,
    /// The database's name.
    pub database: String,
    /// The role that statements run as.
    pub role: String,
    /// TLS version and cipher; `None` on a connection that is not encrypted.
    pub tls: Option<String>,
    /// What the role may do beyond reading.
    pub findings: Vec<RoleFinding>,
}

impl Database {
    /// A database that nobody has connected to.
    pub fn new(config: SqlConfig) -> Arc<Self> {
        let logins = config.dsn.servers.iter().map(|_| Logins::new(config.pool_max_size)).collect();
        Arc::new(Self { config, pool: OnceLock::new(), logins, reviews: Reviews::default() })
    }

    /// What it was configured with.
    pub fn config(&self) -> &SqlConfig {
        &self.config
    }

    fn pool(&self) -> &SlotPool {
        self.pool.get_or_init(|| {
            SlotPool::start(self.config.pool_max_size.saturating_add(self.config.max_stuck).max(1))
        })
    }

    /// Connects once, for `check`: says what the server is and what the role may do, without refusing it.
    ///
    /// # Errors
    /// No connection, with the cause and the cure. A server that accepts and then is silent is given up after the
    /// connect time-out for each server, and its thread left behind.
    pub fn probe(self: &Arc<Self>) -> Result<Probe, ConnectError> {
        let servers = u32::try_from(self.logins.len()).unwrap_or(u32::MAX);
        let patience = self.config.login_timeout().saturating_mul(servers.saturating_add(1));
        let database = Arc::clone(self);
        let failed = |cause| ConnectError::of(&self.config.dsn.to_string(), cause);
        within(patience, move || database.probe_now(patience))
            .map_err(|error| failed(Cause::Thread(error)))?
            .unwrap_or_else(|| Err(failed(Cause::Silent(patience))))
    }

    fn probe_now(&self, patience: Duration) -> Result<Probe, ConnectError> {
        let begun = Instant::now();
        let mut session = connect::open(&self.config, &self.logins, patience)?;
        let failed = |error: postgres::Error| ConnectError::of(&self.config.dsn.to_string(), error.into());
        let left = patience.saturating_sub(begun.elapsed());
        let findings = self.beyond(&mut session, left).map_err(failed)?;
        let tls = session.tls().map_err(failed)?;
        let Facts { server_version, database, role, .. } = session.facts().clone();
        Ok(Probe { server_version, database, role, tls, findings })
    }

    /// Connects for a call; a role that may more than it should is refused or logged, as configured.
    fn connect(&self, remaining: Duration) -> Result<Session, ConnectError> {
        let begun = Instant::now();
        let mut session = connect::open(&self.config, &self.logins, remaining)?;
        let failed = |cause| ConnectError::of(&self.config.dsn.to_string(), cause);
        let left = remaining.saturating_sub(begun.elapsed());
        let findings = self.beyond(&mut session, left).map_err(|error| failed(error.into()))?;
        let (refused, tolerated): (Vec<_>, Vec<_>) =
            findings.into_iter().partition(|finding| self.config.unsafe_role.refuses(finding));
        if !refused.is_empty() {
            self.reviews.forget();
            return Err(failed(Cause::UnsafeRole(refused)));
        }
        self.reviews.tell(tolerated);
        Ok(session)
    }

    /// What the role may do beyond what is needed, if the server tells within `patience`.
    fn beyond(&self, session: &mut Session, patience: Duration) -> Result<Vec<RoleFinding>, postgres::Error> {
        let Facts { role, roles, .. } = session.facts();
        let mut findings = role_check::powers(role, roles);
        if !role_check::is_superuser(roles) {
            let privileges = match self.reviews.recent() {
                Some(privileges) => privileges,
                None => self.reviews.keep(session.privileges(&self.config.need, patience)?),
            };
            findings.extend(privileges);
        }
        Ok(findings)
    }
}
