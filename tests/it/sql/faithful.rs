//! The text that runs means the same as the text that was written: the same rows as the client's own text gives by the simple protocol, as psql sends it.

use std::process::Command;
use std::sync::Arc;

use mcp_server_suite::guard::GuardConfig;
use mcp_server_suite::tools::sql::ExplainQuery;
use postgres::{Client, SimpleQueryMessage};
use serde_json::{Value, json};

use crate::cluster::{Cluster, binaries};
use crate::sql::run::{Rig, call};

/// Rows that psql and a call must agree on.
const TABLES: &str = "
    CREATE TABLE t (id int PRIMARY KEY, a int, b text, d date, r int[]);
    INSERT INTO t VALUES (1, 10, 'x', '2024-01-31', '{1,2}'), (2, NULL, 'it''s', '2024-02-29', '{}'),
        (3, 10, 'y\\z', NULL, NULL), (4, 7, 'data', '2024-03-01', '{3}');
    CREATE TABLE \"Mixed \"\"Case\" (\"end\" int, \"A\" text);
    INSERT INTO \"Mixed \"\"Case\" VALUES (1, 'a');
    GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader;
";

/// The client's own text inside `BEGIN READ ONLY`, with the settings that a call pins.
fn psql(client: &mut Client, sql: &str) -> Result<Vec<Vec<Option<String>>>, postgres::Error> {
    client.batch_execute(
        "BEGIN READ ONLY; SET LOCAL TimeZone = 'UTC'; SET LOCAL IntervalStyle = iso_8601; SET LOCAL DateStyle = ISO",
    )?;
    let answer = client.simple_query(sql);
    client.batch_execute("ROLLBACK")?;
    let row = |message: &SimpleQueryMessage| {
        let SimpleQueryMessage::Row(row) = message else { return None };
        Some((0..row.len()).map(|i| row.get(i).map(str::to_owned)).collect())
    };
    answer.map(|messages| messages.iter().filter_map(row).collect())
}

/// A cell as psql shows it. Types that a call shows in another way are cast in the statements.
fn shown(cell: &Value) -> Option<String> {
    match cell {
        Value::Null => None,
        Value::Bool(value) => Some(if *value { "t" } else { "f" }.to_owned()),
        Value::String(text) => Some(text.clone()),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| shown(item).unwrap_or("NULL".into())).collect();
            Some(format!("{{{}}}", items.join(",")))
        }
        Value::Number(_) | Value::Object(_) => Some(cell.to_string()),
    }
}

