//! User-defined functions, operators and casts that shadow a built-in name: no statement that uses such a name
//! is sent, and what uses another still runs.

use std::sync::Arc;

use mcp_server_suite::call::{Failure, Interrupt};
use mcp_server_suite::guard::GuardConfig;
use mcp_server_suite::postgres::Pooler;
use mcp_server_suite::problem::Code;
use mcp_server_suite::tools::sql::{DescribeDatabase, ExplainQuery};

use serde_json::{Value, json};

use crate::sql::run::{Rig, call_with};

/// Each of them reports that it runs.
const EVIL: &str = "
    CREATE FUNCTION ran() RETURNS int LANGUAGE plpgsql SECURITY DEFINER
        AS 'BEGIN RAISE EXCEPTION ''evil ran''; END';
    CREATE TYPE colour AS ENUM ('red');
    CREATE TABLE t (id int, name text, e mood, c colour);
    INSERT INTO t VALUES (1, 'a', 'sad', 'red');
    GRANT SELECT ON t TO reader;
    CREATE FUNCTION evil(text) RETURNS int LANGUAGE sql AS 'SELECT ran()';
    CREATE FUNCTION rowevil(t) RETURNS int LANGUAGE sql AS 'SELECT ran()';
    CREATE FUNCTION anyevil(anyelement, int DEFAULT 1) RETURNS int LANGUAGE sql AS 'SELECT ran()';
    CREATE FUNCTION manyevil(VARIADIC text[]) RETURNS int LANGUAGE sql AS 'SELECT ran()';
    CREATE FUNCTION setevil(text) RETURNS SETOF int LANGUAGE sql AS 'SELECT ran()';
    CREATE FUNCTION round(float8, int) RETURNS int LANGUAGE sql AS 'SELECT ran()';
    CREATE FUNCTION lower(int) RETURNS int LANGUAGE sql AS 'SELECT ran()';
    CREATE FUNCTION sum_step(int, t) RETURNS int LANGUAGE sql AS 'SELECT ran()';
    CREATE AGGREGATE sum(t) (sfunc = sum_step, stype = int);
    CREATE FUNCTION casefold(int) RETURNS int LANGUAGE sql AS 'SELECT ran()';
    CREATE FUNCTION \"trim\"(text) RETURNS int LANGUAGE sql AS 'SELECT ran()';
    CREATE FUNCTION plus(text, text) RETURNS int LANGUAGE sql AS 'SELECT ran()';
    CREATE OPERATOR + (leftarg = text, rightarg = text, function = plus);
    CREATE FUNCTION same(int, text) RETURNS bool LANGUAGE sql AS 'SELECT ran() = 1';
    CREATE OPERATOR = (leftarg = int, rightarg = text, function = same);
    CREATE FUNCTION alike(text, bpchar) RETURNS bool LANGUAGE sql AS 'SELECT ran() = 1';
    CREATE OPERATOR = (leftarg = text, rightarg = bpchar, function = alike);
    CREATE OPERATOR <> (leftarg = int, rightarg = text, function = same);
    CREATE OPERATOR ~~ (leftarg = int, rightarg = text, function = same);
    CREATE OPERATOR >= (leftarg = int, rightarg = text, function = same);
    CREATE OPERATOR * (leftarg = int, rightarg = text, function = same);
    CREATE FUNCTION number(mood) RETURNS int LANGUAGE sql AS 'SELECT ran()';
    CREATE CAST (mood AS int) WITH FUNCTION number(mood);
    CREATE FUNCTION feel(bigint) RETURNS mood LANGUAGE sql AS 'SELECT ''sad''::mood FROM ran()';
    CREATE CAST (bigint AS mood) WITH FUNCTION feel(bigint);
    CREATE DOMAIN whole AS int; CREATE DOMAIN wholer AS whole; CREATE DOMAIN wholes AS int[];
    CREATE DOMAIN feeling AS mood; CREATE DOMAIN feelings AS mood[];
";

