//! Values that hold members: what would hide the members' names from redaction is refused, and the secret ones are dropped.

use std::fs;

use serde_json::json;

use super::{Rig, answer, catalog_file};
use crate::cluster::Cluster;

/// Secrets in columns of every kind that has members.
const MEMBERS: &str = "
    CREATE EXTENSION hstore;
    CREATE TYPE cred AS (login text, password text, extra jsonb);
    CREATE TYPE word AS (password text, n int);
    CREATE DOMAIN doc AS jsonb;
    CREATE FUNCTION member_of(jsonb, text) RETURNS text LANGUAGE sql STABLE AS 'SELECT $1 ->> $2';
    CREATE TABLE acc (id int PRIMARY KEY, name text, c cred, cs cred[], ps word[], data jsonb, d doc, h hstore, hs hstore[], x xml, tags text[]);
    INSERT INTO acc VALUES (1, 'bob', ROW('bob', 'ZS1', '{\"token\":\"ZS2\"}'), ARRAY[ROW('bob', 'ZS3', NULL)::cred], ARRAY[ROW('ZS4', 1)::word],
        '{\"password\":\"ZS5\",\"ok\":1,\"in\":{\"secret\":\"ZS6\"}}', '{\"password\":\"ZS7\",\"ok\":1}', 'password=>ZS8,ok=>1',
        ARRAY['password=>ZS9'::hstore], '<a><password>ZSA</password></a>', ARRAY['a', 'b']);
    CREATE FUNCTION creds_of(int) RETURNS TABLE (login text, data jsonb) LANGUAGE sql STABLE AS 'SELECT ''bob''::text, data FROM public.acc';
    CREATE VIEW acc_view AS SELECT id, data AS name FROM acc;
    GRANT SELECT ON acc, acc_view TO reader;";

/// The functions that the catalog may call besides, for these.
const MEMBER_FUNCTIONS: (&str, &str) = ("MCP_SQL_ALLOW_FUNCTIONS", "@hstore,member_of,creds_of,cred");

/// An entry whose only column is `a`; `:k` is a text, `:n` a number.
fn member_entry(index: usize, sql: &str) -> String {
    let table = if sql.contains("acc_view") { "acc_view" } else { "acc" };
    let mut entry = format!(
        "[[query]]\nname = 'q{index:02}'\ntitle = 'Q'\ndescription = 'Q.'\ntables = ['{table}']\ncolumns = ['a']\n\
         sql = '''{sql} ORDER BY 1 LIMIT 5'''\nexample = {{}}\n"
    );
    if sql.contains(":k") {
        entry.push_str("params.k = { type = 'string', max_length = 40, default = 'password' }\n");
    }
    if sql.contains(":n") {
        entry.push_str("params.n = { type = 'integer', min = 1, max = 99, default = 3 }\n");
    }
    entry
}

pub(super) fn member_rig(statements: &[&str]) -> Rig {
    let entries: Vec<String> =
        statements.iter().enumerate().map(|(index, sql)| member_entry(index, sql)).collect();
    let file = catalog_file(&format!("version = 1\ntables = ['acc', 'acc_view']\n{}", entries.concat()));
    Rig { database: Cluster::shared().database(MEMBERS), file }
}

