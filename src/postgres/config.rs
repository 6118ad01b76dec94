//! The settings of the database.

use std::time::Duration;

use super::cancel::MAX_CANCELS;
use super::dsn::Dsn;
use super::login::MAX_GIVEN_UP;
use super::role_check::{Need, UnsafeRole};
use super::stream::MAX_OTHER;
use crate::guard::config::GuardConfig;

/// A program between this process and the server (`MCP_SQL_POOLER`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pooler {
    /// No such program: a connection is a session of the server.
    #[default]
    None,
    /// PgBouncer or its kind, in transaction mode: nothing of a session outlives a transaction.
    Transaction,
}

/// Everything the SQL tools are configured with.
#[derive(Clone, Debug)]
pub struct SqlConfig {
    /// The place of the database, and the login there (`MCP_SQL_DSN`).
    pub dsn: Dsn,
    /// The most connections that are open at once (`MCP_SQL_POOL_MAX_SIZE`), those of stuck statements included.
    pub pool_max_size: u32,
    /// A program in between (`MCP_SQL_POOLER`).
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
    /// Workers that may be stuck at once (`MCP_MAX_CONCURRENCY`).
    pub max_stuck: u32,
    /// Functions allowed beyond the guard's built-in lists (`MCP_SQL_ALLOW_FUNCTIONS`).
    pub guard: GuardConfig,
    /// The treatment of a role that may do more than read (`MCP_SQL_UNSAFE_ROLE`).
    pub unsafe_role: UnsafeRole,
    /// The role's need: the catalog's tables (`MCP_CATALOG`), and no secrets (`MCP_SENSITIVE_WORDS`).
    pub need: Need,
}

impl SqlConfig {
    /// Time for logging in to one server: reaching it, TLS, authentication and the first questions.
    pub fn login_timeout(&self) -> Duration {
        self.dsn.connect_timeout.unwrap_or(self.connect_timeout)
    }

    /// The longest row that is taken from the server, in bytes. A value takes at most 8 bytes for each byte of its JSON (an
    /// empty array 16 for `[]`, an interval 20 for `"PT0S"`), so that a row twelve times as long as an answer never fits.
    /// Answers to questions of our own are bounded by [`MAX_OTHER`].
    pub(super) fn max_row_bytes(&self) -> usize {
        self.max_response_bytes.saturating_mul(12).max(MAX_OTHER)
    }

    /// The most descriptors that connections hold at once: those of the pool, those on which a CancelRequest goes out, and
    /// those whose login was given up.
    pub fn descriptors(&self) -> u64 {
        // The socket, and those the driver's runtime waits with.
        const A_CONNECTION: u64 = 4;
        let cancels = u64::try_from(MAX_CANCELS).unwrap_or(u64::MAX);
        let servers = u64::try_from(self.dsn.servers.len()).unwrap_or(u64::MAX);
        let given_up = servers.saturating_mul(MAX_GIVEN_UP.into());
        u64::from(self.pool_max_size)
            .saturating_add(cancels)
            .saturating_add(given_up)
            .saturating_mul(A_CONNECTION)
    }
}
