//! One connection: a read-only transaction on it begins here, and is proven clean afterwards.
//!
//! Only constant texts of ours go by the simple protocol. Names of functions and operators in them are qualified or run
//! under a pinned `search_path`, so that no user-defined object can stand in for them.

use std::time::{Duration, Instant};

use postgres::fallible_iterator::FallibleIterator as _;
use postgres::{Client, Column, Statement};

use super::cancel::{Backend, Canceller, Presence};
use super::cells;
use super::config::Pooler;
use super::connect_error::Cause;
use super::open_names::{self, OpenFields};
use super::retirement::Retirement;
use super::server_info::{ServerInfo, opening};
use super::shadowing::Shadowing;
use super::simple_query::{literal, milliseconds, row};
use super::sqlstate::{self, Sent};
use super::statement_cache::StatementCache;
use super::stream::Deadline;
use super::transport::Transport;
use crate::call::Failure;
use crate::guard::config::GuardConfig;
use crate::guard::statement::ReadOnlyStatement;

/// An open connection.
pub(crate) struct Session {
    pub(crate) client: Client,
    transport: Transport,
    pub(super) deadline: Deadline,
    pooler: Pooler,
    pub(crate) info: ServerInfo,
    shadowing: Shadowing,
    /// When `shadowing` was read.
    shadowing_read: Instant,
    /// The statements that stay prepared on it.
    pub(super) statements: StatementCache,
    pub(super) retirement: Retirement,
    backend: Backend,
    /// The time that a statement of the present transaction may run.
    pub(crate) statement_limit: Duration,
    /// True if the driver may have read types with fields.
    knows_fields: bool,
    /// True if a statement may still run on it.
    pub(super) is_busy: bool,
    // INVARIANT: dropped last, when the connection is gone.
    _presence: Presence,
}

/// Settings of every transaction, whatever the role, the database or the server's configuration say. Each is the form of
/// values as text, or needed by the guard. What decides which rows come is the session's own: the time zone, the order of
/// the parts of a date (`ISO` alone leaves it), the style of intervals, the search path.
#[rustfmt::skip]
const PINNED: [(&str, &str); 8] = [
    // The guard's lexer reads literals so.
    ("standard_conforming_strings", "on"),
    ("DateStyle", "ISO"), ("bytea_output", "hex"), ("extra_float_digits", "1"),
    ("row_security", "on"), ("client_min_messages", "notice"), ("lock_timeout", "0"),
    // LLVM compiles for minutes, deaf to cancels, and takes a gigabyte: 198 bytes of SQL were enough.
    ("jit", "off"),
];

/// Time after a call's deadline in which its connection still waits for the server's answer to the cancel.
pub(super) const CANCEL_TIME: Duration = Duration::from_millis(500);

/// Time beyond a call's own after which the server ends a transaction that we forgot.
pub(super) const IDLE_MARGIN: Duration = Duration::from_secs(5);

/// Time for cleaning a session, and for closing one on which nothing runs.
const CLEAN_TIME: Duration = Duration::from_secs(5);

/// A deadline for waits that end with the connection: the kernel finds a dead peer long before.
const UNTIL_GONE: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Expired deadlines that the driver may have to report before it goes on: one, and some to spare.
const MAX_REMEMBERED_ERRORS: u8 = 3;

/// The age up to which a list of shadowing objects holds: those made meanwhile are not seen. Reading it costs some
/// milliseconds.
const SHADOWING_AGE: Duration = Duration::from_secs(10);

/// Leaves nothing behind. The ROLLBACK takes back every setting; the rest ends what outlives a transaction: cursors,
/// notifications, session locks, sequences' last values, temporary tables. The driver's prepared statements stay; its
/// only row shows whether there are others, which some function made.
const CLEAN: &str = "ROLLBACK; CLOSE ALL; UNLISTEN *; DISCARD SEQUENCES; DISCARD TEMP; \
     SELECT pg_catalog.pg_advisory_unlock_all(), \
     EXISTS (SELECT FROM pg_catalog.pg_prepared_statement() AS s WHERE s.from_sql)";

impl Session {
    /// Takes a fresh connection and asks for its facts.
    pub(super) fn open(
        mut client: Client,
        transport: Transport,
        deadline: Deadline,
        pooler: Pooler,
    ) -> Result<Self, Cause> {
        let info = ServerInfo::read(&client.simple_query(&opening(pooler))?).ok_or(Cause::NotPostgres)?;
        let shadowing = Shadowing::ask(&mut client, &literal(&info.search_path))?;
        let (backend, presence) = Backend::new(info.pid);
        Ok(Self {
            client,
            transport,
            deadline,
            pooler,
            info,
            shadowing,
            shadowing_read: Instant::now(),
            statements: StatementCache::default(),
            retirement: Retirement::default(),
            statement_limit: Duration::ZERO,
            knows_fields: false,
            is_busy: false,
            backend,
            _presence: presence,
        })
    }

    /// Closes it. While a statement may still run, that lasts until the server has answered for it or is found to be gone.
    pub(super) fn close(mut self) {
        if self.is_settled() {
            self.deadline.wait_at_most(CLEAN_TIME);
        } else {
            self.deadline.wait_at_most(UNTIL_GONE);
            // An expired deadline ended one call of the driver, not the connection: it reports the error once more, then
            // goes on. When it is dropped, it waits for every answer it is owed.
            let is_polled = |_: &u8| self.client.notifications().iter().next().is_ok();
            (0..MAX_REMEMBERED_ERRORS).find(is_polled);
        }
        drop(self.client);
    }