#[test]
fn members_are_not_exposed() {
    let statements = [
        "SELECT c::text AS a FROM acc",
        "SELECT concat(c) AS a FROM acc",
        "SELECT p.cs::text AS a FROM acc p",
        "SELECT format('%s', ps) AS a FROM acc",
        "SELECT array_to_string(cs, ',') AS a FROM acc",
        "SELECT ''::text || c AS a FROM acc",
        "SELECT (c).extra::text AS a FROM acc",
        "SELECT (c).login AS a FROM acc",
        "SELECT data::text AS a FROM acc",
        "SELECT substr(data::text, :n::int, 100) AS a FROM acc",
        "SELECT CAST(d AS varchar) AS a FROM acc",
        "SELECT (data).text AS a FROM acc",
        "SELECT (cs).text AS a FROM acc",
        "SELECT (to_jsonb(c) -> 'login')::text AS a FROM acc",
        "SELECT (regexp_match(data::text, 'ZS.*'))[1] AS a FROM acc",
        "SELECT to_tsvector('simple', data) AS a FROM acc",
        "SELECT h::text AS a FROM acc",
        "SELECT hs::text AS a FROM acc",
        "SELECT x::text AS a FROM acc",
        "SELECT to_jsonb(x) AS a FROM acc",
        "SELECT z::text AS a FROM acc, unnest(cs) AS z",
        "SELECT z.a AS a FROM acc, unnest(ps) AS z(a)",
        "SELECT q.y::text AS a FROM (SELECT data AS y FROM acc) q",
        "WITH r AS (SELECT c AS y FROM acc) SELECT concat(r.y) AS a FROM r",
        "SELECT name::text AS a FROM acc_view",
        "SELECT e.data::text AS a FROM acc, creds_of(id) AS e",
        "SELECT member_of(data, :k) AS a FROM acc",
        "SELECT id AS a FROM acc WHERE c = ROW('bob', :k, NULL)::cred",
        "SELECT id AS a FROM acc WHERE c IN (SELECT ROW('bob', :k, NULL)::cred)",
        "SELECT a.c AS a FROM acc a, (SELECT ROW('bob', :k, NULL)::cred AS k) q WHERE a.c > q.k",
        "SELECT e.login AS a FROM acc, jsonb_populate_record(c, data) AS e",
        "SELECT array_agg(c)::text AS a FROM acc",
        "SELECT (SELECT c)::text AS a FROM acc",
    ];
    let rig = member_rig(&statements);
    let mut client = rig.client(&[MEMBER_FUNCTIONS]);
    for (index, sql) in statements.iter().enumerate() {
        let id = client.call(&format!("q{index:02}"), json!({}));
        let result = client.answer(&id);
        assert_eq!(result["error"]["code"], -32603, "{sql}: {result}");
    }
    let ended = client.end().cleanly();
    let refused = ended.stderr.matches("failed: members-exposed: '").count();
    assert_eq!(refused, statements.len(), "{}", ended.stderr);
    assert!(!ended.stderr.contains("ZS"), "{}", ended.stderr);
    let (code, out, _) = rig.check(&[MEMBER_FUNCTIONS]);
    assert_eq!((code, out.matches("FAIL  catalog: q").count()), (Some(1), statements.len()), "{out}");
    // Each entry is fine with a reason.
    let catalog = fs::read_to_string(rig.file.path()).unwrap();
    fs::write(rig.file.path(), catalog.replace("example = {}", "waive.members = \"a test\"\nexample = {}"))
        .unwrap();
    let (_, out, _) = rig.check(&[MEMBER_FUNCTIONS]);
    assert!(!out.contains("members-exposed"), "{out}");
    assert_eq!(out.matches(": may use members: a test").count(), statements.len(), "{out}");
}

