//! Risks in the settings of the database, found without a connection.

use super::finding::{Finding, Level};
use crate::diagnostics::escape;
use crate::postgres::SqlConfig;

/// Settings that work and should be looked at.
pub(super) fn warnings(config: &SqlConfig) -> Vec<Finding> {
    let warn = |text: String| Finding::new(Level::Warn, "sql", text);
    let mut findings = Vec::new();
    let readable = config.dsn.unencrypted();
    if !readable.is_empty() {
        let servers = escape(&readable.join(", "));
        findings.push(
            warn(format!(
                "what goes to {servers} may go unencrypted: anybody on the way could read or change it"
            ))
            .cured_by("sslmode=verify-full and sslrootcert (a file, or 'system') in the DSN"),
        );
    }
    if config.pool_max_size >= config.max_stuck {
        findings.push(
            warn("SQL may take every slot: while it is slow, files and metrics wait".to_owned())
                .cured_by("MCP_MAX_CONCURRENCY above MCP_SQL_POOL_MAX_SIZE"),
        );
    }
    let call = config.call_timeout;
    for (name, time) in [
        ("MCP_SQL_STATEMENT_TIMEOUT_MS", config.statement_timeout),
        ("MCP_SQL_CONNECT_TIMEOUT_MS", config.login_timeout()),
    ] {
        if time > call {
            let (time, call) = (time.as_millis(), call.as_millis());
            findings.push(
                warn(format!("{name} allows {time} ms, of which a call has {call}"))
                    .cured_by(format!("{name} (or connect_timeout in the DSN) below MCP_CALL_TIMEOUT_MS")),
            );
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
