//! The table of functions against `pg_proc` of a running server.

use std::collections::{BTreeMap, BTreeSet};

use mcp_server_suite::guard::functions::{listed, of_other_databases};

use crate::cluster::Cluster;

/// Names that look like functions and are grammar alone: `TRIM(…)` calls `btrim`, `ltrim` or `rtrim`.
const GRAMMAR: &[&str] = &["trim"];

/// The functions of the server, and which have a volatile overload.
fn of_server() -> (u8, BTreeMap<String, bool>) {
    let mut client = Cluster::shared().admin("postgres");
    let version: String = client.query_one("SHOW server_version_num", &[]).unwrap().get(0);
    let query = "SELECT proname::text, bool_or(provolatile = 'v') FROM pg_proc \
        WHERE pronamespace = 'pg_catalog'::regnamespace GROUP BY 1";
    let rows = client.query(query, &[]).unwrap();
    (
        (version.parse::<u32>().unwrap() / 10_000).try_into().unwrap(),
        rows.iter().map(|row| (row.get(0), row.get(1))).collect(),
    )
}

#[test]
fn every_allowed_function_is_one_of_the_server_since_the_release_it_names() {
    let (release, functions) = of_server();
    let wrong: Vec<String> = listed()
        .filter(|listed| listed.is_of_server() && !GRAMMAR.contains(&listed.name))
        .filter(|listed| functions.contains_key(listed.name) != (listed.since <= release))
        .map(|listed| format!("{listed:?}"))
        .collect();
    assert!(wrong.is_empty(), "PostgreSQL {release}: {}", wrong.join("\n"));
}

#[test]
fn an_allowed_function_is_volatile_only_for_a_reason() {
    let (release, functions) = of_server();
    let volatile: BTreeSet<&str> =
        functions.iter().filter(|(_, volatile)| **volatile).map(|(name, _)| name.as_str()).collect();
    for listed in listed().filter(|listed| listed.is_of_server() && listed.since <= release) {
        assert_eq!(
            volatile.contains(listed.name),
            listed.volatile.is_some(),
            "PostgreSQL {release}: {listed:?}"
        );
    }
}

#[test]
fn a_function_of_another_database_is_none_of_the_server() {
    let (release, functions) = of_server();
    let wrong: Vec<&str> = of_other_databases().filter(|name| functions.contains_key(*name)).collect();
    assert!(wrong.is_empty(), "PostgreSQL {release}: {wrong:?}");
}
