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
use super::session::{CANCEL_TIME, Session};
use super::simple_query::literal;

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
        within(patience, move || {
            let (mut session, findings) = database.open(patience)?;
            Probe::ask(&mut session, findings, &database.config).map_err(|error| database.failed(error))
        })
        .map_err(|error| self.failed(Cause::Thread(error)))?
        .unwrap_or_else(|| Err(self.failed(Cause::Silent(patience))))
    }

    /// Connects for a call; a role that may more than it should is refused or logged, as configured.
    pub(super) fn connect(&self, remaining: Duration) -> Result<Session, ConnectError> {
        let (session, findings) = self.open(remaining)?;
        let (refused, tolerated): (Vec<_>, Vec<_>) =
            findings.into_iter().partition(|finding| self.config.unsafe_role.refuses(finding));
        if !refused.is_empty() {
            self.reviews.keep(None);
            return Err(self.failed(Cause::UnsafeRole(refused)));
        }
        self.reviews.report(tolerated);
        Ok(session)
    }

    fn failed(&self, cause: impl Into<Cause>) -> ConnectError {
        ConnectError { attempts: vec![(self.config.dsn.to_string(), cause.into())] }
    }

    /// Connects, and asks for the role's rights beyond its need.
    fn open(&self, patience: Duration) -> Result<(Session, Vec<RoleFinding>), ConnectError> {
        let begun = Instant::now();
        let mut session = connect::open(&self.config, &self.logins, patience)?;
        let left = patience.saturating_sub(begun.elapsed());
        let findings = self.beyond(&mut session, left).map_err(|error| self.failed(error))?;
        Ok((session, findings))
    }

    /// Findings about the role beyond its need, if the server answers within `patience`.
    fn beyond(&self, session: &mut Session, patience: Duration) -> Result<Vec<RoleFinding>, postgres::Error> {
        let ServerInfo { role, roles, .. } = &session.info;
        let mut findings = role_check::powers(role, roles);
        if role_check::is_superuser(roles) {
            return Ok(findings);
        }
        findings.extend(match self.reviews.recent() {
            Some(privileges) => privileges,
            None => {
                session.deadline.wait_at_most(patience.saturating_add(CANCEL_TIME));
                let (client, path) = (&mut session.client, literal(&session.info.search_path));
                let privileges = role_check::privileges(client, role, &path, &self.config.need)?;
                self.reviews.keep(Some(privileges.clone()));
                privileges
            }
        });
        Ok(findings)
    }
}
