//! `deploy systemd`: a socket that starts one process for each connection, and what that process may not do.
//!
//! The connection string is a credential (systemd.exec(5)): it stands in a file of root's, and neither in the unit nor in
//! the process's environment.

use std::{io, net::IpAddr, path};

use clap::{Args, ValueEnum};

use super::{DSN_FILE, Limits, environment, fill};
use crate::settings::Settings;

const SOCKET: &str = include_str!("socket.txt");
const SERVICE: &str = include_str!("service.txt");

/// Where a database whose address is not known here most likely is.
const PRIVATE_NETWORKS: &str = "localhost link-local 10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 fc00::/7";

/// What `deploy systemd` can be told.
#[derive(Debug, Args)]
pub(super) struct Options {
    /// Print only one of the two files
    #[arg(long, value_enum)]
    unit: Option<Unit>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Unit {
    Socket,
    Service,
}

pub(super) fn units(options: &Options, program: &str, settings: &Settings) -> io::Result<String> {
    let service = service(program, settings)?;
    Ok(match options.unit {
        Some(Unit::Socket) => SOCKET.to_owned(),
        Some(Unit::Service) => service,
        None => format!("{SOCKET}\n{service}"),
    })
}

fn service(program: &str, settings: &Settings) -> io::Result<String> {
    let has_metrics = settings.metrics_disk_path.is_some();
    let Limits { tasks, descriptors, stop_seconds } = Limits::of(settings)?;
    Ok(fill(
        SERVICE,
        &[
            ("program", &quoted(program)?.replace('$', "$$")),
            ("stop_seconds", &stop_seconds),
            ("tasks", &tasks),
            ("descriptors", &descriptors),
            ("proc_subset", if has_metrics { "all" } else { "pid" }),
            ("network", &network(settings)),
            ("settings", &assignments(settings)?),
            ("data", &data(settings)?),
        ],
    ))
}

/// What gives the process its settings.
fn assignments(settings: &Settings) -> io::Result<String> {
    let mut lines = Vec::new();
    for (name, value) in environment(settings)? {
        lines.push(format!("Environment={}", quoted(&format!("{name}={value}"))?));
    }
    if settings.sql.is_some() {
        lines.push("# The connection string, password included: chmod 600, owned by root".to_owned());
        lines.push(format!("LoadCredential=sql-dsn:{DSN_FILE}"));
        lines.push("Environment=MCP_SQL_DSN_FILE=%d/sql-dsn".to_owned());
    }
    if let Some(passfile) = settings.passfile.as_ref().filter(|_| settings.sql.is_some()) {
        let passfile = path::absolute(passfile)?;
        let passfile = passfile.to_str().ok_or_else(|| io::Error::other("PGPASSFILE is not UTF-8"))?;
        lines.push(format!("LoadCredential={}", quoted(&format!("passfile:{passfile}"))?));
        lines.push("Environment=PGPASSFILE=%d/passfile".to_owned());
    }
    Ok(lines.join("\n"))
}

/// The data directory, wherever it is: home directories are hidden.
fn data(settings: &Settings) -> io::Result<String> {
    let directory = environment(settings)?.into_iter().find(|(name, _)| *name == "MCP_SAFE_DATA_DIR");
    let Some((_, directory)) = directory else { return Ok(String::new()) };
    if directory.contains([':', '\\']) {
        return Err(io::Error::other(
            "MCP_SAFE_DATA_DIR: systemd cannot mount a path with ':' or '\\' in it",
        ));
    }
    let directory = quoted(&directory)?;
    Ok(format!(
        "# Its files must be readable for others, or for a group: SupplementaryGroups=that-group\n\
         BindReadOnlyPaths={directory}\nNoExecPaths={directory}\n"
    ))
}

fn network(settings: &Settings) -> String {
    let servers: Vec<Option<IpAddr>> =
        settings.sql.iter().flat_map(|sql| sql.dsn.tcp()).map(|(address, _)| address).collect();
    if servers.is_empty() {
        return "PrivateNetwork=yes\nRestrictAddressFamilies=AF_UNIX\nIPAddressDeny=any".to_owned();
    }
    let known: Option<Vec<String>> = servers.iter().map(|address| Some((*address)?.to_string())).collect();
    let (advice, allowed) = match known {
        Some(addresses) => ("", addresses.join(" ")),
        None => ("# Narrow this to the database and the name servers\n", PRIVATE_NETWORKS.to_owned()),
    };
    format!(
        "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6\nIPAddressDeny=any\n{advice}IPAddressAllow={allowed}"
    )
}

/// A value as a unit file has it (systemd.syntax(7)).
fn quoted(value: &str) -> io::Result<String> {
    if value.chars().any(char::is_control) {
        return Err(io::Error::other("a unit file cannot hold control characters"));
    }
    let escaped = value.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%");
    Ok(format!("\"{escaped}\""))
}

#[cfg(test)]
mod tests {
    use super::{super::settings, *};

    #[track_caller]
    fn check(vars: &[(&str, &str)], held: &[&str], not_held: &[&str]) {
        let unit = service("/opt/suite", &settings(vars)).unwrap();
        held.iter()
            .for_each(|line| assert!(unit.contains(&format!("\n{line}\n")), "{line} is not in\n{unit}"));
        not_held.iter().for_each(|text| assert!(!unit.contains(text), "{text} is in\n{unit}"));
        assert!(!unit.contains(['{', '}']), "{unit}");
    }

    #[test]
    fn a_service_without_a_database_has_no_network() {
        let held = [
            "ExecStart=\"/opt/suite\" serve",
            "PrivateNetwork=yes",
            "RestrictAddressFamilies=AF_UNIX",
            "ProcSubset=all",
        ];
        check(&[], &held, &["LoadCredential", "BindReadOnlyPaths", "IPAddressAllow"]);
        check(&[("MCP_METRICS_ENABLED", "false")], &["ProcSubset=pid"], &[]);
        check(&[("MCP_SQL_DSN", "host=/run/postgresql user=r")], &["PrivateNetwork=yes"], &[]);
    }

    #[test]
    fn a_database_is_reached_at_its_address_and_its_secret_is_a_credential() {
        let dsn = |dsn| [("MCP_SQL_DSN", dsn), ("MCP_LOG_FILE", "/dev/null")];
        check(
            &dsn("postgres://r:hunter2@[fd00::7]:6432,10.1.2.3/x"),
            &[
                "IPAddressAllow=fd00::7 10.1.2.3",
                "LoadCredential=sql-dsn:/etc/mcp-server-suite/sql-dsn",
                "Environment=MCP_SQL_DSN_FILE=%d/sql-dsn",
            ],
            &["hunter2", "PrivateNetwork", "MCP_LOG_FILE", "MCP_SQL_DSN="],
        );
        let private = format!("IPAddressAllow={PRIVATE_NETWORKS}");
        check(&dsn("postgres://r@db.example/x"), &[&private], &[]);
    }

    #[test]
    fn settings_are_quoted() {
        check(
            &[("MCP_SAFE_DATA_DIR", "src"), ("MCP_SQL_ALLOW_FUNCTIONS", "a, b")],
            &["Environment=\"MCP_SQL_ALLOW_FUNCTIONS=a, b\""],
            &["=src"],
        );
        assert_eq!(quoted("a \"b\" \\ 100%").unwrap(), r#""a \"b\" \\ 100%%""#);
        assert!(quoted("a\nExecStartPre=/bin/sh").is_err());
    }
}
