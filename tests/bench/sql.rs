//! SQL: the cost of the guard by itself, and of a call beside the same statement run raw.

use mcp_server_suite::guard::config::GuardConfig;
use mcp_server_suite::guard::statement::ReadOnlyStatement;
use nix::time::ClockId;
use postgres::{Client, NoTls, Statement};
use std::time::Instant;

use super::child::{Child, call};
use super::cluster::Cluster;
use super::contest::{median, micros};
use super::{Outcome, report};

/// The longest that judging any text may take, in microseconds.
const BOUND_MICROS: f64 = 50_000.0;
/// The longest text, in characters.
const LONGEST: usize = 65_536;
/// The number of times that each text is judged.
const ROUNDS: usize = 5;
/// The number of the most expensive texts that are shown.
const SHOWN: usize = 12;
const CALL_ROUNDS: usize = 200;

/// Typical questions of analysts.
const TYPICAL: &[(&str, &str)] = &[
    ("SELECT 1", "SELECT 1"),
    ("a row by its key", "SELECT id, name, parent FROM item WHERE id = 42"),
    (
        "a report",
        "WITH recent AS (SELECT i.id, i.name, p.name AS parent FROM item i LEFT JOIN item p ON p.id = i.parent \
         WHERE i.id BETWEEN 100 AND 900 AND lower(i.name) LIKE 'item %') \
         SELECT coalesce(parent, 'none') AS parent, count(*) AS items, min(id), max(id), \
         round(avg(length(name)), 2) AS long, string_agg(name, ', ' ORDER BY id) FILTER (WHERE id < 200) AS first \
         FROM recent GROUP BY 1 HAVING count(*) > 1 ORDER BY items DESC, 1 LIMIT 20",
    ),
    (
        "windows",
        "SELECT id, name, rank() OVER (PARTITION BY parent ORDER BY id), \
         sum(id) OVER (ORDER BY id ROWS BETWEEN 3 PRECEDING AND CURRENT ROW) FROM item ORDER BY id LIMIT 50",
    ),
];

/// Texts that are or were expensive to judge: opening, middle and closing part, each so many times.
const NESTED: &[(&str, &str, &str, usize)] = &[
    ("abs(", "1", ")", 24),
    ("ARRAY[", "", "", 48),
    ("(", "", "", 5_000),
    ("NOT ", "true", "", 20_000),
    ("1+", "1", "", 32_000),
    ("CASE WHEN ", "true", " THEN 1 END", 2_000),
    ("CASE WHEN true THEN ", "1", " END", 49),
    ("abs(", "1", ")", 49),
    ("(", "1", ")", 49),
    ("(SELECT ", "1", ")", 16),
    ("1 FROM (SELECT ", "1", ") q", 16),
    ("position(", "a", " IN a)", 49),
    ("cast(", "a", " AS int)", 49),
    ("1 IN (", "1", ", 2)", 49),
    ("a[", "1", "]", 49),
    ("ROW(", "1", ", 2)", 49),
    ("substring(", "a", " FROM 1 FOR 2)", 49),
    ("array_fill(1, ARRAY[", "1", "])", 24),
    ("quote_literal(", "'x'", ")", 49),
    ("a.", "b", "", 20_000),
    ("- ", "1", "", 990),
    ("NOT ", "true", "", 990),
    ("1 + (2 * 3 ^ (", "1", "))", 24),
];

