//! The rule of amplifiers as tables: an input, and a part of its refusal, or nothing.

use crate::guard::config::GuardConfig;
use crate::guard::statement::ReadOnlyStatement;

#[track_caller]
fn check(sql: &str, expected: Option<&str>) {
    let config = GuardConfig::parse("my_f, @postgis, @catalog").unwrap();
    let judged = ReadOnlyStatement::parse(sql, &config);
    let detail = judged.as_ref().err().map(|problem| problem.detail());
    match expected {
        None => assert_eq!(detail, None, "{sql}"),
        Some(part) => assert!(detail.is_some_and(|detail| detail.contains(part)), "{sql}: {detail:?}"),
    }
}

/// So many calls around a value.
fn nest(open: &str, times: usize, value: &str, close: &str) -> String {
    format!("SELECT {}{value}{}", open.repeat(times), close.repeat(times))
}

/// The table at the end of the rule's specification.
#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn the_inputs_of_the_specification_have_their_verdicts() {
    for (sql, expected) in [
        (
            "SELECT cardinality(array_replace(array_fill('a'::text, ARRAY[30000]), 'a', repeat('b', 30000)))",
            Some("30000 (array_fill) times 30000 (repeat)"),
        ),
        ("SELECT repeat(repeat('x', 30000), 30000)", Some("30000 (repeat) times 30000 (repeat)")),
        ("SELECT replace(repeat('a', 60000), 'a', repeat('b', 60000))", Some("60000 (repeat) times")),
        (
            "SELECT regexp_replace(repeat('a', 60000), 'a', repeat('b', 60000), 'g')",
            Some("60000 (repeat) times"),
        ),
        ("SELECT format('%1000000s', a) FROM t", None),
        ("SELECT lpad('x', 1000000)", None),
        ("SELECT 1e100000::numeric", None),
        ("SELECT power(10, 100000)", None),
        ("SELECT factorial(30000)", None),
        (
            "SELECT format('%1000000s%1000000s%1000000s%1000000s%1000000s%1000000s', a) FROM t",
            Some("The count 6000000 of format is above 1048576"),
        ),
        (
            "SELECT string_agg(lpad('x', 1000000), '') FROM generate_series(1, 10000)",
            Some("1000000 (lpad) times 10000 (generate_series)"),
        ),
        (
            "SELECT string_agg(1e100000::numeric::text, '') FROM generate_series(1, 10000)",
            Some("exponents of 100000 digits"),
        ),
        (
            "SELECT string_agg(repeat('x', 1000), '') FROM generate_series(1, 1000000)",
            Some("1000 (repeat) times 1000000 (generate_series)"),
        ),
        (
            "SELECT array_agg(a) FROM generate_series(1, 100000) a, generate_series(1, 100000) b",
            Some("100000 (generate_series) times 100000"),
        ),
        ("SELECT array_fill(0, ARRAY[10000, 10000])", Some("The count 100000000 of array_fill")),
        (
            "SELECT repeat('x', n) FROM (SELECT 1000000000 AS n) q",
            Some("The literal 1000000000 is above 10000 and could reach the count of repeat"),
        ),
        ("SELECT repeat('x', n) FROM (VALUES (1000000000)) v (n)", Some("The literal 1000000000")),
        ("WITH q AS (SELECT 1000000000 AS n) SELECT repeat('x', n) FROM q", Some("The literal 1000000000")),
        ("SELECT repeat('x', n) FROM unnest('{1000000000}'::int[]) n", Some("The literal 1000000000")),
        (
            "SELECT repeat('x', (j ->> 'a')::int) FROM (SELECT '{\"a\": 1000000000}'::jsonb AS j) q",
            Some("The literal 1000000000"),
        ),
        (
            "SELECT repeat('x', q.n) FROM t, LATERAL (SELECT 1000000000 AS n) q",
            Some("The literal 1000000000"),
        ),
        ("SELECT repeat('x', a*a*a*a) FROM t", Some("could be any number")),
        (
            "WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n * 2 FROM r WHERE n < 900000000) SELECT repeat('x', n) FROM r",
            Some("could reach the count of repeat"),
        ),
        ("SELECT count(*) FROM pg_class a, pg_class b, pg_class c, pg_class d", None),
        ("WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n FROM r) SELECT array_agg(n) FROM r", None),
        ("SELECT string_agg(repeat(attname, 60), '') FROM pg_attribute, pg_class", None),
    ] {
        check(sql, expected);
    }
    check(&nest("jsonb_build_object('a', ", 30, "1", ")"), Some("refers to a column more than 20000 times"));
    check(&nest("to_json(", 40, "1", ")::text"), Some("more than 20000 times"));
    check(&nest("quote_literal(", 40, "'x'", ")"), Some("more than 20000 times"));
}

