//! Proven statements against PostgreSQL's own opinion of them. Statements that pass are taken apart and put together again
//! in other ways; whatever still passes may read the entry's tables only, no column of a secret, and gives the declared
//! columns. The server refuses a role that may not read a column, and `EXPLAIN` names the tables.

use std::cell::Cell;
use std::collections::BTreeMap;

use postgres::error::SqlState;
use postgres::types::Type;
use postgres::{Client, NoTls, SimpleQueryMessage};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::{Config, TestRunner};
use serde_json::Value;

use super::super::claim::Claim;
use super::super::params::Param;
use super::testing::{list, param};
use super::{Placeholder, Proven, prove};
use crate::guard::{GuardConfig, SensitiveWords};

#[path = "../../../../tests/it/cluster.rs"]
#[expect(dead_code, reason = "the tests of the binary use the rest")]
mod cluster;

/// The reader may read what no name calls a secret, of three tables.
const SETUP: &str = "
    CREATE SCHEMA hr;
    CREATE TABLE sites (id int PRIMARY KEY, code text, name text, city text, salt text);
    CREATE TABLE people (id int PRIMARY KEY, full_name text, email text, department text, site_id int REFERENCES sites,
        boss int, born date, tags text[], data jsonb, password_hash text, api_token text);
    CREATE TABLE devices (id int PRIMARY KEY, hostname text, owner_id int, site_id int, kind text, price numeric,
        seen timestamptz, mfa_secret text);
    CREATE TABLE salaries (id int, full_name text, site_id int, amount numeric);
    CREATE TABLE hr.people (id int, full_name text, site_id int);
    CREATE TABLE columns (id int, full_name text);
    GRANT USAGE ON SCHEMA hr TO reader;
    GRANT SELECT (id, code, name, city) ON sites TO reader;
    GRANT SELECT (id, full_name, email, department, site_id, boss, born, tags, data) ON people TO reader;
    GRANT SELECT (id, hostname, owner_id, site_id, kind, price, seen) ON devices TO reader;
";

/// Statements that pass: their tables, columns and parameters as in the table of cases.
const VALID: &[(&str, &str, &str, &str)] = &[
    (
        "SELECT p . full_name , p . email , s . code AS site FROM people p JOIN sites s ON s . id = p . site_id \
         WHERE p . full_name ILIKE :q ESCAPE '\\' OR p . email ILIKE :q ESCAPE '\\' ORDER BY p . full_name LIMIT :limit",
        "people sites",
        "full_name email site",
        "q~ limit#",
    ),
    (
        "SELECT s . code , count ( * ) AS people , max ( p . born ) AS youngest FROM sites s , people p \
         WHERE p . site_id = s . id AND ( :city IS NULL OR s . city = :city ) GROUP BY s . code \
         HAVING count ( * ) > :least ORDER BY people DESC , 1 LIMIT :limit",
        "people sites",
        "code people youngest",
        "city? least# limit#",
    ),
    (
        "WITH RECURSIVE up AS ( SELECT id , full_name , boss FROM people WHERE id = :id UNION ALL \
         SELECT p . id , p . full_name , p . boss FROM up JOIN people p ON p . id = up . boss ) \
         SELECT full_name FROM up ORDER BY id LIMIT 20",
        "people",
        "full_name",
        "id#",
    ),
    (
        "WITH salaries AS ( SELECT site_id , count ( * ) AS n FROM devices GROUP BY site_id ) , q AS ( SELECT code , n \
         FROM sites JOIN salaries ON salaries . site_id = sites . id ) SELECT q . code , n FROM q WHERE n > ( SELECT \
         avg ( n ) FROM salaries ) ORDER BY code LIMIT 9",
        "sites devices",
        "code n",
        "",
    ),
    (
        "SELECT d . hostname , latest . full_name FROM devices d LEFT JOIN LATERAL ( SELECT p . full_name FROM people p \
         WHERE p . id = d . owner_id ORDER BY p . born LIMIT 1 ) latest ON true WHERE d . kind IN ( SELECT kind FROM \
         devices WHERE seen > now ( ) ) AND EXISTS ( SELECT 1 FROM sites x WHERE x . id = d . site_id ) \
         ORDER BY d . hostname LIMIT 9",
        "devices people sites",
        "hostname full_name",
        "",
    ),
    (
        "SELECT p . full_name , tag , p . data ->> 'phone' AS phone , ( p . data -> 'a' -> 0 )::text AS first FROM people p \
         CROSS JOIN unnest ( p . tags ) AS tag WHERE p . data @? '$.a[*].b' ORDER BY 1 , tag LIMIT 9",
        "people",
        "full_name tag phone first",
        "",
    ),
    (
        "SELECT hostname AS name , rank ( ) OVER ( PARTITION BY kind ORDER BY price DESC ) AS place FROM devices UNION ALL \
         SELECT name , id FROM sites WHERE city = ANY ( ARRAY [ :a , :b ] ) ORDER BY name LIMIT :limit OFFSET 2",
        "devices sites",
        "name place",
        "a b limit#",
    ),
    (
        "SELECT extract ( year FROM born ) AS year , string_agg ( full_name , ', ' ORDER BY full_name ) AS names , \
         count ( * ) FILTER ( WHERE email IS DISTINCT FROM department ) AS n FROM people WHERE born BETWEEN ( :since )::date AND \
         now ( ) GROUP BY 1 ORDER BY year LIMIT 9",
        "people",
        "year names n",
        "since",
    ),
    (
        "SELECT DISTINCT ON ( s . code ) s . code , CASE WHEN d . price > 10 THEN 'dear' ELSE coalesce ( d . kind , '?' ) END \
         AS kind FROM ( sites s JOIN devices d ON d . site_id = s . id ) ORDER BY s . code , d . price LIMIT 9",
        "sites devices",
        "code kind",
        "",
    ),
];

