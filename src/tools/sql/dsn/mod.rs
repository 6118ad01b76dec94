//! Where the database is and how to log in there: libpq's connection strings, read by us.
//!
//! The driver refuses half of libpq's parameters and reads some in other units, so it never sees the text. A parameter
//! that is not supported is refused by name. A password never leaves this module but into the driver: not in `Debug`, not
//! in `Display`, not in an error, which is why errors quote nothing but parameter names that libpq knows.
//!
//! <https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING>

mod text;
mod passfile;

use std::{
    fmt,
    net::IpAddr,
    path::{Path, PathBuf},
    time::Duration,
};

use super::tls::{self, Connector};
use text::Parameters;

/// What the environment adds to a DSN. Read by `settings`, never here.
#[derive(Clone, Default)]
pub struct DsnEnvironment {
    /// `PGPASSWORD`: used when the DSN has no password.
    pub pgpassword: Option<String>,
    /// `PGPASSFILE`: used when the DSN has no `passfile`.
    pub pgpassfile: Option<PathBuf>,
    /// `HOME`: where `.pgpass` and `.postgresql/root.crt` are looked for.
    pub home: Option<PathBuf>,
    /// The operating system's name of our user: the default of `user`.
    pub user: Option<String>,
}

impl fmt::Debug for DsnEnvironment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { pgpassword: _, pgpassfile, home, user } = self;
        f.debug_struct("DsnEnvironment")
            .field("pgpassfile", pgpassfile)
            .field("home", home)
            .field("user", user)
            .finish_non_exhaustive()
    }
}

/// Why a DSN was refused. No variant holds text of the DSN but what cannot be a secret.
#[derive(Debug, thiserror::Error)]
pub enum DsnError {
    /// Neither a URL nor `key=value` pairs.
    #[error("not a connection string: {0}")]
    Syntax(&'static str),
    /// The URL falls apart where an unencoded character of the user or password would make it fall apart.
    #[error(
        "the URL falls apart around the user or password: write '@' as %40, '/' as %2F, '?' as %3F, ':' as %3A \
         and '%' as %25 there"
    )]
    Encoding,
    /// A parameter of libpq that is not supported here.
    #[error("the parameter '{key}' is not supported")]
    Unsupported {
        /// Its name.
        key: &'static str,
    },
    /// A parameter that libpq does not know either. Its name is not told: it may be a piece of a password.
    #[error("parameter {ordinal} is not one that PostgreSQL's libpq knows; a value with spaces needs quotes")]
    Unknown {
        /// Which one, from 1.
        ordinal: usize,
    },
    /// A parameter stands there twice.
    #[error("the parameter '{key}' is given twice")]
    Twice {
        /// Its name.
        key: &'static str,
    },
    /// A parameter's value is not one of those allowed.
    #[error("the value of '{key}' is not valid: {allowed}")]
    Value {
        /// The parameter.
        key: &'static str,
        /// What is allowed.
        allowed: &'static str,
    },
    /// Two parameters contradict each other.
    #[error("{0}")]
    Conflict(&'static str),
    /// A file that the DSN names cannot be used.
    #[error("the file '{}' of '{key}' cannot be used: {reason}", path.display())]
    File {
        /// The parameter.
        key: &'static str,
        /// The file.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
}

/// A password. It is not shown.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Password(String);

impl Password {
    /// For the driver.
    pub(super) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password")
    }
}

/// How much a connection insists on TLS (libpq's `sslmode`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SslMode {
    /// Never.
    Disable,
    /// Plain first, TLS when the server refuses plain.
    Allow,
    /// TLS first, plain when the server refuses TLS.
    Prefer,
    /// TLS with whatever certificate.
    Require,
    /// TLS with a certificate that a trusted authority signed.
    VerifyCa,
    /// The same, made out to the host name we asked for.
    VerifyFull,
}

/// Which servers of several will do (libpq's `target_session_attrs`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SessionTarget {
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

/// Whether the password exchange is tied to the TLS channel (libpq's `channel_binding`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChannelBinding {
    /// Never.
    Disable,
    /// If the server offers it.
    Prefer,
    /// Else no connection.
    Require,
}