#[test]
fn counts_are_written_capped_or_kept_small_by_a_column() {
    for (sql, expected) in [
        ("SELECT repeat('x', 1048576)", None),
        ("SELECT repeat('x', 1048577)", Some("The count 1048577 of repeat is above 1048576")),
        ("SELECT repeat('x', '1e9'::float8::int)", Some("The count 1000000000")),
        ("SELECT repeat('x', X'7fffffff'::int)", Some("The count 2147483647")),
        ("SELECT repeat('x', 100 * 200 + 5 - 1)", None),
        ("SELECT repeat('x', 1000 * 1000 * 1000)", Some("The count 1000000000")),
        ("SELECT repeat('x', least(n * 1000000, 1000)), lpad(a, b) FROM t WHERE c > 1000000", None),
        ("SELECT repeat('x', least(n, 2000000)) FROM t", Some("The count 2000000")),
        ("SELECT repeat('x', greatest(n, 2000000)) FROM t", Some("The literal 2000000 is above")),
        (
            "SELECT repeat('x', n * 20000) FROM t",
            Some("The literal 20000 is above 10000 and could reach the count of repeat"),
        ),
        ("SELECT repeat('x', n * 10000 * 1000) FROM t", Some("times what the tables hold")),
        ("SELECT repeat('x', (n / 0.0001)::int) FROM t", Some("could be any number")),
        ("SELECT repeat('x', (n / (1 / 10000.0))::int) FROM t", Some("could be any number")),
        ("SELECT repeat('x', (n / m)::int) FROM t", None),
        ("SELECT repeat('x', n * m) FROM t", Some("could be any number")),
        ("SELECT repeat('x', (ln(n) * 10)::int) FROM t", Some("could be any number")),
        ("SELECT repeat('x', extract(year FROM d)::int), repeat('x', date_part('day', d)::int) FROM t", None),
        ("SELECT repeat('x', extract(epoch FROM d)::int) FROM t", Some("could be any number")),
        ("SELECT repeat('x', date_part('epoch', d)::int) FROM t", Some("could be any number")),
        ("SELECT repeat('x', (random() * 100)::int)", None),
        ("SELECT rpad(a, length(a) + 2) FROM t", None),
        (
            "SELECT format('%*s', 2000000, a), format('%-*s', n, a) FROM t",
            Some("The count 2000000 of format"),
        ),
        ("SELECT format(a || '%s', b) FROM t", Some("The count of format could be any number")),
        ("SELECT polygon(1000, c), polygon(c), polygon(n, c) FROM t", None),
        ("SELECT polygon(2000000, c) FROM t", Some("The count 2000000 of polygon")),
        ("SELECT array_fill(0, ARRAY[n, 3]), array_fill(0, '{3,4}') FROM t", None),
        ("SELECT array_fill(0, a) FROM t", Some("The count of array_fill could be any number")),
        ("SELECT lpad(string => 'x', length => 900000000)", Some("write them in order")),
        (
            "SELECT repeat('x', n) FROM generate_series(1, 10000) a, generate_series(1, 10000) b, (SELECT count(*)::int AS n FROM t) q",
            Some("times what the tables hold"),
        ),
        (
            "SELECT repeat('x', count(*)::int) FROM generate_series(1, 10000) a, generate_series(1, 10000) b",
            Some("times what the tables hold"),
        ),
    ] {
        check(sql, expected);
    }
}

