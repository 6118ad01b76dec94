//! The driver's settings: of the DSN what it knows itself, and the options that a session starts with.

use std::time::Duration;

use postgres::Config;
use postgres::config::ChannelBinding as DriverBinding;

use super::config::{Pooler, SqlConfig};
use super::dsn::{ChannelBinding, Dsn, Host, Server};
use super::session::IDLE_MARGIN;

/// The driver's settings for one server.
pub(super) fn config(config: &SqlConfig, server: &Server, connect_timeout: Duration) -> Config {
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
        Host::Socket(_) | Host::DefaultSocket => {
            if let Some(directory) = server.socket_directory() {
                driver.host_path(directory);
            }
        }
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

/// The DSN's own options, and bounds on our statements outside of transactions, whatever the role's own are; a transaction
/// that failed has lost its own settings. A pooler takes no start-up options.
fn options(config: &SqlConfig, timeout: Duration) -> Option<String> {
    match config.pooler {
        Pooler::Transaction => config.dsn.options.clone(),
        Pooler::None => {
            let own = config.dsn.options.as_deref().unwrap_or_default();
            let idle = config.call_timeout.saturating_add(IDLE_MARGIN).as_millis();
            Some(format!(
                "{own} -c jit=off -c statement_timeout={} -c lock_timeout=0 -c idle_in_transaction_session_timeout={}",
                timeout.as_millis(),
                i32::try_from(idle).unwrap_or(i32::MAX)
            ))
        }
    }
}