/// Parts that are repeated behind `SELECT ` until the text is as long as may be, or so many times.
const REPEATED: &[(&str, &str, &str, usize)] = &[
    ("1", " UNION ALL SELECT 1", "", 3_000),
    ("1", " UNION ALL SELECT 1", "", 256),
    ("1", " UNION ALL SELECT a||a||a||a||a||a||a||a||a||a||a||a||a||a||a||a FROM t", "", 256),
    ("a", ",a", "", LONGEST),
    ("1", ",1", "", LONGEST),
    ("''", ",''", "", LONGEST),
    ("t.a", ",t.a", "", LONGEST),
    ("t.pg", ",t.pg", "", LONGEST),
    ("lo", ",lo", "", LONGEST),
    ("pg_", ",pg_", "", LONGEST),
    ("\"a\"", ",\"a\"", "", LONGEST),
    ("a::int", ",a::int", "", LONGEST),
    ("int ''", ",int ''", "", LONGEST),
    ("a x", ",a x", "", LONGEST),
    ("abs(a)", ",abs(a)", "", LONGEST),
    ("pi()", ",pi()", "", LONGEST),
    ("upper(a)", ",upper(a)", "", LONGEST),
    ("json_build_object()", ",json_build_object()", "", LONGEST),
    ("-a", ",-a", "", LONGEST),
    ("a+a", ",a+a", "", LONGEST),
    ("a|>>a", ",a|>>a", "", LONGEST),
    ("(a)", ",(a)", "", LONGEST),
    ("(a,a)", ",(a,a)", "", LONGEST),
    ("ROW()", ",ROW()", "", LONGEST),
    ("a[1]", ",a[1]", "", LONGEST),
    ("ARRAY[a]", ",ARRAY[a]", "", LONGEST),
    ("CASE a WHEN a THEN a END", ",CASE a WHEN a THEN a END", "", LONGEST),
    ("CASE a", " WHEN a THEN a", " END", LONGEST),
    ("a IN (a", ",a", ")", LONGEST),
    ("(SELECT a)", ",(SELECT a)", "", LONGEST),
    ("(SELECT a FROM t)", ",(SELECT a FROM t)", "", LONGEST),
    ("EXISTS(SELECT)", ",EXISTS(SELECT)", "", LONGEST),
    ("a COLLATE \"C\"", ",a COLLATE \"C\"", "", LONGEST),
    ("a AND a", ",a AND a", "", LONGEST),
    ("a OPERATOR(+) a", ",a OPERATOR(+) a", "", LONGEST),
    ("sum(a) OVER (ORDER BY a)", ",sum(a) OVER (ORDER BY a)", "", LONGEST),
    ("repeat(a,9)", ",repeat(a,9)", "", LONGEST),
    ("a||a", "||a", "", 990),
    ("a", " OR a=1 AND a IN (1) OR a", "", 300),
    ("interval '1'", ",interval '1' day to second", "", LONGEST),
    ("1 FROM t", ",t", "", LONGEST),
    ("1 FROM t", ",pg_class", "", LONGEST),
    ("1 FROM t", " JOIN t ON a", "", 64),
    ("1 FROM t", ",(SELECT 1) q", "", LONGEST),
    ("1 FROM t", ",LATERAL abs(1) q", "", LONGEST),
    ("1 FROM t", ",ROWS FROM(abs(1)) WITH ORDINALITY", "", LONGEST),
    ("1 FROM t AS x(a", ",a", ")", LONGEST),
    ("* FROM json_to_record('') AS x(a int", ",a int", ")", LONGEST),
    ("1 FROM t GROUP BY a", ",a", "", LONGEST),
    ("1 FROM t GROUP BY GROUPING SETS ((a)", ",(a,a)", ")", LONGEST),
    ("1 ORDER BY a", ",a DESC", "", LONGEST),
    ("'x'", "\n'x'", "", LONGEST),
    ("1", "/**/", "", LONGEST),
    ("1", " ", "", LONGEST),
    ("1", "\n", "", LONGEST),
    ("'", "x", "'", LONGEST),
    ("'", "''", "'", LONGEST),
    ("E'", "\\\\", "'", LONGEST),
    ("$a$", "$b$", "$a$", LONGEST),
    ("\"", "é", "\"", LONGEST),
    ("'", "é", "'", LONGEST),
    ("$$", "'", "$$", LONGEST),
    ("$$$$", ",$$$$", "", LONGEST),
    ("E''", ",E''", "", LONGEST),
    ("a", ",a/**/", "", LONGEST),
    ("repeat(a,9", ")||repeat(a,9", ")", 900),
    ("a LIKE 'a'", " OR a LIKE 'a'", "", 490),
    ("a FROM t WHERE a IN (SELECT a", ") OR a IN (SELECT a", ")", 400),
    ("(a).b", ",(a).b", "", LONGEST),
    ("a FROM t x(a)", ",t x(a)", "", LONGEST),
    ("a FROM a.b.c", ",a.b.c", "", LONGEST),
    ("CAST(a AS int)", ",CAST(a AS int)", "", LONGEST),
    ("a FROM (SELECT 1 UNION SELECT 1) q", ",(SELECT 1 UNION SELECT 1) q", "", LONGEST),
    ("1 FROM t CROSS JOIN t", ",t CROSS JOIN t", "", LONGEST),
    ("jsonb_path_query(a,'$.**')", ",jsonb_path_query(a,'$.**')", "", LONGEST),
    ("format('%5s',a)", ",format('%5s',a)", "", LONGEST),
    ("sum(a) OVER w FROM t WINDOW w AS ()", ",w AS ()", "", LONGEST),
    ("GROUPING(a", ",a", ")", LONGEST),
    ("1 cycle", " cycle,cycle", "", LONGEST),
    ("((1)) ", ",((select 1 union select 1))", "", LONGEST),
    ("/*", "/*", "", LONGEST),
    ("1", "1", "", LONGEST),
    ("1e", "1", "", LONGEST),
    ("a", "a", "", LONGEST),
    ("a", "@", "", LONGEST),
    ("1 ", "<", "", LONGEST),
    ("1;", ";", "", LONGEST),
    ("[", "[", "", LONGEST),
    (".", ".", "", LONGEST),
    ("$", "$", "", LONGEST),
];

