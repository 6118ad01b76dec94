//! The guard as a whole: corpora, generated grids, properties and bounds.

use super::{
    config::GuardConfig,
    judge::{kind, limits, roles::NameRole, sizes, tokens, tree},
    lexer::{self, Token, TokenKind},
    parser::parse,
    refusal::Refusal,
    statement::ReadOnlyStatement,
};
use crate::problem::Code;

const ACCEPTED: &str = include_str!("corpus/accepted.txt");
const REFUSED: &str = include_str!("corpus/refused.txt");

/// A line of a corpus with its escapes undone.
fn unescaped(line: &str) -> String {
    let mut text = String::new();
    let mut characters = line.chars();
    while let Some(c) = characters.next() {
        text.push(match (c, if c == '\\' { characters.next() } else { None }) {
            ('\\', Some('n')) => '\n',
            ('\\', Some('t')) => '\t',
            ('\\', Some('r')) => '\r',
            ('\\', Some('0')) => '\0',
            ('\\', Some(other)) => other,
            (other, _) => other,
        });
    }
    text
}

fn lines(corpus: &str) -> impl Iterator<Item = &str> {
    corpus.lines().filter(|line| !line.is_empty() && !line.starts_with("# "))
}

/// The statements that must pass, each with the setting it needs.
fn accepted() -> impl Iterator<Item = (String, GuardConfig)> {
    lines(ACCEPTED).map(|line| {
        let (sql, sets) =
            line.rsplit_once(" -- @").map_or((line, String::new()), |(sql, set)| (sql, format!("@{set}")));
        (unescaped(sql), GuardConfig::parse(&sets).unwrap())
    })
}

fn refused() -> impl Iterator<Item = (Code, String)> {
    lines(REFUSED).map(|line| {
        let code = if line.starts_with('V') { Code::Validation } else { Code::QueryViolation };
        (code, unescaped(line.get(2..).unwrap_or_default()))
    })
}

fn verdict(sql: &str) -> Result<String, Code> {
    ReadOnlyStatement::parse(sql, &GuardConfig::default())
        .map(|statement| statement.canonical().to_owned())
        .map_err(|problem| problem.code())
}

