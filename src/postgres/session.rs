//! One connection: what it is like, how a read-only transaction on it begins and how it is proven clean afterwards.
//!
//! Only constant texts of ours go by the simple protocol. Names of functions and operators in them are qualified or run
//! under a pinned `search_path`, so that nothing a user made can stand in for them.

use std::time::{Duration, Instant};

use postgres::{CancelToken, Client, SimpleQueryMessage, SimpleQueryRow};

use super::{
    Pooler,
    cells::Intervals,
    connect::Cause,
    prepared::Shelf,
    role_check::{self, Need, Power, RoleFinding, RoleRow},
    shadowing::Strangers,
    stream::Watch,
    transport::Transport,
};

/// What the session is like, asked once when it opens.
#[derive(Clone, Debug)]
pub(crate) struct Facts {
    pub(crate) server_version: String,
    /// What its intervals can be.
    pub(crate) intervals: Intervals,
    pub(crate) database: String,
    pub(crate) role: String,
    pub(crate) in_recovery: bool,
    pub(crate) read_only_by_default: bool,
    /// Whether bytes are its characters: `SQL_ASCII`.
    pub(crate) counts_bytes: bool,
    /// How often, in milliseconds, it looks whether a running statement's client is still there, if it can.
    client_check: Option<&'static str>,
    /// `search_path` of every transaction: `pg_catalog`, then the session's own, `pg_temp` last.
    search_path: String,
    pub(crate) roles: Vec<RoleRow>,
    /// What answers to a name and is not PostgreSQL's own.
    pub(crate) strangers: Strangers,
}

/// An open connection.
pub(crate) struct Session {
    client: Client,
    transport: Transport,
    watch: Watch,
    pooler: Pooler,
    facts: Facts,
    /// When `facts.strangers` were read.
    strangers_read: Instant,
    /// What stays prepared on it.
    shelf: Shelf,
}

/// Settings of every transaction, whatever the role, the database or the server's configuration say: the rendering of
/// values and the meaning of statements depend on them.
const PINNED: [(&str, &str); 13] = [
    ("standard_conforming_strings", "on"),
    ("TimeZone", "UTC"),
    ("DateStyle", "ISO, MDY"),
    ("IntervalStyle", "iso_8601"),
    ("bytea_output", "hex"),
    ("extra_float_digits", "1"),
    ("xmloption", "content"),
    ("xmlbinary", "base64"),
    ("array_nulls", "on"),
    ("transform_null_equals", "off"),
    ("row_security", "on"),
    ("client_min_messages", "notice"),
    ("lock_timeout", "0"),
];

/// How long after a call's deadline its connection still waits for what the server makes of the cancel.
pub(crate) const CANCEL_TIME: Duration = Duration::from_millis(500);

/// How much longer than a call the server lets a transaction idle that we forgot.
pub(crate) const IDLE_MARGIN: Duration = Duration::from_secs(5);

/// `client_connection_check_interval` in milliseconds: whatever ends this process, what it asked for ends soon after.
const CLIENT_CHECK: &str = "1000";

/// How long cleaning a session, and closing it, may take.
const CLEAN_TIME: Duration = Duration::from_secs(5);

/// Asks for [`Facts`] and makes the session read-only by default, in one round trip.
fn opening(pooler: Pooler) -> String {
    let read_only = match pooler {
        Pooler::None => "SET default_transaction_read_only = on",
        // What is set for a session stays with the pooler's, for whoever gets it next.
        Pooler::Transaction => "",
    };
    format!(
        "BEGIN READ ONLY; \
         SELECT pg_catalog.current_setting('server_version'), pg_catalog.current_database(), CURRENT_USER, \
         pg_catalog.pg_is_in_recovery(), pg_catalog.current_setting('default_transaction_read_only'), \
         pg_catalog.current_setting('search_path'), pg_catalog.getdatabaseencoding(), \
         pg_catalog.current_setting('server_version_num'), pg_catalog.version(); \
         SET LOCAL search_path = pg_catalog, pg_temp; {}; ROLLBACK; {read_only}",
        role_check::ROLES
    )
}

/// How long a list of strangers is believed: what is made meanwhile is not seen. Reading it costs some milliseconds.
const STRANGERS_AGE: Duration = Duration::from_secs(10);