/// Each runs evil code when it is let through, as the first test makes sure.
const ATTACKS: &[&str] = &[
    "SELECT ('x'::text).evil",
    "SELECT (name).evil FROM t",
    "SELECT (t.name).evil FROM t",
    "SELECT (lower('A')).evil",
    "SELECT (ARRAY['a']::text[])[1].evil",
    "SELECT q.evil FROM unnest(ARRAY['a','b']) q",
    "SELECT t.rowevil FROM t",
    "SELECT \"t\".\"rowevil\" FROM t",
    "SELECT (t.*).rowevil FROM t",
    "SELECT (SELECT t FROM t LIMIT 1).rowevil",
    "SELECT 1 FROM t WHERE t.rowevil = 1",
    "SELECT 1 FROM t ORDER BY t.rowevil",
    "SELECT 1 FROM t GROUP BY t.rowevil",
    "SELECT max(t.rowevil) FROM t",
    "SELECT t.anyevil FROM t",
    "SELECT (name).manyevil FROM t",
    "SELECT (name).setevil FROM t",
    "SELECT round(1.5::float8, 2)",
    "SELECT lower(id) FROM t",
    "SELECT sum(t) FROM t",
    "SELECT t.sum FROM t",
    "SELECT casefold(1)",
    "SELECT \"trim\"('x')",
    "SELECT 'a'::text + 'b'::text",
    "SELECT id = name FROM t",
    "SELECT id * name FROM t",
    "SELECT id IN (name) FROM t",
    "SELECT id NOT IN (name, name) FROM t",
    "SELECT id LIKE name FROM t",
    "SELECT id BETWEEN name AND 2 FROM t",
    "SELECT CASE id WHEN name THEN 1 END FROM t",
    "SELECT nullif(id, name) FROM t",
    "SELECT id IS DISTINCT FROM name FROM t",
    "SELECT id = ANY (ARRAY[name]) FROM t",
    "SELECT 1 FROM t JOIN (SELECT name::bpchar FROM t) u USING (name)",
    "SELECT 1 FROM t NATURAL JOIN (SELECT name::bpchar FROM t) u",
    "SELECT e::int FROM t",
    "SELECT CAST(e AS integer) FROM t",
    "SELECT ARRAY[e]::int4[] FROM t",
    "SELECT e::whole FROM t",
    "SELECT CAST(e AS public.wholer) FROM t",
    "SELECT ARRAY[e]::whole[] FROM t",
    "SELECT ARRAY[e]::wholes FROM t",
    "SELECT 1::bigint::mood",
    "SELECT 1::bigint::feeling",
    "SELECT ARRAY[1::bigint]::feelings",
    "SELECT ARRAY[1::bigint]::public.feeling[]",
];

/// The sentence of a refusal that came without the server.
#[track_caller]
fn refused(rig: &Rig, sql: &str) -> String {
    let explain = json!({"query": sql, "analyze": true});
    unsent(sql, call_with(&ExplainQuery::new(Arc::clone(&rig.db)), explain, &Interrupt::default()));
    unsent(sql, rig.query(sql))
}

#[track_caller]
fn unsent(sql: &str, outcome: Result<Value, Failure>) -> String {
    match outcome {
        Err(Failure::Problem(problem)) => {
            let value = problem.to_value();
            assert_eq!(problem.code(), Code::QueryViolation, "{sql}: {value}");
            assert!(value["metadata"]["sqlstate"].is_null(), "it was sent: {sql}: {value}");
            assert!(value["metadata"]["line"].is_u64(), "{sql}: {value}");
            problem.detail().to_owned()
        }
        other => panic!("{sql}: {other:?}"),
    }
}

#[test]
fn a_shadowed_name_is_refused_before_it_is_sent() {
    for pooler in [Pooler::None, Pooler::Transaction] {
        let rig = Rig::with(EVIL, |settings| settings.pooler = pooler);
        for attack in ATTACKS {
            // Nobody but the guard stands in the way.
            let error = rig.admin().simple_query(attack).expect_err(attack);
            assert!(
                error.as_db_error().is_some_and(|error| error.message() == "evil ran"),
                "{attack}: {error:?}"
            );
            let detail = refused(&rig, attack);
            assert!(
                detail.contains("public.") && detail.contains("MCP_SQL_ALLOW_FUNCTIONS"),
                "{attack}: {detail}"
            );
        }
    }
}

