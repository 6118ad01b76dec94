//! Where the database is and how to log in there: libpq's connection strings, read by us.
//!
//! The driver refuses half of libpq's parameters and reads some in other units, so it never sees the text. A parameter
//! that is not supported is refused by name. A password never leaves this module but into the driver: not in `Debug`, not
//! in `Display`, not in an error, which is why errors quote nothing but parameter names that libpq knows.
//!
//! <https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING>

mod text;
mod server;
mod passfile;
mod encryption;
mod files;
#[cfg(any(test, fuzzing))]
pub mod fuzz;

use std::{
    fmt,
    net::IpAddr,
    path::{Path, PathBuf},
    time::Duration,
};

use super::tls::Connector;
use encryption::Encryption;
pub(super) use encryption::{ChannelBinding, SslMode};
pub(super) use server::{Host, Server};
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

/// A connection string that was understood, with everything that it names loaded.
#[derive(Clone)]
pub struct Dsn {
    pub(super) servers: Vec<Server>,
    pub(super) user: String,
    pub(super) database: String,
    pub(super) ssl_mode: SslMode,
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
    files: Vec<(&'static str, PathBuf)>,
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
        let mut servers = server::read(&mut parameters)?;
        let passfile =
            passfile::fill(&mut servers, &user, &database, password, &mut parameters, environment)?;
        let local = servers.iter().all(|server| !matches!(server.host, Host::Tcp { .. }));
        let encryption = Encryption::read(&mut parameters, environment, local)?;
        let files = passfile.map(|file| ("passfile", file)).into_iter().chain(encryption.files).collect();
        harmless_or_refused(&mut parameters)?;
        let fallback_name = parameters.take("fallback_application_name");
        let dsn = Self {
            servers,
            user,
            database,
            ssl_mode: encryption.mode,
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
            files,
        };
        parameters.end()?;
        Ok(dsn)
    }

    /// Address and port of each server that is reached over TCP. No address: its name is looked up.
    pub fn tcp(&self) -> impl Iterator<Item = (Option<IpAddr>, u16)> {
        self.servers.iter().filter_map(|server| match &server.host {
            Host::Tcp { name, address } => Some((address.or_else(|| name.parse().ok()), server.port)),
            Host::Socket(_) | Host::DefaultSocket => None,
        })
    }

    /// The servers on the network with which a connection may be in clear text.
    pub fn unencrypted(&self) -> Vec<String> {
        let servers = self.servers.iter().filter(|server| server.is_remote());
        servers.filter(|_| self.ssl_mode < SslMode::Require).map(Server::to_string).collect()
    }