/// What is sent on an idle connection so that a dead peer is noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Keepalives {
    /// Whether anything is.
    pub(super) enabled: bool,
    /// Idle time before the first probe.
    pub(super) idle: Duration,
    /// Time between probes.
    pub(super) interval: Duration,
    /// Unanswered probes that end the connection.
    pub(super) count: u32,
}

/// One server to try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Server {
    /// Where it listens.
    pub(super) host: Host,
    /// Its port, which also ends a socket's file name.
    pub(super) port: u16,
    /// The password for it.
    pub(super) password: Option<Password>,
}

/// Where a server listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Host {
    /// TCP: the name (which a certificate is checked against) and, when given, the address to use in place of a look-up.
    Tcp {
        /// Name or numeric address.
        name: String,
        /// `hostaddr`.
        address: Option<IpAddr>,
    },
    /// A directory with Unix sockets.
    Socket(PathBuf),
    /// None was named: the usual directories with Unix sockets.
    DefaultSocket,
}

/// A connection string that was understood, with everything that it names loaded.
#[derive(Clone)]
pub struct Dsn {
    pub(super) servers: Vec<Server>,
    pub(super) user: String,
    pub(super) database: String,
    pub(super) ssl_mode: SslMode,
    pub(super) direct_tls: bool,
    pub(super) channel_binding: ChannelBinding,
    pub(super) connector: Option<Connector>,
    pub(super) target: SessionTarget,
    pub(super) shuffle: bool,
    pub(super) connect_timeout: Option<Duration>,
    pub(super) keepalives: Keepalives,
    pub(super) tcp_user_timeout: Option<Duration>,
    pub(super) application_name: String,
    pub(super) options: Option<String>,
    has_password: bool,
}

impl fmt::Display for Dsn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "postgres://{}@", self.user)?;
        for (index, server) in self.servers.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            write!(f, "{comma}{server}")?;
        }
        write!(f, "/{}", self.database)
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

impl fmt::Debug for Dsn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Dsn {
    /// Reads a URL or `key=value` pairs, and the files they name.
    ///
    /// # Errors
    /// The first thing that is wrong; never a part of the text that could be a secret.
    pub fn parse(text: &str, environment: &DsnEnvironment) -> Result<Self, DsnError> {
        let mut parameters = Parameters::read(text)?;
        let user = parameters.take("user").or_else(|| environment.user.clone()).ok_or(DsnError::Conflict(
            "no user is given: add user=… (there is no USER in the environment either)",
        ))?;
        let database = parameters.take("dbname").unwrap_or_else(|| user.clone());
        let password = parameters.take("password").map(Password);
        let has_password = password.is_some();
        let mut servers = servers(&mut parameters)?;
        passfile::fill(&mut servers, &user, &database, password, &mut parameters, environment)?;
        let local = servers.iter().all(|server| !matches!(server.host, Host::Tcp { .. }));
        let encryption = Encryption::read(&mut parameters, environment, local)?;
        harmless_or_refused(&mut parameters)?;
        let fallback_name = parameters.take("fallback_application_name");
        let dsn = Self {
            servers,
            user,
            database,
            ssl_mode: encryption.mode,
            direct_tls: encryption.direct,
            channel_binding: encryption.channel_binding,
            connector: encryption.connector,
            target: session_target(&mut parameters)?,
            shuffle: parameters.choice("load_balance_hosts", &[("disable", false), ("random", true)])?
                == Some(true),
            connect_timeout: connect_timeout(&mut parameters)?,
            keepalives: keepalives(&mut parameters)?,
            tcp_user_timeout: parameters
                .number("tcp_user_timeout")?
                .filter(|ms| *ms > 0)
                .map(|ms| Duration::from_millis(ms.into())),
            application_name: parameters
                .take("application_name")
                .or(fallback_name)
                .unwrap_or_else(|| crate::NAME.to_owned()),
            options: parameters.take("options"),
            has_password,
        };
        parameters.end()?;
        Ok(dsn)
    }

    /// Whether the text itself holds a password.
    pub fn has_password(&self) -> bool {
        self.has_password
    }
}

