//! `deploy`: what an operator installs, printed. Nothing is written or installed by it, and it holds no secret.

mod systemd;
mod inetd;
mod compose;
mod role;

use std::{env, ffi::OsString, io, path};

use clap::{Args, Subcommand};

use crate::{
    commands::{Exit, demo::CATALOG, print, with_settings},
    diagnostics,
    settings::{Settings, table::Kind},
};

/// Where an operator puts the connection string.
const DSN_FILE: &str = "/etc/mcp-server-suite/sql-dsn";

/// What `deploy` can be told.
#[derive(Debug, Args)]
pub(super) struct Options {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// A systemd socket and the hardened service that it starts for each connection, by the current settings
    Systemd(systemd::Options),
    /// Lines for openbsd-inetd and xinetd, by the current settings
    Inetd(inetd::Options),
    /// A compose file for the image of the Containerfile, by the current settings
    Compose(compose::Options),
    /// SQL that makes a database role which can read what is named and nothing else
    Role(role::Options),
    /// A catalog of fixed queries to start from, which explains the format
    Catalog,
}

pub(super) fn run(
    options: &Options,
    vars: impl IntoIterator<Item = (OsString, OsString)>,
) -> io::Result<Exit> {
    let print = |text: String| print(&text).map(|()| Exit::Clean);
    match &options.what {
        What::Systemd(options) => {
            with_settings(vars, |settings| print(systemd::units(options, &program()?, &settings)?))
        }
        What::Inetd(options) => {
            with_settings(vars, |settings| print(inetd::lines(options, &program()?, &settings)?))
        }
        What::Compose(options) => with_settings(vars, |settings| print(compose::file(options, &settings)?)),
        What::Role(options) => {
            let named = options.catalog.as_ref().map(|path| ("MCP_CATALOG".into(), path.into()));
            let vars = vars.into_iter().filter(|(name, _)| named.is_none() || name != "MCP_CATALOG");
            let vars: Vec<(OsString, OsString)> = vars.chain(named.clone()).collect();
            with_settings(vars, |settings| print(role::script(options, &settings)?))
        }
        What::Catalog => print(CATALOG.to_owned()),
    }
}

/// Bounds that whoever launches the server sets around it, as numbers to print.
struct Limits {
    tasks: String,
    descriptors: String,
    /// From asking to end until killing.
    stop_seconds: String,
}

impl Limits {
    fn of(settings: &Settings) -> io::Result<Self> {
        /// For each worker, one more that replaces it while it is stuck, and for both a thread that looks up a name.
        const THREADS_A_WORKER: usize = 4;
        const OTHER_THREADS: usize = 64;
        /// Beyond the grace.
        const STOP_SECONDS: u64 = 5;
        let workers = settings.server.max_concurrency.saturating_mul(THREADS_A_WORKER);
        let grace = settings.server.shutdown_grace.as_secs();
        Ok(Self {
            tasks: workers.saturating_add(OTHER_THREADS).to_string(),
            descriptors: settings.needs()?.descriptors.to_string(),
            stop_seconds: grace.saturating_add(STOP_SECONDS).to_string(),
        })
    }
}

/// The template with each `{name}` replaced. Values are not looked at again: they may hold braces.
fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut pieces = template.split('{');
    let mut text = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let known = piece.split_once('}').and_then(|(name, rest)| {
            let (_, value) = values.iter().find(|(known, _)| *known == name)?;
            Some((value, rest))
        });
        match known {
            Some((value, rest)) => text.extend([*value, rest]),
            None => text.extend(["{", piece]),
        }
    }
    text
}

/// This binary.
fn program() -> io::Result<String> {
    let program = env::current_exe()?;
    if ["/home", "/root", "/tmp"].iter().any(|private| program.starts_with(private)) {
        diagnostics::complain(
            "this binary stands where a hardened service cannot see it; install it, for example to /usr/local/bin, and \
             print this again from there",
        );
    }
    program
        .into_os_string()
        .into_string()
        .map_err(|_| io::Error::other("the path of this binary is not UTF-8"))
}

/// The settings that were given, paths absolute, without the connection string and the log's file: whoever launches the
/// server has ways of its own for these.
fn environment(settings: &Settings) -> io::Result<Vec<(&'static str, String)>> {
    const LAUNCHERS: [&str; 2] = ["MCP_SQL_DSN_FILE", "MCP_LOG_FILE"];
    let mut environment = Vec::new();
    for (setting, given) in &settings.given {
        let value = match setting.kind {
            Kind::Secret { .. } | Kind::Unsupported => continue,
            Kind::Path { .. } if LAUNCHERS.contains(&setting.name) => continue,
            Kind::Path { .. } => path::absolute(given.reveal())?.into_os_string(),
            Kind::Number { .. } | Kind::Word { .. } | Kind::Text { .. } => given.reveal().clone(),
        };
        let value =
            value.into_string().map_err(|_| io::Error::other(format!("{} is not UTF-8", setting.name)))?;
        environment.push((setting.name, value));
    }
    Ok(environment)
}

#[cfg(test)]
fn settings(vars: &[(&str, &str)]) -> Settings {
    Settings::read(vars.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)))).unwrap()
}

#[cfg(test)]
mod tests {
    use super::fill;

    #[test]
    fn a_template_is_filled_once() {
        let values = [("a", "{b}"), ("b", "2")];
        assert_eq!(fill("{a} {b} { {c} {a}", &values), "{b} 2 { {c} {b}");
        assert_eq!(fill("", &values), "");
    }
}
