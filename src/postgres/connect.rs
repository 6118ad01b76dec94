//! Opens a connection as libpq would: each server in turn, each way of encrypting it that `sslmode` allows.

use std::{
    error::Error as _,
    fmt, io,
    path::Path,
    time::{Duration, Instant},
};

use postgres::{Client, Config, config::ChannelBinding as DriverBinding, error::SqlState};

use super::{
    Pooler, SqlConfig,
    dsn::{ChannelBinding, Dsn, Host, Server, SessionTarget},
    login::Logins,
    role_check::RoleFinding,
    session::{CANCEL_TIME, Facts, IDLE_MARGIN, Session},
    sqlstate::chain,
    stream::Watch,
    transport::Transport,
};

/// Why there is no connection. Its text is for an operator: the cause and the cure, never the password.
#[derive(Debug)]
pub struct ConnectError {
    attempts: Vec<(String, Cause)>,
}

/// Why one server would not do.
#[derive(Debug)]
pub(crate) enum Cause {
    /// The driver failed.
    Driver(postgres::Error),
    /// It is not what `target_session_attrs` asks for.
    NotWanted,
    /// The role may do more than read.
    UnsafeRole(Vec<RoleFinding>),
    /// No answer at all in time.
    Silent(Duration),
    /// Earlier logins have had no answer yet, and there are no more to spend.
    Hanging,
    /// No thread could be started to log in.
    Thread(io::Error),
    /// What answered does not speak SQL as PostgreSQL does.
    NotPostgres,
}

impl From<postgres::Error> for Cause {
    fn from(error: postgres::Error) -> Self {
        Self::Driver(error)
    }
}

impl ConnectError {
    /// What one server said.
    pub(super) fn of(server: &str, cause: Cause) -> Self {
        Self { attempts: vec![(server.to_owned(), cause)] }
    }

    /// Whether there is a server that would do and has no connection to spare.
    pub(super) fn is_crowded(&self) -> bool {
        self.attempts.iter().any(|(_, cause)| match cause {
            Cause::Driver(error) => error.code() == Some(&SqlState::TOO_MANY_CONNECTIONS),
            Cause::NotWanted
            | Cause::UnsafeRole(_)
            | Cause::Silent(_)
            | Cause::Hanging
            | Cause::Thread(_)
            | Cause::NotPostgres => false,
        })
    }

    /// The reasons for which the role was refused, if that is the cause.
    pub(super) fn unsafe_role(&self) -> Option<&[RoleFinding]> {
        self.attempts.iter().find_map(|(_, cause)| match cause {
            Cause::UnsafeRole(findings) => Some(findings.as_slice()),
            Cause::Driver(_)
            | Cause::NotWanted
            | Cause::Silent(_)
            | Cause::Hanging
            | Cause::Thread(_)
            | Cause::NotPostgres => None,
        })
    }
}

impl std::error::Error for ConnectError {}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (server, cause)) in self.attempts.iter().enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            write!(f, "{separator}{server}: {cause}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotPostgres => f.write_str("what answers there is not a PostgreSQL server"),
            Self::NotWanted => f.write_str("the server is not what target_session_attrs asks for"),
            Self::Silent(time) => {
                write!(f, "no answer within {} ms: it hangs or is frozen", time.as_millis())?;
                f.write_str(", or a firewall is in between; see MCP_SQL_CONNECT_TIMEOUT_MS")
            }
            Self::Hanging => f.write_str("it hangs or is frozen: earlier logins still wait for an answer"),
            Self::Thread(error) => write!(f, "no thread could be started to log in: {error}"),
            Self::UnsafeRole(findings) => {
                f.write_str("the role may do more than read (MCP_SQL_UNSAFE_ROLE)")?;
                findings.iter().try_for_each(|finding| write!(f, "; {}: {}", finding.text, finding.cure))
            }
            Self::Driver(error) => {
                match error.as_db_error() {
                    Some(refusal) => write!(f, "{}", refusal.message())?,
                    None => f.write_str(&chain(error))?,
                }
                match cure(error) {
                    Some(cure) => write!(f, " ({cure})"),
                    None => Ok(()),
                }
            }
        }
    }
}

const HUNG_UP: &str = "the server hung up; does something else than PostgreSQL listen there?";

