//! The settings as a launcher passes them on: variables, files, sockets, and notes on everything else.

use std::io;
use std::path::{self, Path};

use super::printed::Values;
use crate::diagnostics;
use crate::settings::{Kind, Setting, Settings};

/// The place of the connection string, unless the operator names another.
const DSN_FILE: &str = "/etc/mcp-server-suite/sql-dsn";
/// The directories that a hardened service has of its own, or not at all.
pub(super) const PRIVATE: [&str; 5] = ["/home", "/root", "/run/user", "/tmp", "/var/tmp"];

/// Reports whether a hardened service sees something else at this path than other processes.
pub(super) fn is_private(path: impl AsRef<Path>) -> bool {
    PRIVATE.iter().any(|private| path.as_ref().starts_with(private))
}

/// Returns the given settings, paths absolute, without the connection string and the log's file: each launcher has its own
/// way for these.
pub(super) fn environment(settings: &Settings) -> io::Result<Vec<(&'static str, String)>> {
    const OTHERWISE: [&str; 2] = ["MCP_SQL_DSN_FILE", "MCP_LOG_FILE"];
    let is_plain = |(setting, _): &(&'static Setting, _)| {
        !matches!(setting.kind, Kind::Secret) && !OTHERWISE.contains(&setting.name)
    };
    let plain = settings.portable()?.into_iter().filter(is_plain);
    Ok(plain.map(|(setting, value)| (setting.name, value)).collect())
}

/// Returns a given setting.
pub(super) fn given(settings: &Settings, name: &str) -> io::Result<Option<String>> {
    Ok(settings.portable()?.into_iter().find(|(setting, _)| setting.name == name).map(|(_, value)| value))
}

fn absolute(name: &str, path: impl AsRef<Path>) -> io::Result<String> {
    let path = path::absolute(path)?.into_os_string().into_string();
    path.map_err(|_| io::Error::other(format!("{name} is not UTF-8")))
}

/// Returns the file of the connection string: the given one, unless that is a pipe.
pub(super) fn dsn_file(settings: &Settings) -> io::Result<String> {
    let file = given(settings, "MCP_SQL_DSN_FILE")?.filter(|path| Path::new(path).is_file());
    Ok(file.unwrap_or_else(|| DSN_FILE.to_owned()))
}

/// Lists the files that the connection string names, by parameter. The operator writes the installed connection string.
fn dsn_files(settings: &Settings) -> io::Result<Vec<(&'static str, String)>> {
    let files = settings.sql.iter().flat_map(|sql| sql.dsn.files());
    files.map(|(key, path)| Ok((key, absolute(key, path)?))).collect()
}

/// Lists the files that the connection string names, without the passwords.
pub(super) fn tls_files(settings: &Settings) -> io::Result<impl Iterator<Item = (&'static str, String)>> {
    Ok(dsn_files(settings)?.into_iter().filter(|(key, _)| *key != "passfile"))
}

/// Returns the places of the database's sockets: their directory, which outlives a restart of the database, but only the
/// socket in a directory that every user writes to.
pub(super) fn sockets(settings: &Settings) -> io::Result<Vec<String>> {
    let mut places = Vec::new();
    for socket in settings.sql.iter().flat_map(|sql| sql.dsn.sockets()) {
        let directory = socket.parent().filter(|directory| !PRIVATE.map(Path::new).contains(directory));
        let place = absolute("host", directory.unwrap_or(&socket))?;
        if !places.contains(&place) {
            places.push(place);
        }
    }
    Ok(places)
}

/// Lists what is left to the operator. `unlogged` is the reason for which a launcher does not carry `MCP_LOG_FILE`.
pub(super) fn notes(settings: &Settings, unlogged: Option<&str>) -> io::Result<Vec<String>> {
    let mut notes = Vec::new();
    if let (Some(why), Some(_)) = (unlogged, given(settings, "MCP_LOG_FILE")?) {
        notes.push(format!("MCP_LOG_FILE is not carried: {why}"));
    }
    if settings.needs_pgpassword() {
        notes.push("PGPASSWORD is not carried: write the password into the connection string".to_owned());
    }
    for (key, path) in dsn_files(settings)? {
        notes.push(match key {
            "passfile" => format!(
                "The passwords in {path} are not carried: write the password into the connection string, without passfile="
            ),
            _ => format!("The connection string must say {key}={path}"),
        });
    }
    Ok(notes.iter().map(|note| diagnostics::escape(note)).collect())
}

/// Returns the bounds around the process: its threads, its descriptors, and the seconds from the request to end until the
/// kill.
pub(super) fn limits(settings: &Settings) -> io::Result<Values> {
    /// Each worker, one that replaces it while it is stuck, and for both a thread that looks up a name.
    const THREADS_A_WORKER: usize = 4;
    const OTHER_THREADS: usize = 64;
    /// Beyond the grace.
    const STOP_SECONDS: u64 = 5;
    let workers = settings.server.max_concurrency.saturating_mul(THREADS_A_WORKER);
    let grace = settings.server.shutdown_grace.as_secs();
    Ok(vec![
        ("tasks", workers.saturating_add(OTHER_THREADS).to_string()),
        ("descriptors", settings.needs()?.descriptors.to_string()),
        ("stop_seconds", grace.saturating_add(STOP_SECONDS).to_string()),
    ])
}
