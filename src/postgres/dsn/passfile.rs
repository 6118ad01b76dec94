//! Passwords that do not stand in the DSN: `PGPASSWORD`, then libpq's password file.
//!
//! <https://www.postgresql.org/docs/current/libpq-pgpass.html>

use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

use super::super::named_file::read;
use super::environment::{DsnEnvironment, Password};
use super::error::DsnError;
use super::server::{Host, Server};
use super::text::Parameters;

/// Gives each server its password; returns the file that was read for it.
pub(super) fn fill(
    servers: &mut [Server],
    user: &str,
    database: &str,
    password: Option<Password>,
    parameters: &mut Parameters,
    environment: &DsnEnvironment,
) -> Result<Option<PathBuf>, DsnError> {
    let named = parameters.take("passfile").map(PathBuf::from).or_else(|| environment.pgpassfile.clone());
    let given = password.or_else(|| environment.pgpassword.clone().filter(|Password(text)| !text.is_empty()));
    if given.is_some() {
        for server in servers {
            server.password.clone_from(&given);
        }
        return Ok(None);
    }
    let usual = || Some(environment.home.as_deref()?.join(".pgpass")).filter(|path| path.is_file());
    let Some(path) = named.or_else(usual) else { return Ok(None) };
    let failed = |reason: &dyn std::fmt::Display| DsnError::file("passfile", &path, reason);
    let bytes = read("passfile", &path)?;
    let mode = std::fs::metadata(&path).map_err(|error| failed(&error))?.mode();
    if mode & 0o077 != 0 {
        return Err(failed(&"others may read it; chmod it to 0600"));
    }
    let text = String::from_utf8(bytes).map_err(|_| failed(&"it is not UTF-8"))?;
    for server in servers {
        let host = match &server.host {
            Host::Tcp { name, .. } => name.clone(),
            Host::Socket(directory) => directory.display().to_string(),
            Host::DefaultSocket => "localhost".to_owned(),
        };
        let wanted = [host.as_str(), &server.port.to_string(), database, user];
        server.password = text.lines().find_map(|line| password_of(line, &wanted)).map(Password);
    }
    Ok(Some(path))
}

/// The password of a line `host:port:database:user:password`, when its first four fields fit: `*` fits all.
pub(super) fn password_of(line: &str, wanted: &[&str; 4]) -> Option<String> {
    if line.starts_with('#') {
        return None;
    }
    let mut rest = line;
    for wanted in wanted {
        let (field, starred, behind) = field(rest)?;
        if !starred && field != *wanted {
            return None;
        }
        rest = behind;
    }
    let mut password = String::new();
    let mut characters = rest.chars();
    while let Some(character) = characters.next() {
        password.push(if character == '\\' { characters.next()? } else { character });
    }
    Some(password).filter(|password| !password.is_empty())
}

/// Reads up to an unescaped `:`: the field, whether it is a bare `*`, and the text behind it.
fn field(text: &str) -> Option<(String, bool, &str)> {
    let mut value = String::new();
    let mut escaped = false;
    let mut characters = text.chars();
    loop {
        match characters.next()? {
            '\\' => {
                escaped = true;
                value.push(characters.next()?);
            }
            ':' => {
                let starred = value == "*" && !escaped;
                return Some((value, starred, characters.as_str()));
            }
            character => value.push(character),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: Option<&str>) {
        assert_eq!(password_of(line, &["db", "5432", "app", "me"]).as_deref(), expected, "{line}");
    }

    #[test]
    fn the_first_line_that_fits_gives_the_password() {
        check("db:5432:app:me:secret", Some("secret"));
        check("*:*:*:*:secret", Some("secret"));
        check(r"db:5432:app:me:a\:b\\c", Some(r"a:b\c"));
        check("db:5432:app:me:a:b", Some("a:b"));
        check("db:5432:other:me:a", None);
        check(r"\*:5432:app:me:a", None);
        check("#db:5432:app:me:a", None);
        check("db:5432:app:me:", None);
        check("db:5432:app", None);
        check("", None);
    }
}