/// What an operator can do about it.
fn cure(error: &postgres::Error) -> Option<&'static str> {
    if let Some(code) = error.code() {
        return Some(match code.code() {
            "28P01" => "check the password in the DSN, PGPASSWORD or the passfile",
            "28000" => {
                "pg_hba.conf has no line that lets this role in from here, or asks for another way to log in"
            }
            "3D000" => "check the database's name in the DSN",
            "42501" => "GRANT CONNECT ON DATABASE … TO the role",
            "08P01" => {
                "PgBouncer or its kind is in between: set MCP_SQL_POOLER=transaction and take 'options' out of the DSN"
            }
            "42704" | "22023" | "55P02" => "check 'options' in the DSN",
            "53300" => {
                "raise max_connections, or the CONNECTION LIMIT of the role or the database; or lower \
                 MCP_SQL_POOL_MAX_SIZE"
            }
            "55000" => "ALTER DATABASE … ALLOW_CONNECTIONS true",
            "57P03" => "the server is starting up, shutting down or recovering: try again",
            _ => return None,
        });
    }
    let text = chain(error);
    let texts = [
        (
            "failed to lookup address",
            "check the host's name in the DSN, and whether this process can look names up",
        ),
        ("password missing", "give a password in the DSN, PGPASSWORD or a passfile"),
        ("does not support TLS", "use sslmode=prefer or disable, or turn ssl on in the server"),
        ("UnknownIssuer", "sslrootcert does not hold the authority that signed the server's certificate"),
        (
            "not valid for name",
            "the certificate is made out to another name: use that host name or sslmode=verify-ca",
        ),
        (
            "UnsupportedCertVersion",
            "the certificate is X.509 version 1, which is not accepted: make a version 3 one",
        ),
        ("channel binding", "use channel_binding=prefer"),
        // Between messages and in the middle of one.
        ("connection closed", HUNG_UP),
        ("bytes remaining", HUNG_UP),
    ];
    if let Some((_, cure)) = texts.iter().find(|(part, _)| text.contains(part)) {
        return Some(cure);
    }
    let kinds = [
        (io::ErrorKind::ConnectionRefused, "is PostgreSQL running, and does it listen there?"),
        (io::ErrorKind::NotFound, "is PostgreSQL running, and does it listen there?"),
        (io::ErrorKind::TimedOut, "is there a firewall in between? see MCP_SQL_CONNECT_TIMEOUT_MS"),
        (io::ErrorKind::PermissionDenied, "may this process use the socket's directory?"),
        (io::ErrorKind::UnexpectedEof, HUNG_UP),
        (io::ErrorKind::ConnectionReset, HUNG_UP),
    ];
    let kind = io_kind(error)?;
    kinds.iter().find(|(known, _)| *known == kind).map(|(_, cure)| *cure)
}

/// The kind of the I/O error behind a driver's error.
pub(super) fn io_kind(error: &postgres::Error) -> Option<io::ErrorKind> {
    Some(error.source()?.downcast_ref::<io::Error>()?.kind())
}

/// Opens a connection to the first server that will do; `logins` are those to each.
pub(super) fn open(
    config: &SqlConfig,
    logins: &[Logins],
    remaining: Duration,
) -> Result<Session, ConnectError> {
    let begun = Instant::now();
    let dsn = &config.dsn;
    let mut servers: Vec<(&Server, &Logins)> = dsn.servers.iter().zip(logins).collect();
    if dsn.shuffle {
        // Any server will do first: the clock is random enough to spread processes.
        let nanos = std::time::UNIX_EPOCH.elapsed().map_or(0, |time| time.subsec_nanos());
        let turn = usize::try_from(nanos).unwrap_or(0).checked_rem(servers.len()).unwrap_or(0);
        servers.rotate_left(turn);
    }
    let mut attempts = Vec::new();
    // `prefer-standby` goes round twice: for a standby, then for any.
    let rounds: &[SessionTarget] = match dsn.target {
        SessionTarget::PreferStandby => &[SessionTarget::Standby, SessionTarget::Any],
        SessionTarget::Any => &[SessionTarget::Any],
        SessionTarget::ReadWrite => &[SessionTarget::ReadWrite],
        SessionTarget::ReadOnly => &[SessionTarget::ReadOnly],
        SessionTarget::Primary => &[SessionTarget::Primary],
        SessionTarget::Standby => &[SessionTarget::Standby],
    };
    for round in rounds {
        for (server, logins) in &servers {
            let patience = config.login_timeout().min(remaining.saturating_sub(begun.elapsed()));
            if patience.is_zero() {
                return Err(ConnectError { attempts });
            }
            match open_server(config, server, logins, patience) {
                Ok(session) if wanted(*round, session.facts()) => return Ok(session),
                Ok(_) => attempts.push((server.to_string(), Cause::NotWanted)),
                Err(cause) => attempts.push((server.to_string(), cause)),
            }
        }
    }
    Err(ConnectError { attempts })
}

fn wanted(target: SessionTarget, facts: &Facts) -> bool {
    match target {
        SessionTarget::Any | SessionTarget::PreferStandby => true,
        SessionTarget::ReadWrite => !facts.in_recovery && !facts.read_only_by_default,
        SessionTarget::ReadOnly => facts.in_recovery || facts.read_only_by_default,
        SessionTarget::Primary => !facts.in_recovery,
        SessionTarget::Standby => facts.in_recovery,
    }
}

