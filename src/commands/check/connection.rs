//! Risks in the settings of the database, found without a connection.

use super::finding::{Finding, Level};
use crate::postgres::SqlConfig;

/// Settings that work and should be looked at.
pub(super) fn warnings(config: &SqlConfig) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut warn = |text: &str, cure: &str| findings.push(Level::Warn.about("sql", text).cured_by(cure));
    let servers = config.dsn.unencrypted().join(", ");
    if !servers.is_empty() {
        warn(
            &format!("what goes to {servers} may go unencrypted: anybody on the way could read or change it"),
            "sslmode=verify-full and sslrootcert (a file, or 'system') in the DSN",
        );
    }
    if config.pool_max_size >= config.max_stuck {
        warn(
            "SQL may take every slot: while it is slow, files and metrics wait",
            "MCP_MAX_CONCURRENCY above MCP_SQL_POOL_MAX_SIZE",
        );
    }
    let call = config.call_timeout.as_millis();
    for (name, time) in [
        ("MCP_SQL_STATEMENT_TIMEOUT_MS", config.statement_timeout.as_millis()),
        ("MCP_SQL_CONNECT_TIMEOUT_MS", config.login_timeout().as_millis()),
    ] {
        if time > call {
            let cure = format!("{name} (or connect_timeout in the DSN) below MCP_CALL_TIMEOUT_MS");
            warn(&format!("{name} allows {time} ms, of which a call has {call}"), &cure);
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;
    use crate::settings::Settings;

    /// The warnings about these settings.
    #[track_caller]
    fn check(dsn: &str, settings: &[(&str, &str)], expected: &[&str]) {
        let dsn = [("MCP_SQL_DSN", dsn), ("USER", "me")];
        let vars =
            dsn.iter().chain(settings).map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let settings = Settings::read(vars).unwrap();
        let findings = warnings(&settings.sql.unwrap());
        assert_eq!(findings.len(), expected.len(), "{findings:?}");
        for (finding, part) in findings.iter().zip(expected) {
            assert!(finding.level == Level::Warn && finding.cure.is_some(), "{finding:?}");
            assert!(finding.text.contains(part), "{finding:?}");
        }
    }

    #[test]
    fn a_remote_server_is_worth_encryption() {
        for mode in ["disable", "allow", "prefer"] {
            check(
                &format!("postgres://db.example.org/d?sslmode={mode}"),
                &[],
                &["db.example.org:5432 may go unencrypted"],
            );
        }
        check("host=127.0.0.1,10.0.0.1,/run/pg,localhost,::1,b", &[], &["10.0.0.1:5432, b:5432 may"]);
        check("host=localhost hostaddr=10.0.0.1", &[], &["localhost:5432"]);
        check("host=db hostaddr=127.0.0.2", &[], &[]);
        check("postgres:///d", &[], &[]);
        #[cfg(feature = "tls")]
        check("postgres://db.example.org/d?sslmode=require", &[], &[]);
    }

    #[test]
    fn limits_that_contradict_each_other_are_reported() {
        let dsn = "postgres:///d";
        let pool = ("MCP_SQL_POOL_MAX_SIZE", "4");
        check(dsn, &[pool, ("MCP_MAX_CONCURRENCY", "5")], &[]);
        check(dsn, &[pool, ("MCP_MAX_CONCURRENCY", "4")], &["every slot"]);
        check(dsn, &[pool, ("MCP_MAX_CONCURRENCY", "2")], &["every slot"]);
        let call = ("MCP_CALL_TIMEOUT_MS", "1000");
        check(dsn, &[call], &[]);
        check(dsn, &[call, ("MCP_SQL_STATEMENT_TIMEOUT_MS", "1000")], &[]);
        check(
            dsn,
            &[call, ("MCP_SQL_STATEMENT_TIMEOUT_MS", "1001")],
            &["MCP_SQL_STATEMENT_TIMEOUT_MS allows 1001 ms"],
        );
        check("postgres:///d?connect_timeout=3", &[call], &["MCP_SQL_CONNECT_TIMEOUT_MS allows 3000 ms"]);
    }
}
