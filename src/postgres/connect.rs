//! Opens a connection as libpq would: each server in turn, each way of encrypting it that `sslmode` allows.

use std::io;
use std::time::{Duration, Instant};

use postgres::error::SqlState;
use postgres::{Client, Config};

use super::config::{Pooler, SqlConfig};
use super::connect_error::{Cause, ConnectError};
use super::dsn::{Host, Password, Server, SessionTarget};
use super::login::Logins;
use super::server_info::ServerInfo;
use super::session::{CANCEL_TIME, IDLE_MARGIN, Session};
use super::simple_query::milliseconds;
use super::sqlstate::{chain, io_kind};
use super::stream::Deadline;
use super::transport::Transport;

/// Opens a connection to the first server that will do; `logins` are those to each server.
pub(super) fn open(
    config: &SqlConfig,
    logins: &[Logins],
    remaining: Duration,
) -> Result<Session, ConnectError> {
    let begun = Instant::now();
    let dsn = &config.dsn;
    let mut servers: Vec<(&Server, &Logins)> = dsn.servers.iter().zip(logins).collect();
    if dsn.shuffle {
        // Any server may be the first: the clock is random enough to spread processes.
        let nanos = std::time::UNIX_EPOCH.elapsed().map_or(0, |time| time.subsec_nanos());
        let turn = usize::try_from(nanos).unwrap_or(0).checked_rem(servers.len()).unwrap_or(0);
        servers.rotate_left(turn);
    }
    let mut attempts = Vec::new();
    // `prefer-standby` goes round twice: for a standby, then for any.
    let rounds = if dsn.target == SessionTarget::PreferStandby {
        &[SessionTarget::Standby, SessionTarget::Any]
    } else {
        std::slice::from_ref(&dsn.target)
    };
    for round in rounds {
        for (server, logins) in &servers {
            let patience = config.login_timeout().min(remaining.saturating_sub(begun.elapsed()));
            if patience.is_zero() {
                return Err(ConnectError { attempts });
            }
            match open_server(config, server, logins, patience) {
                Ok(session) if wanted(*round, &session.info) => return Ok(session),
                Ok(_) => attempts.push((server.to_string(), Cause::NotWanted)),
                Err(cause) => attempts.push((server.to_string(), cause)),
            }
        }
    }
    Err(ConnectError { attempts })
}

fn wanted(target: SessionTarget, info: &ServerInfo) -> bool {
    match target {
        SessionTarget::Any | SessionTarget::PreferStandby => true,
        SessionTarget::ReadWrite => !info.in_recovery && !info.read_only_by_default,
        SessionTarget::ReadOnly => info.in_recovery || info.read_only_by_default,
        SessionTarget::Primary => !info.in_recovery,
        SessionTarget::Standby => info.in_recovery,
    }
}

fn open_server(
    config: &SqlConfig,
    server: &Server,
    logins: &Logins,
    patience: Duration,
) -> Result<Session, Cause> {
    let driver = driver_settings(config, server, patience);
    let transports = match server.host {
        Host::Tcp { .. } => Transport::allowed(&config.dsn),
        Host::Socket(_) | Host::DefaultSocket => (Transport::UnixSocket, None),
    };
    // Longer than the caller's own, whose error is clearer.
    let deadline = Deadline::new(patience.saturating_add(CANCEL_TIME), config.max_row_bytes());
    let pooler = config.pooler;
    logins.wait(patience, move || {
        let (client, transport) = log_in_as(&driver, transports, &deadline)?;
        Session::open(client, transport, deadline, pooler)
    })
}

/// The driver's settings for one server.
fn driver_settings(config: &SqlConfig, server: &Server, connect_timeout: Duration) -> Config {
    let mut driver = config.dsn.driver.clone();
    driver.port(server.port).connect_timeout(connect_timeout);
    if let Host::Tcp { name, address } = &server.host {
        driver.host(name);
        if let Some(address) = address {
            driver.hostaddr(*address);
        }
    }
    if let Some(directory) = server.socket_directory() {
        driver.host_path(directory);
    }
    if let Some(Password(password)) = &server.password {
        driver.password(password);
    }
    if config.pooler == Pooler::None {
        driver.options(&options(config, connect_timeout));
    }
    if driver.get_tcp_user_timeout().is_none() {
        driver.tcp_user_timeout(config.call_timeout);
    }
    driver.notice_callback(|notice| {
        log::info!("notice from PostgreSQL: {} {}", notice.code().code(), notice.message());
    });
    driver
}

/// The DSN's own options, and bounds on our statements outside of transactions, whatever the role's own are; a transaction
/// that failed has lost its own settings. A pooler takes no start-up options.
fn options(config: &SqlConfig, timeout: Duration) -> String {
    let own = config.dsn.driver.get_options().unwrap_or_default();
    let idle = milliseconds(config.call_timeout.saturating_add(IDLE_MARGIN));
    let timeout = timeout.as_millis();
    format!(
        "{own} -c jit=off -c statement_timeout={timeout} -c lock_timeout=0 -c idle_in_transaction_session_timeout={idle}"
    )
}

/// Logs in by the first transport; by the second if there is one and it may help. Returns the one it was.
fn log_in_as(
    driver: &Config,
    (first, second): (Transport, Option<Transport>),
    deadline: &Deadline,
) -> Result<(Client, Transport), postgres::Error> {
    let error = match first.log_in(driver, deadline) {
        Ok(client) => return Ok((client, first)),
        Err(error) => error,
    };
    let Some(second) = second.filter(|_| other_way_may_help(&error)) else { return Err(error) };
    match second.log_in(driver, deadline) {
        Ok(client) => Ok((client, second)),
        // A server without TLS: its error without TLS is the one that matters.
        Err(plain) if has_no_tls(&error) => Err(plain),
        Err(_) => Err(error),
    }
}

fn has_no_tls(error: &postgres::Error) -> bool {
    chain(error).contains("does not support TLS")
}

/// Returns whether the server was reached and refused: then it may accept the other of plain and TLS. As with libpq, it may not
/// when the refusal was ours.
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
