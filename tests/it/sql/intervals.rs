//! The longest intervals, which are finite to PostgreSQL before 17 and infinite to later ones: whatever the server is, they
//! read as psql has them.

use std::fs;

use serde_json::{Value, json};

use crate::cluster::Cluster;
use crate::sql::psql::rows;
use crate::support::Client;

/// Each server's own way to say its longest ones, and their neighbours, which are finite everywhere. Before 15 some parts
/// cannot be that long.
const SPANS: &str = "
    CREATE TYPE stay AS (n int, it interval);
    CREATE TYPE place AS (area box, it interval);
    CREATE TABLE span (id int PRIMARY KEY, it interval, list interval[], stay stay, place place);
    INSERT INTO span (id, it) SELECT n, text::interval FROM current_setting('server_version_num') AS setting (version), unnest(
        CASE WHEN version::int >= 170000 THEN ARRAY['infinity', '-infinity']
        WHEN version::int >= 150000
        THEN ARRAY['2147483647 months 2147483647 days 9223372036854775807 us',
            '-2147483648 months -2147483648 days -9223372036854775808 us']
        ELSE '{}' END
        || CASE WHEN version::int >= 150000
        THEN ARRAY['2147483647 months 2147483647 days 9223372036854775806 us',
            '-2147483648 months -2147483648 days -9223372036854775807 us', '-9223372036854775808 us']
        ELSE ARRAY['178000000 years 2147483647 days', '-2147483648 days'] END
        ) WITH ORDINALITY AS given (text, n);
    UPDATE span SET list = ARRAY[it, NULL], stay = ROW(id, it)::stay, place = ROW(NULL, it)::place;
    GRANT SELECT ON span TO reader";

const CATALOG: &str = r#"
version = 1
tables = ["span"]
[[query]]
name = "spans"
title = "Spans"
description = "Lists spans."
tables = ["span"]
columns = ["it", "list", "stay", "place"]
sql = "SELECT it, list, stay, place FROM span ORDER BY id LIMIT :limit"
params.limit = { type = "integer", min = 1, max = 100, default = 100 }
"#;

#[test]
fn the_longest_intervals_read_as_psql_has_them() {
    let cluster = Cluster::shared();
    let database = cluster.database(SPANS);
    let psql = cluster
        .admin(&database)
        .simple_query("SET IntervalStyle = iso_8601; SELECT it FROM span ORDER BY id")
        .unwrap();
    let spans: Vec<&str> = rows(&psql).map(|row| row.get(0).unwrap()).collect();
    assert!(spans.len() >= 2);
    let file = tempfile::Builder::new().suffix(".toml").tempfile().unwrap();
    fs::write(file.path(), CATALOG).unwrap();
    let url = cluster.url(&database);
    let settings = [
        ("MCP_SQL_DSN", url.as_str()),
        ("MCP_CATALOG", file.path().to_str().unwrap()),
        ("MCP_SQL_ADHOC", "true"),
    ];
    let mut client = Client::initialized(&settings, "2025-11-25");

    let query = json!({"query": "SELECT it, list, stay, place FROM span ORDER BY id"});
    let answer = client.use_tool("read_only_sql", query);
    let listed = client.use_tool("spans", json!({}));
    let psql = cluster.admin(&database).simple_query("SELECT it FROM span ORDER BY id").unwrap();
    let own: Vec<&str> = rows(&psql).map(|row| row.get(0).unwrap()).collect();
    for (index, span) in spans.iter().enumerate() {
        let (list, stay, place) = (
            json!([span, null]),
            json!({"n": index + 1, "it": span}),
            // A composite with a type of unknown form is PostgreSQL's own JSON, in the session's own style.
            json!({"area": null, "it": own[index]}),
        );
        assert_eq!(answer["structuredContent"]["rows"][index], json!([span, list, stay, place]), "{answer}");
        // What is inside a value is text to a catalog.
        let row = &listed["structuredContent"]["rows"][index];
        assert_eq!(row["it"], *span, "{listed}");
        for (column, expected) in [("list", list), ("stay", stay), ("place", place)] {
            let reported: Value = serde_json::from_str(row[column].as_str().unwrap()).unwrap();
            assert_eq!(reported, expected, "{listed}");
        }
    }
    client.end().cleanly();
}
