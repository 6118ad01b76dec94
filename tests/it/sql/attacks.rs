//! The attacks on a real server: what is refused is not sent, and what only one judge would refuse PostgreSQL refuses.

#[path = "../../../src/guard/corpus/attacks.rs"]
mod corpus;

use std::time::{Duration, Instant};

use postgres::{Client as Driver, Config, NoTls};
use serde_json::json;

use self::corpus::{Alone, Attack, attacks};
use crate::cluster::{Cluster, PASSWORD, READER};
use crate::support::{Client, LIMIT, problem};

/// The targets of the attacks, so that none fails for want of one.
const SETUP: &str = "
    CREATE SCHEMA evil;
    CREATE TABLE t (a int, b int, name text, doc jsonb);
    CREATE TABLE u (a int, b int, pid int);
    CREATE SEQUENCE s;
    INSERT INTO t VALUES (1, 2, 'one', '{}'), (2, 3, 'two', '[]');
    INSERT INTO u VALUES (1, 2, 3);
    CREATE FUNCTION evil(text) RETURNS int LANGUAGE sql AS 'SELECT 666';
    CREATE FUNCTION evil.plus(int, int) RETURNS int LANGUAGE sql AS 'SELECT 666';
    CREATE OPERATOR evil.+ (leftarg = int, rightarg = int, function = evil.plus);
    CREATE DOMAIN evil_domain AS int CHECK (evil(VALUE::text) > 0);
    CREATE TYPE evil_type AS (a evil_domain);
    CREATE COLLATION evil.x FROM \"C\";
    GRANT ALL ON ALL TABLES IN SCHEMA public TO PUBLIC;
    GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO PUBLIC;
    GRANT ALL ON SCHEMA evil, public TO PUBLIC;
";

/// Entries of the server's log about a statement, at any stage, without the constant texts of ours around a transaction, and
/// of the question whether a type is an enum.
fn statements(log: &str) -> Vec<String> {
    const OURS: [&str; 3] = [
        "BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY; SELECT pg_catalog.set_config('statement_timeout', ",
        "ROLLBACK; CLOSE ALL; UNLISTEN *; ",
        "WITH RECURSIVE part(name, type) AS ( SELECT n.name, pg_catalog.to_regtype(n.name)",
    ];
    // An entry goes on in lines that begin with a tab.
    let entries = log.replace("\n\t", " ");
    let entry = |line: &str| {
        let stages = [" statement: ", "STATEMENT: ", " parse <", " bind <", " execute <"];
        let text = stages.iter().find_map(|stage| line.split_once(stage))?.1;
        let text =
            text.split_once(">: ").filter(|(name, _)| !name.contains(' ')).map_or(text, |(_, text)| text);
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        (!OURS.iter().any(|ours| text.starts_with(ours))).then(|| line.to_owned())
    };
    entries.lines().filter_map(entry).collect()
}

/// The log of a server, once it says so.
fn log_once(cluster: &Cluster, says_so: impl Fn(&str) -> bool) -> String {
    let begun = Instant::now();
    loop {
        let log = cluster.log();
        if says_so(&log) {
            return log;
        }
        assert!(begun.elapsed() < LIMIT, "{log}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The code that an attack is refused with on its way in.
fn code(attack: &Attack) -> &'static str {
    // The sanitizer comes first.
    let control = |c: char| c.is_control() && !matches!(c, '\t' | '\n' | '\r');
    if attack.understood && !attack.sql.contains(control) {
        "MCP_QUERY_VIOLATION"
    } else {
        "MCP_VALIDATION_ERROR"
    }
}

#[test]
fn every_attack_is_refused_and_nothing_of_it_is_sent() {
    let cluster = Cluster::start();
    let database = cluster.database(SETUP);
    // `log_statement` is silent about what is only parsed.
    cluster.admin(&database).batch_execute("ALTER ROLE reader SET log_min_duration_statement = 0").unwrap();
    let url = cluster.url(&database);
    let mut client =
        Client::initialized(&[("MCP_SQL_DSN", &url), ("MCP_SQL_POOL_MAX_SIZE", "1")], "2025-11-25");
    let answer = client.use_tool("read_only_sql", json!({"query": "SELECT 'first control', a FROM t"}));
    assert_eq!(answer["isError"], false, "{answer}");
    // The last of what cleans a connection, and how long it took.
    let rests =
        |log: &str| log.split_once("DISCARD TEMP").is_some_and(|(_, rest)| rest.contains("duration: "));
    let before = log_once(&cluster, rests);
    let seen = statements(&before);
    // What is sent is seen, at every stage: prepared, then run in the wrapper.
    assert!(before.matches("'first control'").count() >= 4, "{before}");
    for stage in [" statement: ", " parse ", " bind ", " execute "] {
        assert!(seen.iter().any(|line| line.contains(stage)), "{stage}: {before}");
    }
    for attack in attacks() {
        for (tool, arguments) in [
            ("read_only_sql", json!({"query": attack.sql})),
            ("explain_query", json!({"query": attack.sql})),
            ("explain_query", json!({"query": attack.sql, "analyze": true})),
        ] {
            let refused = problem(&client.use_tool(tool, arguments));
            assert_eq!(refused["code"], code(&attack), "{}: {}: {refused}", attack.idea, attack.sql);
            assert!(refused["metadata"]["sqlstate"].is_null(), "{}: {refused}", attack.sql);
        }
    }
    let answer = client.use_tool("read_only_sql", json!({"query": "SELECT 'second control', a FROM t"}));
    assert_eq!(answer["isError"], false, "{answer}");
    let is_next = |entry: &String| entry.contains("'second control'");
    let log = log_once(&cluster, |log| statements(log).iter().any(is_next));
    let sent: Vec<String> = statements(&log).into_iter().take_while(|entry| !is_next(entry)).collect();
    assert_eq!(sent, seen, "something was sent");
    client.end().cleanly();
}

/// Runs `sql` as a call would, but for the guard.
fn unguarded(driver: &mut Driver, sql: &str) -> Result<usize, String> {
    driver.batch_execute("BEGIN READ ONLY; SET LOCAL statement_timeout = '2s'").unwrap();
    let rows = driver.query(&format!("SELECT * FROM (\n{sql}\n) AS q LIMIT 101"), &[]);
    driver.batch_execute("ROLLBACK").unwrap();
    rows.map(|rows| rows.len())
        .map_err(|error| error.code().map_or_else(|| error.to_string(), |code| code.code().to_owned()))
}

#[test]
fn attacks_that_pass_one_judge_alone_are_refused_by_the_database() {
    let cluster = Cluster::shared();
    let database = cluster.database(SETUP);
    let mut config = Config::new();
    config.host("127.0.0.1").port(cluster.port()).user(READER).password(PASSWORD).dbname(&database);
    let mut driver = config.connect(NoTls).unwrap();
    // Nothing but what is refused is refused.
    assert_eq!(unguarded(&mut driver, "SELECT a FROM t"), Ok(2));
    let mut proven = 0;
    for Attack { alone, idea, sql, .. } in attacks() {
        match alone {
            Alone::Tree(sqlstate) | Alone::Tokens(sqlstate) => {
                assert_eq!(unguarded(&mut driver, &sql), Err(sqlstate.to_owned()), "{idea}: {sql}");
                proven += 1;
            }
            Alone::Both | Alone::Sizes => {}
        }
    }
    assert!(proven > 5, "{proven}");
}
