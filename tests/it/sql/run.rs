//! The SQL tools on a real server: values, bounds, faults.

use std::sync::Arc;
use std::time::{Duration, Instant};

use mcp_server_suite::call::{Call, Failure, Interrupt};
use mcp_server_suite::governance::Governor;
use mcp_server_suite::guard::GuardConfig;
use mcp_server_suite::postgres::{Database, Dsn, DsnEnvironment, Need, Pooler, SqlConfig, UnsafeRole};
use mcp_server_suite::problem::Code;
use mcp_server_suite::tools::Tool;
use mcp_server_suite::tools::sql::{ExplainQuery, ReadOnlySql};
use serde_json::{Value, json};

use crate::cluster::Cluster;
use crate::sql::faults::wait_until;

/// The limit of every wait here.
pub(crate) const LIMIT: Duration = Duration::from_secs(30);

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
        need: Need::default(),
    }
}

/// The reader's tools on a database of the shared cluster.
pub(crate) fn database(name: &str) -> Arc<Database> {
    Database::new(config(&Cluster::shared().url(name)))
}

/// One call, its ROLLBACK included.
pub(crate) fn call_with(tool: &dyn Tool, arguments: Value, interrupt: &Interrupt) -> Result<Value, Failure> {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    let prepared = tool.prepare(arguments)?;
    let permit = Governor.authorize(&tool.spec().name, &prepared.arguments).unwrap();
    let call = Call::new(Instant::now() + LIMIT, interrupt.clone());
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

pub(crate) fn call(tool: &dyn Tool, arguments: Value) -> Result<Value, Failure> {
    call_with(tool, arguments, &Interrupt::default())
}

pub(crate) fn query(database: &Arc<Database>, sql: &str) -> Result<Value, Failure> {
    call(&ReadOnlySql::new(Arc::clone(database)), json!({ "query": sql }))
}

#[track_caller]
pub(crate) fn code(outcome: Result<Value, Failure>) -> Code {
    match outcome {
        Err(Failure::Problem(problem)) => problem.code(),
        other => panic!("no problem: {other:?}"),
    }
}

/// A database of one's own with the reader's tools on it.
pub(crate) struct Rig {
    pub(crate) name: String,
    pub(crate) db: Arc<Database>,
}

impl Rig {
    pub(crate) fn new(setup: &str) -> Self {
        Self::with(setup, |_| ())
    }

    pub(crate) fn with(setup: &str, change: impl FnOnce(&mut SqlConfig)) -> Self {
        let name = Cluster::shared().database(setup);
        let mut settings = config(&Cluster::shared().url(&name));
        change(&mut settings);
        Self { db: Database::new(settings), name }
    }

    pub(crate) fn admin(&self) -> postgres::Client {
        Cluster::shared().admin(&self.name)
    }

    /// Runs what the guard lets through.
    pub(crate) fn query(&self, sql: &str) -> Result<Value, Failure> {
        query(&self.db, sql)
    }

    /// Makes a view of `select`, whose columns are called c1 and so on: what the guard would not let through is in it.
    pub(crate) fn view(&self, view: &str, columns: usize, select: &str) {
        let names: Vec<String> = (1..=columns).map(|number| format!("c{number}")).collect();
        let create = format!(
            "CREATE OR REPLACE VIEW {view} ({}) AS {select}; GRANT SELECT ON {view} TO PUBLIC",
            names.join(",")
        );
        self.admin().batch_execute(&create).unwrap_or_else(|error| panic!("{select}: {error:?}"));
    }

    /// The values of `select` by way of a view.
    pub(crate) fn seen(&self, columns: usize, select: &str) -> Result<Value, Failure> {
        self.admin().batch_execute("DROP VIEW IF EXISTS seen").unwrap();
        self.view("seen", columns, select);
        self.query("SELECT * FROM seen")
    }
}

#[test]
fn settings_of_the_role_change_no_value_s_form() {
    let rig = Rig::new(
        "CREATE ROLE odd LOGIN; ALTER ROLE odd SET TimeZone = 'America/New_York'; ALTER ROLE odd SET DateStyle = 'SQL, DMY';
         ALTER ROLE odd SET IntervalStyle = 'postgres_verbose'; ALTER ROLE odd SET bytea_output = 'escape';
         ALTER ROLE odd SET extra_float_digits = '-15'; ALTER ROLE odd SET standard_conforming_strings = off;
         ALTER ROLE odd SET transform_null_equals = on; ALTER ROLE odd SET array_nulls = off;
         ALTER ROLE odd SET default_transaction_isolation = 'serializable'; ALTER ROLE odd SET search_path = '';",
    );
    let db = Database::new(config(&Cluster::shared().socket_dsn("odd", &rig.name)));
    let select = "SELECT timestamptz '2024-01-02 03:04:05', tstzrange('2024-01-02 03:04:05Z', NULL), interval '1 day', \
                  '\\x00'::bytea, 0.1::float8, point(0.1, 0), NULL = NULL, '\\', ARRAY[interval '1 day'], \
                  daterange('2024-01-02', NULL), timestamptz '2024-01-02 03:04:05'::text, '{NULL}'::text[]";
    let row = json!([
        "2024-01-02T08:04:05Z",
        "[\"2024-01-01 22:04:05-05\",)",
        "P1D",
        "\\x00",
        0.1,
        "(0.1,0)",
        true,
        "\\",
        ["P1D"],
        "[2024-01-02,)",
        "2024-01-02 03:04:05-05",
        ["NULL"]
    ]);
    assert_eq!(query(&db, select).unwrap()["rows"][0], row);
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
    let long = "x".repeat(900);
    assert_eq!(ask(&format!("SELECT '{long}', repeat('é', 30000) FROM item"), 1), (1, true, true));
    // The connection was told to stop and is not used again; the next one is well.
    assert_eq!(ask("SELECT 1", 1), (1, false, false));
}

#[test]
fn a_long_cell_is_cut_at_the_database() {
    let rig = Rig::with("", |settings| settings.max_cell_chars = 100);
    let cut = |sql: &str, start: String, more: u64| {
        // A record cannot stand in a view.
        let answer =
            if sql.starts_with("SELECT ROW(rep") { rig.query(sql) } else { rig.seen(1, sql) }.unwrap();
        assert_eq!(answer["rows"][0][0], format!("{start}…[truncated {more} chars]"), "{sql}");
        assert_eq!(answer["truncated"], true);
    };
    cut("SELECT repeat('é', 101)", "é".repeat(100), 1);
    cut("SELECT repeat('a', 200)::varchar(300)", "a".repeat(100), 100);
    cut("SELECT 'b'::char(120)", format!("b{}", " ".repeat(99)), 20);
    cut("SELECT decode(repeat('ab', 50), 'hex')", format!("\\x{}", "ab".repeat(49)), 2);
    cut("SELECT round(10::numeric ^ 200)", format!("1{}", "0".repeat(99)), 101);
    cut("SELECT array_agg(n) FROM generate_series(1, 100) n", "{1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35,36,".to_owned(), 193);
    cut("SELECT to_jsonb(repeat('x', 200))", format!("\"{}", "x".repeat(99)), 102);
    cut("SELECT ROW(repeat('x', 200))", format!("{{\"f1\":\"{}", "x".repeat(93)), 109);
    cut("SELECT ROW(1, repeat('x', 200), NULL)::pair", format!("(1,{}", "x".repeat(97)), 105);
    cut("SELECT ('[' || repeat('1', 150) || ',)')::numrange", format!("[{}", "1".repeat(99)), 53);
    let whole = rig
        .seen(
            4,
            "SELECT repeat('é', 100), decode(repeat('ab', 49), 'hex'), NULL::text, 'x…[truncated 3 chars]'",
        )
        .unwrap();
    assert_eq!(whole["truncated"], false);
    assert_eq!(whole["rows"][0][3], "x…[truncated 3 chars]");
}

#[test]
fn postgresqls_refusals_have_our_codes_and_the_callers_positions() {
    let rig = Rig::new(
        "CREATE SEQUENCE s; GRANT USAGE ON SEQUENCE s TO reader; CREATE VIEW locked AS SELECT 1 FROM item FOR UPDATE; GRANT SELECT ON locked TO reader;",
    );
    assert_eq!(code(rig.query("SELECT 1/0")), Code::Validation);
    assert_eq!(code(rig.query("SELECT secret FROM hidden")), Code::AccessDenied);
    assert_eq!(code(rig.seen(1, "SELECT nextval('s')")), Code::QueryViolation);
    assert_eq!(code(rig.query("SELECT * FROM locked")), Code::QueryViolation);
    let Err(Failure::Problem(problem)) = rig.query("SELECT id,\n  nme FROM item") else { panic!() };
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
    assert_eq!(code(rig.query(&format!("SELECT {}", wide.join(",")))), Code::Validation);
}

#[test]
fn too_wide_a_result_is_refused_in_our_own_words() {
    let rig = Rig::new("");
    let columns = |count: usize, what: &str| vec![what; count].join(",");
    let Err(Failure::Problem(problem)) = rig.query(&format!("SELECT {}", columns(900, "1.5"))) else {
        panic!()
    };
    assert_eq!(problem.code(), Code::Validation);
    assert!(problem.detail().contains("900 columns"), "{}", problem.detail());
    rig.query(&format!("SELECT {}", columns(832, "1.5"))).unwrap();
    rig.query(&format!("SELECT {}", columns(1664, "1"))).unwrap();
}

/// The database's own walls: what stands in a view was not seen by the guard.
#[test]
fn behind_the_guards_back_the_database_refuses_every_write() {
    let rig = Rig::new(
        "CREATE SEQUENCE s; GRANT USAGE ON SEQUENCE s TO reader;
         CREATE FUNCTION steal() RETURNS int LANGUAGE sql VOLATILE SECURITY DEFINER
             AS 'INSERT INTO hidden VALUES (''x''); SELECT 1';
         CREATE FUNCTION unlock() RETURNS int LANGUAGE plpgsql SECURITY DEFINER
             AS 'BEGIN SET transaction_read_only = off; RETURN steal(); END';
         CREATE FUNCTION leave() RETURNS int LANGUAGE plpgsql AS 'BEGIN COMMIT; RETURN 1; END';",
    );
    for attack in [
        "SELECT steal()",
        "SELECT unlock()",
        "SELECT leave()",
        "SELECT nextval('s')",
        "SELECT set_config('transaction_read_only', 'off', false)",
        "SELECT set_config('transaction_read_only', 'off', true)",
    ] {
        assert!(rig.seen(1, attack).is_err(), "{attack}");
        rig.query("SELECT 1").unwrap();
    }
    // PostgreSQL before 16 makes it, and the ROLLBACK takes it back.
    drop(rig.seen(1, "SELECT lo_creat(-1)"));
    let kept = "SELECT (SELECT count(*) FROM hidden) + (SELECT count(*) FROM pg_largeobject_metadata)";
    let kept = rig.admin().query_one(kept, &[]).unwrap().get::<_, i64>(0);
    assert_eq!(kept, 0);
}

#[test]
fn a_session_is_as_it_was_for_the_next_call() {
    let rig = Rig::with("", |settings| (settings.pool_max_size, settings.max_stuck) = (1, 0));
    rig.view(
        "spoil",
        3,
        "SELECT set_config('TimeZone', 'Asia/Tokyo', false), pg_advisory_lock(7)::text, set_config('search_path', 'x', false)",
    );
    rig.view(
        "state",
        7,
        "SELECT pg_backend_pid(), current_setting('TimeZone'), (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'), \
         current_setting('transaction_read_only'), current_setting('search_path'), current_setting('application_name'), \
         current_setting('default_transaction_read_only')",
    );
    let state = || rig.query("SELECT * FROM state").unwrap()["rows"][0].clone();
    let before = state();
    let path = "\"$user\", public, pg_temp";
    assert_eq!(before, json!([before[0], before[1], 0, "on", path, "mcp-server-suite", "on"]));
    rig.query("SELECT * FROM spoil").unwrap();
    assert_eq!(state(), before);
}

#[test]
fn a_statement_that_takes_too_long_is_stopped() {
    let rig = Rig::with("", |settings| settings.statement_timeout = Duration::from_millis(50));
    assert_eq!(code(rig.seen(1, "SELECT pg_sleep(20)::text")), Code::ExecutionTimeout);
    // The error comes after the first row.
    assert_eq!(
        code(rig.seen(1, "SELECT pg_sleep(n * 20)::text FROM generate_series(0, 2) n")),
        Code::ExecutionTimeout
    );
    rig.query("SELECT 1").unwrap();
}

#[test]
fn an_unsafe_role_is_refused_and_reported_to_the_operator() {
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
    assert_eq!(code(query(&Database::new(strict.clone()), "SELECT 1")), Code::AccessDenied, "as PUBLIC may");
    let cures = probe.findings.iter().map(|finding| finding.cure.as_str());
    shared.admin(&name).batch_execute(&cures.collect::<Vec<_>>().join(";")).unwrap();
    let db = Database::new(strict.clone());
    query(&db, "SELECT 1").unwrap();
    shared.admin(&name).batch_execute("GRANT INSERT ON item TO reader").unwrap();
    let other = Database::new(strict);
    assert_eq!(code(query(&other, "SELECT 1")), Code::AccessDenied);
    // A role that was mended is noticed by the next call.
    shared.admin(&name).batch_execute("REVOKE INSERT ON item FROM reader").unwrap();
    query(&other, "SELECT 1").unwrap();
}

#[test]
fn a_plan_is_explained_and_measured() {
    let many = format!(
        "CREATE VIEW many AS {}; GRANT SELECT ON many TO reader",
        ["TABLE item"; 20].join(" UNION ALL ")
    );
    let tool = ExplainQuery::new(database(&Cluster::shared().database(&many)));
    let plain = call(&tool, json!({"query": "SELECT * FROM item ORDER BY id"})).unwrap();
    assert!(plain["total_cost"].as_f64().unwrap() > 0.0 && plain["estimated_rows"] == 101.0, "{plain}");
    // The plan is that of the text that would run, whose limit is one more than the rows that are wanted.
    let all = call(&tool, json!({"query": "SELECT * FROM item ORDER BY id", "max_rows": 1000})).unwrap();
    assert!(all["estimated_rows"] == 1000.0 && all["plan"]["Node Type"] == "Limit", "{all}");
    assert!(
        plain["plan"]["Node Type"].is_string()
            && plain["execution_ms"].is_null()
            && plain["actual_rows"].is_null()
    );
    let measured =
        call(&tool, json!({"query": "SELECT * FROM item WHERE id < 11", "analyze": true})).unwrap();
    assert!(measured["execution_ms"].is_f64() && measured["actual_rows"] == 10.0, "{measured}");
    assert_eq!(code(call(&tool, json!({"query": "SELECT nme FROM item"}))), Code::Validation);
    // Longer than an answer, and longer than what is taken from the server.
    for arms in [20, 200] {
        let query = vec!["TABLE many"; arms].join(" UNION ALL ");
        match call(&tool, json!({ "query": query })) {
            Err(Failure::Problem(problem)) => {
                assert!(problem.detail().contains("The plan is longer than the 65536 bytes"), "{problem:?}");
            }
            other => panic!("{arms}: {}", other.is_ok()),
        }
    }
    assert_eq!(call(&tool, json!({"query": "SELECT * FROM item ORDER BY id"})).unwrap(), plain);
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

/// The planner may write an expression into each place that looks at its value, unless it is kept from it.
#[test]
fn a_value_is_computed_once_however_often_it_is_looked_at() {
    // Behind a pooler the connection ends with the call, and its counts are written then.
    let rig = Rig::with(
        "ALTER ROLE reader SET track_functions = 'all';
         CREATE FUNCTION counted() RETURNS text LANGUAGE plpgsql STABLE AS 'BEGIN RETURN repeat(''x'', 2000); END';",
        |settings| settings.pooler = Pooler::Transaction,
    );
    rig.seen(1, "SELECT counted()").unwrap();
    let mut admin = rig.admin();
    wait_until(
        &mut admin,
        "SELECT count(*) = 1 FROM pg_stat_user_functions WHERE funcname = 'counted' AND calls > 0",
    );
    let calls = "SELECT calls FROM pg_stat_user_functions WHERE funcname = 'counted'";
    assert_eq!(admin.query_one(calls, &[]).unwrap().get::<_, i64>(0), 1);
}