#[test]
fn the_database_marks_columns() {
    let table = [
        // A column of the same name in another table is marked as well.
        ("SELECT a.name::text AS a FROM acc a, acc_view v", "acc acc_view", true),
        ("SELECT a.name::text AS a FROM acc a", "acc", false),
        ("SELECT id::text AS a FROM acc", "acc", false),
        ("SELECT tags::text AS a FROM acc", "acc", false),
        ("SELECT r::text AS a FROM acc", "acc", true),
        ("SELECT n::text AS a FROM acc", "acc", false),
    ];
    let mut entries = String::new();
    for (index, (sql, tables, _)) in table.iter().enumerate() {
        let tables: Vec<&str> = tables.split(' ').collect();
        entries.push_str(
            &member_entry(index, sql)
                .replace("['acc']", &format!("{tables:?}"))
                .replace("['acc_view']", &format!("{tables:?}")),
        );
    }
    let file = catalog_file(&format!("version = 1\ntables = ['acc', 'acc_view']\n{entries}"));
    let more = "CREATE TYPE creds AS RANGE (subtype = cred); CREATE DOMAIN many AS text[]; ALTER TABLE acc ADD r creds, ADD n many;";
    let rig = Rig { database: Cluster::shared().database(&format!("{MEMBERS}{more}")), file };
    let (_, out, _) = rig.check(&[MEMBER_FUNCTIONS]);
    for (index, (sql, _, marked)) in table.iter().enumerate() {
        assert_eq!(out.contains(&format!("q{index:02}: members-exposed: ")), *marked, "{sql}: {out}");
    }
}

#[test]
fn values_come_without_their_secret_members() {
    let table = [
        ("SELECT id::text AS a FROM acc", json!("1")),
        ("SELECT upper(name) || id AS a FROM acc", json!("BOB1")),
        ("SELECT c AS a FROM acc", json!("{\"login\":\"bob\",\"extra\":{}}")),
        ("SELECT cs AS a FROM acc", json!("[{\"login\":\"bob\",\"extra\":null}]")),
        ("SELECT array_agg(c) AS a FROM acc", json!("[{\"login\":\"bob\",\"extra\":{}}]")),
        ("SELECT jsonb_agg(c) AS a FROM acc", json!("[{\"extra\":{},\"login\":\"bob\"}]")),
        ("SELECT coalesce(data, '{}') AS a FROM acc", json!("{\"in\":{},\"ok\":1}")),
        ("SELECT jsonb_build_object('x', ps) AS a FROM acc", json!("{\"x\":[{\"n\":1}]}")),
        ("SELECT t.x AS a FROM acc, unnest(tags) WITH ORDINALITY AS t(x, n) WHERE t.n = 1", json!("a")),
        ("SELECT data AS a FROM acc", json!("{\"in\":{},\"ok\":1}")),
        ("SELECT (data ->> 'ok')::text AS a FROM acc", json!("1")),
        ("SELECT data ->> 'in' AS a FROM acc", json!("{}")),
        ("SELECT (data -> 'in')::text AS a FROM acc", json!("{}")),
        ("SELECT data -> 'ok' AS a FROM acc", json!("1")),
        ("SELECT jsonb_typeof(data -> 'ok') AS a FROM acc WHERE d IS NOT NULL", json!("number")),
        ("SELECT cardinality(cs) + num_nulls(x) AS a FROM acc", json!(1)),
        ("SELECT hstore_to_jsonb(h) AS a FROM acc", json!("{\"ok\":\"1\"}")),
        ("SELECT upper(h -> 'ok') AS a FROM acc", json!("1")),
        ("SELECT to_jsonb(name)::text AS a FROM acc", json!("\"bob\"")),
        ("SELECT id AS a FROM acc WHERE data @> jsonb_build_object('ok', :n - 2)", json!(1)),
        ("SELECT id AS a FROM acc WHERE data @? '$.ok' AND data ? 'ok'", json!(1)),
        ("SELECT id AS a FROM acc WHERE (id, name) > (0, :k) OR id = :n - 2", json!(1)),
        ("SELECT id AS a FROM acc WHERE id OPERATOR(pg_catalog.=) :n - 2", json!(1)),
    ];
    let rig = member_rig(&table.iter().map(|(sql, _)| *sql).collect::<Vec<_>>());
    let mut client = rig.client(&[MEMBER_FUNCTIONS]);
    for (index, (sql, expected)) in table.iter().enumerate() {
        let found = answer(&mut client, &format!("q{index:02}"), json!({}));
        assert_eq!(&found["rows"][0]["a"], expected, "{sql}: {found}");
    }
    client.end().cleanly();
}