/// Pieces that are put in: names of tables, of columns, of secrets, and forms that stand for more than they name.
const PIECES: &[&str] = &[
    "people",
    "sites",
    "devices",
    "salaries",
    "hr . people",
    "columns",
    "\"people\"",
    "p",
    "s",
    "d",
    "q",
    "up",
    "full_name",
    "email",
    "code",
    "id",
    "site_id",
    "n",
    "data",
    "password_hash",
    "p . password_hash",
    "api_token",
    "\"mfa_secret\"",
    "salt",
    "*",
    "p . *",
    "( p ) . *",
    "count ( p )",
    "to_json ( p )",
    "p . to_json",
    "p :: text",
    "row_to_json ( s )",
    "d",
    "TABLE people",
    "( TABLE salaries )",
    "( SELECT * FROM people )",
    "NATURAL JOIN",
    "JOIN salaries USING ( id )",
    ", salaries",
    ", hr . people x",
    "CROSS JOIN LATERAL ( SELECT * FROM devices ) z",
    "AS p ( a , b , c )",
    "AS full_name",
    "AS people",
    ",",
    "(",
    ")",
    ".",
    "UNION SELECT",
    "FROM",
    "WHERE",
    "AND",
    "OR",
    "NOT",
    "= 1",
    "IS NULL",
    "1",
    "'x'",
    "NULL",
    "|| p",
    "-> 'password'",
    "->> 'phone'",
    ":q",
    ":limit",
    ":id",
    "LIMIT 5",
    "ORDER BY 1",
    "DISTINCT",
    "IN ( VALUES ( ( SELECT id FROM columns ) ) )",
    "WITH people AS ( SELECT 1 AS id )",
    "EXISTS ( SELECT 1 FROM salaries )",
    "( SELECT max ( amount ) FROM salaries )",
    "OVER ( ORDER BY p )",
    "GROUP BY p",
    "jsonb_each_text ( data )",
    "ROWS FROM ( unnest ( tags ) )",
    "USING ( password_hash )",
];

