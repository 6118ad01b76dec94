//! A catalog: its cost at the start of a server, and a call of an entry beside the same statement ad hoc.

use std::fmt::Write as _;
use std::fs;
use std::process::Command;
use std::time::Instant;

use super::child::{Child, SERVER, call, initialize, request};
use super::cluster::Cluster;
use super::contest::{Task, contest, median, micros};
use super::{Outcome, report};

const ENTRIES: usize = 500;
const STARTS: usize = 15;
const ROUNDS: usize = 15;
const ROUND_TRIPS: usize = 100;

/// The statement of both contestants.
const QUERY: &str = "SELECT i.id, i.name FROM item i WHERE i.id >= 500 ORDER BY i.id LIMIT 11";

pub(super) fn measure() -> Outcome {
    let file = tempfile::Builder::new().suffix(".toml").tempfile()?;
    fs::write(file.path(), catalog(ENTRIES))?;
    let path = file.path().to_str().ok_or("the temporary directory is not UTF-8")?;
    start(path)?;
    let cluster = Cluster::start();
    let url = cluster.url(&cluster.database(""));
    let both = [("MCP_SQL_DSN", url.as_str()), ("MCP_CATALOG", path), ("MCP_SQL_ADHOC", "true")];
    let (mut entry, mut adhoc) = (Child::server(&both)?, Child::server(&both)?);
    let by_entry = call(1, "items_0", r#"{"least":500,"limit":10}"#);
    let by_query = call(1, "read_only_sql", &format!(r#"{{"query":"{QUERY}","max_rows":10}}"#));
    let by_entry = (&mut entry, Task::RoundTrips(&by_entry, ROUND_TRIPS));
    let by_query = (&mut adhoc, Task::RoundTrips(&by_query, ROUND_TRIPS));
    report::section("a catalog's entry beside the same query ad hoc")?;
    report::row("10 rows", contest(ROUNDS, by_entry, by_query)?)?;
    entry.end()?;
    adhoc.end()
}

/// Measures the time to the first listing, with and without the catalog.
fn start(catalog: &str) -> Outcome {
    const NOWHERE: (&str, &str) = ("MCP_SQL_DSN", "postgres://nobody@127.0.0.1:1/none");
    report::plain_section("from start to the first listing, in µs")?;
    let mut times = Vec::with_capacity(STARTS);
    for _ in 0..STARTS {
        times.push((listed(&[NOWHERE, ("MCP_CATALOG", catalog)])?, listed(&[NOWHERE])?));
    }
    report::times(
        &format!("{ENTRIES} entries, beside none"),
        median(times.iter().map(|(with, _)| *with)),
        median(times.iter().map(|(_, without)| *without)),
        median(times.iter().map(|(with, without)| with / without)),
    )
}

fn listed(settings: &[(&str, &str)]) -> Outcome<f64> {
    let mut command = Command::new(SERVER);
    command.env_clear().envs(settings.iter().copied());
    let begin = Instant::now();
    let mut child = Child::start(command)?;
    child.ask(&initialize())?;
    child.ask(&request(1, "tools/list"))?;
    let taken = micros(begin.elapsed());
    child.end()?;
    Ok(taken)
}

/// Writes a catalog of so many entries on the test cluster's table.
fn catalog(entries: usize) -> String {
    let mut text = String::from("version = 1\ntables = [\"item\"]\n");
    for index in 0..entries {
        // Writing to a string cannot fail.
        write!(
            text,
            r#"
[[query]]
name = "items_{index}"
title = "Items"
description = "Lists items from a number on."
tables = ["item"]
columns = ["id", "name"]
types = {{ id = "integer", name = "string" }}
sql = """
SELECT i.id, i.name FROM item i
WHERE i.id >= :least AND (:name IS NULL OR i.name ILIKE :name ESCAPE '\\')
ORDER BY i.id
LIMIT :limit
"""
params.least = {{ type = "integer", min = 0, max = 1000000 }}
params.name = {{ type = "string", min_length = 1, max_length = 80, match = "contains", optional = true }}
params.limit = {{ type = "integer", min = 1, max = 100, default = 25 }}
example = {{ least = 1 }}
"#
        )
        .unwrap_or_default();
    }
    text
}
