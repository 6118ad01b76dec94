//! The choice of what to print.

use std::{env, io};

use clap::{Args, Subcommand};

use super::printed::Printed;
use super::{compose, inetd, role, systemd};
use crate::commands::console::{Exit, Vars, print, with_settings};
use crate::commands::demo::CATALOG;
use crate::diagnostics;
use crate::settings::Settings;

/// The options of `deploy`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    #[command(subcommand)]
    artifact: Artifact,
}

#[derive(Debug, Subcommand)]
enum Artifact {
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

pub(crate) fn run(options: &Options, mut vars: Vars) -> io::Result<Exit> {
    let print = |Printed { text, notes }: Printed| {
        notes.iter().for_each(|note| diagnostics::report_fatal(note));
        print(&text).map(|()| Exit::Clean)
    };
    if let Artifact::Catalog = &options.artifact {
        return print(catalog());
    }
    if let Artifact::Role(role::Options { catalog: Some(catalog), .. }) = &options.artifact {
        // Of two variables of one name the last counts.
        vars.push(("MCP_CATALOG".into(), catalog.into()));
    }
    with_settings(vars, |settings| print(printed(&options.artifact, &program()?, &settings)?))
}

fn printed(artifact: &Artifact, program: &str, settings: &Settings) -> io::Result<Printed> {
    match artifact {
        Artifact::Systemd(options) => systemd::units(options, program, settings),
        Artifact::Inetd(options) => inetd::lines(options, program, settings),
        Artifact::Compose(options) => compose::file(options, settings),
        Artifact::Role(options) => role::script(options, settings),
        Artifact::Catalog => Ok(catalog()),
    }
}

fn catalog() -> Printed {
    Printed { text: CATALOG.to_owned(), notes: Vec::new() }
}

/// Returns the path of this binary.
fn program() -> io::Result<String> {
    let program = env::current_exe()?.into_os_string().into_string();
    program.map_err(|_| io::Error::other("the path of this binary is not UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        commands::deploy::testing::settings,
        settings::{Kind, table},
    };

    #[test]
    fn every_path_among_the_settings_is_carried_or_a_note_names_it() {
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
            artifact: Artifact,
        }
        let line: Line = clap::Parser::parse_from([&["deploy"], arguments].concat());
        super::printed(&line.artifact, "/opt/suite", settings).unwrap()
    }
}
