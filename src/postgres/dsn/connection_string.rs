//! A connection string that was understood, with everything that it names loaded.

use std::fmt;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use postgres::Config;

use super::encryption::{Encryption, SslMode};
use super::environment::{DsnEnvironment, Password};
use super::error::DsnError;
use super::passfile;
use super::server::{self, Host, Server, SessionTarget};
use super::text::Parameters;

/// A connection string that was understood, with everything that it names loaded.
#[derive(Clone)]
pub struct Dsn {
    pub(crate) servers: Vec<Server>,
    /// The driver's settings that are the same for every server.
    pub(crate) driver: Config,
    pub(crate) encryption: Encryption,
    pub(crate) target: SessionTarget,
    pub(crate) shuffle: bool,
    pub(crate) connect_timeout: Option<Duration>,
    has_password: bool,
    passfile: Option<PathBuf>,
}

impl fmt::Display for Dsn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let servers: Vec<String> = self.servers.iter().map(Server::to_string).collect();
        let [user, database] =
            [self.driver.get_user(), self.driver.get_dbname()].map(Option::unwrap_or_default);
        write!(f, "postgres://{user}@{}/{database}", servers.join(","))
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
        let mut driver = driver(&mut parameters)?;
        driver.user(&user).dbname(&database);
        let encryption = Encryption::read(&mut parameters, environment, local, &mut driver)?;
        check_fixed(&mut parameters)?;
        let balances = [("disable", false), ("random", true)];
        // Seconds; libpq makes 1 to 2 and takes 0 for "for ever", which is the default of `MCP_SQL_CONNECT_TIMEOUT_MS` here.
        let connect_timeout = parameters.positive("connect_timeout")?.map(|seconds| seconds.max(2));
        let dsn = Self {
            servers,
            driver,
            encryption,
            target: parameters
                .choice("target_session_attrs", &server::TARGETS)?
                .unwrap_or(SessionTarget::Any),
            shuffle: parameters.choice("load_balance_hosts", &balances)? == Some(true),
            connect_timeout: connect_timeout.map(seconds),
            has_password,
            passfile,
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
        servers.filter(|_| self.encryption.mode < SslMode::Require).map(Server::to_string).collect()
    }

    /// Returns whether the text itself holds a password.
    pub fn has_password(&self) -> bool {
        self.has_password
    }

    /// The files that were read, each by its parameter, also where the usual place or `PGPASSFILE` named it.
    pub fn files(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        let passfile = self.passfile.iter().map(|path| ("passfile", path));
        let files = passfile.chain(self.encryption.files.iter().map(|(key, path)| (*key, path)));
        files.map(|(key, path)| (key, path.as_path()))
    }

    /// The socket of each server that is reached without a network.
    pub fn sockets(&self) -> impl Iterator<Item = PathBuf> {
        self.servers.iter().filter_map(Server::socket)
    }
}

fn seconds(seconds: u32) -> Duration {
    Duration::from_secs(seconds.into())
}

/// Reads what the driver itself takes. The defaults of the probes on an idle connection end a dead peer within half a minute;
/// libpq leaves that to the kernel, which takes hours.
fn driver(parameters: &mut Parameters) -> Result<Config, DsnError> {
    let mut driver = Config::new();
    driver
        .keepalives(parameters.number("keepalives")? != Some(0))
        .keepalives_idle(seconds(parameters.positive("keepalives_idle")?.unwrap_or(10)))
        .keepalives_interval(seconds(parameters.positive("keepalives_interval")?.unwrap_or(5)))
        .keepalives_retries(parameters.positive("keepalives_count")?.unwrap_or(3));
    if let Some(ms) = parameters.positive("tcp_user_timeout")? {
        driver.tcp_user_timeout(Duration::from_millis(ms.into()));
    }
    if let Some(options) = parameters.take("options") {
        driver.options(&options);
    }
    let fallback = parameters.take("fallback_application_name");
    let application = parameters.take("application_name").or(fallback);
    driver.application_name(application.as_deref().unwrap_or(crate::NAME));
    Ok(driver)
}

