//! The ways to a server: to open a connection, and to cancel its statements.

use std::time::Duration;

use postgres::config::{SslMode as DriverMode, SslNegotiation};
use postgres::{CancelToken, Client, Config, NoTls};
use r2d2::ManageConnection as _;
use r2d2_postgres::PostgresConnectionManager;

use super::dsn::{Dsn, SslMode};
use super::stream::{Deadline, Plain};
use super::tls::Connector;

/// Time for sending a CancelRequest.
const CANCEL_PATIENCE: Duration = Duration::from_secs(5);

/// The way of the bytes.
#[derive(Clone)]
pub(crate) enum Transport {
    /// Over a Unix socket, without a deadline.
    UnixSocket,
    /// Over TCP as they are.
    Plain,
    /// Over TLS.
    Encrypted(Connector),
}

impl Transport {
    /// The transport that `sslmode` wants over TCP first, and the one it accepts instead.
    pub(crate) fn allowed(dsn: &Dsn) -> (Self, Option<Self>) {
        let Some(connector) = dsn.encryption.connector.clone() else { return (Self::Plain, None) };
        let encrypted = Self::Encrypted(connector);
        match dsn.encryption.mode {
            SslMode::Disable => (Self::Plain, None),
            SslMode::Allow => (Self::Plain, Some(encrypted)),
            SslMode::Prefer => (encrypted, Some(Self::Plain)),
            SslMode::Require | SslMode::VerifyCa | SslMode::VerifyFull => (encrypted, None),
        }
    }

    /// Logs in.
    pub(crate) fn log_in(&self, driver: &Config, deadline: &Deadline) -> Result<Client, postgres::Error> {
        let (mut driver, deadline) = (driver.clone(), deadline.clone());
        // The stream is ours from the first byte.
        driver.ssl_mode(DriverMode::Require).ssl_negotiation(SslNegotiation::Direct);
        match self {
            Self::UnixSocket => {
                driver.ssl_mode(DriverMode::Disable);
                PostgresConnectionManager::new(driver, NoTls).connect()
            }
            Self::Plain => PostgresConnectionManager::new(driver, Plain(deadline)).connect(),
            Self::Encrypted(connector) => {
                PostgresConnectionManager::new(driver, connector.with_deadline(deadline)).connect()
            }
        }
    }

    /// Sends a CancelRequest for a connection that was opened this way.
    pub(crate) fn cancel(&self, token: &CancelToken) -> Result<(), postgres::Error> {
        // Nothing is read but the handshake.
        let deadline = Deadline::new(CANCEL_PATIENCE, 0);
        match self {
            Self::UnixSocket => token.cancel_query(NoTls),
            Self::Plain => token.cancel_query(Plain(deadline)),
            Self::Encrypted(connector) => token.cancel_query(connector.with_deadline(deadline)),
        }
    }
}
