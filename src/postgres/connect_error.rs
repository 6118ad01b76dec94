//! The reasons why there is no connection, each with an operator's cure.

use std::error::Error as _;
use std::time::Duration;
use std::{fmt, io};

use postgres::error::SqlState;

use super::role_check::RoleFinding;
use super::sqlstate::chain;

/// There is no connection. The text is for an operator: the cause and the cure, never the password.
#[derive(Debug)]
pub struct ConnectError {
    attempts: Vec<(String, Cause)>,
}

/// One server would not do.
#[derive(Debug)]
pub(super) enum Cause {
    /// The driver failed.
    Driver(postgres::Error),
    /// It is not of the kind that `target_session_attrs` asks for.
    NotWanted,
    /// The role may do more than read.
    UnsafeRole(Vec<RoleFinding>),
    /// No answer at all in time.
    Silent(Duration),
    /// Earlier logins have had no answer yet, as many as may wait.
    Hanging,
    /// No thread could be started to log in.
    Thread(io::Error),
    /// The peer does not speak SQL as PostgreSQL does.
    NotPostgres,
}

impl From<postgres::Error> for Cause {
    fn from(error: postgres::Error) -> Self {
        Self::Driver(error)
    }
}

impl ConnectError {
    /// The failure at one server.
    pub(super) fn of(server: &str, cause: Cause) -> Self {
        Self { attempts: vec![(server.to_owned(), cause)] }
    }

    /// The failures at several, in order.
    pub(super) fn of_all(attempts: Vec<(String, Cause)>) -> Self {
        Self { attempts }
    }

    /// Returns whether there is a server that would do and has no connection to spare.
    pub(super) fn is_crowded(&self) -> bool {
        self.attempts.iter().any(|(_, cause)| {
            matches!(cause, Cause::Driver(error) if error.code() == Some(&SqlState::TOO_MANY_CONNECTIONS))
        })
    }

    /// The findings for which the role was refused, if that is the cause.
    pub(super) fn unsafe_role(&self) -> Option<&[RoleFinding]> {
        self.attempts.iter().find_map(|(_, cause)| {
            if let Cause::UnsafeRole(findings) = cause { Some(findings.as_slice()) } else { None }
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

/// An operator's cure for it.
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