/// Pieces that are put behind a word so that the whole may still be a statement.
const BEHIND: &[(&str, &[&str])] = &[
    (
        "WHERE",
        &[
            "EXISTS ( SELECT 1 FROM salaries ) AND",
            "EXISTS ( SELECT 1 FROM devices ) AND",
            "( SELECT count ( * ) FROM sites ) > 0 AND",
            "1 IN ( SELECT id FROM hr . people ) AND",
            "1 IN ( VALUES ( ( SELECT id FROM columns ) ) ) AND",
            "1 IN ( ( SELECT id FROM columns ) UNION ( SELECT 2 ) ) AND",
            "( WITH people AS ( SELECT id FROM salaries ) SELECT max ( id ) FROM people ) > 0 AND",
            "( WITH salaries AS ( SELECT id FROM salaries ) SELECT max ( id ) FROM salaries ) > 0 AND",
            "( WITH q AS ( SELECT id FROM people ) SELECT max ( id ) FROM q ) > 0 AND",
            "p . password_hash IS NULL AND",
            "p IS NOT NULL AND",
            "s IS NOT NULL AND",
            "( p ) . full_name IS NULL AND",
            "p :: text > '' AND",
            "p . to_json IS NULL AND",
            "length ( p . full_name ) > 3 AND",
            "s . city <> 'x' AND",
            "full_name ~ '^A' AND",
            "2 > 1 AND",
        ],
    ),
    (
        "FROM",
        &[
            "salaries x ,",
            "hr . people x ,",
            "people x ,",
            "sites x ,",
            "columns ,",
            "( TABLE salaries ) x ,",
            "( SELECT * FROM people ) x ,",
            "( SELECT id FROM devices ) x ,",
            "( SELECT p . id FROM people p ) x ,",
            "( people x NATURAL JOIN salaries y ) ,",
            "generate_series ( 1 , 3 ) AS x ,",
            "LATERAL ( SELECT max ( amount ) AS x FROM salaries ) x ,",
        ],
    ),
    (
        "BY",
        &[
            "p ,",
            "s ,",
            "p . password_hash ,",
            "salt ,",
            "( SELECT max ( id ) FROM salaries ) ,",
            "p . id ,",
            "1 ,",
        ],
    ),
    (
        "SELECT",
        &[
            "* ,",
            "count ( p ) ,",
            "p . * ,",
            "full_name ,",
            "DISTINCT",
            "password_hash AS full_name ,",
            "1 ,",
        ],
    ),
];

/// One change: where, with what, and which.
type Edit = (Index, Index, u8);

fn mutated(base: &str, edits: &[Edit]) -> String {
    let mut words: Vec<&str> = base.split(' ').collect();
    for (place, with, kind) in edits {
        if words.is_empty() {
            break;
        }
        let (at, other) = (place.index(words.len()), with.index(words.len()));
        let piece = PIECES[with.index(PIECES.len())];
        match kind {
            0 => drop(words.remove(at)),
            1 => words.insert(at, words[at]),
            2 => words.swap(at, other),
            3 => words[at] = words[other],
            4 => words[at] = piece,
            5 => words.insert(at, piece),
            6 => {
                let renamed = words[at];
                words.iter_mut().filter(|word| **word == renamed).for_each(|word| *word = piece);
            }
            _ => put_behind(&mut words, *place, *with),
        }
    }
    words.join(" ")
}

fn put_behind(words: &mut Vec<&str>, place: Index, with: Index) {
    let pieces = |word: &str| BEHIND.iter().find(|(before, _)| *before == word).map(|(_, pieces)| *pieces);
    let places: Vec<usize> = (0..words.len()).filter(|at| pieces(words[*at]).is_some()).collect();
    if places.is_empty() {
        return;
    }
    let at = places[place.index(places.len())];
    let pieces = pieces(words[at]).unwrap_or_default();
    words.insert(at + 1, pieces[with.index(pieces.len())]);
}

/// The canonical text, if the statement keeps to what is declared.
fn proven(sql: &str, tables: &[String], columns: &[String], params: &'static str) -> Option<Proven> {
    let params: Vec<Param> = params.split_whitespace().map(param).collect();
    let claim = Claim {
        sql,
        catalog_tables: &list("people sites devices"),
        tables,
        columns,
        params: &params,
        waived: &BTreeMap::new(),
        words: &SensitiveWords::default(),
        guard: &GuardConfig::default(),
    };
    prove(&claim).0
}

struct Opinion {
    reader: Client,
    admin: Client,
}

