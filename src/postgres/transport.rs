//! The ways to a server: by which one a connection may be opened, and by which its statements are cancelled.

use std::time::Duration;

use postgres::{
    CancelToken, Client, Config, NoTls,
    config::{SslMode as DriverMode, SslNegotiation},
};
use r2d2::ManageConnection as _;
use r2d2_postgres::PostgresConnectionManager;

use super::{
    dsn::{Dsn, SslMode},
    stream::{Plain, Watch},
    tls::Connector,
};

/// How long sending a CancelRequest may take.
const CANCEL_PATIENCE: Duration = Duration::from_secs(5);

/// How bytes travel.
#[derive(Clone, Debug)]
pub(crate) enum Transport {
    /// Over a Unix socket, unwatched.
    UnixSocket,
    /// Over TCP as they are.
    Plain,
    /// Over TLS.
    Encrypted(Connector),
}

impl Transport {
    /// What `sslmode` wants over TCP first, and what it takes instead when the server wants that.
    pub(crate) fn allowed(dsn: &Dsn) -> (Self, Option<Self>) {
        let Some(connector) = dsn.connector.clone() else { return (Self::Plain, None) };
        let encrypted = Self::Encrypted(connector);
        match dsn.ssl_mode {
            SslMode::Disable => (Self::Plain, None),
            SslMode::Allow => (Self::Plain, Some(encrypted)),
            SslMode::Prefer => (encrypted, Some(Self::Plain)),
            SslMode::Require | SslMode::VerifyCa | SslMode::VerifyFull => (encrypted, None),
        }
    }

    /// Logs in.
    pub(crate) fn log_in(&self, driver: &Config, watch: &Watch) -> Result<Client, postgres::Error> {
        let (mut driver, watch) = (driver.clone(), watch.clone());
        // The stream is ours from the first byte.
        driver.ssl_mode(DriverMode::Require).ssl_negotiation(SslNegotiation::Direct);
        match self {
            Self::UnixSocket => {
                driver.ssl_mode(DriverMode::Disable);
                PostgresConnectionManager::new(driver, NoTls).connect()
            }
            Self::Plain => PostgresConnectionManager::new(driver, Plain(watch)).connect(),
            #[cfg(feature = "tls")]
            Self::Encrypted(connector) => {
                PostgresConnectionManager::new(driver, connector.watched(watch)).connect()
            }
            #[cfg(not(feature = "tls"))]
            Self::Encrypted(connector) => match *connector {},
        }
    }

    /// Sends a CancelRequest for a connection that was opened this way.
    pub(crate) fn cancel(&self, token: &CancelToken) -> Result<(), postgres::Error> {
        // Nothing is read but the handshake.
        let watch = Watch::new(CANCEL_PATIENCE, 0);
        match self {
            Self::UnixSocket => token.cancel_query(NoTls),
            Self::Plain => token.cancel_query(Plain(watch)),
            #[cfg(feature = "tls")]
            Self::Encrypted(connector) => token.cancel_query(connector.watched(watch)),
            #[cfg(not(feature = "tls"))]
            Self::Encrypted(connector) => match *connector {},
        }
    }
}
