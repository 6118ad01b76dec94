//! One database: its settings, its connections and the findings about its role.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use super::config::SqlConfig;
use super::connect;
use super::connect_error::{Cause, ConnectError};
use super::login::{Logins, within};
use super::pool::SlotPool;
use super::probe::Probe;
use super::role_check::{self, Reviews, RoleFinding};
use super::server_info::ServerInfo;
use super::session::Session;

/// One database, which all SQL tools share. Nothing is started and no connection made before the first call.
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

impl Database {
    /// A database without a connection.
    pub fn new(config: SqlConfig) -> Arc<Self> {
        let logins = config.dsn.servers.iter().map(|_| Logins::new(config.pool_max_size)).collect();
        Arc::new(Self { config, pool: OnceLock::new(), logins, reviews: Reviews::default() })
    }

    /// Its settings.
    pub fn config(&self) -> &SqlConfig {
        &self.config
    }

    /// Its connections.
    pub(super) fn pool(&self) -> &SlotPool {
        self.pool.get_or_init(|| SlotPool::start(self.config.pool_max_size.max(1)))
    }

    /// Connects once, for `check`, and reports the server and the role's rights, without refusing any.
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
        let (application, timeout) = (&self.config.dsn.application_name, self.config.statement_timeout);
        session.probe(findings, application, timeout).map_err(failed)
    }

    /// Connects for a call; a role that may more than it should is refused or logged, as configured.
    pub(super) fn connect(&self, remaining: Duration) -> Result<Session, ConnectError> {
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
        self.reviews.report(tolerated);
        Ok(session)
    }

    /// Findings about the role beyond its need, if the server answers within `patience`.
    fn beyond(&self, session: &mut Session, patience: Duration) -> Result<Vec<RoleFinding>, postgres::Error> {
        let ServerInfo { role, roles, .. } = session.info();
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