impl Opinion {
    fn new() -> Self {
        let cluster = cluster::Cluster::shared();
        let database = cluster.database(SETUP);
        let mut reader = Client::connect(&cluster.socket_dsn(cluster::READER, &database), NoTls).unwrap();
        let mut admin = cluster.admin(&database);
        for client in [&mut reader, &mut admin] {
            client.batch_execute("SET plan_cache_mode = force_generic_plan").unwrap();
        }
        Self { reader, admin }
    }

    /// Returns whether PostgreSQL takes the statement. Its tables and columns must be the declared ones.
    fn agrees(&mut self, proven: &Proven, params: &str, tables: &[String], columns: &[String]) -> bool {
        let sql = proven.statement.canonical();
        let numeric: Vec<bool> = params.split_whitespace().map(|spec| spec.contains('#')).collect();
        let (types, names): (Vec<Type>, Vec<&str>) = proven
            .placeholders
            .iter()
            .map(|placeholder| match placeholder {
                Placeholder::Param(index) | Placeholder::Limit(index) if numeric[*index] => {
                    (Type::INT4, "int4")
                }
                Placeholder::Param(_) | Placeholder::Limit(_) | Placeholder::Caller | Placeholder::Tenant => {
                    (Type::TEXT, "text")
                }
            })
            .unzip();
        let Ok(statement) = self.reader.prepare_typed(sql, &types) else { return false };
        let found: Vec<&str> = statement.columns().iter().map(postgres::Column::name).collect();
        assert_eq!(found, columns, "{sql}");
        let (names, arguments) = match names.len() {
            0 => (String::new(), String::new()),
            count => (format!("({})", names.join(", ")), format!("({})", vec!["NULL"; count].join(", "))),
        };
        let explain = format!(
            "DEALLOCATE ALL; PREPARE s{names} AS {sql}; EXPLAIN (VERBOSE, FORMAT JSON) EXECUTE s{arguments}"
        );
        match self.reader.simple_query(&explain) {
            Ok(_) => {}
            Err(error) if error.code() == Some(&SqlState::INSUFFICIENT_PRIVILEGE) => panic!("{error}: {sql}"),
            Err(_) => return false,
        }
        let answer = self.admin.simple_query(&explain).unwrap();
        let plan = answer
            .iter()
            .find_map(|message| if let SimpleQueryMessage::Row(row) = message { row.get(0) } else { None });
        relations(&serde_json::from_str(plan.unwrap()).unwrap(), &mut |relation| {
            assert!(tables.contains(&relation), "{relation}: {sql}");
        });
        true
    }
}

/// Every relation of a plan, with its schema unless it is `public`.
fn relations(plan: &Value, report: &mut impl FnMut(String)) {
    match plan {
        Value::Object(members) => {
            if let Some(Value::String(name)) = members.get("Relation Name") {
                match members.get("Schema") {
                    Some(Value::String(schema)) if schema == "public" => report(name.clone()),
                    schema => report(format!("{schema:?}.{name}")),
                }
            }
            members.values().for_each(|member| relations(member, report));
        }
        Value::Array(items) => items.iter().for_each(|item| relations(item, report)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn a_proven_statement_reads_what_is_declared_on_postgresql_too() {
    let opinion = std::cell::RefCell::new(Opinion::new());
    for (sql, tables, columns, params) in VALID {
        let (tables, columns) = (list(tables), list(columns));
        let proven = proven(sql, &tables, &columns, params).unwrap_or_else(|| panic!("{sql}"));
        assert!(opinion.borrow_mut().agrees(&proven, params, &tables, &columns), "{sql}");
    }
    let taken = Cell::new(0);
    let edits = prop::collection::vec((any::<Index>(), any::<Index>(), 0..16_u8), 1..4);
    let mut runner = TestRunner::new(Config { cases: 4_000, failure_persistence: None, ..Config::default() });
    let outcome = runner.run(&(select(VALID), edits), |((base, tables, columns, params), edits)| {
        let (tables, columns) = (list(tables), list(columns));
        if let Some(proven) = proven(&mutated(base, &edits), &tables, &columns, params)
            && opinion.borrow_mut().agrees(&proven, params, &tables, &columns)
        {
            taken.set(taken.get() + 1);
        }
        Ok(())
    });
    outcome.unwrap();
    assert!(taken.get() >= 50, "only {} statements were compared", taken.get());
}
