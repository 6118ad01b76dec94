//! The reasons why there is no connection, each with an operator's cure.

use std::time::Duration;
use std::{fmt, io};

use postgres::error::SqlState;

use super::role_check::RoleFinding;
use super::sqlstate::{chain, io_kind};

/// There is no connection. The text is for an operator: the cause and the cure, never the password.
#[derive(Debug)]
pub struct ConnectError {
    /// The servers in the order in which they were tried.
    pub(super) attempts: Vec<(String, Cause)>,
}

/// One server would not do.
#[derive(Debug, thiserror::Error)]
pub(super) enum Cause {
    /// The driver failed.
    #[error("{}", driver_text(.0))]
    Driver(#[from] postgres::Error),
    /// It is not of the kind that `target_session_attrs` asks for.
    #[error("the server is not what target_session_attrs asks for")]
    NotWanted,
    /// The role may do more than read.
    #[error("the role may do more than read (MCP_SQL_UNSAFE_ROLE){}", listed(.0))]
    UnsafeRole(Vec<RoleFinding>),
    /// No answer at all in time.
    #[error(
        "no answer within {} ms: it hangs or is frozen, or a firewall is in between; see MCP_SQL_CONNECT_TIMEOUT_MS",
        .0.as_millis()
    )]
    Silent(Duration),
    /// Earlier logins have had no answer yet, as many as may wait.
    #[error("it hangs or is frozen: earlier logins still wait for an answer")]
    Hanging,
    /// No thread could be started to log in.
    #[error("no thread could be started to log in: {0}")]
    Thread(io::Error),
    /// The peer does not speak SQL as PostgreSQL does.
    #[error("what answers there is not a PostgreSQL server")]
    NotPostgres,
}

impl ConnectError {
    /// Returns whether there is a server that would do and has no connection to spare.
    pub(super) fn is_crowded(&self) -> bool {
        self.attempts.iter().any(|(_, cause)| {
            matches!(cause, Cause::Driver(error) if error.code() == Some(&SqlState::TOO_MANY_CONNECTIONS))
        })
    }

    /// Returns whether waiting can cure it: nothing listens, nothing answers, the server starts or is full.
    pub(super) fn may_pass(&self) -> bool {
        let may_pass = |cause: &Cause| match cause {
            Cause::Driver(error) => match error.code() {
                Some(code) => matches!(code.code().get(..2), Some("53" | "57" | "58")),
                None => error.is_closed() || io_kind(error).is_some(),
            },
            Cause::Silent(_) | Cause::Hanging | Cause::NotWanted | Cause::Thread(_) => true,
            Cause::UnsafeRole(_) | Cause::NotPostgres => false,
        };
        self.attempts.iter().any(|(_, cause)| may_pass(cause)) || self.attempts.is_empty()
    }

    /// Returns whether the role was refused.
    pub(super) fn is_unsafe_role(&self) -> bool {
        self.attempts.iter().any(|(_, cause)| matches!(cause, Cause::UnsafeRole(_)))
    }
}

impl std::error::Error for ConnectError {}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let attempts = self.attempts.iter().map(|(server, cause)| format!("{server}: {cause}"));
        f.write_str(&attempts.collect::<Vec<_>>().join("; "))
    }
}

fn listed(findings: &[RoleFinding]) -> String {
    findings.iter().map(|finding| format!("; {}: {}", finding.text, finding.cure)).collect()
}

fn driver_text(error: &postgres::Error) -> String {
    let text = error.as_db_error().map_or_else(|| chain(error), |refusal| refusal.message().to_owned());
    match cure(error) {
        Some(cure) => format!("{text} ({cure})"),
        None => text,
    }
}

const HUNG_UP: &str = "the server hung up; does something else than PostgreSQL listen there?";
const NOT_LISTENING: &str = "is PostgreSQL running, and does it listen there?";
const BAD_OPTIONS: &str = "check 'options' in the DSN";

/// An operator's cures by SQLSTATE.
#[rustfmt::skip]
const BY_CODE: [(&str, &str); 11] = [
    ("28P01", "check the password in the DSN, PGPASSWORD or the passfile"),
    ("28000", "pg_hba.conf has no line that lets this role in from here, or asks for another way to log in"),
    ("3D000", "check the database's name in the DSN"),
    ("42501", "GRANT CONNECT ON DATABASE … TO the role"),
    ("08P01", "PgBouncer or its kind is in between: set MCP_SQL_POOLER=transaction and take 'options' out of the DSN"),
    ("42704", BAD_OPTIONS), ("22023", BAD_OPTIONS), ("55P02", BAD_OPTIONS),
    ("53300", "raise max_connections, or the CONNECTION LIMIT of the role or the database; or lower MCP_SQL_POOL_MAX_SIZE"),
    ("55000", "ALTER DATABASE … ALLOW_CONNECTIONS true"),
    ("57P03", "the server is starting up, shutting down or recovering: try again"),
];

/// The same by a part of the driver's text. A connection is closed between messages, or in the middle of one.
#[rustfmt::skip]
const BY_TEXT: [(&str, &str); 9] = [
    ("failed to lookup address", "check the host's name in the DSN, and whether this process can look names up"),
    ("password missing", "give a password in the DSN, PGPASSWORD or a passfile"),
    ("does not support TLS", "use sslmode=prefer or disable, or turn ssl on in the server"),
    ("UnknownIssuer", "sslrootcert does not hold the authority that signed the server's certificate"),
    ("not valid for name", "the certificate is made out to another name: use that host name or sslmode=verify-ca"),
    ("UnsupportedCertVersion", "the certificate is X.509 version 1, which is not accepted: make a version 3 one"),
    ("channel binding", "use channel_binding=prefer"),
    ("connection closed", HUNG_UP), ("bytes remaining", HUNG_UP),
];

/// The same by the kind of an I/O error.
#[rustfmt::skip]
const BY_KIND: [(io::ErrorKind, &str); 6] = [
    (io::ErrorKind::ConnectionRefused, NOT_LISTENING), (io::ErrorKind::NotFound, NOT_LISTENING),
    (io::ErrorKind::TimedOut, "is there a firewall in between? see MCP_SQL_CONNECT_TIMEOUT_MS"),
    (io::ErrorKind::PermissionDenied, "may this process use the socket's directory?"),
    (io::ErrorKind::UnexpectedEof, HUNG_UP), (io::ErrorKind::ConnectionReset, HUNG_UP),
];

fn cure(error: &postgres::Error) -> Option<&'static str> {
    let found = |(_, cure): &(_, &'static str)| *cure;
    if let Some(code) = error.code() {
        return BY_CODE.iter().find(|(known, _)| *known == code.code()).map(found);
    }
    let text = chain(error);
    let by_kind = || Some(BY_KIND.iter().find(|(kind, _)| Some(*kind) == io_kind(error))?.1);
    BY_TEXT.iter().find(|(part, _)| text.contains(part)).map(found).or_else(by_kind)
}
