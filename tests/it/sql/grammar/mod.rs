//! Random statements on a real server, hostile ones among them: what is accepted is answered as psql answers it, what is
//! hostile is refused, and nothing of it lasts.

mod generator;
mod snapshot;

use crate::cluster::Cluster;
use crate::sql::psql::{Outcome, Psql, same_as_psql};
use crate::support::Client;

use self::generator::Generator;
use self::snapshot::Snapshot;

/// The tables of [`generator::TABLES`], with values that are equal only to themselves.
const SETUP: &str = "
    CREATE TABLE t1 (id int PRIMARY KEY, i int, n numeric, f float8, t text, b bool, d date, s timestamp, j jsonb,
        a int[], v interval);
    INSERT INTO t1 SELECT g, CASE WHEN g % 5 > 0 THEN g * 7 % 11 - 4 END, g * 1.25 - 3, g / 4.0 - 1,
        CASE WHEN g % 7 > 0 THEN chr(96 + g) || g % 3 END, CASE g % 3 WHEN 0 THEN true WHEN 1 THEN false END,
        date '2024-02-27' + g, timestamp '2024-02-28 22:00' + g * interval '7 hours',
        jsonb_build_object('a', g % 4, 'b', ARRAY[g, NULL]), ARRAY[g, g % 3, NULL], g * interval '26 hours'
        FROM generate_series(1, 12) g;
    CREATE TABLE t2 (id int PRIMARY KEY, i int, t text, n numeric, b bool);
    INSERT INTO t2 SELECT g, g % 4, chr(97 + g) || g % 2, g / 8.0, g % 2 = 0 FROM generate_series(3, 9) g;
    CREATE SEQUENCE seq;
    CREATE FUNCTION evil(text) RETURNS int LANGUAGE sql AS 'SELECT 666';
    CREATE FUNCTION plus(int, int) RETURNS int LANGUAGE sql AS 'SELECT 666';
    CREATE OPERATOR <-> (leftarg = int, rightarg = int, function = plus);
    GRANT SELECT ON t1, t2 TO PUBLIC;
    GRANT ALL ON SEQUENCE seq TO PUBLIC;
    ANALYZE;
";

/// Statements of an ordinary run.
const STATEMENTS: u64 = 400;

/// A number from the environment, for long runs by hand.
pub(super) fn number(name: &str, otherwise: u64) -> u64 {
    #[expect(clippy::disallowed_methods, reason = "a test's own environment")]
    let text = std::env::var(name);
    text.map_or(otherwise, |text| text.parse().unwrap())
}

#[test]
fn random_statements_are_answered_as_psql_answers_them_and_nothing_lasts() {
    let cluster = Cluster::start();
    let database = cluster.database(SETUP);
    cluster.admin("postgres").batch_execute("ALTER SYSTEM SET autovacuum = off").unwrap();
    cluster.admin("postgres").batch_execute("SELECT pg_reload_conf()").unwrap();
    let before = Snapshot::take(&cluster, &database);
    let url = cluster.url(&database);
    let mut client = Client::initialized(&[("MCP_SQL_DSN", &url)], "2025-11-25");
    let mut psql = Psql::new(&cluster, &database);
    let seed = number("MCP_GRAMMAR_SEED", 1);
    let (mut rows, mut failed, mut refused, mut hostile) = (0, 0, 0, 0);
    for index in 0..number("MCP_GRAMMAR_STATEMENTS", STATEMENTS) {
        let statement = Generator::new(seed + index).statement();
        match (same_as_psql(&mut client, &mut psql, &statement.sql), statement.hostile) {
            (Outcome::Refused(_), true) => hostile += 1,
            (outcome, true) => panic!("seed {}: {outcome:?}: {}", seed + index, statement.sql),
            (Outcome::Rows(_) | Outcome::Cut, false) => rows += 1,
            (Outcome::Failed(_), false) => failed += 1,
            (Outcome::Refused(_), false) => refused += 1,
        }
    }
    drop(psql);
    client.end().cleanly();
    let kinds = format!("{rows} answered, {failed} failed, {refused} refused, {hostile} hostile");
    assert!(rows > failed && rows > 5 * refused && hostile > rows / 20, "{kinds}");
    Snapshot::take(&cluster, &database).assert_same(&before);
}