/// Leaves nothing behind. The ROLLBACK takes back every setting; the rest ends what outlives a transaction: cursors,
/// notifications, session locks, sequences' last values, temporary tables. The driver's prepared statements stay; its
/// only row tells whether there are others, which some function made.
const CLEAN: &str = "ROLLBACK; CLOSE ALL; UNLISTEN *; DISCARD SEQUENCES; DISCARD TEMP; \
     SELECT pg_catalog.pg_advisory_unlock_all(), \
     EXISTS (SELECT FROM pg_catalog.pg_prepared_statement() AS s WHERE s.from_sql)";

impl Session {
    /// Takes a fresh connection and asks what it is like.
    pub(crate) fn open(
        mut client: Client,
        transport: Transport,
        watch: Watch,
        pooler: Pooler,
    ) -> Result<Self, Cause> {
        let messages = client.simple_query(&opening(pooler))?;
        let mut rows = messages.iter().filter_map(row);
        let mut facts = rows.next().and_then(|first| Facts::read(first, rows)).ok_or(Cause::NotPostgres)?;
        facts.strangers = Strangers::ask(&mut client, &literal(&facts.search_path))?;
        let strangers_read = Instant::now();
        Ok(Self { strangers_read, client, transport, watch, pooler, facts, shelf: Shelf::default() })
    }

    /// What it is like.
    pub(crate) fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Says goodbye to the server. Over a Unix socket that lasts as long as the server is silent.
    pub(crate) fn close(self) {
        self.watch.wait_at_most(CLEAN_TIME);
        drop(self.client);
    }

    /// The driver.
    pub(crate) fn client(&mut self) -> &mut Client {
        &mut self.client
    }

    /// What stays prepared on it.
    pub(crate) fn shelf(&mut self) -> &mut Shelf {
        &mut self.shelf
    }

    /// How its statements are cancelled; not at all through a transaction pooler, whose CancelRequest may hit another's.
    pub(crate) fn canceller(&self) -> Option<Canceller> {
        match self.pooler {
            Pooler::Transaction => None,
            Pooler::None => {
                Some(Canceller { token: self.client.cancel_token(), transport: self.transport.clone() })
            }
        }
    }

    /// What the role may do beyond reading what is needed, object by object, if the server tells within `patience`.
    pub(crate) fn privileges(
        &mut self,
        need: &Need,
        patience: Duration,
    ) -> Result<Vec<RoleFinding>, postgres::Error> {
        self.watch.wait_at_most(patience.saturating_add(CANCEL_TIME));
        role_check::privileges(&mut self.client, &self.facts.role, &literal(&self.facts.search_path), need)
    }

    /// TLS version and cipher of this connection; `None` when it is not encrypted.
    pub(crate) fn tls(&mut self) -> Result<Option<String>, postgres::Error> {
        let messages = self.client.simple_query(
            "SELECT s.version, s.cipher FROM pg_catalog.pg_stat_ssl s \
             WHERE s.pid OPERATOR(pg_catalog.=) pg_catalog.pg_backend_pid() AND s.ssl",
        )?;
        let encrypted = messages.iter().find_map(row);
        Ok(encrypted.and_then(|row| Some(format!("{} {}", row.try_get(0).ok()??, row.try_get(1).ok()??))))
    }

    /// Reads the strangers again when they are older than [`STRANGERS_AGE`].
    fn keep_watch(&mut self) -> Result<(), postgres::Error> {
        if self.strangers_read.elapsed() >= STRANGERS_AGE {
            self.facts.strangers = Strangers::ask(&mut self.client, &literal(&self.facts.search_path))?;
            self.strangers_read = Instant::now();
        }
        Ok(())
    }

    /// Begins a read-only transaction of a call that has `remaining`, whose statements may run for `statement`.
    pub(crate) fn begin(&mut self, statement: Duration, remaining: Duration) -> Result<(), postgres::Error> {
        // Time for the server to hear of a cancel and to say so.
        self.watch.wait_at_most(remaining.saturating_add(CANCEL_TIME));
        self.keep_watch()?;
        let mut batch = String::from("BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY; ");
        if self.pooler == Pooler::Transaction {
            // Statements that other clients of the pooler left behind have the driver's names, too.
            batch.push_str("DEALLOCATE ALL; ");
        }
        batch.push_str("SELECT ");
        let timeouts = [
            ("statement_timeout", milliseconds(statement)),
            // The server ends a transaction that we forgot, well after the call's own deadline.
            ("idle_in_transaction_session_timeout", milliseconds(remaining.saturating_add(IDLE_MARGIN))),
            ("search_path", self.facts.search_path.clone()),
        ];
        let check = self.facts.client_check.map(|check| ("client_connection_check_interval", check));
        let pinned = PINNED.iter().copied().chain(check).map(|(name, value)| (name, value.to_owned()));
        for (index, (name, value)) in timeouts.into_iter().chain(pinned).enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            batch.push_str(&format!("{comma}pg_catalog.set_config('{name}', {}, true)", literal(&value)));
        }
        self.client.batch_execute(&batch)
    }

    /// Ends the transaction and leaves the session as it was when it opened. An error: it is not clean.
    pub(crate) fn clean(&mut self) -> Result<Clean, postgres::Error> {
        self.watch.wait_at_most(CLEAN_TIME);
        match self.pooler {
            Pooler::None => {
                let messages = self.client.simple_query(CLEAN)?;
                let others = messages.iter().find_map(row).and_then(|row| row.try_get(1).ok().flatten());
                Ok(if others == Some("f") { Clean::Reusable } else { Clean::Spent })
            }
            Pooler::Transaction => self.client.batch_execute("ROLLBACK").map(|()| Clean::Spent),
        }
    }
}

