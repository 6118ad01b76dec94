//! The SQL tools on a real server: values, bounds, faults.

use std::{
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use mcp_server_suite::{
    call::{Call, Interrupt, Serial},
    governance::{Governor, Verdict},
    problem::Code,
    tools::{
        Failure, Tool,
        sql::{
            Database, DescribeDatabase, Dsn, DsnEnvironment, ExplainQuery, GuardConfig, Pooler, ReadOnlySql,
            SqlConfig, UnsafeRole,
        },
    },
};
use serde_json::{Value, json};

use crate::cluster::Cluster;

/// How long anything here may take.
const LIMIT: Duration = Duration::from_secs(30);

pub(crate) fn config(dsn: &str) -> SqlConfig {
    SqlConfig {
        dsn: Dsn::parse(dsn, &DsnEnvironment::default()).unwrap(),
        pool_max_size: 4,
        pooler: Pooler::None,
        connect_timeout: Duration::from_secs(5),
        statement_timeout: Duration::from_secs(5),
        max_rows: 1000,
        max_cell_chars: 1000,
        max_response_bytes: 65_536,
        call_timeout: LIMIT,
        max_stuck: 4,
        guard: GuardConfig::parse("*").unwrap_or_default(),
        unsafe_role: UnsafeRole::Refuse,
    }
}

/// The reader's tools on a database of the shared cluster.
fn database(name: &str) -> Arc<Database> {
    Database::new(config(&Cluster::shared().url(name)))
}

/// One call, its ROLLBACK included.
fn call_with(tool: &dyn Tool, arguments: Value, interrupt: &Interrupt) -> Result<Value, Failure> {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    let prepared = tool.prepare(arguments)?;
    let Verdict::Allow(permit) = Governor.authorize(&tool.spec().name, &prepared.arguments) else {
        panic!("not allowed")
    };
    let call = Call::new(Serial(1), Instant::now() + LIMIT, interrupt.clone());
    let limit = prepared.max_body_bytes;
    let answer = (prepared.run)(permit, &call)?;
    let body = answer.body.to_vec();
    assert!(body.len() <= limit, "{} bytes", body.len());
    assert!(body.is_ascii());
    let value = serde_json::from_slice(&body).unwrap();
    if let Some(afterwards) = answer.afterwards {
        afterwards();
    }
    Ok(value)
}

fn call(tool: &dyn Tool, arguments: Value) -> Result<Value, Failure> {
    call_with(tool, arguments, &Interrupt::default())
}

fn query(database: &Arc<Database>, sql: &str) -> Result<Value, Failure> {
    call(&ReadOnlySql::new(Arc::clone(database)), json!({ "query": sql }))
}

#[track_caller]
fn code(outcome: Result<Value, Failure>) -> Code {
    match outcome {
        Err(Failure::Problem(problem)) => problem.code(),
        other => panic!("no problem: {other:?}"),
    }
}

/// The only row of `SELECT …`, as `psql` would have it but in JSON.
#[track_caller]
fn check_row(database: &Arc<Database>, select: &str, types: &[&str], row: &Value) {
    let answer = query(database, select).unwrap_or_else(|failure| panic!("{select}: {failure}"));
    let named: Vec<&str> =
        answer["columns"].as_array().unwrap().iter().map(|column| column["type"].as_str().unwrap()).collect();
    assert_eq!(named, types, "{select}");
    assert_eq!(answer["rows"][0], *row, "{select}");
}

#[test]
fn every_type_is_rendered_as_the_contract_says() {
    let setup = "ALTER DATABASE it_name SET TimeZone = 'Asia/Tokyo'";
    let name = Cluster::shared().database("");
    Cluster::shared().admin(&name).batch_execute(&setup.replace("it_name", &name)).unwrap();
    let db = database(&name);
    let check = |select: &str, types: &[&str], row: Value| check_row(&db, select, types, &row);
    check("SELECT true, NULL::bool", &["bool", "bool"], json!([true, null]));
    check(
        "SELECT 1::int2, -2::int4, 9007199254740991, 9007199254740992",
        &["int2", "int4", "int8", "int8"],
        json!([1, -2, 9_007_199_254_740_991_i64, "9007199254740992"]),
    );
    check(
        "SELECT 0.1::float4, 1e300::float8, 'NaN'::float8, '-Infinity'::float4",
        &["float4", "float8", "float8", "float4"],
        json!([0.1, 1e300, "NaN", "-Infinity"]),
    );
    check(
        "SELECT 1.50, 'NaN'::numeric, 1e30::numeric, -0.00012, 123456.789::numeric(20,5)",
        &["numeric"; 5],
        json!(["1.50", "NaN", "1000000000000000000000000000000", "-0.00012", "123456.78900"]),
    );
    check(
        "SELECT 'a\"é'::text, 'v'::varchar(5), 'c'::char(3), 'n'::name, 'x'::\"char\", 'lit'",
        &["text", "varchar", "bpchar", "name", "char", "text"],
        json!(["a\"é", "v", "c  ", "n", "x", "lit"]),
    );
    check(
        "SELECT date '2024-02-29', date '0044-03-15 BC', date 'infinity'",
        &["date"; 3],
        json!(["2024-02-29", "0044-03-15 BC", "infinity"]),
    );
    check(
        "SELECT time '24:00', timetz '01:02:03.5+02:30', timestamp '2024-01-02 03:04:05.6'",
        &["time", "timetz", "timestamp"],
        json!(["24:00:00", "01:02:03.5+02:30", "2024-01-02T03:04:05.6"]),
    );
    check(
        "SELECT timestamptz '2024-01-02 03:04:05+09', timestamptz '-infinity', timestamptz '2024-01-02 03:04:05'",
        &["timestamptz"; 3],
        json!(["2024-01-01T18:04:05Z", "-infinity", "2024-01-02T03:04:05Z"]),
    );
    check(
        "SELECT interval '1 year 2 mons -3 days 04:05:06.7', interval '0'",
        &["interval"; 2],
        json!(["P1Y2M-3DT4H5M6.7S", "PT0S"]),
    );
    check(
        "SELECT '\\x00ff'::bytea, gen_random_uuid() IS NOT NULL, 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid",
        &["bytea", "bool", "uuid"],
        json!(["\\x00ff", true, "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"]),
    );
    check(
        "SELECT '{\"a\": [1, null]}'::json, '{\"b\": 1.5}'::jsonb, '{\"a\":1,\"a\":2}'::json, '1e400'::jsonb",
        &["json", "jsonb", "json", "jsonb"],
        json!([{"a": [1, null]}, {"b": 1.5}, "{\"a\":1,\"a\":2}", format!("1{}", "0".repeat(400))]),
    );
    check(
        "SELECT ARRAY[1,NULL,3], ARRAY[[1,2],[3,4]], '[5:6]={7,8}'::int[], '{}'::text[], ARRAY[1.5], ARRAY['a,b',NULL]",
        &["int4[]", "int4[]", "int4[]", "text[]", "numeric[]", "text[]"],
        json!([[1, null, 3], [[1, 2], [3, 4]], [7, 8], [], ["1.5"], ["a,b", null]]),
    );
    check(
        "SELECT ARRAY[inet '1.2.3.4'], ARRAY[point '(1,2)'], ARRAY[ROW(1,'x')]",
        &["inet[]", "point[]", "record[]"],
        json!([["1.2.3.4"], ["(1,2)"], [{"f1": 1, "f2": "x"}]]),
    );
    check(
        "SELECT 'so so'::mood, 5::positive, ARRAY['sad'::mood], ARRAY[3::positive]",
        &["mood", "int4", "mood[]", "positive[]"],
        json!(["so so", 5, ["sad"], [3]]),
    );
    check(
        "SELECT ROW(1,'b',timestamptz '2024-01-01 00:00:00Z')::pair, ROW(1,NULL), ROW('s','(1,1),(0,0)')::shape",
        &["pair", "record", "shape"],
        json!([{"a": 1, "b": "b", "at": "2024-01-01T00:00:00Z"}, {"f1": 1, "f2": null}, {"name": "s", "area": "(1,1),(0,0)"}]),
    );
    check("SELECT t FROM (SELECT 1 AS x, 'y' AS z) t", &["record"], json!([{"x": 1, "z": "y"}]));
    check(
        "SELECT ROW(NULL,NULL,NULL)::pair, NULL::pair",
        &["pair", "pair"],
        json!([{"a": null, "b": null, "at": null}, null]),
    );
    check(
        "SELECT int4range(1,5), '{[1,2)}'::int4multirange, inet '10.0.0.1', cidr '10.0.0.0/8', macaddr '08:00:2b:01:02:03'",
        &["int4range", "int4multirange", "inet", "cidr", "macaddr"],
        json!(["[1,5)", "{[1,2)}", "10.0.0.1", "10.0.0.0/8", "08:00:2b:01:02:03"]),
    );
    check(
        "SELECT 5::oid, 'pg_class'::regclass, '0/16B3748'::pg_lsn, '(1,2)'::tid, B'101', '7'::xid8, 12::money",
        &["oid", "regclass", "pg_lsn", "tid", "bit", "xid8", "money"],
        json!(["5", "pg_class", "0/16B3748", "(1,2)", "101", "7", "$12.00"]),
    );
    check(
        "SELECT point '(1,2)', box '(1,1),(0,0)', 'a b'::tsvector, '$.a'::jsonpath, '<a/>'::xml, 'c'::refcursor",
        &["point", "box", "tsvector", "jsonpath", "xml", "refcursor"],
        json!(["(1,2)", "(1,1),(0,0)", "'a' 'b'", "$.\"a\"", "<a/>", "c"]),
    );
    check(
        "SELECT 'postgres=r/postgres'::aclitem, '1 2'::int2vector, '3 4'::oidvector, pg_sleep(0)",
        &["aclitem", "int2vector", "oidvector", "void"],
        json!(["postgres=r/postgres", "1 2", "3 4", ""]),
    );
    check(
        "SELECT ARRAY['postgres=r/postgres'::aclitem], ROW('postgres=r/postgres'::aclitem)",
        &["aclitem[]", "record"],
        json!([["postgres=r/postgres"], {"f1": "postgres=r/postgres"}]),
    );
    check("SELECT 1 AS a, 2 AS a, 3 AS \"\"\"\"", &["int4"; 3], json!([1, 2, 3]));
    check(
        "SELECT most_common_vals FROM pg_stats WHERE tablename = 'none' UNION ALL SELECT NULL",
        &["anyarray"],
        json!([null]),
    );
    check("SELECT histogram_bounds FROM pg_stats WHERE attname = 'id' AND tablename = 'item'", &["anyarray"], query(&db, "SELECT array_to_json(histogram_bounds) FROM pg_stats WHERE attname = 'id' AND tablename = 'item'").unwrap()["rows"][0].clone());
}

#[test]
fn settings_of_the_role_change_nothing() {
    let shared = Cluster::shared();
    let name = shared.database(
        "CREATE ROLE odd LOGIN; ALTER ROLE odd SET TimeZone = 'America/New_York'; ALTER ROLE odd SET DateStyle = 'SQL, DMY';
         ALTER ROLE odd SET IntervalStyle = 'postgres_verbose'; ALTER ROLE odd SET bytea_output = 'escape';
         ALTER ROLE odd SET extra_float_digits = '-15'; ALTER ROLE odd SET standard_conforming_strings = off;
         ALTER ROLE odd SET statement_timeout = 1; ALTER ROLE odd SET transform_null_equals = on;
         ALTER ROLE odd SET default_transaction_isolation = 'serializable'; ALTER ROLE odd SET search_path = '';",
    );
    let db = Database::new(config(&shared.socket_dsn("odd", &name)));
    let select = "SELECT timestamptz '2024-01-02 03:04:05Z', tstzrange('2024-01-02 03:04:05Z', NULL), interval '1 day', \
                  '\\x00'::bytea, 0.1::float8, point(0.1, 0), NULL = NULL, '\\', ARRAY[interval '1 day'], \
                  daterange('2024-01-02', NULL), pg_sleep(0.01)";
    let types = [
        "timestamptz",
        "tstzrange",
        "interval",
        "bytea",
        "float8",
        "point",
        "bool",
        "text",
        "interval[]",
        "daterange",
        "void",
    ];
    let row = json!([
        "2024-01-02T03:04:05Z",
        "[\"2024-01-02 03:04:05+00\",)",
        "P1D",
        "\\x00",
        0.1,
        "(0.1,0)",
        null,
        "\\",
        ["P1D"],
        "[2024-01-02,)",
        ""
    ]);
    check_row(&db, select, &types, &row);
}

#[test]
fn rows_are_counted_exactly() {
    let db = database(&Cluster::shared().database(""));
    let tool = ReadOnlySql::new(Arc::clone(&db));
    let ask = |sql: &str, max_rows: u32| {
        let answer = call(&tool, json!({ "query": sql, "max_rows": max_rows })).unwrap();
        assert_eq!(answer["row_count"], answer["rows"].as_array().unwrap().len());
        (
            answer["row_count"].as_u64().unwrap(),
            answer["has_more"].as_bool().unwrap(),
            answer["truncated"].as_bool().unwrap(),
        )
    };
    assert_eq!(ask("SELECT id FROM item ORDER BY id", 10), (10, true, false));
    assert_eq!(ask("SELECT id FROM item", 1000), (1000, false, false));
    assert_eq!(ask("SELECT id FROM item", 999), (999, true, false));
    assert_eq!(ask("SELECT id FROM item LIMIT 5", 10), (5, false, false));
    assert_eq!(ask("SELECT id FROM item WHERE false", 10), (0, false, false));
    assert_eq!(ask("SELECT FROM item LIMIT 3", 10), (3, false, false));
    assert_eq!(ask("VALUES (1), (2)", 1), (1, true, false));
    let (count, has_more, truncated) = ask("SELECT repeat('x', 900) FROM item", 1000);
    assert!(count > 60 && count < 73 && has_more && truncated, "{count}");
    assert_eq!(ask("SELECT repeat('x', 900), repeat('é', 30000) FROM item", 1), (1, true, true));
    // The connection was told to stop and is not used again; the next one is well.
    assert_eq!(ask("SELECT 1", 1), (1, false, false));
}

#[test]
fn a_long_cell_is_cut_at_the_database() {
    let mut settings = config(&Cluster::shared().url(&Cluster::shared().database("")));
    settings.max_cell_chars = 100;
    let db = Database::new(settings);
    let cut = |sql: &str, start: String, more: u64| {
        let answer = query(&db, sql).unwrap();
        assert_eq!(answer["rows"][0][0], format!("{start}…[truncated {more} chars]"), "{sql}");
        assert_eq!(answer["truncated"], true);
    };
    cut("SELECT repeat('é', 101)", "é".repeat(100), 1);
    cut("SELECT repeat('a', 200)::varchar(300)", "a".repeat(100), 100);
    cut("SELECT 'b'::char(120)", format!("b{}", " ".repeat(99)), 20);
    cut("SELECT decode(repeat('ab', 50), 'hex')", format!("\\x{}", "ab".repeat(49)), 2);
    cut("SELECT 10::numeric ^ 200", format!("1{}", "0".repeat(99)), 118);
    cut("SELECT array_agg(n) FROM generate_series(1, 100) n", "{1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35,36,".to_owned(), 193);
    cut("SELECT to_jsonb(repeat('x', 200))", format!("\"{}", "x".repeat(99)), 102);
    cut("SELECT ROW(repeat('x', 200))", format!("{{\"f1\":\"{}", "x".repeat(93)), 109);
    cut("SELECT ROW(1, repeat('x', 200), NULL)::pair", format!("(1,{}", "x".repeat(97)), 105);
    cut("SELECT ('[' || repeat('1', 150) || ',)')::numrange", format!("[{}", "1".repeat(99)), 53);
    let whole = query(
        &db,
        "SELECT repeat('é', 100), decode(repeat('ab', 49), 'hex'), NULL::text, 'x…[truncated 3 chars]'",
    )
    .unwrap();
    assert_eq!(whole["truncated"], false);
    assert_eq!(whole["rows"][0][3], "x…[truncated 3 chars]");
}

#[test]
fn postgresqls_refusals_have_our_codes_and_the_callers_positions() {
    let db = database(&Cluster::shared().database("CREATE SEQUENCE s; GRANT ALL ON SEQUENCE s TO reader;"));
    assert_eq!(code(query(&db, "SELECT 1/0")), Code::Validation);
    assert_eq!(code(query(&db, "SELECT secret FROM hidden")), Code::AccessDenied);
    assert_eq!(code(query(&db, "SELECT nextval('s')")), Code::QueryViolation);
    assert_eq!(code(query(&db, "SELECT 1 FROM item FOR UPDATE")), Code::QueryViolation);
    let Err(Failure::Problem(problem)) = query(&db, "SELECT id,\n  nme FROM item") else { panic!() };
    assert_eq!(problem.code(), Code::Validation);
    assert_eq!(
        (&problem.to_value()["metadata"]["line"], &problem.to_value()["metadata"]["column"]),
        (&json!(2), &json!(3))
    );
    assert!(
        problem.detail().contains("nme") && problem.detail().contains("item.name"),
        "{}",
        problem.detail()
    );
    let wide: Vec<String> = (0..1000).map(|n| format!("1 AS {}{n}", "n".repeat(59))).collect();
    assert_eq!(code(query(&db, &format!("SELECT {}", wide.join(",")))), Code::Validation);
}

/// The database's own walls, as if there were no guard.
#[test]
fn without_a_guard_the_database_refuses_every_write() {
    let name =
        Cluster::shared().database("GRANT ALL ON hidden TO reader; GRANT CREATE ON SCHEMA public TO reader;");
    let db = database(&name);
    for attack in [
        "INSERT INTO hidden VALUES ('x')",
        "WITH w AS (INSERT INTO hidden VALUES ('x') RETURNING 1) SELECT * FROM w",
        "SELECT 1; INSERT INTO hidden VALUES ('x')",
        "SELECT 1) AS q; INSERT INTO hidden VALUES ('x'); SELECT (1",
        "SELECT 'x' INTO stolen",
        "CREATE TABLE stolen (x int)",
        "COMMIT",
        "SET TRANSACTION READ WRITE",
        "SELECT set_config('transaction_read_only', 'off', false)",
        "COPY hidden TO STDOUT",
        "EXPLAIN ANALYZE INSERT INTO hidden VALUES ('x')",
        "DO $$ BEGIN INSERT INTO hidden VALUES ('x'); END $$",
        "LISTEN x",
    ] {
        assert!(query(&db, attack).is_err(), "{attack}");
    }
    let mut admin = Cluster::shared().admin(&name);
    assert_eq!(admin.query_one("SELECT count(*) FROM hidden", &[]).unwrap().get::<_, i64>(0), 0);
    assert_eq!(
        admin
            .query_one("SELECT count(*) FROM pg_class WHERE relname = 'stolen'", &[])
            .unwrap()
            .get::<_, i64>(0),
        0
    );
}

#[test]
fn a_session_is_as_it_was_for_the_next_call() {
    let mut settings = config(&Cluster::shared().url(&Cluster::shared().database("")));
    settings.pool_max_size = 1;
    settings.max_stuck = 0;
    let db = Database::new(settings);
    let pid = query(&db, "SELECT pg_backend_pid()").unwrap()["rows"][0][0].clone();
    query(&db, "SELECT set_config('TimeZone', 'Asia/Tokyo', false), pg_advisory_lock(7), set_config('search_path', 'x', false)").unwrap();
    let left = "SELECT current_setting('TimeZone'), (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'), \
                current_setting('transaction_read_only'), current_setting('search_path'), pg_backend_pid(), \
                (SELECT count(*) FROM pg_prepared_statements), current_setting('application_name'), \
                current_setting('default_transaction_read_only')";
    let answer = query(&db, left).unwrap();
    let path = "pg_catalog, \"$user\", public, pg_temp";
    assert_eq!(answer["rows"][0], json!(["UTC", 0, "on", path, pid, 1, "mcp-server-suite", "on"]));
}

#[test]
fn a_statement_that_takes_too_long_is_stopped() {
    let mut settings = config(&Cluster::shared().url(&Cluster::shared().database("")));
    settings.statement_timeout = Duration::from_millis(50);
    let db = Database::new(settings);
    assert_eq!(code(query(&db, "SELECT pg_sleep(20)")), Code::ExecutionTimeout);
    // The error comes after the first row.
    assert_eq!(
        code(query(&db, "SELECT pg_sleep(n * 20) FROM generate_series(0, 2) n")),
        Code::ExecutionTimeout
    );
    query(&db, "SELECT 1").unwrap();
}

/// Waits until `sql` says true, with a limit.
#[track_caller]
fn wait_until(admin: &mut postgres::Client, sql: &str) {
    let started = Instant::now();
    while !admin.query_one(sql, &[]).unwrap().get::<_, bool>(0) {
        assert!(started.elapsed() < LIMIT, "never true: {sql}");
        thread::yield_now();
    }
}

#[test]
fn a_call_that_is_told_to_stop_stops_on_the_server() {
    let name = Cluster::shared().database("");
    let db = database(&name);
    query(&db, "SELECT 1").unwrap();
    let interrupt = Interrupt::default();
    let mut admin = Cluster::shared().admin(&name);
    let active = "FROM pg_stat_activity WHERE datname = current_database() AND state = 'active' AND query LIKE '%pg_sleep(60)%' \
                  AND pid <> pg_backend_pid()";
    thread::scope(|scope| {
        let running = scope.spawn(|| {
            let tool = ReadOnlySql::new(Arc::clone(&db));
            call_with(&tool, json!({ "query": "SELECT pg_sleep(60)" }), &interrupt)
        });
        wait_until(&mut admin, &format!("SELECT count(*) = 1 {active}"));
        interrupt.set().expect("a way to stop it")();
        assert!(matches!(running.join().unwrap(), Err(Failure::Interrupted(_))));
        wait_until(&mut admin, &format!("SELECT count(*) = 0 {active}"));
    });
    // A late cancel hits nobody: the connection is gone.
    wait_until(
        &mut admin,
        "SELECT count(*) = 0 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
    );
    for _ in 0..20 {
        query(&db, "SELECT 1").unwrap();
    }
}

#[test]
fn a_connection_killed_between_calls_is_replaced_and_one_killed_during_a_call_is_one_error() {
    let name = Cluster::shared().database("");
    let db = database(&name);
    let mut admin = Cluster::shared().admin(&name);
    let others = "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";
    query(&db, "SELECT 1").unwrap();
    admin.batch_execute(&format!("SELECT pg_terminate_backend(pid) {others}")).unwrap();
    wait_until(&mut admin, &format!("SELECT count(*) = 0 {others}"));
    query(&db, "SELECT 2").unwrap();
    thread::scope(|scope| {
        let running = scope.spawn(|| query(&db, "SELECT pg_sleep(60)"));
        wait_until(
            &mut admin,
            &format!("SELECT count(*) = 1 {others} AND state = 'active' AND query LIKE '%pg_sleep(60)%'"),
        );
        admin.batch_execute(&format!("SELECT pg_terminate_backend(pid) {others}")).unwrap();
        assert!(matches!(running.join().unwrap(), Err(Failure::Internal(_))));
    });
    query(&db, "SELECT 3").unwrap();
}

#[test]
fn an_answer_that_nobody_wants_leaves_no_transaction_behind() {
    let name = Cluster::shared().database("");
    let db = database(&name);
    let tool = ReadOnlySql::new(Arc::clone(&db));
    let prepared = tool.prepare(json!({ "query": "SELECT 1" }).as_object().unwrap().clone()).unwrap();
    let Verdict::Allow(permit) = Governor.authorize(&tool.spec().name, &prepared.arguments) else { panic!() };
    let call = Call::new(Serial(1), Instant::now() + LIMIT, Interrupt::default());
    drop((prepared.run)(permit, &call).unwrap());
    let mut admin = Cluster::shared().admin(&name);
    wait_until(
        &mut admin,
        "SELECT count(*) = 0 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
    );
    query(&db, "SELECT 1").unwrap();
}

#[test]
fn an_unsafe_role_is_refused_and_told_to_the_operator() {
    let shared = Cluster::shared();
    let name = shared.database(
        "CREATE ROLE spy LOGIN; GRANT pg_read_server_files TO spy; CREATE ROLE boss LOGIN SUPERUSER;",
    );
    for role in ["spy", "boss"] {
        let mut settings = config(&shared.socket_dsn(role, &name));
        assert_eq!(code(query(&Database::new(settings.clone()), "SELECT 1")), Code::AccessDenied, "{role}");
        settings.unsafe_role = UnsafeRole::Warn;
        let db = Database::new(settings);
        query(&db, "SELECT 1").unwrap();
        let probe = db.probe().unwrap();
        assert!(probe.findings.iter().any(|finding| finding.dangerous), "{role}: {:?}", probe.findings);
    }
    let probe = database(&name).probe().unwrap();
    assert_eq!((probe.role.as_str(), probe.database.as_str(), &probe.tls), ("reader", name.as_str(), &None));
    assert!(!probe.findings.iter().any(|finding| finding.dangerous), "{:?}", probe.findings);
    let mut strict = config(&shared.url(&name));
    strict.unsafe_role = UnsafeRole::Strict;
    query(&Database::new(strict.clone()), "SELECT 1").unwrap();
    shared.admin(&name).batch_execute("GRANT INSERT ON item TO reader").unwrap();
    assert_eq!(code(query(&Database::new(strict), "SELECT 1")), Code::AccessDenied);
}

#[test]
fn a_failed_connection_names_cause_and_cure_but_no_password() {
    let shared = Cluster::shared();
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    for (dsn, expected) in [
        (format!("postgres://reader:wrong-horse@127.0.0.1:{}/seed", shared.port()), "check the password"),
        (format!("postgres://reader@127.0.0.1:{}/seed", shared.port()), "give a password"),
        (shared.url("nowhere"), "check the database's name"),
        (format!("postgres://reader:wrong-horse@127.0.0.1:{free}/seed"), "is PostgreSQL running"),
        (format!("{}?sslmode=require", shared.url("seed")), "does not support TLS"),
    ] {
        let error = Database::new(config(&dsn)).probe().unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
        assert!(!error.contains("horse") && !error.contains("p@ss"), "{error}");
    }
    let several = format!(
        "host=127.0.0.1,127.0.0.1 port={free},{} user=reader password='{}' dbname=seed target_session_attrs=primary",
        shared.port(),
        crate::cluster::PASSWORD
    );
    Database::new(config(&several)).probe().unwrap();
}

#[test]
fn the_database_describes_what_the_role_may_read() {
    let name = Cluster::shared()
        .database("CREATE VIEW names AS SELECT name FROM item; GRANT SELECT ON names TO reader;");
    let tool = DescribeDatabase::new(database(&name));
    let answer = call(&tool, json!({})).unwrap();
    assert_eq!(answer["truncated"], false);
    assert_eq!(
        answer["schemas"],
        json!([{"name": "public", "tables": [
            {
                "name": "item", "kind": "table", "comment": "Things", "row_estimate": 1000.0,
                "columns": [
                    {"name": "id", "type": "integer", "nullable": false, "comment": null},
                    {"name": "name", "type": "character varying(40)", "nullable": false, "comment": "What it is called"},
                    {"name": "parent", "type": "integer", "nullable": true, "comment": null},
                ],
                "primary_key": ["id"],
                "foreign_keys": [{"columns": ["parent"], "references_schema": "public", "references_table": "item",
                    "references_columns": ["id"]}],
            },
            {
                "name": "names", "kind": "view", "comment": null, "row_estimate": null,
                "columns": [{"name": "name", "type": "character varying(40)", "nullable": true, "comment": null}],
                "primary_key": [], "foreign_keys": [],
            },
        ]}])
    );
    assert_eq!(
        call(&tool, json!({"table": "names"})).unwrap()["schemas"][0]["tables"].as_array().unwrap().len(),
        1
    );
    assert_eq!(code(call(&tool, json!({"table": "hidden"}))), Code::NotFound);
    let wide: Vec<String> = (0..1000).map(|n| format!("{}{n} int", "n".repeat(59))).collect();
    let wide = Cluster::shared()
        .database(&format!("CREATE TABLE wide ({}); GRANT SELECT ON wide TO reader;", wide.join(",")));
    let answer = call(&DescribeDatabase::new(database(&wide)), json!({"table": "wide"})).unwrap();
    assert_eq!(
        (&answer["truncated"], answer["schemas"][0]["tables"][0]["columns"].as_array().unwrap().len()),
        (&json!(true), 500)
    );
}

#[test]
fn a_plan_is_explained_and_measured() {
    let tool = ExplainQuery::new(database(&Cluster::shared().database("")));
    let plain = call(&tool, json!({"query": "SELECT * FROM item ORDER BY id"})).unwrap();
    assert!(plain["total_cost"].as_f64().unwrap() > 0.0 && plain["estimated_rows"] == 1000.0, "{plain}");
    assert!(
        plain["plan"]["Node Type"].is_string()
            && plain["execution_ms"].is_null()
            && plain["actual_rows"].is_null()
    );
    let measured =
        call(&tool, json!({"query": "SELECT * FROM item WHERE id < 11", "analyze": true})).unwrap();
    assert!(measured["execution_ms"].is_f64() && measured["actual_rows"] == 10.0, "{measured}");
    assert_eq!(code(call(&tool, json!({"query": "SELECT nme FROM item"}))), Code::Validation);
    assert_eq!(code(call(&tool, json!({"query": "DELETE FROM item", "analyze": true}))), Code::Validation);
}

#[test]
fn the_ceiling_of_rows_is_in_the_schema_and_enforced() {
    let tool = ReadOnlySql::new(database("never_connected"));
    let maximum = &tool.spec().input_schema["properties"]["max_rows"];
    assert_eq!(
        (&maximum["minimum"], &maximum["maximum"], &maximum["default"]),
        (&json!(1), &json!(1000), &json!(100))
    );
    assert_eq!(code(call(&tool, json!({"query": "SELECT 1", "max_rows": 1001}))), Code::Validation);
}

#[test]
fn a_huge_cell_costs_this_process_nothing() {
    let mut settings = config(&Cluster::shared().url(&Cluster::shared().database("")));
    settings.statement_timeout = LIMIT;
    let db = Database::new(settings);
    for (sql, start) in [
        ("SELECT repeat('x', 200000000)", "xxx"),
        ("SELECT decode(repeat('00', 50000000), 'hex')", "\\x00"),
        ("SELECT json_agg(repeat('x', 1000000)) FROM generate_series(1, 50)", "[\"xxx"),
        ("SELECT array_agg(n) FROM generate_series(1, 5000000) n", "{1,2,3"),
    ] {
        let answer = query(&db, sql).unwrap_or_else(|failure| panic!("{sql}: {failure}"));
        let cell = answer["rows"][0][0].as_str().unwrap();
        assert!(
            cell.starts_with(start) && cell.ends_with(" chars]") && cell.chars().count() < 1100,
            "{sql}: {cell}"
        );
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let kibibytes: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(kibibytes < 64 * 1024, "{kibibytes} KiB");
}

#[test]
fn a_pool_of_four_serves_two_hundred_calls_at_once() {
    let name = Cluster::shared().database("");
    let db = database(&name);
    thread::scope(|scope| {
        // As many workers as may take SQL calls; each serves its share of the calls.
        let workers: Vec<_> = (0..4)
            .map(|worker| {
                let db = &db;
                scope.spawn(move || {
                    for turn in 0..50 {
                        let own = worker * 50 + turn;
                        let answer = query(db, &format!("SELECT {own}, repeat('x', {own})")).unwrap();
                        assert_eq!(answer["rows"], json!([[own, "x".repeat(own)]]));
                    }
                })
            })
            .collect();
        workers.into_iter().for_each(|worker| worker.join().unwrap());
    });
    let mut admin = Cluster::shared().admin(&name);
    let count = "SELECT count(*) <= 4 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";
    assert!(admin.query_one(count, &[]).unwrap().get::<_, bool>(0));
}

#[test]
fn behind_a_pooler_nothing_outlives_a_call() {
    let name = Cluster::shared().database("");
    let mut settings = config(&Cluster::shared().url(&name));
    settings.pooler = Pooler::Transaction;
    let db = Database::new(settings);
    let first =
        query(&db, "SELECT pg_backend_pid(), current_setting('default_transaction_read_only'), 'sad'::mood")
            .unwrap();
    let second = query(&db, "SELECT pg_backend_pid(), current_setting('TimeZone'), 'sad'::mood").unwrap();
    assert_ne!(first["rows"][0][0], second["rows"][0][0]);
    assert_eq!((&first["rows"][0][1], &second["rows"][0][1]), (&json!("off"), &json!("UTC")));
    assert_eq!(code(query(&db, "SELECT 1 FROM item FOR UPDATE")), Code::QueryViolation);
    let mut admin = Cluster::shared().admin(&name);
    wait_until(
        &mut admin,
        "SELECT count(*) = 0 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
    );
}

#[test]
fn a_server_that_comes_back_is_used_again() {
    let cluster = Cluster::start();
    let db = Database::new(config(&cluster.url("seed")));
    for mode in ["fast", "immediate"] {
        query(&db, "SELECT 1").unwrap();
        cluster.pg_ctl(&["stop", "-m", mode]);
        let outcome = query(&db, "SELECT 1");
        assert!(matches!(outcome, Err(Failure::Internal(_))), "{outcome:?}");
        cluster.pg_ctl(&["start", "-l", "server.log"]);
        query(&db, "SELECT 1").unwrap();
        cluster.pg_ctl(&["restart", "-m", mode, "-l", "server.log"]);
        query(&db, "SELECT 1").unwrap();
    }
}

#[test]
fn a_frozen_server_is_told_by_the_probe_and_used_again_when_it_thaws() {
    let cluster = Cluster::start();
    let mut settings = config(&cluster.url("seed"));
    settings.connect_timeout = Duration::from_millis(200);
    let db = Database::new(settings);
    db.probe().unwrap();
    cluster.signal("STOP");
    let error = db.probe().unwrap_err().to_string();
    cluster.signal("CONT");
    assert!(error.contains("hangs or is frozen"), "{error}");
    db.probe().unwrap();
}

#[test]
fn a_legacy_encoding_is_read_as_unicode() {
    let shared = Cluster::shared();
    for encoding in ["latin1", "sql_ascii"] {
        let create = format!("CREATE DATABASE it_{encoding} ENCODING '{encoding}' TEMPLATE template0");
        shared.admin("postgres").batch_execute(&create).unwrap();
    }
    let latin1 = Database::new(config(&shared.url("it_latin1")));
    let answer = query(&latin1, "SELECT 'é', octet_length('é'), repeat('é', 1001)").unwrap();
    assert_eq!(answer["rows"][0], json!(["é", 1, format!("{}…[truncated 1 chars]", "é".repeat(1000))]));
    let bytes = Database::new(config(&shared.url("it_sql_ascii")));
    assert_eq!(query(&bytes, "SELECT 'é', octet_length('é')").unwrap()["rows"][0], json!(["é", 2]));
    // PostgreSQL itself refuses to send as UTF-8 what is none.
    assert_eq!(code(query(&bytes, "SELECT convert_from('\\xe9'::bytea, 'SQL_ASCII')")), Code::Validation);
}