#[test]
fn every_refused_statement_is_refused_with_its_code_and_a_place() {
    let mut wrong = Vec::new();
    for (code, sql) in refused() {
        match ReadOnlyStatement::parse(&sql, &GuardConfig::default()) {
            Ok(_) => wrong.push(format!("accepted: {sql}")),
            Err(problem) => {
                let document = problem.to_value();
                if problem.code() != code {
                    wrong.push(format!("{:?}: {sql}: {}", problem.code(), problem.detail()));
                }
                assert!(document["metadata"]["line"].as_u64() >= Some(1), "{sql}");
                assert!(document["metadata"]["column"].as_u64() >= Some(1), "{sql}");
                assert_eq!(problem.invalid_params(), ["query"], "{sql}");
                assert!(
                    problem.detail().ends_with('.') && problem.detail().len() < 500,
                    "{}",
                    problem.detail()
                );
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(refused().count() >= 300);
}

#[test]
fn every_accepted_statement_passes_and_so_does_its_canonical_text_unchanged() {
    for (sql, config) in accepted() {
        let statement =
            ReadOnlyStatement::parse(&sql, &config).unwrap_or_else(|p| panic!("{sql}: {}", p.detail()));
        let again = ReadOnlyStatement::parse(statement.canonical(), &config).unwrap();
        assert_eq!(statement.canonical(), again.canonical());
        assert_eq!(shape(&sql), shape(statement.canonical()), "{sql}");
    }
}

/// What must not change on the way to the canonical text.
fn shape(sql: &str) -> Vec<(TokenKind, String, String)> {
    let tokens = lexer::lex(sql).unwrap();
    tokens.into_iter().map(|token| (token.kind, token.text.into_owned(), token.name)).collect()
}

#[test]
fn extension_sets_are_needed() {
    let without = GuardConfig::default();
    for (sql, config) in accepted().filter(|(_, config)| *config != GuardConfig::default()) {
        assert!(ReadOnlyStatement::parse(&sql, &config).is_ok(), "{sql}");
        assert!(ReadOnlyStatement::parse(&sql, &without).is_err(), "{sql}");
    }
}

#[test]
fn a_refused_function_is_told_what_allows_it_or_that_nothing_does() {
    for (sql, part) in [
        ("SELECT version()", "MCP_SQL_ALLOW_FUNCTIONS=@catalog."),
        ("SELECT levenshtein('a', 'b')", "MCP_SQL_ALLOW_FUNCTIONS=@fuzzystrmatch."),
        ("SELECT mine(1)", "MCP_SQL_ALLOW_FUNCTIONS."),
        ("SELECT COLLATION FOR ('a')", "MCP_SQL_ALLOW_FUNCTIONS=@catalog."),
        ("SELECT 'a'::regclass", "MCP_SQL_ALLOW_FUNCTIONS=@catalog."),
        ("SELECT pg_catalog.regtype 'a'", "MCP_SQL_ALLOW_FUNCTIONS=@catalog."),
        ("SELECT CAST(a AS hstore) FROM t", "MCP_SQL_ALLOW_FUNCTIONS=@hstore."),
        ("SELECT a::mine FROM t", "MCP_SQL_ALLOW_FUNCTIONS."),
        ("SELECT JSON_OBJECT('a': 1)", "use json_build_object("),
        ("SELECT abs(JSON_ARRAY(1 NULL ON NULL))", "use json_build_object("),
        ("SELECT JSON_QUERY(a, '$' WITH WRAPPER) FROM t", "use jsonb_path_query"),
        ("SELECT xmlelement(name a)", "XML is not supported"),
        ("SELECT '<a/>'::xml", "XML is not supported"),
        ("SELECT JSON('{}')", "write x::json."),
        ("SELECT TOP 5 * FROM t", "write LIMIT n"),
        ("SELECT a FROM t WHERE b RLIKE 'x'", "write a ~ 'pattern'"),
        ("SELECT a FROM t WHERE a QUALIFY rank() OVER (ORDER BY b) < 3", "filter around the query"),
        ("SELECT a FROM t LIMIT 5, 10", "write LIMIT b OFFSET a."),
        ("SELECT `a` FROM t", "A name is quoted \"so\""),
        ("SELECT a IS NOT DOCUMENT FROM t", "XML is not supported"),
        ("SELECT pg_sleep(1)", "is never allowed: a function of this name waits."),
    ] {
        let problem = ReadOnlyStatement::parse(sql, &GuardConfig::default()).unwrap_err();
        assert!(problem.detail().contains(part), "{}", problem.detail());
    }
}

/// Places where an expression can stand.
fn places() -> impl Iterator<Item = &'static str> {
    include_str!("corpus/places.txt").lines()
}

/// A call of a function that no list has, and of dangerous ones, in the spellings that PostgreSQL takes.
const DENIED: &[&str] = &[
    "pg_sleep(1)",
    "PG_SLEEP(1)",
    "Pg_Sleep (1)",
    "\"pg_sleep\"(1)",
    "pg_catalog.pg_sleep(1)",
    "pg_catalog . \"pg_sleep\" ( 1 )",
    "PG_CATALOG.PG_SLEEP(1)",
    "pg_sleep/* */(1)",
    "pg_sleep -- x\n (1)",
    "pg_sleep\t\n(1)",
    "U&\"pg\\005fsleep\"(1)",
    "u&\"!0070g_sleep\" /* */ UESCAPE '!' (1)",
    "my_function(1)",
    "public.my_function(1)",
    "public.abs(1)",
    "\"Abs\"(1)",
    "current_setting('x')",
    "query_to_xml('SELECT 1', true, true, '')",
    "'t'::regclass",
    "CAST('t' AS evil)",
    "evil 't'",
    "1::public.evil",
    "(1 OPERATOR(evil.+) 2)",
    "(1 <<<< 2)",
    "('t'::text).nextval",
];

#[test]
fn a_denied_call_is_refused_wherever_an_expression_can_stand() {
    for place in places() {
        for call in DENIED {
            let sql = place.replace('#', call);
            assert!(verdict(&sql).is_err(), "accepted: {sql}");
        }
    }
}

#[test]
fn an_allowed_call_is_accepted_wherever_an_expression_can_stand() {
    for place in places() {
        for call in
            ["generate_series(1, 2)", "pg_catalog.generate_series(1, 2)", "\"abs\" (1)", "ABS/* */(1)"]
        {
            let sql = place.replace('#', call);
            let parsed = ReadOnlyStatement::parse(&sql, &GuardConfig::default());
            assert!(parsed.is_ok(), "{sql}: {:?}", parsed.err());
        }
    }
}

#[test]
fn a_denied_name_is_refused_behind_a_dot_wherever_an_expression_can_stand() {
    for place in places().filter(|place| !place.contains("FROM #") && !place.contains(", #")) {
        for field in
            ["t.pg_read_file", "('x'::text).pg_read_file", "(t.a).\"pg_ls_dir\"", "(t).pg_relation_size"]
        {
            let sql = place.replace('#', field);
            assert!(verdict(&sql).is_err(), "accepted: {sql}");
        }
    }
}

/// What each judge says alone. The judge of the tokens gets what the tree accounts for when everything is allowed.
fn judges_alone(lexed: &[Token<'_>]) -> Result<[Result<(), Refusal>; 2], Refusal> {
    kind::check(lexed)?;
    limits::check(lexed)?;
    let config = GuardConfig::default();
    let query = parse(lexed)?;
    let by_tree = tree::judge(&query, lexed, &config).map(drop);
    let everything: Vec<NameRole> = vec![NameRole::Call; lexed.len()];
    let by_tokens = tokens::judge(lexed, &everything, &config);
    Ok([by_tree, by_tokens])
}

#[test]
fn each_judge_alone_refuses_every_denied_call() {
    for place in places() {
        for call in DENIED {
            let sql = place.replace('#', call);
            let Ok(lexed) = lexer::lex(&sql) else { continue };
            let Ok(verdicts) = judges_alone(&lexed) else { continue };
            for (judge, verdict) in ["tree", "tokens"].into_iter().zip(verdicts) {
                assert!(verdict.is_err(), "the judge of the {judge} accepted: {sql}");
            }
        }
    }
}

#[test]
fn each_judge_alone_refuses_every_function_and_type_of_the_corpus() {
    let mut seen = 0;
    for (_, sql) in refused() {
        let problem = ReadOnlyStatement::parse(&sql, &GuardConfig::default()).unwrap_err();
        let detail = problem.detail();
        // `CAST(x AS type)` and columns' types are the tree's to judge; the wrapper and the role stand behind it.
        let named =
            ["list of allowed functions", "is never allowed"].iter().any(|part| detail.contains(part))
                || detail.contains("list of types") && sql.contains("::") && !sql.contains("json_to_record");
        let Some(verdicts) = lexer::lex(&sql).ok().and_then(|lexed| judges_alone(&lexed).ok()) else {
            continue;
        };
        if !named {
            continue;
        }
        seen += 1;
        for (judge, verdict) in ["tree", "tokens"].into_iter().zip(verdicts) {
            let danger_in_a_name = judge == "tree" && detail.contains("is never allowed");
            assert!(verdict.is_err() || danger_in_a_name, "the judge of the {judge} accepted: {sql}");
        }
    }
    assert!(seen > 300, "{seen}");
}

#[test]
fn refusals_point_to_the_construct_in_the_clients_own_text() {
    for (sql, line, column) in [
        ("SELECT 1,\n  pg_sleep(1)", 2, 3),
        ("/* é\n */ SELECT 'é', f(1)", 2, 17),
        ("SELECT 1;\n\n DROP TABLE t", 3, 2),
        ("SELECT a\n  b c", 2, 5),
        ("SELECT (1", 1, 8),
        ("SELECT a::evil", 1, 11),
        ("", 1, 1),
        ("SELECT f(1), g(2) FROM h(3) WHERE i(4)", 1, 8),
        ("SELECT a,\n repeat('x', 900000000)", 2, 2),
    ] {
        let problem = ReadOnlyStatement::parse(sql, &GuardConfig::default()).unwrap_err().to_value();
        let place = (problem["metadata"]["line"].as_u64(), problem["metadata"]["column"].as_u64());
        assert_eq!(place, (Some(line), Some(column)), "{sql}: {}", problem["detail"]);
    }
}

#[test]
fn the_lists_are_sorted_disjoint_harmless_and_reasoned() {
    use super::{functions, functions_denied, functions_sets};
    let mut seen = std::collections::BTreeSet::new();
    for functions::Group { reason, names } in functions::BUILT_IN {
        assert!(reason.ends_with('.'), "{reason}");
        assert!(names.is_sorted(), "{reason}");
        for name in *names {
            assert!(seen.insert(*name), "{name} stands twice");
            assert_eq!(functions_denied::danger(name), None, "{name}");
        }
    }
    for set in functions_sets::SETS {
        assert!(set.name.starts_with('@') && set.functions.is_sorted(), "{}", set.name);
        for name in set.functions {
            assert_eq!(functions_denied::danger(name.trim_end_matches('*')), None, "{name}");
        }
    }
    assert!(functions_sets::SETS.is_sorted_by_key(|set| set.name));
    assert!(lexer::OPERATORS.iter().all(|operator| !operator.contains("--") && !operator.contains("/*")));
}

/// Judges on a thread with a stack of 2 MiB, which a debug build fills fastest.
fn in_a_small_stack(sql: String) {
    let judge = move || drop(ReadOnlyStatement::parse(&sql, &GuardConfig::default()));
    std::thread::Builder::new().stack_size(2 << 20).spawn(judge).unwrap().join().unwrap();
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn the_worst_statements_are_judged_in_a_stack_of_two_mebibytes() {
    // What is opened, what stands in the middle, what closes it.
    for (open, middle, close) in [
        ("f(", "1", ")"),
        ("abs(", "1", ")"),
        ("pg_catalog.abs(", "1", ")"),
        ("ARRAY[", "1", "]"),
        ("ARRAY[", "", ""),
        ("(", "1", ")"),
        ("(", "", ""),
        ("NOT ", "true", ""),
        ("- ", "1", ""),
        ("1+", "1", ""),
        ("1^(", "1", ")"),
        ("1 + (2 * 3 ^ (", "1", "))"),
        ("CASE WHEN ", "1", ""),
        ("CASE WHEN true THEN ", "1", " END"),
        ("CASE ", "1", " WHEN 1 THEN 1 END"),
        ("case-", "c", ""),
        ("1", "", "::int"),
        ("1::int", "", "[]"),
        ("a", "", ".b"),
        ("a", "", "[1]"),
        ("a[", "1", "]"),
        ("1 IN (", "1", ")"),
        ("1 IN ((SELECT ", "1", "), 1)"),
        ("1 IN (SELECT ", "1", ")"),
        ("true", "", " AND true"),
        ("1", "", " BETWEEN 1 AND 1"),
        ("'a'", "", " LIKE 'a'"),
        ("1", "", " IS NULL"),
        ("1", "", " ISNULL"),
        ("now()", "", " AT TIME ZONE 'UTC'"),
        ("'a'", "", " COLLATE \"C\""),
        ("interval ", "'1'", ""),
        ("(SELECT ", "1", ")"),
        ("EXISTS (SELECT ", "1", ")"),
        ("1 FROM (SELECT ", "1", ") q"),
        ("1 FROM t JOIN t JOIN (SELECT ", "1", ") q ON true ON true"),
        ("1 FROM t LEFT JOIN LATERAL (SELECT abs(1), ", "1", ") q ON true"),
        ("1 FROM t WHERE a = 1 AND NOT a IN (1 + 2 ^ (SELECT ", "1", "))"),
        ("1 UNION (SELECT ", "1", ")"),
        ("extract(day FROM ", "a", ")"),
        ("position(", "a", ", 1)"),
        ("position(", "a", ""),
        ("substring(", "a", " FROM 1)"),
        ("trim(both FROM ", "a", ")"),
        ("overlay(", "a", " PLACING a FROM 1)"),
        ("cast(", "a", " AS int)"),
        ("cast(case (", "a", ""),
        ("a.substring(", "1", ")"),
        ("if(current_time(", "x", ""),
        ("sum(1) OVER (ORDER BY ", "1", ")"),
        ("sum(1) FILTER (WHERE ", "1", ")"),
        ("ROW(", "1", ")"),
        ("x x ", "x", ""),
        ("1, ", "1", ""),
        ("repeat(", "'x'", ", 2)"),
    ] {
        for times in [8, 15, 16, 24, 40, 49, 240, 990, 5_000, 16_000] {
            let close = close.repeat(times);
            let open = if middle.is_empty() { open.to_owned() } else { open.repeat(times) };
            in_a_small_stack(format!("SELECT {open}{middle}{close}"));
        }
    }
    for (head, part, times) in [
        ("SELECT 1", " UNION ALL SELECT 1", 3_000),
        ("SELECT 1", " UNION ALL SELECT 1", 256),
        ("SELECT 1", " UNION SELECT 1 INTERSECT SELECT 1 EXCEPT SELECT 1", 85),
        ("SELECT * FROM t", " JOIN t ON true", 64),
        ("SELECT * FROM t", " JOIN t", 64),
        ("SELECT * FROM t", " NATURAL JOIN t", 64),
        ("SELECT 1 FROM t WHERE a", " UNION SELECT 1 FROM t WHERE a = 1 AND b = 2", 250),
        ("VALUES (1, 2)", ", (1, 2)", 7_000),
        ("SELECT 1", ", abs(1)", 8_000),
        ("SELECT 1", " + union", 2_000),
        ("SELECT *", " FROM (", 49),
        ("SELECT 'x'", " 'x'", 9_000),
    ] {
        in_a_small_stack(format!("{head}{}", part.repeat(times)));
    }
    in_a_small_stack(format!(
        "SELECT * FROM {}t JOIN t USING (a){}",
        "(".repeat(45),
        " JOIN t USING (a))".repeat(45)
    ));
    in_a_small_stack(format!("SELECT * FROM {}SELECT 1{} q", "(".repeat(49), ")".repeat(49)));
    in_a_small_stack(format!(
        "SELECT generate_series(now(), now(){}, interval '1 day'{})",
        " + interval '1 day'".repeat(490),
        " * 1".repeat(490)
    ));
    in_a_small_stack(format!("SELECT {}1{}", "(".repeat(49), format!("{})", "+1".repeat(19)).repeat(49)));
    in_a_small_stack(format!("SELECT CASE {} END", "WHEN a THEN b ".repeat(4_000)));
    in_a_small_stack(format!("SELECT {}", "/*".repeat(30_000)));
    in_a_small_stack(format!("SELECT '{}'", "a".repeat(65_000)));
    in_a_small_stack(format!("SELECT $a${}$a$", "$b$".repeat(20_000)));
}

/// How much work the check of sizes does, counted in its own steps.
#[track_caller]
fn work_on(sql: &str) -> u64 {
    let lexed = lexer::lex(sql).unwrap();
    limits::check(&lexed).unwrap();
    let query = parse(&lexed).unwrap();
    sizes::check(&query).work
}

#[test]
fn the_work_on_names_that_build_on_each_other_is_bounded() {
    use std::fmt::Write;
    let list =
        |name: &str, count: usize| (0..count).map(|i| format!("{name}{i}")).collect::<Vec<_>>().join(",");
    let wide = format!("SELECT 1 AS z FROM (t CROSS JOIN t u) AS x({})", list("c", 9_000));
    assert!(work_on(&wide) < 40_000, "{}", work_on(&wide));
    let mut nested = "(SELECT 'x' AS z)".to_owned();
    for _ in 0..14 {
        nested = format!("(SELECT z || '' AS z FROM {nested} AS x({}))", list("a", 600));
    }
    let mut steps = "WITH q AS (SELECT 1 AS n)".to_owned();
    for i in 0..150 {
        let last = if i == 0 { "q".to_owned() } else { format!("q{}", i - 1) };
        write!(steps, ", q{i} ({}) AS (SELECT * FROM {last})", list("c", 60)).unwrap();
    }
    let mut many = "WITH q0 AS (SELECT 1 AS n)".to_owned();
    for i in 1..1_500 {
        write!(many, ", q{i} AS (SELECT n + 1 AS n FROM q{})", i - 1).unwrap();
    }
    let fill = format!("SELECT {}1{}", "array_fill(1, ARRAY[".repeat(12), "])".repeat(12));
    let stars =
        format!("SELECT * FROM t x({}){}", list("c", 5_000), ", LATERAL (SELECT * FROM t) y".repeat(300));
    for sql in [
        format!("SELECT z FROM {nested} q"),
        format!("{steps} SELECT 1 FROM q149"),
        format!("{many} SELECT n FROM q1499"),
        fill,
        stars,
        format!("SELECT {}", "a||".repeat(900) + "a"),
        format!("VALUES (1, 2){}", ", (1, 2)".repeat(5_000)),
    ] {
        // Two walks, and one step that may be as large as a query is wide.
        assert!(
            work_on(&sql) <= 2 * sizes::MAX_WORK + 65_536,
            "{}: {}",
            work_on(&sql),
            sql.chars().take(60).collect::<String>()
        );
    }
}

/// Pieces that random statements are made of: what the grammar knows, what it does not, and what is denied.
const PIECES: &[&str] = &[
    "SELECT",
    "select",
    "FROM",
    "WHERE",
    "t",
    "a",
    "b.c",
    "\"Q q\"",
    "1",
    "2.5",
    "'x'",
    "'it''s'",
    "E'\\''",
    "$$d$$",
    "B'1'",
    "(",
    ")",
    "[",
    "]",
    ",",
    ".",
    "*",
    "+",
    "-",
    "||",
    "->>",
    "=",
    "<",
    "::",
    "int",
    "text",
    "numeric(3,1)",
    "AND",
    "OR",
    "NOT",
    "IS",
    "NULL",
    "ISNULL",
    "IN",
    "LIKE",
    "BETWEEN",
    "SYMMETRIC",
    "CASE",
    "WHEN",
    "THEN",
    "ELSE",
    "END",
    "AS",
    "x",
    "UNION",
    "ALL",
    "VALUES",
    "TABLE",
    "WITH",
    "RECURSIVE",
    "ORDER",
    "BY",
    "GROUP",
    "HAVING",
    "LIMIT",
    "OFFSET",
    "FETCH",
    "FIRST",
    "ROWS",
    "ONLY",
    "JOIN",
    "LEFT",
    "ON",
    "USING",
    "LATERAL",
    "abs(",
    "count(*)",
    "FILTER",
    "OVER",
    "PARTITION",
    "WINDOW",
    "EXCLUDE",
    "TIES",
    "ROW",
    "ARRAY[",
    "ARRAY(",
    "EXISTS",
    "ANY",
    "INTERVAL",
    "DAY",
    "TO",
    "AT",
    "TIME",
    "ZONE",
    "LOCAL",
    "COLLATE",
    "\"C\"",
    "EXTRACT(",
    "SUBSTRING(",
    "SIMILAR",
    "ESCAPE",
    "GROUPING",
    "SETS",
    "ROLLUP",
    "CUBE",
    "VARIADIC",
    "OPERATOR(",
    "pg_catalog",
    "public",
    "SEARCH",
    "DEPTH",
    "CYCLE",
    "SET",
    "DISTINCT",
    "INTO",
    "FOR",
    "UPDATE",
    "DELETE",
    "pg_sleep",
    "pg_sleep(",
    "f(",
    "--c\n",
    "/*c*/",
    "\n",
    ";",
    "generate_series(1,",
    "ORDINALITY",
    "TABLESAMPLE",
    "BERNOULLI",
    "NULLS",
    "LAST",
    "DESC",
    "double",
    "precision",
];

/// Statements that pass, taken apart and put together again with pieces in between.
fn mutated() -> impl proptest::strategy::Strategy<Value = String> {
    use proptest::prelude::*;
    let bases: Vec<String> = accepted().map(|(sql, _)| sql).collect();
    let edits =
        prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0..3_u8), 0..6);
    (prop::sample::select(bases), edits).prop_map(|(base, edits)| {
        let mut words: Vec<String> = base.split_inclusive(' ').map(str::to_owned).collect();
        for (place, piece, edit) in edits {
            let at = place.index(words.len().max(1)).min(words.len());
            let piece = format!("{} ", PIECES[piece.index(PIECES.len())]);
            match edit {
                0 => words.insert(at, piece),
                1 if at < words.len() => words[at] = piece,
                _ if at < words.len() => drop(words.remove(at)),
                _ => {}
            }
        }
        words.concat()
    })
}

fn soup() -> impl proptest::strategy::Strategy<Value = String> {
    use proptest::prelude::*;
    prop::collection::vec(prop::sample::select(PIECES), 0..40)
        .prop_map(|pieces| format!("SELECT {}", pieces.join(" ")))
}

#[track_caller]
fn check_stable(sql: &str) {
    let config = GuardConfig::default();
    let Ok(statement) = ReadOnlyStatement::parse(sql, &config) else { return };
    let canonical = statement.canonical();
    let again =
        ReadOnlyStatement::parse(canonical, &config).unwrap_or_else(|p| panic!("{sql}: {}", p.detail()));
    assert_eq!(canonical, again.canonical(), "{sql}");
    assert_eq!(shape(sql), shape(canonical), "{sql}");
    let tokens = lexer::lex(canonical).unwrap();
    for (index, token) in tokens.iter().enumerate() {
        // `SELECT 1 AS into` names a column.
        let label = index.checked_sub(1).is_some_and(|before| tokens[before].is_word("as"));
        assert!(!token.name.starts_with("pg_sleep") && (label || !token.is_word("into")), "{sql}");
    }
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config { cases: 500, ..proptest::test_runner::Config::default() })]

    #[test]
    fn what_is_accepted_is_accepted_again_and_unchanged(sql in mutated()) {
        check_stable(&sql);
    }

    #[test]
    fn random_tokens_are_judged_without_a_panic(sql in soup()) {
        check_stable(&sql);
    }

    #[test]
    fn any_text_is_judged_without_a_panic(sql in ".{0,200}") {
        check_stable(&sql);
        check_stable(&format!("SELECT {sql}"));
    }
}