pub(crate) fn row(message: &SimpleQueryMessage) -> Option<&SimpleQueryRow> {
    if let SimpleQueryMessage::Row(row) = message { Some(row) } else { None }
}

/// What becomes of a session that was cleaned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clean {
    /// It is as it was when it opened.
    Reusable,
    /// Something is left on it, or it belongs to a pooler, which gives the next call another server session anyway.
    Spent,
}

impl Facts {
    /// `None`: something is missing. A role that is not known to be safe is not taken for one that is.
    fn read<'r>(first: &SimpleQueryRow, mut roles: impl Iterator<Item = &'r SimpleQueryRow>) -> Option<Self> {
        let text = |row: &SimpleQueryRow, index: usize| row.try_get(index).ok()?.map(str::to_owned);
        let flag = |row: &SimpleQueryRow, index: usize| text(row, index).map(|flag| flag == "t");
        let powers = |row: &SimpleQueryRow| {
            Power::ALL.iter().enumerate().try_fold(Vec::new(), |mut powers, (index, power)| {
                powers.extend(flag(row, index + 1)?.then_some(*power));
                Some(powers)
            })
        };
        let own_path = text(first, 5).filter(|path| !path.is_empty()).unwrap_or("pg_catalog".to_owned());
        let version: u32 = text(first, 7)?.parse().ok()?;
        let facts = Self {
            server_version: text(first, 0)?,
            intervals: Intervals::of(version),
            // A setting since 14; elsewhere its only value may be 0.
            client_check: (version >= 140_000 && text(first, 8)?.contains("linux")).then_some(CLIENT_CHECK),
            database: text(first, 1)?,
            role: text(first, 2)?,
            in_recovery: flag(first, 3)?,
            read_only_by_default: text(first, 4)? == "on",
            counts_bytes: text(first, 6)? == "SQL_ASCII",
            search_path: format!("pg_catalog, {own_path}, pg_temp"),
            // Until they are read, any name may be one.
            strangers: Strangers::Unknown,
            roles: roles.try_fold(Vec::new(), |mut all, row| {
                all.push(RoleRow {
                    name: text(row, 0)?,
                    powers: powers(row)?,
                    leave: text(row, Power::ALL.len() + 1),
                });
                Some(all)
            })?,
        };
        Some(facts)
    }
}

/// Sends a CancelRequest.
#[derive(Clone)]
pub(crate) struct Canceller {
    token: CancelToken,
    transport: Transport,
}

impl Canceller {
    /// Sends it. Over a Unix socket it may block for as long as the server does not answer.
    pub(crate) fn cancel(&self) -> Result<(), postgres::Error> {
        self.transport.cancel(&self.token)
    }
}

/// PostgreSQL's timeouts are whole milliseconds in an `int`, and 0 means none.
fn milliseconds(duration: Duration) -> String {
    i32::try_from(duration.as_millis()).unwrap_or(i32::MAX).max(1).to_string()
}

/// An SQL literal, whatever `standard_conforming_strings` says.
pub(crate) fn literal(text: &str) -> String {
    format!("E'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_literal_cannot_be_left() {
        assert_eq!(literal(r#"a'b\"#), r"E'a\'b\\'");
    }

    #[test]
    fn a_timeout_is_never_none() {
        assert_eq!(milliseconds(Duration::ZERO), "1");
        assert_eq!(milliseconds(Duration::from_millis(1500)), "1500");
        assert_eq!(milliseconds(Duration::MAX), "2147483647");
    }
}