#[track_caller]
fn check(rig: &Rig, client: &mut Client, sql: &str) {
    let expected = psql(client, sql).unwrap_or_else(|error| panic!("psql: {sql}: {error:?}"));
    let answer = rig.query(sql).unwrap_or_else(|failure| panic!("{sql}: {failure:?}"));
    let rows: Vec<Vec<Option<String>>> = answer["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row.as_array().unwrap().iter().map(shown).collect())
        .collect();
    assert_eq!(rows, expected, "{sql}");
}

/// Forms that sqlparser reads in another way than PostgreSQL, or not at all.
const FORMS: &[&str] = &[
    r"SELECT U&'d\0061t\+000061', U&'d!0061t\+000061' UESCAPE '!', U&'\0027''\005c\\', U&'\d83d\de00'",
    r#"SELECT U&"\0062", t.U&"!0061" UESCAPE '!' FROM U&"\0074" ORDER BY U&"\0069d""#,
    r#"SELECT "end", "A" FROM "Mixed ""Case""#,
    "SELECT U&'a' -- joined\n  '\\0062'\nUESCAPE '\\'",
    "SELECT 'a'\n'b', E'\\x41'\n'\\''",
    "SELECT 1 end, CASE WHEN true THEN 2 END end",
    "SELECT id, a ISNULL, a NOTNULL, a IS NOT NULL FROM t ORDER BY id",
    "SELECT - -1, - - - 1, 5-(-3), 2 * - 3, @ -5, (|/ 16.0)::int",
    "SELECT (2 ^ 3 ^ 2)::int, (-2 ^ 2)::int, 7 % 4 * 2, 1 - 2 - 3, 100 / 10 / 5",
    "SELECT NOT true = false, (1 < 2) = true, 1 + 1 IN (2), 'a' || 'b' LIKE 'a%'",
    "SELECT interval(3) '1.23456 s', interval '1' year, interval '1-2' year to month, interval '90' minute",
    "SELECT time(2) '01:02:03.456', numeric(4, 1) '1.25', varchar(2) 'abc'",
    "SELECT (date '2024-01-31' + interval '1' month)::date, d + 1 FROM t ORDER BY id",
    "SELECT id, sum(a) OVER (ORDER BY id ROWS BETWEEN 1::int PRECEDING AND (1 + 0)::bigint FOLLOWING) FROM t ORDER BY id",
    "SELECT id, count(*) OVER (ORDER BY d RANGE BETWEEN '1 mon'::interval PRECEDING AND interval '1' day FOLLOWING) FROM t ORDER BY id",
    "SELECT id, array_agg(id) OVER (ORDER BY a GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE TIES) FROM t ORDER BY id",
    "SELECT id, sum(id) OVER (w ROWS (1) PRECEDING EXCLUDE CURRENT ROW) FROM t WINDOW w AS (ORDER BY id) ORDER BY id",
    "SELECT (x).* FROM t x ORDER BY (x).id",
    "SELECT ((x)).b, (x).r[1], x.r[1:1] FROM t x ORDER BY x.id",
    "SELECT (q.y).id FROM (SELECT t AS y FROM t) q ORDER BY 1",
    "SELECT format('%s-%s', VARIADIC ARRAY['a', 'b']), concat(VARIADIC r) FROM t ORDER BY id",
    "SELECT * FROM ROWS FROM (generate_series(1, 3), unnest(ARRAY['a', 'b'])) WITH ORDINALITY AS f (n, s, o)",
    "SELECT * FROM unnest(ARRAY[1, 2], ARRAY['a']) WITH ORDINALITY AS u (n, s, o)",
    "SELECT * FROM jsonb_to_recordset('[{\"a\": 1}, {\"b\": \"x\"}]') AS (a int, b text)",
    "TABLE t ORDER BY id DESC LIMIT 2",
    "WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 4) TABLE n",
    "(TABLE t ORDER BY id LIMIT 1) UNION ALL (SELECT * FROM t WHERE id = 4)",
    "SELECT 1 UNION SELECT 2 EXCEPT SELECT 1 INTERSECT SELECT 1 ORDER BY 1",
    "VALUES (1, 'a'), (2, NULL) ORDER BY 1 DESC",
    "SELECT a, count(*), grouping(a) FROM t GROUP BY DISTINCT ROLLUP (a), CUBE (a) ORDER BY 1, 3",
    "SELECT a, b, count(*) FROM t GROUP BY GROUPING SETS ((a, b), ROLLUP (a), ()) ORDER BY 1, 2, 3",
    "SELECT DISTINCT ON (a) a, id FROM t ORDER BY a, id DESC",
    "SELECT id FROM t ORDER BY a USING > NULLS LAST, id FETCH FIRST 2 ROWS WITH TIES",
    "SELECT substring('abcdef' FROM (2) FOR (3)), substring('abcdef' SIMILAR 'a#\"bc#\"%' ESCAPE '#'), substring('abc', 2)",
    "SELECT trim(BOTH 'x' FROM 'xax'), trim(LEADING FROM '  a'), overlay('abcd' PLACING 'X' FROM 2 FOR 2), position('c' IN 'abc')",
    "SELECT 'a%' LIKE 'a!%' ESCAPE ('!'), 'ab' SIMILAR TO '(a|b)*', 'A' ILIKE ANY (ARRAY['b', 'a'])",
    "SELECT extract(epoch FROM interval '1 day'), extract('year' FROM d) FROM t ORDER BY id",
    "SELECT timestamp '2024-01-01 00:00' AT TIME ZONE 'UTC' AT TIME ZONE 'Asia/Tokyo' = '2024-01-01 09:00'",
    "SELECT 5 BETWEEN SYMMETRIC 9 AND 1, 5 NOT BETWEEN 1 AND 9 OR true, (1, 2) < (1, 3), ROW(1, NULL) IS NULL",
    "SELECT 1 OPERATOR(pg_catalog.+) 2 * 3, 1 OPERATOR(pg_catalog.=) ANY (ARRAY[1])",
    "SELECT CAST('{1,2}' AS int ARRAY), '{{1},{2}}'::int[][], ARRAY[[1], [2]], ARRAY(SELECT id FROM t ORDER BY 1)",
    "SELECT COLLATION FOR (b COLLATE \"C\") FROM t LIMIT 1",
    "SELECT count(*) FILTER (WHERE a = 10), percentile_disc(0.5) WITHIN GROUP (ORDER BY id) FROM t",
    "SELECT $$it's$$, $q$a $$ b$q$, B'101', X'1F', 1e3, .5, 1.",
    "SELECT /* a /* b */ c */ 1 -- d\n ; -- e",
];

#[test]
fn forms_that_parsers_disagree_about_mean_what_psql_makes_of_them() {
    let rig = Rig::with(TABLES, |settings| settings.guard = GuardConfig::parse("@catalog").unwrap());
    let mut client = rig.admin();
    for sql in FORMS {
        check(&rig, &mut client, sql);
    }
}

#[test]
fn psqls_own_questions_to_the_catalog_are_answered_as_psql_is() {
    let rig = Rig::with(TABLES, |settings| settings.guard = GuardConfig::parse("@catalog").unwrap());
    let mut client = rig.admin();
    let commands = "d dt+ di+ ds+ dv+ dm+ dE+ d+ da+ dA+ dAc+ dAf+ dAo+ dAp+ dc+ dC+ dD+ dd+ ddp des+ det+ dew+ df+ dF+ dFd+ dFp+ \
                    dFt+ dg+ dl+ dL+ dn+ do+ dO+ dp dP+ dRp+ dRs+ dT+ dx+ dX dy+ l";
    let mut script: String = commands.split_whitespace().map(|command| format!("\\{command}\n")).collect();
    script.push_str(
        "\\d+ item\n\\d+ pair\n\\d item_pkey\n\\d+ pg_class\n\\df+ lower\n\\sf lower(text)\n\\sv pg_views\n",
    );
    let program = Some(binaries().join("psql")).filter(|path| path.is_file()).unwrap_or("psql".into());
    let psql = Command::new(program)
        .args(["-XEq", "-c", "SELECT", "-d"])
        .arg(Cluster::shared().socket_dsn("postgres", &rig.name))
        .args(script.lines().flat_map(|line| ["-c", line]))
        .output()
        .unwrap();
    let shown = String::from_utf8(psql.stdout).unwrap();
    let questions: Vec<&str> = shown
        .split("********* QUERY **********\n")
        .skip(1)
        .filter_map(|rest| rest.split("\n**************************").next())
        .collect();
    assert!(questions.len() > 60, "{}", questions.len());
    for sql in questions {
        check_rows(&rig, &mut client, sql);
    }
}

/// As [`check`], but for arrays, and for what the reader may not know.
#[track_caller]
fn check_rows(rig: &Rig, client: &mut Client, sql: &str) {
    client.batch_execute("SET ROLE reader").unwrap();
    let expected = psql(client, sql);
    client.batch_execute("RESET ROLE").unwrap();
    let Ok(expected) = expected else { return };
    let answer = rig.query(sql).unwrap_or_else(|failure| panic!("{sql}: {failure:?}"));
    let rows = answer["rows"].as_array().unwrap();
    if answer["has_more"] == false {
        assert_eq!(rows.len(), expected.len(), "{sql}");
    }
    for (row, expected) in rows.iter().zip(&expected) {
        for (cell, expected) in row.as_array().unwrap().iter().zip(expected) {
            if !cell.is_array() && !cell.as_str().is_some_and(|text| text.contains("…[truncated")) {
                assert_eq!(shown(cell), *expected, "{sql}");
            }
        }
    }
}

#[test]
fn fields_are_reported_as_they_are_now() {
    let rig = Rig::with(
        "CREATE TYPE moving AS (a int, b text); CREATE TABLE m (v moving, w moving[]); GRANT SELECT ON m TO reader;
         INSERT INTO m VALUES (ROW(1, 'x'), ARRAY[ROW(2, 'y')::moving])",
        |settings| settings.pool_max_size = 1,
    );
    let explain = ExplainQuery::new(Arc::clone(&rig.db));
    let check = |ddl: &str, expected: &str| {
        rig.admin().batch_execute(ddl).unwrap();
        let answer = rig.query("SELECT v, w FROM m").unwrap();
        call(&explain, json!({"query": "SELECT v, w FROM m"})).unwrap();
        assert_eq!(answer["rows"][0].to_string(), expected, "{ddl}");
    };
    check("", r#"[{"a":1,"b":"x"},[{"a":2,"b":"y"}]]"#);
    check("ALTER TYPE moving RENAME ATTRIBUTE a TO c", r#"[{"c":1,"b":"x"},[{"c":2,"b":"y"}]]"#);
    check(
        "ALTER TYPE moving ADD ATTRIBUTE d int",
        r#"[{"c":1,"b":"x","d":null},[{"c":2,"b":"y","d":null}]]"#,
    );
    check("ALTER TYPE moving DROP ATTRIBUTE b", r#"[{"c":1,"d":null},[{"c":2,"d":null}]]"#);
    check(
        "ALTER TABLE m RENAME v TO x; ALTER TABLE m RENAME x TO v",
        r#"[{"c":1,"d":null},[{"c":2,"d":null}]]"#,
    );
}
