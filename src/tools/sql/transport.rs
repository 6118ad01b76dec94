//! The ways to a server: by which one a connection may be opened, and by which its statements are cancelled.

use std::time::Duration;

use postgres::{
    CancelToken, Client, Config, NoTls,
    config::{SslMode as DriverMode, SslNegotiation},
};
use r2d2::ManageConnection as _;
use r2d2_postgres::PostgresConnectionManager;

#[cfg(feature = "tls")]
use super::stream::Encrypted;
use super::{
    dsn::SslMode,
    stream::{Plain, Watch},
    tls::Connector,
};

/// How long sending a CancelRequest may take.
const CANCEL_PATIENCE: Duration = Duration::from_secs(5);

/// How bytes travel.
#[derive(Clone, Debug)]
pub(super) enum Transport {
    /// Over a Unix socket, unwatched.
    UnixSocket,
    /// Over TCP as they are.
    Plain,
    /// Over TLS.
    Encrypted(Connector),
}

impl Transport {
    /// What `ssl_mode` wants over TCP first, and what it takes instead when the server wants that.
    pub(super) fn allowed(ssl_mode: SslMode, connector: Option<Connector>) -> (Self, Option<Self>) {
        let Some(connector) = connector else { return (Self::Plain, None) };
        let encrypted = Self::Encrypted(connector);
        match ssl_mode {
            SslMode::Disable => (Self::Plain, None),
            SslMode::Allow => (Self::Plain, Some(encrypted)),
            SslMode::Prefer => (encrypted, Some(Self::Plain)),
            SslMode::Require | SslMode::VerifyCa | SslMode::VerifyFull => (encrypted, None),
        }
    }

    /// Logs in.
    pub(super) fn log_in(&self, driver: &Config, watch: &Watch) -> Result<Client, postgres::Error> {
        let mut driver = driver.clone();
        match self {
            Self::UnixSocket => {
                driver.ssl_mode(DriverMode::Disable);
                PostgresConnectionManager::new(driver, NoTls).connect()
            }
            Self::Plain => {
                driver.ssl_mode(DriverMode::Require).ssl_negotiation(SslNegotiation::Direct);
                PostgresConnectionManager::new(driver, Plain(watch.clone())).connect()
            }
            #[cfg(feature = "tls")]
            Self::Encrypted(connector) => {
                driver.ssl_mode(DriverMode::Require);
                let encrypted = Encrypted { tls: connector.make(), watch: watch.clone() };
                PostgresConnectionManager::new(driver, encrypted).connect()
            }
            #[cfg(not(feature = "tls"))]
            Self::Encrypted(connector) => match *connector {},
        }
    }

    /// Sends a CancelRequest for a connection that was opened this way.
    pub(super) fn cancel(&self, token: &CancelToken) -> Result<(), postgres::Error> {
        // Nothing is read but the handshake.
        let watch = Watch::new(CANCEL_PATIENCE, 0);
        match self {
            Self::UnixSocket => token.cancel_query(NoTls),
            Self::Plain => token.cancel_query(Plain(watch)),
            #[cfg(feature = "tls")]
            Self::Encrypted(connector) => token.cancel_query(Encrypted { tls: connector.make(), watch }),
            #[cfg(not(feature = "tls"))]
            Self::Encrypted(connector) => match *connector {},
        }
    }
}