#[test]
fn a_statement_without_a_shadowed_name_runs() {
    let rig = Rig::new(EVIL);
    for sql in [
        "SELECT t.id, t.name, public.t.c FROM t ORDER BY t.id",
        "SELECT (ROW(1, 'x', NULL)::text)",
        "SELECT upper(name), pg_catalog.lower('A'), pg_catalog.round(1.5, 0) FROM t WHERE id < 2",
        "SELECT 2 - 1, 2 OPERATOR(pg_catalog.+) 1",
        "SELECT id::text, c::text FROM t",
        "SELECT *, t.* FROM t",
        "SELECT DISTINCT c, count(*) FROM t GROUP BY c",
        "SELECT q.total FROM (SELECT count(*) AS total FROM t) q",
    ] {
        rig.query(sql).unwrap_or_else(|failure| panic!("{sql}: {failure:?}"));
    }
}

#[test]
fn the_operator_may_allow_a_shadowing_object() {
    let rig = Rig::with(
        "CREATE FUNCTION twice(int) RETURNS int LANGUAGE sql AS 'SELECT 2 * $1';
         CREATE FUNCTION round(float8, int) RETURNS int LANGUAGE sql AS 'SELECT 7';
         CREATE FUNCTION joined(text, text) RETURNS text LANGUAGE sql AS 'SELECT $1 || $2';
         CREATE OPERATOR + (leftarg = text, rightarg = text, function = joined);",
        |settings| settings.guard = GuardConfig::parse("public.round, joined, twice").unwrap(),
    );
    let answer = rig.query("SELECT round(1.5::float8, 2), 'a'::text + 'b'::text, (21).twice, (4).twice");
    assert_eq!(answer.unwrap()["rows"][0], json!([7, "ab", 42, 8]));
}

#[test]
fn a_set_means_its_extension_and_no_other_function_of_the_name() {
    let rig = Rig::with("CREATE FUNCTION sort(int[]) RETURNS int LANGUAGE sql AS 'SELECT 1'", |settings| {
        settings.guard = GuardConfig::parse("@intarray, @catalog").unwrap();
    });
    refused(&rig, "SELECT sort('{2,1}'::int[])");
    rig.query("SELECT version(), ('item'::text).to_regclass").unwrap();
}

/// Our own statement runs under the same path. Exact types win against PostgreSQL's own operators that need a cast.
#[test]
fn no_shadowing_object_runs_while_the_database_is_described() {
    let operators = [
        ("real, int", ">="),
        ("name, name", "!~~"),
        ("oid, int", "="),
        ("name, text", "="),
        ("smallint, int", ">"),
    ];
    let setup = operators.map(|(types, name)| {
        let (left, right) = types.split_once(", ").unwrap();
        format!(
            "CREATE FUNCTION compared({types}) RETURNS bool LANGUAGE sql AS 'SELECT ran() = 1';
             CREATE OPERATOR {name} (leftarg = {left}, rightarg = {right}, function = compared);"
        )
    });
    let rig = Rig::new(&format!("{EVIL}{}", setup.concat()));
    let tool = DescribeDatabase::new(Arc::clone(&rig.db));
    for arguments in [json!({}), json!({"schema": "public"}), json!({"table": "item"})] {
        let answer = call_with(&tool, arguments.clone(), &Interrupt::default());
        assert!(answer.is_ok(), "{arguments}: {answer:?}");
    }
}

#[test]
fn a_cast_that_applies_unasked_refuses_everything() {
    let rig = Rig::new(
        "CREATE FUNCTION number(mood) RETURNS int LANGUAGE sql AS 'SELECT 1';
         CREATE CAST (mood AS int) WITH FUNCTION number(mood) AS IMPLICIT;",
    );
    assert!(refused(&rig, "SELECT id FROM item").contains("public.number"));
}

#[test]
fn postgresqls_own_functions_that_are_on_no_list_are_refused_behind_a_dot() {
    let rig = Rig::new("");
    for sql in [
        "SELECT (id).int4out FROM item",
        "SELECT item.record_out FROM item",
        "SELECT (1::oid).fmgr_sql_validator",
    ] {
        refused(&rig, sql);
    }
}

#[test]
fn too_many_shadowing_objects_leave_no_name_trusted() {
    let rig = Rig::new(
        "DO $$ BEGIN FOR n IN 1..20000 LOOP
             EXECUTE format('CREATE FUNCTION f%s() RETURNS int LANGUAGE sql AS ''SELECT 1''', n);
         END LOOP; END $$",
    );
    assert!(refused(&rig, "SELECT abs(1)").contains("20000"));
    rig.query("SELECT id FROM item").unwrap();
}