/// `host`, `hostaddr` and `port`: comma lists of one length (one port may serve all).
fn servers(parameters: &mut Parameters) -> Result<Vec<Server>, DsnError> {
    const LENGTHS: DsnError =
        DsnError::Conflict("'host', 'hostaddr' and 'port' name different numbers of servers");
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
        return Err(LENGTHS);
    }
    let nth = |list: &[String], index: usize| list.get(index).filter(|item| !item.is_empty()).cloned();
    let mut servers = Vec::with_capacity(count);
    for index in 0..count {
        let port = match nth(&ports, if ports.len() == 1 { 0 } else { index }) {
            None => 5432,
            Some(port) => port
                .parse()
                .ok()
                .filter(|port| *port > 0)
                .ok_or(DsnError::Value { key: "port", allowed: "a number from 1 to 65535" })?,
        };
        let address = nth(&addresses, index)
            .map(|address| address.parse::<IpAddr>())
            .transpose()
            .map_err(|_| DsnError::Value { key: "hostaddr", allowed: "a numeric IPv4 or IPv6 address" })?;
        let host = match (nth(&names, index), address) {
            (Some(name), None) if name.starts_with('/') => Host::Socket(name.into()),
            (Some(name), _) if name.starts_with('@') => {
                return Err(DsnError::Value { key: "host", allowed: "a name, an address or a directory" });
            }
            (Some(name), address) => Host::Tcp { name, address },
            (None, Some(address)) => Host::Tcp { name: address.to_string(), address: Some(address) },
            (None, None) => Host::DefaultSocket,
        };
        servers.push(Server { host, port, password: None });
    }
    Ok(servers)
}

/// Everything about TLS.
struct Encryption {
    mode: SslMode,
    direct: bool,
    channel_binding: ChannelBinding,
    connector: Option<Connector>,
}

