//! The settings as a launcher passes them on: variables, files, sockets, and notes on everything else.

use std::ffi::OsString;
use std::io;
use std::path::{self, Path};

use crate::diagnostics;
use crate::settings::{Given, Kind, Settings};

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
    let mut environment = Vec::new();
    for (setting, given) in &settings.given {
        let value = match setting.kind {
            Kind::Path { .. } if !OTHERWISE.contains(&setting.name) => {
                absolute(setting.name, given.reveal())?
            }
            Kind::Secret { .. } | Kind::Path { .. } | Kind::Unsupported => continue,
            Kind::Number { .. } | Kind::Word { .. } | Kind::Text { .. } => {
                text(setting.name, given.reveal())?
            }
        };
        environment.push((setting.name, value));
    }
    Ok(environment)
}

pub(super) fn given<'s>(settings: &'s Settings, name: &str) -> Option<&'s Given> {
    settings.given.iter().find(|(setting, _)| setting.name == name).map(|(_, given)| given)
}

pub(super) fn absolute(name: &str, path: impl AsRef<Path>) -> io::Result<String> {
    text(name, path::absolute(path)?)
}

fn text(name: &str, value: impl Into<OsString>) -> io::Result<String> {
    value.into().into_string().map_err(|_| io::Error::other(format!("{name} is not UTF-8")))
}

/// Returns the file of the connection string: the given one, unless that is a pipe.
pub(super) fn dsn_file(settings: &Settings) -> io::Result<String> {
    const NAME: &str = "MCP_SQL_DSN_FILE";
    match given(settings, NAME).map(Given::reveal).filter(|path| Path::new(path).is_file()) {
        Some(path) => absolute(NAME, path),
        None => Ok(DSN_FILE.to_owned()),
    }
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
    if let Some(why) = unlogged.filter(|_| given(settings, "MCP_LOG_FILE").is_some()) {
        notes.push(format!("MCP_LOG_FILE is not carried: {why}"));
    }
    let needs_password = settings.sql.as_ref().is_some_and(|sql| !sql.dsn.has_password());
    if needs_password && settings.has_pgpassword {
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
