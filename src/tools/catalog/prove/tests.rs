//! Rules together: where a table can stand, the refusals of the guard, faults in the order of the text, small stacks.

use super::super::rule::Rule;
use super::testing::{case, filter, proven, refused};
use crate::guard::position::Position;

/// The places of a subquery in a condition.
const IN_CONDITIONS: &[&str] = &[
    "EXISTS (#)",
    "id IN (#)",
    "id = ANY (#)",
    "id = ALL (#)",
    "id = ANY (ARRAY(#))",
    "id IN (1, (#))",
    "id IN ((#) UNION (SELECT 1))",
    "id IN (VALUES ((#)))",
    "(id, 1) IN (SELECT (#), 1)",
    "ROW(1, (#)) = ROW(1, 2)",
    "CASE WHEN (#) THEN true END",
    "CASE (#) WHEN 1 THEN true END",
    "CASE 1 WHEN 1 THEN true ELSE (#) END",
    "a BETWEEN 1 AND (#)",
    "a IS DISTINCT FROM (#)",
    "(#) IS TRUE AND (#) IS NOT NULL",
    "NOT (#)",
    "- (#) > 1",
    "(#)::int = 1",
    "a || (#) = 'x'",
    "a LIKE 'x' || (#)",
    "a SIMILAR TO (#)",
    "extract(day FROM (#)) = 1",
    "position((#) IN a) = 1",
    "substring(a FROM (#)::int FOR 2) = 'x'",
    "trim(both (#) FROM a) = 'x'",
    "overlay(a PLACING b FROM (#)) = 'x'",
    "floor((#)) = 1",
    "born AT TIME ZONE (#) = born",
    "a COLLATE \"C\" < (#) COLLATE \"C\"",
    "(#) * INTERVAL '1 day' > x",
    "tags[(#)::int] = 'x'",
    "(ARRAY[1, (#)])[1:2] = born",
    "coalesce(a, (#)) = 1",
    "make_interval(days => (#)) > x",
    "concat(VARIADIC ARRAY(#)) = 'x'",
    "count(*) FILTER (WHERE (#)) = 1",
    "string_agg(a, b ORDER BY (#)) = 'x'",
    "percentile_cont(0.5) WITHIN GROUP (ORDER BY (#)) = 1",
    "sum(1) OVER (PARTITION BY 1 ORDER BY (#)) = 1",
    "sum(1) OVER (ORDER BY id ROWS 1 + (#) PRECEDING) = 1",
];

/// The places of a subquery in a statement.
const IN_STATEMENTS: &[&str] = &[
    "SELECT (#) AS full_name FROM people",
    "SELECT full_name FROM people, (#) x",
    "SELECT full_name FROM people, LATERAL (#) x",
    "SELECT full_name FROM people p JOIN people q ON p.id = (#)",
    "SELECT full_name FROM people, unnest(ARRAY(#)) AS n",
    "SELECT full_name FROM people TABLESAMPLE BERNOULLI ((#))",
    "SELECT full_name FROM people UNION #",
    "SELECT full_name FROM people EXCEPT (#)",
    "SELECT full_name FROM people UNION VALUES ((#))",
    "SELECT full_name FROM people GROUP BY full_name HAVING (#)",
    "SELECT full_name FROM people GROUP BY full_name, (#)",
    "SELECT full_name FROM people GROUP BY GROUPING SETS ((full_name), ((#)))",
    "SELECT DISTINCT ON ((#)) full_name FROM people",
    "SELECT full_name FROM people WINDOW w AS (PARTITION BY (#))",
    "SELECT full_name FROM people ORDER BY (#) LIMIT 9",
    "SELECT full_name FROM people UNION SELECT 'x' ORDER BY (#) LIMIT 9",
    "SELECT full_name FROM people ORDER BY 1 LIMIT 9 OFFSET (#)",
    "WITH q AS (#) SELECT full_name FROM people",
    "WITH q AS (#), r AS (SELECT 1 AS one) SELECT full_name FROM people, r",
    "WITH RECURSIVE q AS (SELECT 1 AS n UNION ALL SELECT n + (#) FROM q) SELECT full_name FROM people, q",
];

#[test]
fn a_table_is_seen_wherever_it_stands() {
    let conditions =
        IN_CONDITIONS.iter().map(|place| format!("SELECT full_name FROM people p WHERE {place}"));
    for place in conditions.chain(IN_STATEMENTS.iter().map(|place| (*place).to_owned())) {
        let reading = |table: &str| [case(&place.replace('#', &format!("SELECT max(id) FROM {table}")))];
        refused(Rule::TableNotAllowed, &reading("salaries"));
        refused(Rule::TableUndeclared, &reading("sites"));
        proven(&reading("people"));
    }
}

