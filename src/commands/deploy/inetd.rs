//! `deploy inetd`: one process for each connection, started by a super-server that passes no settings on.

use std::io;

use clap::Args;

use super::launch::{dsn_file, environment, given, notes};
use super::printed::Printed;
use crate::settings::Settings;

const TEMPLATE: &str = include_str!("inetd.txt");
const LOG_FILE: &str = "MCP_LOG_FILE";
/// openbsd-inetd drops what follows the 20th word of a command; ours takes five besides the settings.
const MAX_SETTINGS: usize = 15;

/// The options of `deploy inetd`.
#[derive(Debug, Args)]
pub(super) struct Options {
    /// The account that the server runs as
    #[arg(long, default_value = "nobody")]
    user: String,
    /// The socket of openbsd-inetd
    #[arg(long, default_value = "/run/mcp-server-suite/socket")]
    socket: String,
    /// The TCP port of xinetd
    #[arg(long, default_value_t = 7_333)]
    port: u16,
}

pub(super) fn lines(options: &Options, program: &str, settings: &Settings) -> io::Result<Printed> {
    let notes = notes(settings, None)?;
    let dsn_file = dsn_file(settings)?;
    let mut environment = environment(settings)?;
    if settings.sql.is_some() {
        environment.push(("MCP_SQL_DSN_FILE", dsn_file.clone()));
    }
    environment.extend(given(settings, LOG_FILE)?.map(|file| (LOG_FILE, file)));
    if environment.len() > MAX_SETTINGS {
        return Err(io::Error::other(format!("inetd cannot carry more than {MAX_SETTINGS} settings")));
    }
    let Options { user, socket, port } = options;
    let assignments = environment.iter().map(|(name, value)| format!("{name}={value}"));
    let words: Vec<String> = assignments.chain([program.to_owned(), "serve".to_owned()]).collect();
    let odd =
        |word: &&String| word.contains(|c: char| c.is_whitespace() || c.is_control() || "\"'\\#".contains(c));
    if let Some(word) = words.iter().chain([user, socket]).find(odd) {
        return Err(io::Error::other(format!("inetd's files know no quotes and cannot hold {word:?}")));
    }
    let values = vec![
        ("dsn_file", dsn_file),
        ("port", port.to_string()),
        ("user", user.clone()),
        ("socket", socket.clone()),
        ("command", words.join(" ")),
    ];
    Ok(Printed::fill(TEMPLATE, notes, values))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::deploy::testing::settings;

    fn printed(program: &str, vars: &[(&str, &str)]) -> io::Result<String> {
        let options = Options { user: "mcp".to_owned(), socket: "/run/mcp/socket".to_owned(), port: 7 };
        let Printed { text, notes } = lines(&options, program, &settings(vars))?;
        assert!(notes.iter().all(|note| text.contains(&format!("# {note}\n"))), "{text}");
        Ok(text)
    }

    #[test]
    fn both_super_servers_get_the_settings_and_no_secret() {
        let vars = [
            ("MCP_SQL_DSN", "postgres://r:hunter2@h/x"),
            ("MCP_SQL_MAX_ROWS", "7"),
            ("MCP_LOG_FILE", "/dev/null"),
        ];
        let lines = printed("/opt/suite", &vars).unwrap();
        let command = "-i MCP_SQL_MAX_ROWS=7 MCP_SQL_DSN_FILE=/etc/mcp-server-suite/sql-dsn MCP_LOG_FILE=/dev/null /opt/suite serve\n";
        assert!(
            lines.contains(&format!("\n/run/mcp/socket stream unix nowait mcp /usr/bin/env env {command}")),
            "{lines}"
        );
        assert!(lines.contains("    port = 7\n    wait = no\n    user = mcp\n"), "{lines}");
        assert!(
            lines.contains(&format!("    server_args = {command}}}\n")) && !lines.contains("hunter2"),
            "{lines}"
        );
    }

    #[test]
    fn a_value_that_inetd_would_split_is_refused() {
        for (program, vars) in
            [("/opt/my suite", &[][..]), ("/opt/suite", &[("MCP_SQL_ALLOW_FUNCTIONS", "a, b")])]
        {
            let refusal = printed(program, vars).unwrap_err().to_string();
            assert!(refusal.contains("know no quotes"), "{refusal}");
        }
    }

    #[test]
    fn the_given_file_holds_the_connection_string_and_notes_name_what_env_does_not_carry() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let path = file.path().to_str().unwrap();
        std::fs::write(path, "host=h user=r sslmode=disable").unwrap();
        let lines = printed("/opt/suite", &[("MCP_SQL_DSN_FILE", path), ("PGPASSWORD", "hunter2")]).unwrap();
        assert!(lines.contains(&format!(" -i MCP_SQL_DSN_FILE={path} /opt/suite serve\n")), "{lines}");
        assert!(lines.contains("\n# PGPASSWORD is not carried: ") && !lines.contains("hunter2"), "{lines}");
    }
}