#[test]
fn beside_a_count_that_holds_a_column_no_literal_is_large() {
    for (sql, expected) in [
        (
            "SELECT repeat('x', n) FROM t WHERE a = 1000000 AND b IN (20000, 30000) AND c BETWEEN 1 AND 99999",
            None,
        ),
        (
            "SELECT repeat('x', n), a / 1000000, 20000::numeric(12, 2) > a FROM t LIMIT 50000 OFFSET 20000",
            None,
        ),
        (
            "SELECT repeat('x', n), '550e8400-e29b-41d4-a716-446655440000'::uuid, timestamp '2024-12-31 12:00:00.123456' FROM t",
            None,
        ),
        ("SELECT repeat('x', n) FROM t WHERE a LIKE '%x%' AND b = 'order 1234567'", None),
        ("SELECT repeat('x', n), a * 20000 FROM t", Some("The literal 20000")),
        ("SELECT repeat('x', n), 'order 1234567' FROM t", Some("The literal 1234567")),
        ("SELECT repeat('x', n), 2 ^ a FROM t", Some("A result of ^")),
        ("SELECT repeat('x', n), 1 << a FROM t", Some("A result of <<")),
        ("SELECT repeat('x', n), power(2, a) FROM t", Some("A result of power")),
        (
            "SELECT repeat('x', n) FROM t WHERE a > (SELECT max(b) FROM (SELECT 20000 AS b) q)",
            Some("The literal 20000"),
        ),
        (
            "WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + n FROM r) SELECT repeat('x', n) FROM r",
            Some("A result of +"),
        ),
        (
            "WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 20000) SELECT repeat('x', n) FROM r",
            Some("The literal 20000"),
        ),
    ] {
        check(sql, expected);
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn values_of_a_statement_stay_small() {
    let long = "y".repeat(2_000);
    for (sql, expected) in [
        ("SELECT 'x'::char(1000000), 'x'::bit(1000)".to_owned(), Some("1000000 (char) times 1000 (bit)")),
        (format!("SELECT repeat('{long}', 20000)"), Some("a literal of 2000 bytes")),
        (format!("SELECT regexp_replace(a, 'x', '{long}'), '{long}' FROM t"), None),
        (format!("SELECT replace(a, 'x', '{long}'), '{long}' FROM t"), Some("could keep a call busy")),
        (format!("SELECT replace(a, 'x', b), '{}' FROM t", "y".repeat(5_000)), Some("5000 (replace)")),
        (
            format!("SELECT array_replace(a, 'x', '{}') FROM t", "y".repeat(5_000)),
            Some("5000 (array_replace) times a literal of 5000"),
        ),
        (
            format!("SELECT array_to_string(a, '{long}'), '{}' FROM t", "y".repeat(9_000)),
            Some("2000 (array_to_string) times a literal of 9000"),
        ),
        ("SELECT repeat(1e131071::text, 1000)".to_owned(), Some("exponents of 131071 digits")),
        (
            "SELECT repeat(('1e131' || '071')::numeric::text, 1000)".to_owned(),
            Some("exponents of 147587 digits"),
        ),
        ("SELECT '[1\\u0065131071]'::jsonb, '{\\1e131071}'::numeric[]".to_owned(), None),
        (format!("SELECT '[{}1]'::jsonb", "1\\u0065131071,".repeat(9)), Some("exponents of")),
        (
            "SELECT power(2, length(repeat('x', 100000))), string_agg(a, '') FROM generate_series(1, 1000)"
                .to_owned(),
            Some("(power)"),
        ),
        (
            "SELECT string_agg(round(1.0, 2000)::text, '') FROM generate_series(1, 30000)".to_owned(),
            Some("2000 (round)"),
        ),
        ("SELECT ('{' || repeat('[1,2),', 50000) || '}')::int4multirange".to_owned(), Some("50000 (repeat)")),
        ("SELECT a LIKE '%x', lpad(b, 5000) FROM t".to_owned(), Some("could keep a call busy")),
        ("SELECT lpad(b, 4000) FROM t WHERE a LIKE '%x' OR a LIKE '%y' OR a LIKE '%z'".to_owned(), None),
        ("SELECT g FROM generate_series(1, 100000000) g".to_owned(), None),
        (
            "SELECT array_agg(g) FROM generate_series(1, 100000000) g".to_owned(),
            Some("100000000 (generate_series)"),
        ),
        (
            "SELECT array_agg(1) FROM generate_series(cardinality('{a,b}'::text[]), 586249) g".to_owned(),
            Some("586249 (generate_series)"),
        ),
        (
            "SELECT array_agg(g) FROM (SELECT generate_series(1, 100000000) AS g) q".to_owned(),
            Some("100000000"),
        ),
        (
            "SELECT array_agg(g) FROM (SELECT generate_series(1, 100000000) AS g, count(*) FROM t) q"
                .to_owned(),
            Some("100000000"),
        ),
        (
            "WITH q AS (SELECT g FROM generate_series(1, 100000000) g) SELECT array_agg(g) FROM q".to_owned(),
            Some("100000000"),
        ),
        ("SELECT ARRAY(SELECT g FROM generate_series(1, 100000000) g)".to_owned(), Some("100000000")),
        ("SELECT g FROM generate_series(1, 100000000) g EXCEPT SELECT 1".to_owned(), Some("100000000")),
        (
            "SELECT 1 WHERE 1 NOT IN (SELECT g FROM generate_series(1, 100000000) g)".to_owned(),
            Some("100000000"),
        ),
        ("SELECT array_agg(g) FROM generate_series(100000000, 1, -1) g".to_owned(), Some("100000000")),
        ("SELECT array_agg(g) FROM generate_series(-50000000, -1) g".to_owned(), Some("50000000")),
        ("SELECT array_agg(g) FROM generate_series(0, 10, 0.0000001) g".to_owned(), Some("100000001")),
        ("SELECT array_agg(g) FROM generate_series(100000000, 100000100) g".to_owned(), None),
    ] {
        check(&sql, expected);
    }
}

#[test]
fn references_multiply_along_subqueries() {
    let chain = |levels: usize, column: &str| {
        (1..levels).fold("WITH q0 AS (SELECT a FROM t)".to_owned(), |sql, level| {
            format!("{sql}, q{level} AS (SELECT {column} AS a FROM q{})", level - 1)
        }) + &format!(" SELECT a FROM q{}", levels - 1)
    };
    check(&chain(15, "a || a"), None);
    check(&chain(16, "a || a"), Some("more than 20000 times"));
    check(&chain(16, "concat(a, a)"), Some("more than 20000 times"));
    check(&chain(16, "(SELECT a || a)"), Some("more than 20000 times"));
    check(&chain(16, "ROW(x.*, x.*)").replace("FROM q", "FROM q0 y, q"), Some("more than 20000 times"));
    check(&chain(200, "a + 1"), None);
    let tables = (1..40).fold("WITH q0 AS (SELECT a || a AS a FROM t)".to_owned(), |sql, level| {
        let body = if level % 2 == 1 {
            format!("TABLE q{}", level - 1)
        } else {
            format!("SELECT a || a AS a FROM q{}", level - 1)
        };
        format!("{sql}, q{level} AS ({body})")
    });
    check(&format!("{tables} SELECT a FROM q39"), Some("more than 20000 times"));
    check(&chain(200, "b.a + a"), Some("more than 20000 times"));
    let lateral = (1..18).fold("SELECT 1 FROM (SELECT 'x' AS a0) q".to_owned(), |sql, level| {
        format!("{sql}, LATERAL (SELECT a{0} || a{0} AS a{level}) q{level}", level - 1)
    });
    check(&lateral, Some("more than 20000 times"));
    let calls = (1..18).fold("SELECT 1 FROM t a0".to_owned(), |sql, level| {
        format!("{sql}, concat(a{0}, a{0}) AS a{level}", level - 1)
    });
    check(&calls, Some("more than 20000 times"));
    let copies = (1..18).fold("WITH q0 AS (SELECT 1 AS n)".to_owned(), |sql, level| {
        format!(
            "{sql}, q{level} AS NOT MATERIALIZED (SELECT n FROM q{0} UNION ALL SELECT n FROM q{0})",
            level - 1
        )
    });
    check(&format!("{copies} SELECT n FROM q17"), Some("NOT MATERIALIZED"));
    check(&format!("{} SELECT n FROM q17", copies.replace("NOT MATERIALIZED", "")), None);
    check(
        &format!("SELECT {} FROM (SELECT repeat('x', 1000000) AS a) q", "a, ".repeat(20) + "a"),
        Some("references to a column"),
    );
    // Replacements and repetitions that are short multiply where they nest.
    check(&nest("repeat(", 3, "'x'", ", 100)"), Some("more than 20000 times"));
    check(
        &nest("replace(", 3, "a", ", 'x', 'yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy')"),
        Some("more than 20000 times"),
    );
    check(
        &nest(
            "regexp_replace(",
            3,
            "a",
            ", '(.*)', '\\1\\1\\1\\1\\1\\1\\1\\1\\1\\1\\1\\1\\1\\1\\1\\1\\1\\1\\1\\1\\1\\1\\1\\1\\1')",
        ),
        Some("more than 20000 times"),
    );
    check(
        &nest("format('%1$s%1$s%1$s%1$s%1$s%1$s%1$s%1$s%1$s%1$s', ", 6, "a", ")"),
        Some("more than 20000 times"),
    );
}

#[test]
fn paths_and_patterns_find_no_item_too_often() {
    for (sql, expected) in [
        ("SELECT jsonb_path_query_array(a, '$.**.x'), a @? '$.b[0,1]', jsonb_path_exists(a, b) FROM t", None),
        ("SELECT jsonb_path_query_array(a, '$.**.**') FROM t", Some("at most 65536 items")),
        ("SELECT jsonb_path_query_array(path => '$.**.**', target => a) FROM t", Some("at most 65536 items")),
        (
            "SELECT jsonb_path_query_array(a, ('$' || b)::jsonpath) FROM t",
            Some("A jsonpath is a literal or a column"),
        ),
        ("SELECT regexp_match(a, '(a)(b)'), a ~ '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{12}$' FROM t", None),
        ("SELECT a ~ '((x{50}){50}){50}' FROM t", Some("at most 10000 repetitions")),
        ("SELECT substring(a, '((x{50}){50}){50}') FROM t", Some("at most 10000 repetitions")),
        ("SELECT regexp_matches(a, repeat('(a)', 4000)) FROM t", Some("at most 100 parentheses")),
    ] {
        check(sql, expected);
    }
    let many = "(a)".repeat(101);
    check(&format!("SELECT regexp_matches(a, '{many}') FROM t"), Some("at most 100 parentheses"));
    check(
        &format!("SELECT regexp_matches(a, p) FROM (SELECT '{many}' AS p) q, t"),
        Some("at most 100 parentheses"),
    );
}

#[test]
fn uncancellable_calls_compare_a_literal_or_a_column_of_a_table() {
    for (sql, expected) in [
        (
            "SELECT (SELECT array_agg(oid) FROM pg_class) && (SELECT array_agg(oid) FROM pg_proc)",
            Some("compares values that this statement makes"),
        ),
        (
            "SELECT a && b FROM (SELECT array_agg(x) AS a FROM t) q, (SELECT array_agg(x) AS b FROM t) r",
            Some("&& compares"),
        ),
        ("WITH q AS (SELECT array_agg(x) AS a FROM t) SELECT q.a && p.a FROM q, q p", Some("&& compares")),
        (
            "WITH RECURSIVE r AS (SELECT 1 AS a UNION ALL SELECT a FROM r) SELECT p.a LIKE r.a FROM r, r p",
            Some("~~ compares"),
        ),
        ("SELECT position(string_agg(a, '') IN string_agg(b, '')) FROM t", Some("position compares")),
        ("SELECT array_agg(x) && '{1,2}', string_agg(a, ',') LIKE '%x%' FROM t", None),
        ("SELECT array_agg(x) FROM t JOIN u ON t.tags && u.tags AND lower(t.a) LIKE u.b", None),
        ("SELECT string_agg(a, ', ') FROM t, plainto_tsquery('x') q WHERE v @@ q", None),
        ("SELECT a && b FROM (SELECT a, b FROM t) q", None),
    ] {
        check(sql, expected);
    }
}

#[test]
fn an_added_function_stands_neither_in_nor_around_what_multiplies() {
    for (sql, expected) in [
        (
            "SELECT my_f(my_f(a)), round(st_area(a)::numeric, 2), replace(st_astext(a), ' ', ','), lpad(my_f(a), 10) FROM t",
            None,
        ),
        ("SELECT json_build_object('a', st_asgeojson(a)::json), string_agg(my_f(a), ', ') FROM t", None),
        ("SELECT repeat(my_f('x'), 1000)", Some("my_f is not PostgreSQL's own")),
        ("SELECT repeat('x', my_f(a)) FROM t", Some("could be any number")),
        ("SELECT my_f(repeat('x', 1000))", Some("around repeat")),
        ("SELECT st_buffer(lpad(a, b)) FROM t", Some("st_buffer is not PostgreSQL's own")),
    ] {
        check(sql, expected);
    }
}

/// Found on a server whose backends may take 256 MiB each.
#[test]
fn statements_that_a_capped_server_did_not_survive_are_refused() {
    let chain = |steps: usize, step: &str| {
        let first = "WITH c0 (x) AS (SELECT 'a'::text)".to_owned();
        let all = (1..=steps)
            .fold(first, |sql, n| format!("{sql}, c{n} (x) AS (SELECT {step} FROM c{} AS v)", n - 1));
        format!("{all} SELECT x FROM c{steps}")
    };
    for (steps, step) in [
        (8, "(SELECT c0 FROM (VALUES (v.x), (v.x), (v.x)) AS s (c0) LIMIT 1)"),
        (16, "(SELECT coalesce(v.x, v.x))"),
        (16, "lpad(regexp_replace('a'::text, NULL::text, v.x, 'g'), length(v.x))"),
    ] {
        check(&chain(steps, step), Some("more than 20000 times"));
    }
    let short = "y".repeat(300);
    for sql in [
        "SELECT array_fill('[1,50)'::int4range, ARRAY[1000000])",
        "SELECT array_fill(('[1,50)'::int4range)::int4multirange, ARRAY[212839])",
        "SELECT (SELECT array_agg(int4multirange('[1,50)'::int4range)) FROM generate_series(1, 175457) AS s2 (c0))",
        "SELECT ARRAY(SELECT 'kB'::text FROM generate_series(1, 52826) AS s1 (c0), LATERAL generate_series(1, s1.c0) AS s2 (c0))",
        "SELECT string_agg(repeat('x', 1000000), '') FROM pg_attribute",
        "SELECT ARRAY(SELECT '{[1,3),[5,9)}'::int8multirange FROM generate_series(1, 44396))",
        "SELECT array_agg(int4multirange('[1,50)'::int4range)) FROM generate_series(1, 44396)",
        "SELECT jsonb_agg(array_fill('a'::text, ARRAY[31886])) FROM unnest('{a,b,c}'::text[]) s",
        &format!("SELECT array_replace('{{{}a}}'::text[], 'a', repeat('a', 893998))", "a,".repeat(130)),
        &format!("SELECT repeat('{short}', 1000000)"),
        &format!(
            "SELECT pg_size_bytes((SELECT string_agg('{short}'::text, 'a') FROM generate_series(1, 1048577) AS s1 (c0)))"
        ),
    ] {
        check(sql, Some("could make more than 16777216 bytes of one value together"));
    }
}