fn open_server(
    config: &SqlConfig,
    server: &Server,
    logins: &Logins,
    patience: Duration,
) -> Result<Session, Cause> {
    let driver = driver_config(config, server, patience);
    let transports = match server.host {
        Host::Tcp { .. } => Transport::allowed(&config.dsn),
        Host::Socket(_) | Host::DefaultSocket => (Transport::UnixSocket, None),
    };
    // Longer than the caller's own, whose error says more.
    let watch = Watch::new(patience.saturating_add(CANCEL_TIME), config.max_row_bytes());
    let pooler = config.pooler;
    logins.wait(patience, move || {
        let (client, transport) = log_in_as(&driver, transports, &watch)?;
        Session::open(client, transport, watch, pooler)
    })
}

/// Logs in by the first transport; by the second if there is one and it may help. Says which it was.
fn log_in_as(
    driver: &Config,
    (first, second): (Transport, Option<Transport>),
    watch: &Watch,
) -> Result<(Client, Transport), postgres::Error> {
    let error = match first.log_in(driver, watch) {
        Ok(client) => return Ok((client, first)),
        Err(error) => error,
    };
    let Some(second) = second.filter(|_| other_way_may_help(&error)) else { return Err(error) };
    match second.log_in(driver, watch) {
        Ok(client) => Ok((client, second)),
        // A server without TLS: what it says without is what matters.
        Err(plain) if has_no_tls(&error) => Err(plain),
        Err(_) => Err(error),
    }
}

fn has_no_tls(error: &postgres::Error) -> bool {
    chain(error).contains("does not support TLS")
}

/// Whether the server was reached and said no: then the other of plain and TLS may be what it wants. As with libpq, it is not
/// when we were the one who said no.
fn other_way_may_help(error: &postgres::Error) -> bool {
    match error.code() {
        Some(code) => {
            *code == SqlState::INVALID_AUTHORIZATION_SPECIFICATION || *code == SqlState::INVALID_PASSWORD
        }
        None if chain(error).contains("channel binding") => false,
        None => !matches!(
            io_kind(error),
            Some(io::ErrorKind::ConnectionRefused | io::ErrorKind::TimedOut | io::ErrorKind::NotFound)
        ),
    }
}

fn driver_config(config: &SqlConfig, server: &Server, connect_timeout: Duration) -> Config {
    let Dsn { user, database, application_name, keepalives, .. } = &config.dsn;
    let mut driver = Config::new();
    driver.user(user).dbname(database).application_name(application_name).port(server.port);
    match &server.host {
        Host::Tcp { name, address } => {
            driver.host(name);
            if let Some(address) = address {
                driver.hostaddr(*address);
            }
        }
        Host::Socket(directory) => drop(driver.host_path(directory)),
        Host::DefaultSocket => drop(driver.host_path(default_socket(server.port))),
    }
    if let Some(password) = &server.password {
        driver.password(password.reveal());
    }
    driver.connect_timeout(connect_timeout);
    if let Some(options) = options(config, connect_timeout) {
        driver.options(&options);
    }
    driver.keepalives(keepalives.enabled).keepalives_idle(keepalives.idle);
    driver.keepalives_interval(keepalives.interval).keepalives_retries(keepalives.count);
    driver.tcp_user_timeout(config.dsn.tcp_user_timeout.unwrap_or(config.call_timeout));
    driver.channel_binding(match config.dsn.channel_binding {
        ChannelBinding::Disable => DriverBinding::Disable,
        ChannelBinding::Prefer => DriverBinding::Prefer,
        ChannelBinding::Require => DriverBinding::Require,
    });
    driver.notice_callback(|notice| {
        log::info!("notice from PostgreSQL: {} {}", notice.code().code(), notice.message());
    });
    driver
}

/// The DSN's own options, and bounds on what we do outside of transactions, whatever the role's own; one that failed has
/// lost the settings that were its own. A pooler takes no start-up options.
fn options(config: &SqlConfig, timeout: Duration) -> Option<String> {
    match config.pooler {
        Pooler::Transaction => config.dsn.options.clone(),
        Pooler::None => {
            let own = config.dsn.options.as_deref().unwrap_or_default();
            let idle = config.call_timeout.saturating_add(IDLE_MARGIN).as_millis();
            Some(format!(
                "{own} -c statement_timeout={} -c lock_timeout=0 -c idle_in_transaction_session_timeout={}",
                timeout.as_millis(),
                i32::try_from(idle).unwrap_or(i32::MAX)
            ))
        }
    }
}

/// The directory that holds the server's socket, of those that packages compile in.
pub(super) fn default_socket(port: u16) -> &'static Path {
    let usual = ["/var/run/postgresql", "/tmp"].map(Path::new);
    let found = usual.into_iter().find(|directory| directory.join(format!(".s.PGSQL.{port}")).exists());
    found.unwrap_or(Path::new("/var/run/postgresql"))
}
