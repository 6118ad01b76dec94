//! The report of `check` about a database that can be reached.

use super::config::SqlConfig;
use super::role_check::RoleFinding;
use super::server_info::ServerInfo;
use super::session::Session;
use super::simple_query::{literal, milliseconds, row};

/// A database that can be reached.
#[derive(Clone, Debug, Default)]
pub struct Probe {
    /// `server_version`.
    pub server_version: String,
    /// The database's name.
    pub database: String,
    /// The role that statements run as.
    pub role: String,
    /// TLS version and cipher; `None` on a connection that is not encrypted.
    pub tls: Option<String>,
    /// The role's rights beyond reading.
    pub findings: Vec<RoleFinding>,
    /// True if `work_mem` was set for the role, or anything limits its temporary files.
    pub has_memory_settings: bool,
    /// Backends of this server that no cancel stopped.
    pub stuck: Vec<StuckBackend>,
}

/// A backend whose statement is older than the statement timeout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StuckBackend {
    /// Its process.
    pub pid: i32,
    /// The age of its statement, in seconds.
    pub seconds: u64,
}

impl Probe {
    /// Asks for what no call needs to know. Backends are those of the same role and application, and stuck when their
    /// statement is older than the statement timeout.
    pub(super) fn ask(
        session: &mut Session,
        findings: Vec<RoleFinding>,
        config: &SqlConfig,
    ) -> Result<Self, postgres::Error> {
        let ServerInfo { server_version, database, role, .. } = session.info.clone();
        let messages = session.client.simple_query(&format!(
            "BEGIN READ ONLY; SET LOCAL search_path = pg_catalog, pg_temp; \
             SELECT (SELECT version || ' ' || cipher FROM pg_stat_ssl WHERE pid = pg_backend_pid() AND ssl), \
             EXISTS (SELECT FROM pg_settings WHERE name = 'work_mem' AND source IN ('user', 'database user') \
             OR name = 'temp_file_limit' AND setting <> '-1'); \
             SELECT pid, floor(extract(epoch FROM clock_timestamp() - query_start)) FROM pg_stat_activity \
             WHERE usename = CURRENT_USER AND application_name = left({}, 63) AND state = 'active' AND pid <> pg_backend_pid() \
             AND clock_timestamp() - query_start > {} * interval '1 millisecond' ORDER BY pid; ROLLBACK",
            literal(config.dsn.driver.get_application_name().unwrap_or_default()),
            milliseconds(config.statement_timeout),
        ))?;
        let mut rows =
            messages.iter().filter_map(row).map(|row| [0, 1].map(|at| row.try_get(at).ok().flatten()));
        let [tls, has_settings] = rows.next().unwrap_or_default();
        let stuck = rows.filter_map(|[pid, seconds]| {
            Some(StuckBackend { pid: pid?.parse().ok()?, seconds: seconds?.parse().ok()? })
        });
        Ok(Self {
            server_version,
            database,
            role,
            tls: tls.map(str::to_owned),
            findings,
            has_memory_settings: has_settings == Some("t"),
            stuck: stuck.collect(),
        })
    }
}