pub(super) fn measure() -> Outcome {
    report::plain_section("the guard alone, in µs of CPU time")?;
    for (what, sql) in TYPICAL {
        report::fact(what, &format!("{:.1}", judged(sql, 200)?.0))?;
    }
    let cluster = Cluster::start();
    let database = cluster.database("");
    report::section("a call, beside the same statement prepared and run raw")?;
    for (what, sql) in TYPICAL {
        latency(&cluster, &database, what, sql)?;
    }
    bound()
}

/// The least CPU time that judging took, and the verdict.
fn judged(sql: &str, rounds: usize) -> Outcome<(f64, String)> {
    let config = GuardConfig::default();
    let mut least = f64::INFINITY;
    let mut verdict = String::new();
    for _ in 0..rounds {
        let begin = ClockId::CLOCK_THREAD_CPUTIME_ID.now()?;
        let judged = ReadOnlyStatement::parse(sql, &config);
        let said =
            judged.as_ref().map_or_else(|problem| problem.detail().to_owned(), |_| "accepted".to_owned());
        drop(judged);
        least = least.min(micros((ClockId::CLOCK_THREAD_CPUTIME_ID.now()? - begin).into()));
        verdict = said;
    }
    Ok((least, verdict))
}

/// Judges the worst texts; none may take longer than the bound.
fn bound() -> Outcome {
    report::plain_section("the dearest texts to judge, in µs of CPU time")?;
    let mut scores = Vec::new();
    for text in worst() {
        let (micros, verdict) = judged(&text, ROUNDS)?;
        scores.push((micros, text, verdict));
    }
    scores.sort_by(|(a, _, _), (b, _, _)| b.total_cmp(a));
    for (micros, text, verdict) in scores.iter().take(SHOWN) {
        let what: String = text.chars().take(36).collect();
        let verdict: String = verdict.chars().take(60).collect();
        report::fact(&what.escape_default().to_string(), &format!("{micros:.0}  {verdict}"))?;
    }
    let most = scores.first().map_or(0.0, |(micros, _, _)| *micros);
    report::fact(&format!("the dearest of {}", scores.len()), &format!("{most:.0}"))?;
    if most > BOUND_MICROS { Err(format!("judging took {most:.0} µs").into()) } else { Ok(()) }
}

fn worst() -> Vec<String> {
    let nested = NESTED.iter().map(|(open, middle, close, times)| {
        format!("SELECT {}{middle}{}", open.repeat(*times), close.repeat(*times))
    });
    let repeated = REPEATED.iter().map(|(head, part, tail, times)| {
        let room = LONGEST - "SELECT ".len() - head.len() - tail.len();
        let times = room.checked_div(part.chars().count()).unwrap_or_default().min(*times);
        format!("SELECT {head}{}{tail}", part.repeat(times))
    });
    nested.chain(repeated).chain(built()).collect()
}

