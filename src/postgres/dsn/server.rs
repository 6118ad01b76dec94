//! The servers that a DSN names.

use std::fmt;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use super::environment::Password;
use super::error::DsnError;
use super::text::Parameters;

/// One server to try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Server {
    /// Its place.
    pub(crate) host: Host,
    /// Its port, which also ends a socket's file name.
    pub(crate) port: u16,
    /// The password for it.
    pub(crate) password: Option<Password>,
}

/// The place at which a server listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Host {
    /// TCP: the name (which a certificate is checked against) and, when given, the address to use in place of a look-up.
    Tcp {
        /// Name or numeric address.
        name: String,
        /// `hostaddr`.
        address: Option<IpAddr>,
    },
    /// A directory with Unix sockets.
    Socket(PathBuf),
    /// The usual directories with Unix sockets, for want of a name.
    DefaultSocket,
}

impl Server {
    /// Returns whether it is reached over a network, as far as the DSN shows.
    pub(super) fn is_remote(&self) -> bool {
        match &self.host {
            Host::Tcp { name, address } => match address.or_else(|| name.parse().ok()) {
                Some(address) => !address.is_loopback(),
                None => name != "localhost",
            },
            Host::Socket(_) | Host::DefaultSocket => false,
        }
    }

    /// The directory of its Unix socket, if it is reached by one.
    pub(crate) fn socket_directory(&self) -> Option<&Path> {
        match &self.host {
            Host::Tcp { .. } => None,
            Host::Socket(directory) => Some(directory),
            Host::DefaultSocket => Some(default_socket(self.port)),
        }
    }

    /// Its Unix socket, if it is reached by one.
    pub(super) fn socket(&self) -> Option<PathBuf> {
        Some(self.socket_directory()?.join(socket_name(self.port)))
    }
}

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.host {
            Host::Tcp { name, .. } => write!(f, "{name}:{}", self.port),
            Host::Socket(directory) => write!(f, "{}:{}", directory.display(), self.port),
            Host::DefaultSocket => write!(f, "(local socket):{}", self.port),
        }
    }
}

/// The kind of server that is wanted among several (libpq's `target_session_attrs`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SessionTarget {
    /// Any.
    Any,
    /// One that accepts writes by default.
    ReadWrite,
    /// One that does not.
    ReadOnly,
    /// Not a standby.
    Primary,
    /// A standby.
    Standby,
    /// A standby if there is one.
    PreferStandby,
}

/// The words of `target_session_attrs`.
#[rustfmt::skip]
pub(super) const TARGETS: [(&str, SessionTarget); 6] = [
    ("any", SessionTarget::Any), ("read-write", SessionTarget::ReadWrite), ("read-only", SessionTarget::ReadOnly),
    ("primary", SessionTarget::Primary), ("standby", SessionTarget::Standby),
    ("prefer-standby", SessionTarget::PreferStandby),
];

fn socket_name(port: u16) -> String {
    format!(".s.PGSQL.{port}")
}

/// The directory that holds the server's socket, of those that packages compile in.
fn default_socket(port: u16) -> &'static Path {
    let usual = ["/var/run/postgresql", "/tmp"].map(Path::new);
    let found = usual.into_iter().find(|directory| directory.join(socket_name(port)).exists());
    found.unwrap_or(Path::new("/var/run/postgresql"))
}

/// Reads `host`, `hostaddr` and `port`: comma lists of one length (one port may serve all).
pub(super) fn read(parameters: &mut Parameters) -> Result<Vec<Server>, DsnError> {
    let list = |text: Option<String>| -> Vec<String> {
        text.map(|text| text.split(',').map(|item| item.trim().to_owned()).collect()).unwrap_or_default()
    };
    let names = list(parameters.take("host"));
    let addresses = list(parameters.take("hostaddr"));
    let ports = list(parameters.take("port"));
    let count = names.len().max(addresses.len()).max(1);
    if (!names.is_empty() && !addresses.is_empty() && names.len() != addresses.len())
        || (ports.len() > 1 && ports.len() != count)
    {
        return Err(DsnError::Conflict("'host', 'hostaddr' and 'port' name different numbers of servers"));
    }
    let nth = |list: &[String], index: usize| list.get(index).filter(|item| !item.is_empty()).cloned();
    let server = |index: usize| {
        let port =
            nth(&ports, if ports.len() == 1 { 0 } else { index }).map_or(Ok(5432), |port| port.parse());
        let port = port.ok().filter(|port| *port > 0);
        let port = port.ok_or_else(|| DsnError::value("port", "a number from 1 to 65535"))?;
        let address = nth(&addresses, index).map(|address| address.parse::<IpAddr>()).transpose();
        let address = address.map_err(|_| DsnError::value("hostaddr", "a numeric IPv4 or IPv6 address"))?;
        let host = match (nth(&names, index), address) {
            (Some(name), None) if name.starts_with('/') => Host::Socket(name.into()),
            (Some(name), _) if name.starts_with('@') => {
                return Err(DsnError::value("host", "a name, an address or a directory"));
            }
            (Some(name), address) => Host::Tcp { name, address },
            (None, Some(address)) => Host::Tcp { name: address.to_string(), address: Some(address) },
            (None, None) => Host::DefaultSocket,
        };
        Ok(Server { host, port, password: None })
    };
    (0..count).map(server).collect()
}