#[test]
fn every_refusal_of_the_guard_has_its_rule() {
    refused(
        Rule::NotSelect,
        &[case("EXPLAIN SELECT full_name FROM people"), case("SHOW LIMIT"), case("-- LIMIT"), case("LIMIT")],
    );
    refused(Rule::MultiStatement, &[case("SELECT full_name FROM people ORDER BY 1 LIMIT 1; SELECT 1")]);
    refused(
        Rule::WriteKeyword,
        &[
            case("DELETE FROM people"),
            case("INSERT INTO people VALUES (1)"),
            case("WITH d AS (DELETE FROM people RETURNING full_name) SELECT full_name FROM d"),
            case("SELECT full_name INTO x FROM people"),
            case("SELECT full_name FROM people ORDER BY 1 LIMIT 9 FOR UPDATE"),
        ],
    );
    refused(
        Rule::ForbiddenFunction,
        &[
            case("SELECT pg_sleep(1) AS full_name FROM people"),
            case("SELECT my_function(1) AS full_name FROM people"),
            case("SELECT x.pg_read_file AS full_name FROM people x"),
            case("SELECT full_name FROM people, my_function(1) AS x"),
        ],
    );
    refused(
        Rule::ForbiddenConstruct,
        &[
            case("SELECT full_name FROM people WHERE"),
            case("SELECT full_name::regrole FROM people"),
            case("SELECT full_name COLLATE mine FROM people"),
            filter("id OPERATOR(=) 2"),
            filter("id OPERATOR(pg_catalog.->>) ANY (ARRAY['a'])"),
            filter("full_name OPERATOR(pg_catalog.~) ANY (ARRAY['a'])"),
            case("SELECT repeat('x', :n) AS full_name FROM people").params("n#"),
            case("SELECT format(:f, 1) AS full_name FROM people").params("f"),
            case("SELECT full_name FROM people WHERE a = $1"),
            case("SELECT full_name FROM people WHERE a = : x"),
            case("SELECT full_name FROM people WHERE a[1:x] = :x").params("x"),
            case("SELECT p.:x AS full_name FROM people p").params("x"),
            case("SELECT date :x AS full_name FROM people p").params("x"),
        ],
    );
    proven(&[
        case("SELECT my_function(1) AS full_name FROM people").guard("my_function"),
        case("SELECT full_name FROM people ORDER BY 1 LIMIT 9;\n -- done"),
        filter("id OPERATOR(pg_catalog.=) :id AND id OPERATOR(pg_catalog.<>) ANY (:ids)").params("id# ids#"),
        filter("data OPERATOR(pg_catalog.->>) 'a' = 'x' AND id OPERATOR ( pg_catalog . + ) 2 > 1"),
        case("SELECT repeat('x', least(:n, 9)) AS full_name FROM people").params("n#"),
        case("SELECT full_name FROM people, generate_series(1, :n) AS i").params("n#"),
    ]);
}

#[test]
fn all_faults_are_reported_at_once_in_the_order_of_the_text() {
    let (proven, faults) = case("SELECT *, token FROM salaries\nWHERE id = :id AND a ~ :q LIMIT 9")
        .tables("people")
        .params("q unused")
        .prove();
    assert!(proven.is_none());
    let reported: Vec<String> = faults
        .iter()
        .map(|fault| match fault.at {
            Some(Position { line, column }) => format!("{} {line}:{column}", fault.rule),
            None => fault.rule.to_string(),
        })
        .collect();
    assert_eq!(
        reported,
        [
            "param-unused",
            "table-unreferenced",
            "wildcard-select 1:8",
            "sensitive-identifier 1:11",
            "table-not-allowed 1:22",
            "placeholder-unknown 2:12",
            "like-unescaped 2:24",
            "order-required 2:33",
        ]
    );
}

#[test]
fn the_longest_statements_are_walked_in_a_small_stack() {
    let chain = format!("a = 1{}", " OR a || 'x' LIKE :q ESCAPE '\\'".repeat(240));
    let joins = format!("{}people{}", "(".repeat(40), " JOIN people USING (id))".repeat(40));
    let steps: Vec<String> = (1..400).map(|n| format!("q{n} AS (SELECT id FROM q{})", n - 1)).collect();
    let cases = [
        filter(&chain).params("q~"),
        case(&format!("SELECT full_name FROM {joins}")),
        case(&format!("WITH q0 AS (SELECT id FROM people), {} SELECT id FROM q399", steps.join(", ")))
            .columns("id"),
        case(&format!("SELECT full_name FROM people WHERE {}a{}", "NOT (".repeat(45), ")".repeat(45))),
        case(&format!("SELECT full_name FROM people{}", " UNION SELECT full_name FROM people".repeat(200))),
    ];
    let walk = move || proven(&cases);
    std::thread::Builder::new().stack_size(2 << 20).spawn(walk).unwrap().join().unwrap();
}