    /// Returns whether nothing runs on it: every statement was answered, or the server is gone.
    pub(super) fn is_settled(&self) -> bool {
        !self.is_busy || self.client.is_closed() && !self.deadline.has_expired()
    }

    /// Lets a statement pass that uses no name of a user-defined object that shadows a built-in one, and no type that could run
    /// code, and notes its patterns. The fields that it leaves open are to be confirmed before the statement runs.
    pub(crate) fn admit(
        &mut self,
        statement: &ReadOnlyStatement,
        config: &GuardConfig,
    ) -> Result<OpenFields, Failure> {
        self.retirement.note_statement(statement.canonical());
        let open = self.shadowing.check(statement, config)?;
        let shadowing = &self.shadowing;
        open_names::check_types(&mut self.client, statement, |part| shadowing.refuse_cast(part, config))?;
        Ok(open)
    }

    /// Lets a statement pass whose open fields are columns, after the server has described it.
    pub(crate) fn confirm(&mut self, fields: OpenFields) -> Result<(), Failure> {
        open_names::check_fields(&mut self.client, fields)
    }

    /// Has a statement judged by what the server knows, and described.
    pub(crate) fn describe(
        &mut self,
        statement: &ReadOnlyStatement,
        config: &GuardConfig,
    ) -> Result<Statement, Failure> {
        let open = self.admit(statement, config)?;
        let sent = Sent { statement, prefix_chars: 0, limit: self.statement_limit };
        let described = self
            .client
            .prepare(statement.canonical())
            .map_err(|error| sqlstate::failure(&error, Some(sent)))?;
        self.note_columns(described.columns());
        self.confirm(open)?;
        Ok(described)
    }

    /// Notes columns that the server described. Returns true for those with fields, which can be renamed, added and dropped
    /// before the next call: the driver forgets its types then.
    pub(super) fn note_columns(&mut self, columns: &[Column]) -> bool {
        let have_fields = columns.iter().any(|column| cells::has_fields(column.type_()));
        self.knows_fields |= have_fields;
        have_fields
    }

    /// Cancels its statements. `None` behind a transaction pooler, whose CancelRequest may hit another client's.
    pub(super) fn canceller(&self) -> Option<Canceller> {
        (self.pooler == Pooler::None).then(|| Canceller {
            token: self.client.cancel_token(),
            transport: self.transport.clone(),
            backend: self.backend.clone(),
        })
    }

    /// Begins a read-only transaction of a call that has `remaining`, whose statements may run for `statement`, or as long
    /// as the role or the database allows if that is less.
    pub(super) fn begin(&mut self, statement: Duration, remaining: Duration) -> Result<(), postgres::Error> {
        self.is_busy = true;
        self.retirement.count_call();
        if std::mem::take(&mut self.knows_fields) {
            self.client.clear_type_cache();
        }
        // Time for the server to receive a cancel and to answer it.
        self.deadline.wait_at_most(remaining.saturating_add(CANCEL_TIME));
        if self.shadowing_read.elapsed() >= SHADOWING_AGE {
            self.shadowing = Shadowing::ask(&mut self.client, &literal(&self.info.search_path))?;
            self.shadowing_read = Instant::now();
        }
        self.statement_limit = self.info.statement_timeout.map_or(statement, |own| own.min(statement));
        let timeouts = [
            ("statement_timeout", milliseconds(self.statement_limit)),
            // The server ends a transaction that we forgot, well after the call's own deadline.
            ("idle_in_transaction_session_timeout", milliseconds(remaining.saturating_add(IDLE_MARGIN))),
            ("search_path", self.info.search_path.clone()),
        ];
        let check = self.info.client_check.map(|check| ("client_connection_check_interval", check));
        let pinned = PINNED.iter().copied().chain(check).map(|(name, value)| (name, value.to_owned()));
        let set = |(name, value): (&str, String)| {
            format!("pg_catalog.set_config('{name}', {}, true)", literal(&value))
        };
        let settings: Vec<String> = timeouts.into_iter().chain(pinned).map(set).collect();
        // Statements that other clients of the pooler left behind have the driver's names, too.
        let deallocate = if self.pooler == Pooler::Transaction { "DEALLOCATE ALL; " } else { "" };
        self.client.batch_execute(&format!(
            "BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY; {deallocate}SELECT {}",
            settings.join(", ")
        ))
    }

    /// Ends the transaction and leaves the session as it was when it opened. Returns whether it may be used again: not when
    /// something is left on it, when its retirement is due, or when it belongs to a pooler, which gives the next call another
    /// server session anyway. An error: it is not clean.
    pub(super) fn clean(&mut self) -> Result<bool, postgres::Error> {
        self.deadline.wait_at_most(CLEAN_TIME);
        let text = if self.pooler == Pooler::None { CLEAN } else { "ROLLBACK" };
        let messages = self.client.simple_query(text)?;
        self.is_busy = false;
        let others = messages.iter().find_map(row).and_then(|row| row.try_get(1).ok().flatten());
        Ok(others == Some("f") && !self.retirement.is_due())
    }
}
