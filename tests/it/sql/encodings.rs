//! Databases in other encodings than UTF-8: what they hold arrives as Unicode, cut between characters.

use mcp_server_suite::postgres::Database;
use mcp_server_suite::problem::Code;
use serde_json::json;

use crate::cluster::Cluster;
use crate::sql::run::{code, config, query};

/// A database of this encoding.
fn in_encoding(encoding: &str) -> (String, std::sync::Arc<Database>) {
    let name = format!("it_encoding_{}", encoding.to_lowercase());
    let create = format!("CREATE DATABASE {name} ENCODING '{encoding}' TEMPLATE template0 LOCALE 'C'");
    Cluster::shared().admin("postgres").batch_execute(&create).unwrap();
    let url = Cluster::shared().url(&name);
    let mut settings = config(&url);
    settings.max_cell_chars = 100;
    (name, Database::new(settings))
}

#[test]
fn latin1_arrives_as_unicode_and_is_cut_by_characters() {
    let (name, db) = in_encoding("LATIN1");
    Cluster::shared()
        .admin(&name)
        .batch_execute("CREATE TABLE t AS SELECT repeat('é', 101) AS long, '{é,\"à, b\"}'::text[] AS list; GRANT SELECT ON t TO reader")
        .unwrap();
    let answer = query(&db, "SELECT long, list, 'ÿ', octet_length('é') FROM t").unwrap();
    let cut = format!("{}…[truncated 1 chars]", "é".repeat(100));
    assert_eq!(answer["rows"], json!([[cut, ["é", "à, b"], "ÿ", 1]]));
    // What LATIN1 does not have.
    assert_eq!(code(query(&db, "SELECT '€'")), Code::Validation);
    assert_eq!(query(&db, "SELECT long FROM t WHERE long LIKE 'é%'").unwrap()["row_count"], 1);
}

#[test]
fn bytes_without_an_encoding_are_cut_between_characters() {
    let (name, db) = in_encoding("SQL_ASCII");
    let mut admin = Cluster::shared().admin(&name);
    admin.batch_execute("CREATE TABLE t (it text, list text[]); GRANT SELECT ON t TO reader").unwrap();
    // Characters of one to four bytes, with the cut before, in and behind one.
    for character in ["a", "é", "€", "🦀"] {
        for shift in 0..4_usize {
            let value = format!("{}{}", "-".repeat(shift), character.repeat(120));
            admin.execute("TRUNCATE t", &[]).unwrap();
            admin.execute("INSERT INTO t VALUES ($1, ARRAY[$1])", &[&value]).unwrap();
            let answer = query(&db, "SELECT it, list FROM t").unwrap();
            let kept = (0..=100).rev().find(|end| value.is_char_boundary(*end)).unwrap();
            let cut = format!("{}…[truncated {} chars]", value.split_at(kept).0, value.len() - kept);
            assert_eq!(answer["rows"][0][0], cut, "{character} {shift}");
            assert!(answer["rows"][0][1].as_str().unwrap().ends_with(" chars]"), "{character} {shift}");
            assert_eq!(answer["truncated"], true);
        }
    }
    assert_eq!(query(&db, "SELECT 'é', octet_length('é')").unwrap()["rows"], json!([["é", 2]]));
    // PostgreSQL itself refuses to send as UTF-8 what is none.
    admin.batch_execute("TRUNCATE t; INSERT INTO t VALUES (convert_from('\\xe9', 'SQL_ASCII'))").unwrap();
    assert_eq!(code(query(&db, "SELECT it FROM t")), Code::Validation);
    query(&db, "SELECT 1").unwrap();
}