impl Encryption {
    const MODES: [(&'static str, SslMode); 6] = [
        ("disable", SslMode::Disable),
        ("allow", SslMode::Allow),
        ("prefer", SslMode::Prefer),
        ("require", SslMode::Require),
        ("verify-ca", SslMode::VerifyCa),
        ("verify-full", SslMode::VerifyFull),
    ];

    fn read(
        parameters: &mut Parameters,
        environment: &DsnEnvironment,
        local: bool,
    ) -> Result<Self, DsnError> {
        let given = parameters.choice("sslmode", &Self::MODES)?;
        let root = parameters.take("sslrootcert");
        let certificate = parameters.take("sslcert").map(PathBuf::from);
        let key = parameters.take("sslkey").map(PathBuf::from);
        let direct =
            parameters.choice("sslnegotiation", &[("postgres", false), ("direct", true)])? == Some(true);
        let channel_binding = parameters
            .choice(
                "channel_binding",
                &[
                    ("disable", ChannelBinding::Disable),
                    ("prefer", ChannelBinding::Prefer),
                    ("require", ChannelBinding::Require),
                ],
            )?
            .unwrap_or(ChannelBinding::Prefer);
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
        if mode == SslMode::Disable && channel_binding == ChannelBinding::Require {
            return Err(DsnError::Conflict("channel_binding=require needs TLS, sslmode=disable forbids it"));
        }
        if direct && mode < SslMode::Require {
            return Err(DsnError::Conflict("sslnegotiation=direct needs sslmode=require or stricter"));
        }
        if certificate.is_some() != key.is_some() {
            return Err(DsnError::Conflict("'sslcert' and 'sslkey' are needed both or not at all"));
        }
        let identity = certificate.zip(key);
        // As with libpq, a Unix socket carries no TLS whatever the mode says.
        if mode == SslMode::Disable || local {
            return Ok(Self { mode: SslMode::Disable, direct: false, channel_binding, connector: None });
        }
        let trust = trust(mode, root, environment)?;
        let connector = Some(Connector::build(&trust, identity.as_ref())?);
        Ok(Self { mode, direct, channel_binding, connector })
    }
}

/// Which authorities are trusted to sign a server's certificate. As with libpq, `require` with an authority at hand
/// checks it, too.
fn trust(mode: SslMode, root: Option<String>, environment: &DsnEnvironment) -> Result<tls::Trust, DsnError> {
    let check_name = mode == SslMode::VerifyFull;
    if root.as_deref() == Some("system") {
        return Ok(tls::Trust::System);
    }
    let usual = || {
        let path = environment.home.as_deref()?.join(".postgresql/root.crt");
        path.is_file().then_some(path)
    };
    match (mode, root.map(PathBuf::from).or_else(usual)) {
        (SslMode::VerifyCa | SslMode::VerifyFull, None) => Err(DsnError::Conflict(
            "sslmode=verify-ca and verify-full need 'sslrootcert' (a file, or 'system')",
        )),
        (SslMode::VerifyCa | SslMode::VerifyFull | SslMode::Require, Some(file)) => {
            Ok(tls::Trust::File { file, check_name })
        }
        (SslMode::Disable | SslMode::Allow | SslMode::Prefer, _) | (SslMode::Require, None) => {
            Ok(tls::Trust::Anybody)
        }
    }
}

fn session_target(parameters: &mut Parameters) -> Result<SessionTarget, DsnError> {
    let target = parameters.choice(
        "target_session_attrs",
        &[
            ("any", SessionTarget::Any),
            ("read-write", SessionTarget::ReadWrite),
            ("read-only", SessionTarget::ReadOnly),
            ("primary", SessionTarget::Primary),
            ("standby", SessionTarget::Standby),
            ("prefer-standby", SessionTarget::PreferStandby),
        ],
    )?;
    Ok(target.unwrap_or(SessionTarget::Any))
}

/// Seconds; libpq makes 1 to 2 and takes 0 for "for ever", which is the default of `MCP_SQL_CONNECT_TIMEOUT_MS` here.
fn connect_timeout(parameters: &mut Parameters) -> Result<Option<Duration>, DsnError> {
    let seconds = parameters.number("connect_timeout")?.filter(|seconds| *seconds > 0);
    Ok(seconds.map(|seconds| Duration::from_secs(seconds.max(2).into())))
}

/// Defaults that end a dead peer within half a minute; libpq leaves that to the kernel, which takes hours.
fn keepalives(parameters: &mut Parameters) -> Result<Keepalives, DsnError> {
    let seconds = |seconds: Option<u32>, default: u32| {
        Duration::from_secs(seconds.filter(|seconds| *seconds > 0).unwrap_or(default).into())
    };
    Ok(Keepalives {
        enabled: parameters.number("keepalives")? != Some(0),
        idle: seconds(parameters.number("keepalives_idle")?, 10),
        interval: seconds(parameters.number("keepalives_interval")?, 5),
        count: parameters.number("keepalives_count")?.filter(|count| *count > 0).unwrap_or(3),
    })
}

/// Parameters that ask for what happens anyway are taken, other values of theirs refused.
fn harmless_or_refused(parameters: &mut Parameters) -> Result<(), DsnError> {
    if let Some(encoding) = parameters.take("client_encoding")
        && !["utf8", "utf-8", "auto"].contains(&encoding.to_ascii_lowercase().as_str())
    {
        return Err(DsnError::Value { key: "client_encoding", allowed: "UTF8, which is the default" });
    }
    parameters.choice("gssencmode", &[("disable", ()), ("prefer", ())])?;
    Ok(())
}

/// Reads a file that the DSN names, of at most 1 MiB.
fn read_file(key: &'static str, path: &Path) -> Result<Vec<u8>, DsnError> {
    use std::io::Read as _;
    const LIMIT: u64 = 1 << 20;
    let mut bytes = Vec::new();
    let failed = |reason: String| DsnError::File { key, path: path.to_owned(), reason };
    std::fs::File::open(path)
        .and_then(|file| file.take(LIMIT + 1).read_to_end(&mut bytes))
        .map_err(|error| failed(error.to_string()))?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length <= LIMIT) {
        Ok(bytes)
    } else {
        Err(failed("it is longer than 1 MiB".to_owned()))
    }
}

/// Reads a file for [`super::tls`].
pub(super) fn read_pem(key: &'static str, path: &Path) -> Result<Vec<u8>, DsnError> {
    read_file(key, path)
}
