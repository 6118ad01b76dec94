//! `deploy compose`: one container for each session, with nothing writable and no network unless a database needs it.

use std::{fmt::Write as _, io};

use clap::Args;

use super::{DSN_FILE, Limits, environment, fill};
use crate::{VERSION, settings::Settings};

const TEMPLATE: &str = include_str!("compose.txt");
/// Where the data directory is in the container.
const DATA: &str = "/data";

/// What `deploy compose` can be told.
#[derive(Debug, Args)]
pub(super) struct Options {
    /// The image, as built from the Containerfile
    #[arg(long, default_value_t = format!("mcp-server-suite:{VERSION}"))]
    image: String,
}

pub(super) fn file(options: &Options, settings: &Settings) -> io::Result<String> {
    let mut variables = String::new();
    let mut variable = |name: &str, value: &str| {
        write!(variables, "\n      {name}: {}", quoted(value)).map_err(io::Error::other)
    };
    let mut volumes = String::new();
    for (name, value) in environment(settings)? {
        if name == "MCP_SAFE_DATA_DIR" {
            volumes = format!(
                "    volumes:\n      - {{type: bind, source: {}, target: {DATA}, read_only: true}}\n",
                quoted(&value)
            );
            variable(name, DATA)?;
        } else {
            variable(name, &value)?;
        }
    }
    let mut secrets = String::new();
    if settings.sql.is_some() {
        variable("MCP_SQL_DSN_FILE", "/run/secrets/sql-dsn")?;
        secrets = format!("    secrets: [sql-dsn]\nsecrets:\n  sql-dsn:\n    file: {DSN_FILE}\n");
    }
    let has_network = settings.sql.as_ref().is_some_and(|sql| sql.dsn.tcp().next().is_some());
    let Limits { tasks, descriptors, stop_seconds } = Limits::of(settings)?;
    let values = [
        ("image", &*quoted(&options.image)),
        ("tasks", &tasks),
        ("descriptors", &descriptors),
        ("stop_seconds", &stop_seconds),
        ("network", if has_network { "" } else { "    network_mode: none\n" }),
        ("environment", if variables.is_empty() { " {}" } else { &variables }),
        ("volumes", &volumes),
        ("secrets", &secrets),
    ];
    Ok(fill(TEMPLATE, &values).trim_end().to_owned() + "\n")
}

/// A string of JSON is one of YAML; a dollar sign alone would be a variable of compose.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text.replace('$', "$$")).to_string()
}

#[cfg(test)]
mod tests {
    use super::{super::settings, *};

    #[track_caller]
    fn check(vars: &[(&str, &str)], held: &[&str], not_held: &[&str]) {
        let file = file(&Options { image: "i:1".to_owned() }, &settings(vars)).unwrap();
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
                "      - {type: bind, source: \"/etc\", target: /data, read_only: true}\n",
            ],
            &[],
        );
        assert_eq!(quoted("a\"$b"), "\"a\\\"$$b\"");
    }
}
