//! `deploy`: what an operator installs, printed. Nothing is written or installed by it, and it holds no secret.

mod systemd;
mod inetd;
mod compose;
mod role;

use std::{
    env,
    ffi::OsString,
    io,
    path::{self, Path},
};

use clap::{Args, Subcommand};

use crate::{
    commands::{Exit, demo::CATALOG, print, with_settings},
    diagnostics,
    settings::{Given, Settings, table::Kind},
};

/// Where an operator puts the connection string.
const DSN_FILE: &str = "/etc/mcp-server-suite/sql-dsn";
/// What a hardened service has of its own, or not at all.
const PRIVATE: [&str; 5] = ["/home", "/root", "/run/user", "/tmp", "/var/tmp"];

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

/// What an operator installs.
struct Printed {
    text: String,
    /// What is not carried or left to the operator; it stands in the text, too.
    notes: Vec<String>,
}

pub(super) fn run(
    options: &Options,
    vars: impl IntoIterator<Item = (OsString, OsString)>,
) -> io::Result<Exit> {
    let print = |text: String| print(&text).map(|()| Exit::Clean);
    let tell = |printed: Printed| {
        printed.notes.iter().for_each(|note| diagnostics::complain(note));
        print(printed.text)
    };
    match &options.what {
        What::Systemd(options) => with_settings(vars, |settings| {
            let program = program()?;
            if is_private(&program) {
                diagnostics::complain(
                    "this binary stands where a hardened service cannot see it; install it, for example to \
                         /usr/local/bin, and print this again from there",
                );
            }
            tell(systemd::units(options, &program, &settings)?)
        }),
        What::Inetd(options) => {
            with_settings(vars, |settings| tell(inetd::lines(options, &program()?, &settings)?))
        }
        What::Compose(options) => with_settings(vars, |settings| tell(compose::file(options, &settings)?)),
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
    program
        .into_os_string()
        .into_string()
        .map_err(|_| io::Error::other("the path of this binary is not UTF-8"))
}

/// Whether a hardened service does not see what everybody else sees there.
fn is_private(path: impl AsRef<Path>) -> bool {
    PRIVATE.iter().any(|private| path.as_ref().starts_with(private))
}

/// The settings that were given, paths absolute, without the connection string and the log's file: whoever launches the
/// server has ways of its own for these.
fn environment(settings: &Settings) -> io::Result<Vec<(&'static str, String)>> {
    const LAUNCHERS: [&str; 2] = ["MCP_SQL_DSN_FILE", "MCP_LOG_FILE"];
    let mut environment = Vec::new();
    for (setting, given) in &settings.given {
        let value = match setting.kind {
            Kind::Path { .. } if !LAUNCHERS.contains(&setting.name) => {
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

fn given<'s>(settings: &'s Settings, name: &str) -> Option<&'s Given> {
    settings.given.iter().find(|(setting, _)| setting.name == name).map(|(_, given)| given)
}

fn absolute(name: &str, path: impl AsRef<Path>) -> io::Result<String> {
    text(name, path::absolute(path)?)
}

fn text(name: &str, value: impl Into<OsString>) -> io::Result<String> {
    value.into().into_string().map_err(|_| io::Error::other(format!("{name} is not UTF-8")))
}

/// The file that holds the connection string: the one that was given, unless it was a pipe.
fn dsn_file(settings: &Settings) -> io::Result<String> {
    const NAME: &str = "MCP_SQL_DSN_FILE";
    match given(settings, NAME).map(Given::reveal).filter(|path| Path::new(path).is_file()) {
        Some(path) => absolute(NAME, path),
        None => Ok(DSN_FILE.to_owned()),
    }
}

/// What the connection string made us read, by parameter. The text that is installed is the operator's to write.
fn dsn_files(settings: &Settings) -> io::Result<Vec<(&'static str, String)>> {
    let files = settings.sql.iter().flat_map(|sql| sql.dsn.files());
    files.map(|(key, path)| Ok((key, absolute(key, path)?))).collect()
}

/// The same without the passwords.
fn tls_files(settings: &Settings) -> io::Result<impl Iterator<Item = (&'static str, String)>> {
    Ok(dsn_files(settings)?.into_iter().filter(|(key, _)| *key != "passfile"))
}

/// Where the database's sockets are: a directory, which outlives a restart of the database, but no whole one that
/// everybody writes to.
fn sockets(settings: &Settings) -> io::Result<Vec<String>> {
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

/// What is left to the operator. `unlogged`: why a launcher does not carry `MCP_LOG_FILE`.
fn notes(settings: &Settings, unlogged: Option<&str>) -> io::Result<Vec<String>> {
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

fn comments(notes: &[String]) -> String {
    notes.iter().map(|note| format!("# {note}\n")).collect()
}

#[cfg(test)]
fn settings(vars: &[(&str, &str)]) -> Settings {
    Settings::read(vars.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)))).unwrap()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::table;

    #[test]
    fn a_template_is_filled_once() {
        let values = [("a", "{b}"), ("b", "2")];
        assert_eq!(fill("{a} {b} { {c} {a}", &values), "{b} 2 { {c} {b}");
        assert_eq!(fill("", &values), "");
    }

    #[test]
    fn every_path_among_the_settings_is_carried_or_its_dropping_is_told() {
        let directory = tempfile::tempdir_in("/tmp").unwrap();
        let root = directory.path().to_str().unwrap();
        let path = |name: &str| format!("{root}/{name}");
        std::fs::write(path("catalog.toml"), CATALOG).unwrap();
        std::fs::write(path("dsn"), "host=127.0.0.1 user=r sslmode=disable").unwrap();
        for setting in table::ALL.iter().filter(|setting| matches!(setting.kind, Kind::Path { .. })) {
            let value = match setting.name {
                "MCP_CATALOG" => path("catalog.toml"),
                "MCP_SQL_DSN_FILE" => path("dsn"),
                "MCP_LOG_FILE" => path("log"),
                _ => root.to_owned(),
            };
            let vars = [("MCP_SQL_DSN", "user=r"), (setting.name, &value)];
            let given = if setting.name == "MCP_SQL_DSN_FILE" { &vars[1..] } else { &vars };
            let settings = settings(given);
            let dropped = format!("# {} is not carried: ", setting.name);
            let check = |text: &str, carried: &[String]| {
                let holds = |part: &String| text.contains(part);
                assert!(
                    holds(&dropped) != carried.iter().any(holds),
                    "{}: {carried:?}\n{text}",
                    setting.name
                );
            };
            let unit = ["systemd", "--unit", "service"];
            let Printed { text, .. } = printed(&unit, &settings);
            check(
                &text,
                &[format!("BindReadOnlyPaths=\"{value}\""), format!("LoadCredential=sql-dsn:{value}\n")],
            );
            let Printed { text, .. } = printed(&["compose"], &settings);
            check(&text, &[format!("source: \"{value}\""), format!("file: \"{value}\"")]);
            let Printed { text, .. } = printed(&["inetd"], &settings);
            check(&text, &[format!(" {}={value} ", setting.name)]);
        }
    }

    fn printed(arguments: &[&str], settings: &Settings) -> Printed {
        #[derive(clap::Parser)]
        struct Line {
            #[command(subcommand)]
            what: What,
        }
        let line: Line = clap::Parser::parse_from([&["deploy"], arguments].concat());
        match line.what {
            What::Systemd(options) => systemd::units(&options, "/opt/suite", settings),
            What::Inetd(options) => inetd::lines(&options, "/opt/suite", settings),
            What::Compose(options) => compose::file(&options, settings),
            What::Role(_) | What::Catalog => panic!("{arguments:?} launch nothing"),
        }
        .unwrap()
    }
}
