//! Facts about the server, the session and its role, asked in one round trip when a connection opens.

use std::time::Duration;

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
         pg_catalog.current_setting('server_version_num'), pg_catalog.version(), pg_catalog.pg_backend_pid(), \
         pg_catalog.current_setting('TimeZone'); \
         SET LOCAL search_path = pg_catalog, pg_temp; {STATEMENT_TIMEOUT}; {ROLES}; ROLLBACK; {read_only}"
    )
}

/// Asks for the limit on a statement's time that the role or the database has. The session's own is what our start-up options
/// say.
const STATEMENT_TIMEOUT: &str = "SELECT (SELECT split_part(c, '=', 2) FROM pg_db_role_setting s, unnest(s.setconfig) AS c \
      WHERE c ~ '^statement_timeout=' AND s.setdatabase IN (0, (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())) \
        AND s.setrole IN (0, (SELECT r.oid FROM pg_roles r WHERE r.rolname = SESSION_USER)) \
      ORDER BY s.setrole <> 0 DESC, s.setdatabase <> 0 DESC LIMIT 1)";

/// Reads the value of a setting that is a time (PostgreSQL, "Setting Parameters"): a number, and a unit unless it is in
/// milliseconds. `None`: 0, which is no limit, or not in this form.
fn time(value: &str) -> Option<Duration> {
    let value = value.trim();
    let (number, unit) =
        value.split_at(value.find(|c: char| !matches!(c, '0'..='9' | '.')).unwrap_or(value.len()));
    let milliseconds = match unit.trim() {
        "us" => 0.001,
        "" | "ms" => 1.0,
        "s" => 1_000.0,
        "min" => 60_000.0,
        "h" => 3_600_000.0,
        "d" => 86_400_000.0,
        _ => return None,
    };
    let seconds = number.parse::<f64>().ok()? * milliseconds / 1_000.0;
    Duration::try_from_secs_f64(seconds).ok().filter(|time| !time.is_zero())
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
    /// `search_path` of every transaction: the session's own, `pg_temp` last. `pg_catalog` is searched first.
    pub(super) search_path: String,
    /// The time zone in which statements are evaluated.
    pub(crate) time_zone: String,
    /// The limit on a statement's time that the role or the database has.
    pub(super) statement_timeout: Option<Duration>,
    pub(super) roles: Vec<RoleRow>,
}

impl ServerInfo {
    /// The database's name.
    pub(crate) fn database(&self) -> &str {
        &self.database
    }

    /// PostgreSQL's version.
    pub(crate) fn server_version(&self) -> &str {
        &self.server_version
    }

    /// Reads the answer to [`opening`]. `None`: something is missing. A role that is not known to be safe is not taken for one
    /// that is.
    pub(super) fn read(messages: &[SimpleQueryMessage]) -> Option<Self> {
        let mut rows = messages.iter().filter_map(row);
        let (first, limit) = (rows.next()?, rows.next()?);
        let text = |row: &SimpleQueryRow, index: usize| row.try_get(index).ok()?.map(str::to_owned);
        let flag = |row: &SimpleQueryRow, index: usize| text(row, index).map(|flag| flag == "t");
        let role = |row: &SimpleQueryRow| {
            let held = (1..=POWERS.len()).map(|index| flag(row, index)).collect::<Option<Vec<bool>>>()?;
            let powers =
                POWERS.into_iter().zip(held).filter_map(|(power, held)| held.then_some(power)).collect();
            Some(RoleRow { name: text(row, 0)?, powers, leave: text(row, POWERS.len() + 1) })
        };
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
            search_path: with_catalog_first(&text(first, 5)?),
            time_zone: text(first, 10)?,
            statement_timeout: text(limit, 0).and_then(|value| time(&value)),
            roles: rows.map(role).collect::<Option<_>>()?,
        })
    }
}

/// Returns a session's `search_path` for transactions of ours. PostgreSQL searches `pg_catalog` first unless the path names
/// it later, and `pg_temp` first unless the path names it: both could put a user-defined object before a built-in one. So
/// `pg_catalog` stays only where it stands first, and `pg_temp` stands last.
fn with_catalog_first(own: &str) -> String {
    let (mut kept, mut is_quoted, mut start) = (Vec::new(), false, 0);
    let ends = own.char_indices().chain([(own.len(), ',')]);
    for (index, char) in ends {
        is_quoted ^= char == '"';
        if char != ',' || is_quoted && index < own.len() {
            continue;
        }
        let part = own.get(start..index).unwrap_or_default().trim();
        let name = part.trim_matches('"').to_lowercase();
        if !part.is_empty() && name != "pg_temp" && (name != "pg_catalog" || kept.is_empty()) {
            kept.push(part);
        }
        start = index + 1;
    }
    kept.push("pg_temp");
    kept.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        for (value, milliseconds) in [
            ("5000", Some(5_000)),
            ("50ms", Some(50)),
            ("0.5 s", Some(500)),
            ("1.5min", Some(90_000)),
            ("2h", Some(7_200_000)),
            ("1d", Some(86_400_000)),
            ("1500us", Some(1)),
            ("0", None),
            ("0s", None),
            ("-1", None),
            ("5 weeks", None),
            ("", None),
        ] {
            assert_eq!(time(value).map(|time| time.as_millis()), milliseconds, "{value}");
        }
    }

    #[test]
    fn pg_catalog_is_searched_first_and_pg_temp_last() {
        for (own, expected) in [
            ("\"$user\", public", "\"$user\", public, pg_temp"),
            ("", "pg_temp"),
            ("\"\"", "\"\", pg_temp"),
            ("pg_catalog", "pg_catalog, pg_temp"),
            ("pg_catalog, public", "pg_catalog, public, pg_temp"),
            ("public, pg_catalog", "public, pg_temp"),
            ("public,\"pg_catalog\" , PG_TEMP, b", "public, b, pg_temp"),
            ("\"a,b\", \"c\"\"d\", pg_temp", "\"a,b\", \"c\"\"d\", pg_temp"),
            ("pg_temp, pg_catalog, a", "pg_catalog, a, pg_temp"),
        ] {
            assert_eq!(with_catalog_first(own), expected, "{own}");
        }
    }
}