/// Texts in which names build on each other.
fn built() -> Vec<String> {
    let names =
        |name: &str, count: usize| (0..count).map(|i| format!("{name}{i}")).collect::<Vec<_>>().join(",");
    let with = |count: usize, query: &dyn Fn(usize) -> String| {
        let queries: Vec<String> = (1..count).map(|i| format!("q{i} AS ({})", query(i))).collect();
        format!("WITH q0 AS (SELECT 1 AS n), {} SELECT n FROM q{}", queries.join(","), count - 1)
    };
    vec![
        with(1_500, &|i| format!("SELECT n FROM q{}", i - 1)),
        with(1_500, &|i| format!("SELECT n+n AS n FROM q{}", i - 1)),
        with(1_000, &|i| format!("SELECT * FROM q{},q0", i - 1)),
        with(700, &|i| format!("SELECT n FROM q{0} x,q{0} y,q{0} z", i - 1)),
        with(1_900, &|_| "SELECT 1 AS n".to_owned()),
        with(150, &|i| format!("SELECT {} FROM q{}", names("n AS c", 60), i - 1)),
        format!("SELECT * FROM t x({}){}", names("c", 5_000), ", LATERAL (SELECT * FROM t) y".repeat(300)),
        format!("SELECT z FROM (SELECT 1 AS z FROM (t CROSS JOIN t u) AS x({})) q", names("c", 9_000)),
        format!("SELECT {} FROM t AS x({})", names("c", 4_500), names("c", 4_500)),
        format!("SELECT {} FROM (SELECT {}) q", names("c", 4_000), names("1 AS c", 4_000)),
        format!("SELECT q.* FROM (VALUES (1){}) q", ",(1)".repeat(16_000)),
        format!("SELECT * FROM {}t JOIN t USING (a){}", "(".repeat(45), " JOIN t USING (a))".repeat(45)),
        format!("SELECT * FROM {}t{}", "(".repeat(49), ")".repeat(49)),
        format!("SELECT * FROM {}SELECT 1{} q", "(".repeat(49), ")".repeat(49)),
        format!("{}SELECT 1{}", "(".repeat(49), ")".repeat(49)),
        format!("SELECT {}1{}", "(".repeat(49), format!("{})", "+1".repeat(19)).repeat(49)),
        format!("VALUES (1, 2){}", ", (1, 2)".repeat(8_000)),
        format!("SELECT {}", "abs(".repeat(24) + "1" + &",1".repeat(15_000) + &")".repeat(24)),
        format!("SELECT {}", ["((((((((((a))))))))))"; 3_000].join(",")),
        format!("SELECT {}", ["f(f(f(f(f(f(f(f(f(f(a))))))))))"; 2_000].join(",")),
        format!("SELECT {}", ["abs(abs(abs(abs(abs(abs(a))))))"; 2_000].join(",")),
        format!(
            "SELECT {}",
            ["CASE WHEN CASE WHEN CASE WHEN a THEN a END THEN a END THEN a END"; 1_000].join(",")
        ),
        format!("SELECT {}", ["ARRAY[ARRAY[ARRAY[ARRAY[ARRAY[ARRAY[a]]]]]]"; 1_400].join(",")),
    ]
}

/// A call through the binary, and the same statement as pgbench runs a prepared one, in turns.
fn latency(cluster: &Cluster, database: &str, what: &str, sql: &str) -> Outcome {
    let url = cluster.url(database);
    let mut server = Child::server(&[("MCP_SQL_DSN", &url)])?;
    let mut raw = Client::connect(&url, NoTls)?;
    let statement = raw.prepare(sql)?;
    let line = call(1, "read_only_sql", &format!("{{\"query\":{}}}", serde_json::to_string(sql)?));
    let answer = server.ask(&line)?;
    if !answer.windows(9).any(|part| part == b"row_count") {
        return Err(format!("{sql} is not answered").into());
    }
    let mut times = Vec::with_capacity(CALL_ROUNDS);
    for _ in 0..CALL_ROUNDS {
        let begin = Instant::now();
        server.ask(&line)?;
        let called = micros(begin.elapsed());
        times.push((called, run_raw(&mut raw, &statement)?));
    }
    server.end()?;
    report::times(
        what,
        median(times.iter().map(|(called, _)| *called)),
        median(times.iter().map(|(_, raw)| *raw)),
        median(times.iter().map(|(called, raw)| called / raw)),
    )
}

/// `BEGIN READ ONLY`, the prepared statement, `ROLLBACK`: microseconds.
fn run_raw(raw: &mut Client, statement: &Statement) -> Outcome<f64> {
    let begin = Instant::now();
    raw.batch_execute("BEGIN READ ONLY")?;
    raw.query(statement, &[])?;
    raw.batch_execute("ROLLBACK")?;
    Ok(micros(begin.elapsed()))
}