/// Accepts parameters that ask for what happens anyway, and refuses other values of theirs.
fn check_fixed(parameters: &mut Parameters) -> Result<(), DsnError> {
    if let Some(encoding) = parameters.take("client_encoding")
        && !["utf8", "utf-8", "auto"].contains(&encoding.to_ascii_lowercase().as_str())
    {
        return Err(DsnError::value("client_encoding", "UTF8, which is the default"));
    }
    parameters.choice("gssencmode", &[("disable", ()), ("prefer", ())])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    fn environment() -> DsnEnvironment {
        DsnEnvironment { user: Some("me".to_owned()), ..DsnEnvironment::default() }
    }

    /// Checks the text that is shown of the DSN, and the password that is not.
    #[track_caller]
    fn check(text: &str, shown: &str, password: Option<&str>) {
        let dsn = Dsn::parse(text, &environment()).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(dsn.to_string(), shown, "{text}");
        assert_eq!(format!("{dsn:?}"), shown, "{text}");
        assert_eq!(dsn.servers[0].password.as_ref().map(|it| it.0.as_str()), password, "{text}");
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
        let shown = error.to_string();
        assert!(shown.contains(expected), "{text}: {shown}");
        assert!(!shown.contains("hunter") && !format!("{error:?}").contains("hunter"), "{text}: {shown}");
    }

    #[test]
    fn errors_are_named_and_no_password_is_shown() {
        refused("mysql://u:hunter2@h/d", "postgres:// or postgresql://");
        refused("hunter2", "has no '='");
        refused("host=h hunter2=x", "parameter 2 is not one");
        refused("host=h schema=x", "parameter 'schema' is not one");
        refused("postgres://u@h/d?schema=app", "parameter 'schema' is not one");
        refused("postgres://u@h/d?sslmode=require&pgbouncer=true", "parameter 'pgbouncer' is not one");
        refused("postgres://u@h/d?hunter2=x@y", "parameter 4 is not one");
        refused("postgres://u@h/d?hunt%20er=x", "parameter 4 is not one");
        for quoted in
            ["\"postgres://u:hunter2@h/d\"", "'host=h password=hunter2'", "\u{201c}postgres://h/d\u{201d}"]
        {
            refused(quoted, "quotes stand around the whole value");
        }
        refused("jdbc:postgresql://h/d?password=hunter2", "leave out jdbc:");
        refused("\u{feff}postgres://u:hunter2@h/d", "byte order mark");
        refused("postgres://${DB_USER}:hunter2@h/d", "was not replaced by its value");
        refused("host=h password=${_HUNTER2}", "was not replaced by its value");
        refused("DATABASE_URL=postgres://u:hunter2@h/d", "name of a variable");
        refused("export MCP_SQL_DSN=\"postgres://u:hunter2@h/d\"", "name of a variable");
        refused("MCP_SQL_DSN = host=h password=hunter2", "name of a variable");
        check("host=h password=$\\{A}", "postgres://me@h:5432/me", Some("${A}"));
        check("postgres://me:%24%7BA%7D@h", "postgres://me@h:5432/me", Some("${A}"));
        check("postgres://me:${a}$A@h", "postgres://me@h:5432/me", Some("${a}$A"));
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
        assert_eq!(
            Dsn::parse("postgres://h/d?ssl=true", &environment()).unwrap().encryption.mode,
            SslMode::Require
        );
        let missing = Dsn::parse("host=h", &DsnEnvironment::default()).unwrap_err().to_string();
        assert!(missing.contains("no user is given"), "{missing}");
    }

    #[test]
    fn times_have_libpqs_units() {
        let dsn = |text: &str| Dsn::parse(text, &environment()).unwrap();
        let timed = dsn(
            "connect_timeout=1 tcp_user_timeout=1500 keepalives_idle=7 keepalives_interval=8 keepalives_count=9",
        );
        assert_eq!(timed.connect_timeout, Some(Duration::from_secs(2)));
        assert_eq!(timed.driver.get_tcp_user_timeout(), Some(&Duration::from_millis(1500)));
        let probes = |dsn: Dsn| {
            (
                dsn.driver.get_keepalives(),
                dsn.driver.get_keepalives_idle().as_secs(),
                dsn.driver.get_keepalives_interval().map(|interval| interval.as_secs()),
                dsn.driver.get_keepalives_retries(),
            )
        };
        assert_eq!(probes(timed), (true, 7, Some(8), Some(9)));
        let plain = dsn("connect_timeout=0 tcp_user_timeout=0 keepalives=0");
        assert_eq!((plain.connect_timeout, plain.driver.get_tcp_user_timeout()), (None, None));
        assert_eq!(probes(plain), (false, 10, Some(5), Some(3)));
        assert_eq!(probes(dsn("")), (true, 10, Some(5), Some(3)));
        let name = |text| dsn(text).driver.get_application_name().unwrap().to_owned();
        assert_eq!(name(""), "mcp-server-suite");
        assert_eq!(name("fallback_application_name=a"), "a");
        assert_eq!(name("fallback_application_name=a application_name=b"), "b");
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
            dsn.servers.iter().map(|server| server.password.as_ref().map(|it| it.0.clone())).collect()
        };
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(
            passwords("host=h,h,i port=5432,7,8", &environment),
            [some("of the file"), some("of the port"), None]
        );
        environment.pgpassword = some("of the environment").map(Password);
        assert_eq!(passwords("host=h", &environment), [some("of the environment")]);
        assert_eq!(passwords("host=h password=own", &environment), [some("own")]);
        assert!(!format!("{environment:?}").contains("of the environment"));
        environment.pgpassword = None;
        mode(0o640);
        let error = Dsn::parse("host=h", &environment).unwrap_err().to_string();
        assert!(error.contains("chmod it to 0600"), "{error}");
    }

    #[test]
    fn files_and_sockets_are_listed() {
        let home = tempfile::tempdir().unwrap();
        let passfile = home.path().join(".pgpass");
        std::fs::write(&passfile, "").unwrap();
        std::fs::set_permissions(&passfile, std::fs::Permissions::from_mode(0o600)).unwrap();
        let environment = DsnEnvironment { home: Some(home.path().to_owned()), ..DsnEnvironment::default() };
        let dsn = Dsn::parse("user=r host=/run/pg,h port=7,8", &environment).unwrap();
        assert_eq!(dsn.files().collect::<Vec<_>>(), [("passfile", passfile.as_path())]);
        assert_eq!(dsn.sockets().collect::<Vec<_>>(), [Path::new("/run/pg/.s.PGSQL.7")]);
        let dsn = Dsn::parse("user=r password=p host=h", &environment).unwrap();
        assert_eq!((dsn.files().count(), dsn.sockets().count()), (0, 0));
    }

    #[cfg(feature = "tls")]
    #[test]
    fn certificates_and_keys_are_among_what_was_read() {
        let tls = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/tls");
        let directory = tempfile::tempdir().unwrap();
        let key = directory.path().join("client.key");
        std::fs::copy(tls.join("client.key"), &key).unwrap();
        std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).unwrap();
        let expected =
            [("sslrootcert", tls.join("ca.pem")), ("sslcert", tls.join("client.pem")), ("sslkey", key)];
        let given: String =
            expected.iter().map(|(key, path)| format!("{key}='{}' ", path.display())).collect();
        let files = |text: String| {
            let dsn = Dsn::parse(&text, &DsnEnvironment::default()).unwrap();
            dsn.files().map(|(key, path)| (key, path.to_owned())).collect::<Vec<_>>()
        };
        assert_eq!(files(format!("{given} user=r host=h sslmode=verify-full")), expected);
        assert_eq!(files(format!("{given} user=r host=/run/pg sslmode=verify-full")), []);
    }
}
