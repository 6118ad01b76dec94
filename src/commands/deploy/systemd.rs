//! `deploy systemd`: a socket that starts one process for each connection, and the limits of that process.
//!
//! The connection string is a credential (systemd.exec(5)): it stands in a file that root owns, neither in the unit nor in
//! the process's environment.

use std::io;
use std::net::IpAddr;
use std::path::Path;

use clap::{Args, ValueEnum};

use super::launch::{PRIVATE, dsn_file, environment, is_private, limits, notes, sockets, tls_files};
use super::printed::Printed;
use crate::settings::Settings;

const SOCKET: &str = include_str!("socket.txt");
const SERVICE: &str = include_str!("service.txt");

/// The networks in which a database of unknown address most likely is.
const PRIVATE_NETWORKS: &str = "localhost link-local 10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 fc00::/7";

/// The reason for which `MCP_LOG_FILE` is not carried.
const UNLOGGED: &str = "each connection has an account of its own, and the log goes to the journal";

/// The note on a binary in a private directory.
const HIDDEN: &str = "this binary stands where a hardened service cannot see it; install it, for example to \
    /usr/local/bin, and print this again from there";

/// The options of `deploy systemd`.
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

pub(super) fn units(options: &Options, program: &str, settings: &Settings) -> io::Result<Printed> {
    let service = service(program, settings)?;
    Ok(match options.unit {
        Some(Unit::Socket) => Printed { text: SOCKET.to_owned(), notes: Vec::new() },
        Some(Unit::Service) => service,
        None => Printed { text: format!("{SOCKET}\n{}", service.text), ..service },
    })
}

fn service(program: &str, settings: &Settings) -> io::Result<Printed> {
    let mut notes = notes(settings, Some(UNLOGGED))?;
    if is_private(program) {
        notes.push(HIDDEN.to_owned());
    }
    let mut values = limits(settings)?;
    values.extend([
        ("program", quoted(program)?.replace('$', "$$")),
        ("proc_subset", settings.metrics_disk_path.as_ref().map_or("pid", |_| "all").to_owned()),
        ("network", network(settings)),
        ("settings", assignments(settings)?),
        ("mounts", mounts(settings)?),
    ]);
    Ok(Printed::fill(SERVICE, notes, values))
}

/// Renders the lines that give the process its settings.
fn assignments(settings: &Settings) -> io::Result<String> {
    let mut lines = Vec::new();
    for (name, value) in environment(settings)? {
        lines.push(format!("Environment={}", quoted(&format!("{name}={value}"))?));
    }
    if settings.sql.is_some() {
        lines.push(format!(
            "# The connection string, user and password included: chmod 600, owned by root\n\
             LoadCredential=sql-dsn:{}\nEnvironment=MCP_SQL_DSN_FILE=%d/sql-dsn",
            bare(&dsn_file(settings)?)?
        ));
    }
    Ok(lines.join("\n"))
}

/// Renders the mounts of files that the process needs although the directories in [`PRIVATE`] are hidden.
fn mounts(settings: &Settings) -> io::Result<String> {
    let mut lines = Vec::new();
    for (name, path) in environment(settings)? {
        match name {
            "MCP_SAFE_DATA_DIR" => {
                lines.extend([mounted(name, &path)?, format!("NoExecPaths={}", quoted(&path)?)]);
            }
            "MCP_CATALOG" => lines.push(mounted(name, &path)?),
            "MCP_METRICS_DISK_PATH" if is_private(&path) => lines.push(mounted(name, &path)?),
            _ => (),
        }
    }
    for (key, path) in tls_files(settings)? {
        lines.push(mounted(key, &path)?);
    }
    for path in sockets(settings)?.iter().filter(|path| is_private(path)) {
        lines.push(mounted("host", path)?);
    }
    if lines.is_empty() {
        return Ok(String::new());
    }
    let advice = "# Files must be readable for others, or for a group (sslkey: only for it): SupplementaryGroups=that-group\n";
    Ok(format!("{advice}{}\n", lines.join("\n")))
}

