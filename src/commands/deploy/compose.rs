//! `deploy compose`: one container for each session, with nothing writable and no network unless a database needs it.

use std::io;
use std::path::Path;

use clap::Args;

use super::launch::{dsn_file, environment, given, limits, notes, sockets, tls_files};
use super::printed::Printed;
use crate::VERSION;
use crate::settings::Settings;

const TEMPLATE: &str = include_str!("compose.txt");
/// The data directory in the container.
const DATA: &str = "/data";
/// The catalog in the container: a directory, or with the suffix a file.
const CATALOG: &str = "/catalog";
/// The setting whose path would show more of the host than was asked for.
const DISK: &str = "MCP_METRICS_DISK_PATH";
/// The reason for which `MCP_LOG_FILE` is not carried.
const UNLOGGED: &str = "the container writes nowhere, and the log is on stderr";

/// The options of `deploy compose`.
#[derive(Debug, Args)]
pub(super) struct Options {
    /// The image, as built from the Containerfile
    #[arg(long, default_value_t = format!("mcp-server-suite:{VERSION}"))]
    image: String,
}

pub(super) fn file(options: &Options, settings: &Settings) -> io::Result<Printed> {
    let mut notes = notes(settings, Some(UNLOGGED))?;
    if given(settings, DISK)?.is_some() {
        notes.push(format!("{DISK} is not carried: mount what it names and name the place in the container"));
    }
    let (mut variables, mut volumes) = (String::new(), String::new());
    let mut variable = |name: &str, value: &str| {
        variables.extend(["\n      ", name, ": ", &quoted(value)]);
    };
    for (name, value) in environment(settings)? {
        let place = match name {
            "MCP_SAFE_DATA_DIR" => DATA.to_owned(),
            "MCP_CATALOG" if Path::new(&value).is_dir() => CATALOG.to_owned(),
            "MCP_CATALOG" => format!("{CATALOG}.toml"),
            DISK => continue,
            _ => {
                variable(name, &value);
                continue;
            }
        };
        variable(name, &place);
        volumes += &volume(&value, &place);
    }
    // At the same place as on the host, so that one connection string is right on both sides.
    let of_dsn = tls_files(settings)?.map(|(_, path)| path).chain(sockets(settings)?);
    volumes.extend(of_dsn.map(|path| volume(&path, &path)));
    let mut secrets = String::new();
    if settings.sql.is_some() {
        variable("MCP_SQL_DSN_FILE", "/run/secrets/sql-dsn");
        let file = quoted(&dsn_file(settings)?);
        secrets = format!("    secrets: [sql-dsn]\nsecrets:\n  sql-dsn:\n    file: {file}\n");
    }
    let has_network = settings.sql.as_ref().is_some_and(|sql| sql.dsn.tcp().next().is_some());
    let or_empty = |text: &str, is_needed: bool| if is_needed { text.to_owned() } else { String::new() };
    let mut values = limits(settings)?;
    values.extend([
        ("image", quoted(&options.image)),
        ("network", or_empty("    network_mode: none\n", !has_network)),
        ("volumes", or_empty("    volumes:\n", !volumes.is_empty()) + &volumes),
        ("environment", if variables.is_empty() { " {}".to_owned() } else { variables }),
        ("secrets", secrets),
    ]);
    Ok(Printed::fill(TEMPLATE, notes, values))
}

fn volume(source: &str, target: &str) -> String {
    format!(
        "      - {{type: bind, source: {}, target: {}, read_only: true}}\n",
        quoted(source),
        quoted(target)
    )
}

/// Quotes a text for YAML, as JSON does. A single dollar sign would be a variable of compose.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text.replace('$', "$$")).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::deploy::testing::settings;

    #[track_caller]
    fn check(vars: &[(&str, &str)], held: &[&str], not_held: &[&str]) {
        let Printed { text: file, notes } =
            file(&Options { image: "i:1".to_owned() }, &settings(vars)).unwrap();
        notes
            .iter()
            .for_each(|note| assert!(file.contains(&format!("\n# {note}\n")), "{note} is not in\n{file}"));
        held.iter().for_each(|line| assert!(file.contains(line), "{line} is not in\n{file}"));
        not_held.iter().for_each(|text| assert!(!file.contains(text), "{text} is in\n{file}"));
    }

    #[test]
    fn there_is_a_network_only_for_a_database() {
        check(
            &[],
            &["    image: \"i:1\"\n", "    network_mode: none\n    environment: {}\n"],
            &["volumes", "secrets", "{t"],
        );
        check(
            &[("MCP_SQL_DSN", "postgres://r:hunter2@h/x")],
            &["      MCP_SQL_DSN_FILE: \"/run/secrets/sql-dsn\"\n    secrets: [sql-dsn]\n"],
            &["network_mode", "hunter2"],
        );
    }

    #[test]
    fn the_data_directory_has_its_own_place_in_the_container() {
        check(
            &[("MCP_SAFE_DATA_DIR", "/etc"), ("MCP_SQL_ALLOW_FUNCTIONS", "a, b")],
            &[
                "      MCP_SQL_ALLOW_FUNCTIONS: \"a, b\"\n",
                "      MCP_SAFE_DATA_DIR: \"/data\"\n",
                "      - {type: bind, source: \"/etc\", target: \"/data\", read_only: true}\n",
            ],
            &[],
        );
        assert_eq!(quoted("a\"$b"), "\"a\\\"$$b\"");
    }

    #[test]
    fn a_path_of_a_setting_is_mounted_or_a_note_gives_the_reason() {
        let directory = tempfile::tempdir_in("/tmp").unwrap();
        let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
        let (catalog, log) = (path("assets.toml"), path("log"));
        std::fs::write(&catalog, crate::commands::demo::CATALOG).unwrap();
        let dsn = format!("user=r host={},/tmp,/tmp port=7", path("sockets"));
        let mount = |source: &str, target: &str| {
            format!("      - {{type: bind, source: \"{source}\", target: \"{target}\", read_only: true}}\n")
        };
        check(
            &[("MCP_CATALOG", &catalog), ("MCP_SQL_DSN", &dsn), ("MCP_LOG_FILE", &log), (DISK, "/etc")],
            &[
                "      MCP_CATALOG: \"/catalog.toml\"\n",
                &format!(
                    "    volumes:\n{}{}{}    secrets: [sql-dsn]\nsecrets:\n  sql-dsn:\n    file: \"/etc/mcp-server-suite/sql-dsn\"\n",
                    mount(&catalog, "/catalog.toml"),
                    mount(&path("sockets"), &path("sockets")),
                    mount("/tmp/.s.PGSQL.7", "/tmp/.s.PGSQL.7"),
                ),
                "    network_mode: none\n",
                &format!("\n# MCP_LOG_FILE is not carried: {UNLOGGED}\n"),
                &format!("\n# {DISK} is not carried: "),
            ],
            &[&log, "MCP_METRICS_DISK_PATH:"],
        );
        let directory = directory.path().to_str().unwrap();
        check(
            &[("MCP_CATALOG", directory)],
            &["      MCP_CATALOG: \"/catalog\"\n", &mount(directory, "/catalog")],
            &["secrets"],
        );
    }
}
