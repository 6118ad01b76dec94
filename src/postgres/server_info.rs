//! Facts about the server, the session and its role, asked in one round trip when a connection opens.

use postgres::{SimpleQueryMessage, SimpleQueryRow};

use super::cells::Intervals;
use super::config::Pooler;
use super::role_check::{POWERS, ROLES, RoleRow};
use super::simple_query::row;

/// `client_connection_check_interval` in milliseconds: when this process ends, its statements end soon after.
const CLIENT_CHECK: &str = "1000";

/// The batch that asks for [`ServerInfo`] and makes the session read-only by default, in one round trip.
pub(super) fn opening(pooler: Pooler) -> String {
    let read_only = match pooler {
        Pooler::None => "SET default_transaction_read_only = on",
        // A session's settings stay on the pooler's connection, for the client that gets it next.
        Pooler::Transaction => "",
    };
    format!(
        "BEGIN READ ONLY; \
         SELECT pg_catalog.current_setting('server_version'), pg_catalog.current_database(), CURRENT_USER, \
         pg_catalog.pg_is_in_recovery(), pg_catalog.current_setting('default_transaction_read_only'), \
         pg_catalog.current_setting('search_path'), pg_catalog.getdatabaseencoding(), \
         pg_catalog.current_setting('server_version_num'), pg_catalog.version(), pg_catalog.pg_backend_pid(); \
         SET LOCAL search_path = pg_catalog, pg_temp; {ROLES}; ROLLBACK; {read_only}"
    )
}

/// Facts about the server and the session, asked once when it opens.
#[derive(Clone, Debug)]
pub(crate) struct ServerInfo {
    /// The server process behind the connection; behind a pooler one of many.
    pub(super) pid: i32,
    pub(super) server_version: String,
    /// The intervals that it can send.
    pub(super) intervals: Intervals,
    pub(super) database: String,
    pub(super) role: String,
    pub(super) in_recovery: bool,
    pub(super) read_only_by_default: bool,
    /// True if a character is a byte to it: `SQL_ASCII`.
    pub(super) counts_bytes: bool,
    /// The interval in milliseconds at which it looks for a running statement's client, if it can.
    pub(super) client_check: Option<&'static str>,
    /// `search_path` of every transaction: `pg_catalog`, then the session's own, `pg_temp` last.
    pub(super) search_path: String,
    pub(super) roles: Vec<RoleRow>,
}

impl ServerInfo {
    /// Reads the answer to [`opening`]. `None`: something is missing. A role that is not known to be safe is not taken for one
    /// that is.
    pub(super) fn read(messages: &[SimpleQueryMessage]) -> Option<Self> {
        let mut rows = messages.iter().filter_map(row);
        let first = rows.next()?;
        let text = |row: &SimpleQueryRow, index: usize| row.try_get(index).ok()?.map(str::to_owned);
        let flag = |row: &SimpleQueryRow, index: usize| text(row, index).map(|flag| flag == "t");
        let role = |row: &SimpleQueryRow| {
            let held = (1..=POWERS.len()).map(|index| flag(row, index)).collect::<Option<Vec<bool>>>()?;
            let powers =
                POWERS.into_iter().zip(held).filter_map(|(power, held)| held.then_some(power)).collect();
            Some(RoleRow { name: text(row, 0)?, powers, leave: text(row, POWERS.len() + 1) })
        };
        let own_path = text(first, 5).filter(|path| !path.is_empty()).unwrap_or("pg_catalog".to_owned());
        let version: u32 = text(first, 7)?.parse().ok()?;
        Some(Self {
            pid: text(first, 9)?.parse().ok()?,
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
            roles: rows.map(role).collect::<Option<_>>()?,
        })
    }
}