fn mounted(name: &str, path: &str) -> io::Result<String> {
    if path.contains([':', '\\']) {
        return Err(io::Error::other(format!("{name}: systemd cannot mount a path with ':' or '\\' in it")));
    }
    if PRIVATE.map(Path::new).contains(&Path::new(path)) {
        return Err(io::Error::other(format!(
            "{name}: the service has a {path} of its own; name what is in it"
        )));
    }
    Ok(format!("BindReadOnlyPaths={}", quoted(path)?))
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

/// Writes a path at the end of a line, where quotes have no meaning.
fn bare(path: &str) -> io::Result<String> {
    if path.chars().any(char::is_control) || path.ends_with(['\\', ' ']) {
        return Err(io::Error::other(format!("a unit file cannot hold the path {path:?}")));
    }
    Ok(path.replace('%', "%%"))
}

/// Quotes a value for a unit file (systemd.syntax(7)).
fn quoted(value: &str) -> io::Result<String> {
    if value.chars().any(char::is_control) {
        return Err(io::Error::other("a unit file cannot hold control characters"));
    }
    let escaped = value.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%");
    Ok(format!("\"{escaped}\""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::{demo::CATALOG, deploy::testing::settings};

    #[track_caller]
    fn check(vars: &[(&str, &str)], held: &[&str], not_held: &[&str]) {
        let Printed { text: unit, notes } = service("/opt/suite", &settings(vars)).unwrap();
        notes
            .iter()
            .for_each(|note| assert!(unit.contains(&format!("\n# {note}\n")), "{note} is not in\n{unit}"));
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
            &["hunter2", "PrivateNetwork", "MCP_LOG_FILE=", "MCP_SQL_DSN=", "BindReadOnlyPaths"],
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

    #[test]
    fn a_path_of_a_setting_is_visible_to_the_service_or_a_note_gives_the_reason() {
        let directory = tempfile::tempdir_in("/tmp").unwrap();
        let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
        std::fs::write(path("catalog.toml"), CATALOG).unwrap();
        std::fs::write(path("dsn 100%"), format!("host={} user=r", path("sockets"))).unwrap();
        let root = directory.path().to_str().unwrap();
        let (catalog, dsn, log) = (path("catalog.toml"), path("dsn 100%"), path("log"));
        let mounts = [root, &catalog, &path("sockets")].map(|path| format!("BindReadOnlyPaths=\"{path}\""));
        check(
            &[
                ("MCP_CATALOG", &catalog),
                ("MCP_SQL_DSN_FILE", &dsn),
                ("MCP_METRICS_DISK_PATH", root),
                ("MCP_LOG_FILE", &log),
            ],
            &[
                &mounts[0],
                &mounts[1],
                &mounts[2],
                &format!("LoadCredential=sql-dsn:{}", path("dsn 100%%")),
                &format!("# MCP_LOG_FILE is not carried: {UNLOGGED}"),
            ],
            &[&log],
        );
        check(&[("MCP_METRICS_DISK_PATH", "/etc")], &[], &["BindReadOnlyPaths"]);
        check(
            &[("MCP_SQL_DSN", "host=/tmp,/run/pg port=7 user=r"), ("PGPASSWORD", "hunter2")],
            &[
                "BindReadOnlyPaths=\"/tmp/.s.PGSQL.7\"",
                "# PGPASSWORD is not carried: write the password into the connection string",
            ],
            &["hunter2", "\"/run/pg\""],
        );
        for refused in ["/tmp", "/etc/../tmp/a:b"] {
            assert!(mounted("MCP_SAFE_DATA_DIR", refused).is_err(), "{refused}");
        }
    }

    #[cfg(feature = "tls")]
    #[test]
    fn a_file_of_the_connection_string_is_mounted_and_a_note_gives_its_parameter() {
        use std::os::unix::fs::PermissionsExt as _;
        let passfile = tempfile::NamedTempFile::new().unwrap();
        std::fs::set_permissions(passfile.path(), std::fs::Permissions::from_mode(0o600)).unwrap();
        let passfile = passfile.path().to_str().unwrap();
        let dsn = format!(
            "host=10.1.2.3 user=r sslmode=verify-full sslrootcert=tests/it/tls/ca.pem passfile={passfile}"
        );
        let authority = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/tls/ca.pem");
        check(
            &[("MCP_SQL_DSN", &dsn)],
            &[
                &format!("BindReadOnlyPaths=\"{authority}\""),
                &format!("# The connection string must say sslrootcert={authority}"),
                &format!(
                    "# The passwords in {passfile} are not carried: write the password into the connection string, \
                     without passfile="
                ),
            ],
            &[&format!("BindReadOnlyPaths=\"{passfile}\"")],
        );
    }
}