    /// Whether the text itself holds a password.
    pub fn has_password(&self) -> bool {
        self.has_password
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
pub(super) fn read_file(key: &'static str, path: &Path) -> Result<Vec<u8>, DsnError> {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn environment() -> DsnEnvironment {
        DsnEnvironment { user: Some("me".to_owned()), ..DsnEnvironment::default() }
    }

    /// What is shown of the DSN, and the password that is not.
    #[track_caller]
    fn check(text: &str, shown: &str, password: Option<&str>) {
        let dsn = Dsn::parse(text, &environment()).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(dsn.to_string(), shown, "{text}");
        assert_eq!(format!("{dsn:?}"), shown, "{text}");
        assert_eq!(dsn.servers[0].password.as_ref().map(Password::reveal), password, "{text}");
        assert_eq!(dsn.has_password(), password.is_some(), "{text}");
    }

    #[test]
    fn both_ways_of_writing_are_read_as_libpq_reads_them() {
        check("postgres://", "postgres://me@(local socket):5432/me", None);
        check("postgresql://h/db", "postgres://me@h:5432/db", None);
        check("postgres://u:p@h:1/d?sslmode=disable", "postgres://u@h:1/d", Some("p"));
        check("postgres://u:p%40%3a%2F%25@h", "postgres://u@h:5432/u", Some("p@:/%"));
        check("postgres://u:a:b#c@h/d", "postgres://u@h:5432/d", Some("a:b#c"));
        check("postgres://[::1]:7,b/d", "postgres://me@::1:7,b:5432/d", None);
        check("postgres://%2Frun%2Fpg:7/d", "postgres://me@/run/pg:7/d", None);
        check("postgres:///d?host=/run/pg&port=7", "postgres://me@/run/pg:7/d", None);
        check("postgres://a,b,c:9/d", "postgres://me@a:5432,b:5432,c:9/d", None);
        check("host=h dbname = d user=u password='p w\\'\\\\'", "postgres://u@h:5432/d", Some("p w'\\"));
        check("host=a,b port=7", "postgres://me@a:7,b:7/me", None);
        check("host=h password=a\\ ", "postgres://me@h:5432/me", Some("a "));
        check(" host=h password=a ", "postgres://me@h:5432/me", Some("a"));
        check("host=h password=a://b application_name='c://d'", "postgres://me@h:5432/me", Some("a://b"));
        check("hostaddr=127.0.0.1 user=u\\ v", "postgres://u v@127.0.0.1:5432/u v", None);
        check("  ", "postgres://me@(local socket):5432/me", None);
        check(
            "host=h application_name='' gssencmode=prefer client_encoding=utf8",
            "postgres://me@h:5432/me",
            None,
        );
    }

    #[track_caller]
    fn refused(text: &str, expected: &str) {
        let error = Dsn::parse(text, &environment()).map(|dsn| dsn.to_string()).unwrap_err();
        let told = error.to_string();
        assert!(told.contains(expected), "{text}: {told}");
        assert!(!told.contains("hunter") && !format!("{error:?}").contains("hunter"), "{text}: {told}");
    }

    #[test]
    fn what_is_wrong_is_named_and_no_password_is_shown() {
        refused("mysql://u:hunter2@h/d", "postgres:// or postgresql://");
        refused("hunter2", "has no '='");
        refused("host=h hunter2=x", "parameter 2 is not one");
        refused("password=hunter2 hunter3", "has no '='");
        refused("password='hunter2", "does not end");
        refused("host=h host=i", "'host' is given twice");
        refused("postgres://u:hunter2@h?password=hunter3", "'password' is given twice");
        refused("postgres://u:hunter@2@h/d", "%40");
        refused("postgres://u:hunter/2@h/d", "%2F");
        refused("postgres://u:hunter?2@h/d", "%3F");
        refused("postgres://u:hunter%2@h/d", "%25");
        refused("postgres://u:hunter%00@h/d", "%25");
        refused("postgres://h:hunter/d", "falls apart");
        refused("port=x", "1 to 65535");
        refused("port=0", "1 to 65535");
        refused("port=65536", "1 to 65535");
        refused("host=a,b,c port=1,2", "different numbers");
        refused("hostaddr=h", "numeric IPv4");
        refused("service=x", "'service' is not supported");
        refused("sslcrl=x", "'sslcrl' is not supported");
        refused("gssencmode=require", "disable or prefer");
        refused("client_encoding=LATIN1", "UTF8");
        refused("postgres://h/d?ssl=1", "'ssl' is not supported");
        refused("sslmode=on", "verify-full");
        refused("target_session_attrs=master", "prefer-standby");
        refused("connect_timeout=-1", "whole number");
        refused("host=h sslmode=verify-full", "need 'sslrootcert'");
        refused("host=h sslmode=verify-ca sslrootcert=/does/not/exist", "cannot be used");
        refused("host=h sslmode=require sslrootcert=system", "needs sslmode=verify-full");
        refused("host=h sslcert=/x", "both or not at all");
        refused("host=h sslmode=disable channel_binding=require", "needs TLS");
        refused("host=h sslnegotiation=direct", "needs sslmode=require");
        refused("passfile=/does/not/exist", "cannot be used");
        #[cfg(feature = "tls")]
        assert_eq!(Dsn::parse("postgres://h/d?ssl=true", &environment()).unwrap().ssl_mode, SslMode::Require);
        let nobody = Dsn::parse("host=h", &DsnEnvironment::default()).unwrap_err().to_string();
        assert!(nobody.contains("no user is given"), "{nobody}");
    }

    #[test]
    fn times_have_libpqs_units() {
        let dsn = |text: &str| Dsn::parse(text, &environment()).unwrap();
        let timed = dsn(
            "connect_timeout=1 tcp_user_timeout=1500 keepalives_idle=7 keepalives_interval=8 keepalives_count=9",
        );
        assert_eq!(timed.connect_timeout, Some(Duration::from_secs(2)));
        assert_eq!(timed.tcp_user_timeout, Some(Duration::from_millis(1500)));
        let (idle, interval) = (Duration::from_secs(7), Duration::from_secs(8));
        assert_eq!(timed.keepalives, Keepalives { enabled: true, idle, interval, count: 9 });
        let plain = dsn("connect_timeout=0 tcp_user_timeout=0 keepalives=0");
        assert_eq!(
            (plain.connect_timeout, plain.tcp_user_timeout, plain.keepalives.enabled),
            (None, None, false)
        );
        let (idle, interval) = (Duration::from_secs(10), Duration::from_secs(5));
        assert_eq!(dsn("").keepalives, Keepalives { enabled: true, idle, interval, count: 3 });
        assert_eq!(dsn("").application_name, "mcp-server-suite");
        assert_eq!(dsn("fallback_application_name=a").application_name, "a");
        assert_eq!(dsn("fallback_application_name=a application_name=b").application_name, "b");
    }

    #[test]
    fn a_password_comes_from_the_dsn_then_the_environment_then_a_file() {
        use std::os::unix::fs::PermissionsExt as _;
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join(".pgpass");
        std::fs::write(&file, "h:5432:me:me:of the file\n*:7:*:*:of the port\n").unwrap();
        let mode = |mode| std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
        mode(0o600);
        let mut environment = DsnEnvironment { home: Some(home.path().to_owned()), ..environment() };
        let passwords = |text: &str, environment: &DsnEnvironment| -> Vec<Option<String>> {
            let dsn = Dsn::parse(text, environment).unwrap();
            dsn.servers
                .iter()
                .map(|server| server.password.as_ref().map(|it| it.reveal().to_owned()))
                .collect()
        };
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(
            passwords("host=h,h,i port=5432,7,8", &environment),
            [some("of the file"), some("of the port"), None]
        );
        environment.pgpassword = some("of the environment");
        assert_eq!(passwords("host=h", &environment), [some("of the environment")]);
        assert_eq!(passwords("host=h password=own", &environment), [some("own")]);
        assert!(!format!("{environment:?}").contains("of the environment"));
        environment.pgpassword = None;
        mode(0o640);
        let error = Dsn::parse("host=h", &environment).unwrap_err().to_string();
        assert!(error.contains("chmod it to 0600"), "{error}");
    }
}
