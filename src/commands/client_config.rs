//! `client-config`: the block to paste into a client's configuration. It never holds a secret.

use std::{env, io, path};

use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};

use crate::commands::console::{Exit, print};
use crate::postgres::dsn;
use crate::settings::{Kind, Settings};
use crate::{NAME, diagnostics};

/// The placeholder for the path of a file that the user writes.
const DSN_FILE_PLACEHOLDER: &str = "/path/to/a/file/with/the/connection/string";

/// The options of `client-config`.
#[derive(Debug, Args)]
pub(super) struct Options {
    /// Whose configuration
    #[arg(long, value_enum, default_value = "generic")]
    client: Client,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Client {
    Generic,
    Claude,
    Cursor,
    Vscode,
}

pub(super) fn run(options: &Options, settings: &Settings) -> io::Result<Exit> {
    let program = env::current_exe()?;
    let program = program.to_str().ok_or_else(|| io::Error::other("the path of this binary is not UTF-8"))?;
    settings.warnings.iter().for_each(|warning| diagnostics::report_fatal(warning));
    let environment = environment(settings)?;
    if environment.get("MCP_SQL_DSN_FILE").is_some_and(|path| path == DSN_FILE_PLACEHOLDER) {
        diagnostics::report_fatal(
            "The database's password is not printed: write the connection string, password included, to a file that \
             only you can read (chmod 600) and put its path in MCP_SQL_DSN_FILE",
        );
    } else if settings.needs_pgpassword() {
        diagnostics::report_fatal(
            "PGPASSWORD is not printed: write the password into the connection string in the file that MCP_SQL_DSN_FILE \
             names",
        );
    }
    for (key, path) in settings.sql.iter().flat_map(|sql| sql.dsn.files()) {
        if path.is_relative() && !environment.contains_key("MCP_SQL_DSN") {
            let path = diagnostics::escape(&path::absolute(path)?.to_string_lossy());
            diagnostics::report_fatal(&format!(
                "{key}: a client starts the server in a directory of its own: write {path} into the connection string"
            ));
        }
    }
    for (name, value) in &environment {
        if value.as_str().is_some_and(|value| value.contains("${")) {
            diagnostics::report_fatal(&format!(
                "{name}: clients put something of their own where a value has `${{`; take another"
            ));
        }
    }
    print(&format!("{:#}\n", block(options.client, program, &environment))).map(|()| Exit::Clean)
}

/// Returns the given settings for a client: paths absolute, because a client starts the server in a directory of its own.
fn environment(settings: &Settings) -> io::Result<Map<String, Value>> {
    let has_password =
        settings.needs_pgpassword() || settings.sql.as_ref().is_some_and(|sql| sql.dsn.has_password());
    let mut environment = Map::new();
    for (setting, value) in settings.portable()? {
        let (name, value) = match matches!(setting.kind, Kind::Secret) {
            true if has_password => ("MCP_SQL_DSN_FILE", DSN_FILE_PLACEHOLDER.to_owned()),
            true => (setting.name, anchored(&value)?),
            false => (setting.name, value),
        };
        environment.insert(name.to_owned(), value.into());
    }
    if let Some(passfile) = settings.passfile.as_ref().filter(|_| settings.sql.is_some()) {
        environment.insert("PGPASSFILE".to_owned(), path::absolute(passfile)?.to_string_lossy().into());
    }
    Ok(environment)
}

/// Makes the paths of a connection string absolute.
fn anchored(dsn: &str) -> io::Result<String> {
    let directory = env::current_dir()?;
    let directory =
        directory.to_str().ok_or_else(|| io::Error::other("the working directory is not UTF-8"))?;
    dsn::anchored(dsn, directory).map_err(io::Error::other)
}

/// Builds the block that the clients' own pages describe: `claude_desktop_config.json` and `.mcp.json` of Claude, `mcp.json` of Cursor and of
/// VS Code, which requires the type and names the outer object differently.
fn block(client: Client, program: &str, environment: &Map<String, Value>) -> Value {
    let plain = json!({ "command": program, "args": ["serve"], "env": environment });
    let typed = json!({ "type": "stdio", "command": program, "args": ["serve"], "env": environment });
    match client {
        Client::Generic | Client::Claude => json!({ "mcpServers": { NAME: plain } }),
        Client::Cursor => json!({ "mcpServers": { NAME: typed } }),
        Client::Vscode => json!({ "servers": { NAME: typed } }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsString;

    #[track_caller]
    fn check(client: Client, vars: &[(&str, &str)], expected: &Value) {
        let vars = vars.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let settings = Settings::read(vars).unwrap();
        assert_eq!(&block(client, "/bin/suite", &environment(&settings).unwrap()), expected);
    }

    #[test]
    fn each_client_gets_its_shape_and_no_secret() {
        let server = |env: Value| json!({"command": "/bin/suite", "args": ["serve"], "env": env});
        check(Client::Generic, &[], &json!({"mcpServers": {NAME: server(json!({}))}}));
        check(
            Client::Claude,
            &[
                ("MCP_SQL_DSN", "postgres://r:hunter2@db/x"),
                ("MCP_SQL_MAX_ROWS", "10"),
                ("PGPASSWORD", "hunter2"),
            ],
            &json!({"mcpServers": {NAME: server(
                json!({"MCP_SQL_DSN_FILE": DSN_FILE_PLACEHOLDER, "MCP_SQL_MAX_ROWS": "10"}),
            )}}),
        );
        check(
            Client::Claude,
            &[("MCP_SQL_DSN", "postgres://r@db/x"), ("PGPASSWORD", "hunter2")],
            &json!({"mcpServers": {NAME: server(json!({"MCP_SQL_DSN_FILE": DSN_FILE_PLACEHOLDER}))}}),
        );
        let passfile = tempfile::NamedTempFile::new().unwrap();
        let passfile = passfile.path().to_str().unwrap();
        let typed =
            |env: Value| json!({"type": "stdio", "command": "/bin/suite", "args": ["serve"], "env": env});
        check(
            Client::Cursor,
            &[("MCP_SQL_DSN", "postgres://r@db/x"), ("PGPASSFILE", passfile)],
            &json!({"mcpServers": {NAME: typed(
                json!({"MCP_SQL_DSN": "postgres://r@db/x", "PGPASSFILE": passfile}),
            )}}),
        );
        let here = env::current_dir().unwrap();
        let dsn = |path: &str| format!("postgres://r@/x?host=/run/pg&sslrootcert={path}");
        check(
            Client::Generic,
            &[("MCP_SQL_DSN", &dsn("ca.pem"))],
            &json!({"mcpServers": {NAME: server(
                json!({"MCP_SQL_DSN": dsn(here.join("ca.pem").to_str().unwrap())}),
            )}}),
        );
        let here = here.join("src");
        check(
            Client::Vscode,
            &[("MCP_SAFE_DATA_DIR", "src")],
            &json!({"servers": {NAME: typed(json!({"MCP_SAFE_DATA_DIR": here}))}}),
        );
    }
}
