//! The parameters of TLS, with libpq's rules of which go together.

use std::path::PathBuf;

use postgres::Config;
use postgres::config::{ChannelBinding, SslNegotiation};

use super::super::tls::{Connector, Trust};
use super::environment::DsnEnvironment;
use super::error::DsnError;
use super::text::Parameters;

/// The need for TLS on a connection (libpq's `sslmode`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SslMode {
    /// Never.
    Disable,
    /// Plain first, TLS when the server refuses plain.
    Allow,
    /// TLS first, plain when the server refuses TLS.
    Prefer,
    /// TLS with any certificate.
    Require,
    /// TLS with a certificate that a trusted authority signed.
    VerifyCa,
    /// The same, made out to the host name of the DSN.
    VerifyFull,
}

/// Everything about TLS.
#[derive(Clone)]
pub(crate) struct Encryption {
    pub(crate) mode: SslMode,
    /// `None`: no connection is encrypted.
    pub(crate) connector: Option<Connector>,
    /// The files that were read, by parameter.
    pub(super) files: Vec<(&'static str, PathBuf)>,
}

impl Encryption {
    #[rustfmt::skip]
    const MODES: [(&'static str, SslMode); 6] = [
        ("disable", SslMode::Disable), ("allow", SslMode::Allow), ("prefer", SslMode::Prefer),
        ("require", SslMode::Require), ("verify-ca", SslMode::VerifyCa), ("verify-full", SslMode::VerifyFull),
    ];
    #[rustfmt::skip]
    const BINDINGS: [(&'static str, ChannelBinding); 3] = [
        ("disable", ChannelBinding::Disable), ("prefer", ChannelBinding::Prefer), ("require", ChannelBinding::Require),
    ];
    const NEGOTIATIONS: [(&'static str, SslNegotiation); 2] =
        [("postgres", SslNegotiation::Postgres), ("direct", SslNegotiation::Direct)];

    /// Reads the parameters, and sets on `driver` how the password exchange is tied to the TLS channel.
    pub(super) fn read(
        parameters: &mut Parameters,
        environment: &DsnEnvironment,
        local: bool,
        driver: &mut Config,
    ) -> Result<Self, DsnError> {
        let given = parameters.choice("sslmode", &Self::MODES)?;
        let root = parameters.take("sslrootcert");
        let certificate = parameters.take("sslcert").map(PathBuf::from);
        let key = parameters.take("sslkey").map(PathBuf::from);
        let negotiation = parameters.choice("sslnegotiation", &Self::NEGOTIATIONS)?.unwrap_or_default();
        let binding =
            parameters.choice("channel_binding", &Self::BINDINGS)?.unwrap_or(ChannelBinding::Prefer);
        driver.channel_binding(binding);
        let system = root.as_deref() == Some("system");
        let mode = match given {
            Some(mode) if system && mode < SslMode::VerifyFull => {
                return Err(DsnError::Conflict("sslrootcert=system needs sslmode=verify-full"));
            }
            Some(mode) => mode,
            None if system => SslMode::VerifyFull,
            None if cfg!(feature = "tls") => SslMode::Prefer,
            None => SslMode::Disable,
        };
        if mode == SslMode::Disable && binding == ChannelBinding::Require {
            return Err(DsnError::Conflict("channel_binding=require needs TLS, sslmode=disable forbids it"));
        }
        if negotiation == SslNegotiation::Direct && mode < SslMode::Require {
            return Err(DsnError::Conflict("sslnegotiation=direct needs sslmode=require or stricter"));
        }
        if certificate.is_some() != key.is_some() {
            return Err(DsnError::Conflict("'sslcert' and 'sslkey' are needed both or not at all"));
        }
        let identity = certificate.zip(key);
        // As with libpq, a Unix socket carries no TLS in any mode.
        if mode == SslMode::Disable || local {
            return Ok(Self { mode: SslMode::Disable, connector: None, files: Vec::new() });
        }
        let trust = trust(mode, root, environment)?;
        let connector = Some(Connector::build(&trust, identity.as_ref(), negotiation)?);
        let mut files = Vec::new();
        if let Trust::File { file, .. } = trust {
            files.push(("sslrootcert", file));
        }
        files.extend(identity.into_iter().flat_map(|(cert, key)| [("sslcert", cert), ("sslkey", key)]));
        Ok(Self { mode, connector, files })
    }
}

/// Chooses the authorities that may sign a server's certificate. As with libpq, an authority that is at hand is asked in
/// every mode; only `verify-full` wants the name, too.
fn trust(mode: SslMode, root: Option<String>, environment: &DsnEnvironment) -> Result<Trust, DsnError> {
    if root.as_deref() == Some("system") {
        return Ok(Trust::System);
    }
    let usual = || {
        let path = environment.home.as_deref()?.join(".postgresql/root.crt");
        path.is_file().then_some(path)
    };
    match root.map(PathBuf::from).or_else(usual) {
        Some(file) => Ok(Trust::File { file, check_name: mode == SslMode::VerifyFull }),
        None if mode < SslMode::VerifyCa => Ok(Trust::AnyAuthority),
        None => Err(DsnError::Conflict(
            "sslmode=verify-ca and verify-full need 'sslrootcert' (a file, or 'system'), or ~/.postgresql/root.crt",
        )),
    }
}
