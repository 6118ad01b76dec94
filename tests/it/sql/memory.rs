//! The memory of the process while PostgreSQL sends much: the real binary, measured by the kernel.

use serde_json::{Value, json};

use crate::cluster::Cluster;
use crate::sql::run::Rig;
use crate::support::{Client, problem};

/// The bound: an eighth of what the compose file of `deploy` gives a container.
const MAX_KIB: u64 = 64 * 1024;

const MAX_CELL_CHARS: usize = 100_000;

/// Views and tables whose values are too long for the guard to let them be made: an administrator's.
const SETUP: &str = "
    CREATE TABLE part AS SELECT repeat('x', 1000000) AS text, decode(repeat('ab', 1000000), 'hex') AS bytes;
    CREATE VIEW wide AS SELECT repeat('x', 20000) || n, repeat('é', 20000), decode(repeat('00', 20000), 'hex')
        FROM generate_series(1, 10000) n;
    CREATE VIEW not_quite AS SELECT repeat('x', 1000) FROM generate_series(1, 10000000) n;
    CREATE FUNCTION chatty() RETURNS int LANGUAGE plpgsql AS $$BEGIN
        FOR n IN 1..1000 LOOP RAISE NOTICE '%', repeat('y', 100000); END LOOP;
        RAISE NOTICE '%', repeat('y', 100000000); RETURN 1; END$$;
    CREATE VIEW chatty AS SELECT chatty();
    CREATE TABLE stored AS SELECT repeat('z', 100000000) AS it;
    GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader";

struct Session {
    _rig: Rig,
    client: Client,
}

impl Session {
    fn start() -> Self {
        let rig = Rig::new(SETUP);
        let (url, max_cell_chars) = (Cluster::shared().url(&rig.name), MAX_CELL_CHARS.to_string());
        let settings = [
            ("MCP_SQL_DSN", url.as_str()),
            ("MCP_SQL_STATEMENT_TIMEOUT_MS", "100000"),
            ("MCP_CALL_TIMEOUT_MS", "120000"),
            ("MCP_SQL_MAX_ROWS", "100000"),
            ("MCP_SQL_MAX_CELL_CHARS", &max_cell_chars),
            ("MCP_MAX_RESPONSE_BYTES", "1048576"),
        ];
        Self { client: Client::initialized(&settings, "2025-11-25"), _rig: rig }
    }

    fn query(&mut self, sql: &str) -> Value {
        self.client.use_tool("read_only_sql", json!({"query": sql, "max_rows": 100_000}))
    }

    /// The answer to what has more to say than fits, with the bound kept.
    #[track_caller]
    fn cut(&mut self, sql: &str) -> Value {
        let mut answer = self.query(sql);
        assert_eq!(answer["structuredContent"]["truncated"], true, "{sql}: {answer}");
        self.check(sql);
        answer["structuredContent"].take()
    }

    #[track_caller]
    fn check(&self, sql: &str) {
        let peak = self.client.process.peak_memory_kib();
        assert!(peak < MAX_KIB, "{sql}: {peak} KiB");
    }
}

/// Cells near PostgreSQL's limit of 1 GB, made of parts of 1 MB. PostgreSQL makes a text form of JSON and arrays to cut them,
/// and holds it five times meanwhile: at 600 MB that is 3 GB of its own memory, at 900 MB more than a small machine has.
#[test]
fn a_huge_cell_is_cut_and_never_held() {
    let mut session = Session::start();
    for (aggregate, parts, start, chars) in [
        ("string_agg(text, '')", 900, "xxx", 900_000_000),
        // Two digits a byte: a text that PostgreSQL could not hold.
        ("string_agg(bytes, '')", 900, "\\xabab", 1_800_000_002),
        ("json_agg(text)", 600, "[\"xxx", 600_002_400),
        ("array_agg(text)", 600, "{xxx", 600_000_601),
    ] {
        let answer = session.cut(&format!("SELECT {aggregate} FROM part, item WHERE id <= {parts}"));
        let cell = answer["rows"][0][0].as_str().unwrap_or_else(|| panic!("{aggregate}: {answer}"));
        let end = format!("…[truncated {} chars]", chars - MAX_CELL_CHARS);
        assert!(cell.starts_with(start), "{aggregate}");
        assert_eq!(
            cell.strip_suffix(&end).map(|kept| kept.chars().count()),
            Some(MAX_CELL_CHARS),
            "{aggregate}"
        );
        assert_eq!((&answer["row_count"], &answer["has_more"]), (&json!(1), &json!(false)));
    }
    session.client.end().cleanly();
}

#[test]
fn rows_that_are_many_or_wide_or_endless_are_dropped_from_the_end() {
    let mut session = Session::start();
    for sql in [
        "SELECT * FROM wide",
        "SELECT * FROM not_quite",
        "WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n > 0) SELECT n, 'x' AS t FROM r",
        "SELECT a.name, b.name, c.name FROM item a, item b, item c",
    ] {
        let answer = session.cut(sql);
        assert_eq!(answer["has_more"], true, "{sql}");
        assert_eq!(answer["row_count"], answer["rows"].as_array().unwrap().len(), "{sql}");
        // The next one is well.
        assert_eq!(session.query("SELECT 1")["structuredContent"]["rows"], json!([[1]]));
    }
    session.client.end().cleanly();
}

/// 832 cells of a row that are each as long as a cell may be: 83 MB that no answer holds.
#[test]
fn a_row_that_no_answer_could_hold_is_dropped_and_not_held() {
    let mut session = Session::start();
    let columns = |column: &str| vec![column; 832].join(",");
    let wide = format!("SELECT {} FROM (SELECT left(it, 100000) AS it FROM stored) AS s", columns("it"));
    let answer = session.cut(&wide);
    assert_eq!((&answer["row_count"], &answer["has_more"]), (&json!(0), &json!(true)));
    // The rows before it are kept, however they arrive.
    let wide = format!(
        "SELECT {} FROM (SELECT CASE WHEN id = 3 THEN left(it, 100000) ELSE 'x' END AS it FROM item, stored ORDER BY id) AS s",
        columns("it")
    );
    for _ in 0..5 {
        let answer = session.cut(&wide);
        assert_eq!((&answer["row_count"], &answer["has_more"]), (&json!(2), &json!(true)));
        assert_eq!(answer["rows"].as_array().unwrap().len(), 2);
    }
    // As the one row more than asked for it cuts nothing.
    let arguments = json!({"query": wide, "max_rows": 2});
    let answer = &session.client.use_tool("read_only_sql", arguments)["structuredContent"];
    assert_eq!(
        (&answer["row_count"], &answer["has_more"], &answer["truncated"]),
        (&json!(2), &json!(true), &json!(false))
    );
    session.client.end().cleanly();
}

#[test]
fn messages_beside_rows_are_bounded_too() {
    let mut session = Session::start();
    assert_eq!(session.query("SELECT * FROM chatty")["structuredContent"]["rows"], json!([[1]]));
    session.check("notices");
    let problem = problem(&session.query("SELECT it::int FROM stored"));
    assert_eq!(problem["metadata"]["sqlstate"], "22P02");
    assert!(
        problem["detail"].as_str().unwrap().contains("invalid input syntax for type integer: \"zzz"),
        "{problem}"
    );
    session.check("an error that quotes a value");
    session.client.end().cleanly();
}
