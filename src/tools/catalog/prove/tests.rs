//! Every rule: what breaks it and only it, and the nearest that does not.

use std::collections::BTreeMap;

use super::{super::members::Origin, *};

/// A claim in the making. Unless said otherwise it reads `people` and gives `full_name`.
#[derive(Clone)]
struct Case {
    sql: String,
    tables: Vec<String>,
    columns: Vec<String>,
    /// Names; behind them `#` for numbers, `~` for `match`, `?` for optional.
    params: Vec<&'static str>,
    waived: BTreeMap<String, String>,
    guard: GuardConfig,
}

pub(super) fn list(text: &str) -> Vec<String> {
    text.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// A parameter as the tables of cases write it: `#` for a number, `~` for one with `match`, `?` for an optional one.
pub(super) fn param(spec: &str) -> ParamClaim {
    ParamClaim {
        name: spec.trim_end_matches(['#', '~', '?']).to_owned(),
        matching: spec.contains('~').then_some(Match::Contains),
        numeric: spec.contains('#'),
        optional: spec.contains('?'),
    }
}

/// A statement; without ORDER BY and LIMIT it gets both.
fn case(sql: &str) -> Case {
    let tail = if sql.contains("LIMIT") { "" } else { " ORDER BY 1 LIMIT 9" };
    Case {
        sql: format!("{sql}{tail}"),
        tables: list("people"),
        columns: list("full_name"),
        params: Vec::new(),
        waived: BTreeMap::new(),
        guard: GuardConfig::default(),
    }
}

/// `SELECT full_name FROM people WHERE …`
fn filter(condition: &str) -> Case {
    case(&format!("SELECT full_name FROM people p WHERE {condition}"))
}

impl Case {
    fn tables(self, tables: &str) -> Self {
        Self { tables: list(tables), ..self }
    }

    fn columns(self, columns: &str) -> Self {
        Self { columns: list(columns), ..self }
    }

    fn params(self, params: &'static str) -> Self {
        Self { params: params.split(' ').collect(), ..self }
    }

    fn waive(mut self, name: &str, reason: &str) -> Self {
        self.waived.insert(name.to_owned(), reason.to_owned());
        self
    }

    fn guard(self, list: &str) -> Self {
        Self { guard: GuardConfig::parse(list).unwrap(), ..self }
    }

    fn prove(&self) -> (Option<Proven>, Vec<Fault>) {
        let params: Vec<ParamClaim> = self.params.iter().map(|spec| param(spec)).collect();
        prove(&Claim {
            sql: &self.sql,
            catalog_tables: &list("people sites devices hr.people columns"),
            tables: &self.tables,
            columns: &self.columns,
            params: &params,
            waived: &self.waived,
            words: &SensitiveWords::parse("iban").unwrap(),
            guard: &self.guard,
        })
    }
}

/// What is wrong with the outcome.
fn wrong(case: &Case, expected: &[Rule]) -> Option<String> {
    let (proven, faults) = case.prove();
    let mut rules: Vec<Rule> = faults.iter().map(|fault| fault.rule).collect();
    rules.dedup();
    let refused = faults.iter().any(|fault| fault.rule.severity() == Severity::Error);
    let reads_well = |sentence: &String| {
        sentence.ends_with('.') && sentence.len() < 300 && !sentence.starts_with(char::is_lowercase)
    };
    let told = faults.iter().all(|fault| reads_well(&fault.text) && reads_well(&fault.cure));
    let right = rules == expected && proven.is_none() == refused && told;
    (!right).then(|| format!("{}\n  {faults:#?}", case.sql))
}

#[track_caller]
fn check(cases: &[Case], expected: &[Rule]) {
    let wrong: Vec<String> = cases.iter().filter_map(|case| wrong(case, expected)).collect();
    assert!(wrong.is_empty(), "not {expected:?}:\n{}", wrong.join("\n"));
}

#[track_caller]
fn refused(rule: Rule, cases: &[Case]) {
    check(cases, &[rule]);
}

#[track_caller]
fn proven(cases: &[Case]) {
    check(cases, &[]);
}

/// Where a subquery can stand in a condition.
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

/// Where one can stand in a statement.
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
fn table_not_allowed() {
    refused(
        Rule::TableNotAllowed,
        &[
            case("SELECT full_name FROM salaries").tables(""),
            case("SELECT full_name FROM salaries").tables("salaries"),
            case("SELECT full_name FROM people").tables("people salaries"),
            case("SELECT full_name FROM public.people").tables(""),
            case("SELECT full_name FROM \"People\"").tables(""),
            case("SELECT full_name FROM people, salaries"),
            case("SELECT full_name FROM people JOIN salaries USING (id)"),
            case("SELECT full_name FROM (people JOIN salaries USING (id))"),
            case("SELECT full_name FROM people, ONLY salaries"),
            case("SELECT full_name FROM people, ONLY (salaries)"),
            case("SELECT full_name FROM people, salaries *"),
            case(
                "WITH q AS (SELECT 1 AS one) SELECT full_name FROM people WHERE id IN (SELECT id FROM hr.q)",
            ),
            // Its own name means the table within it.
            case("WITH salaries AS (SELECT full_name FROM salaries) SELECT full_name FROM salaries, people"),
            // It is not yet, or no more, what the name means.
            case("WITH a AS (SELECT 1 AS x FROM b), b AS (SELECT 1 AS y) SELECT full_name FROM a, b, people"),
            case("SELECT full_name FROM people, (WITH q AS (SELECT 1 AS x) SELECT x FROM q) z, q"),
        ],
    );
    proven(&[
        case("SELECT full_name FROM people"),
        case("SELECT full_name FROM hr.people").tables("hr.people"),
        case("SELECT full_name FROM \"people\" AS p, LATERAL (SELECT 1 AS one FROM sites) x")
            .tables("people sites"),
        case("WITH salaries AS (SELECT full_name FROM people) SELECT full_name FROM salaries"),
        case(
            "WITH salaries AS (SELECT full_name FROM people) SELECT (SELECT max(full_name) FROM salaries) AS full_name",
        ),
        case(
            "WITH RECURSIVE up AS (SELECT full_name, boss FROM people UNION ALL SELECT p.full_name, p.boss \
             FROM up JOIN people p ON p.id = up.boss) SELECT full_name FROM up",
        ),
    ]);
}

#[test]
fn what_the_parser_is_shown_hides_no_table() {
    // A WITH query called columns is shown to the parser where there is none.
    refused(
        Rule::TableUndeclared,
        &[
            filter("id IN ((SELECT id FROM columns) UNION (SELECT 1))"),
            filter("id IN (VALUES ((SELECT id FROM columns)))"),
        ],
    );
    proven(&[filter("id IN (VALUES ((SELECT id FROM columns)))").tables("people columns")]);
}

#[test]
fn table_undeclared() {
    refused(
        Rule::TableUndeclared,
        &[
            case("SELECT full_name FROM people, sites"),
            case("SELECT full_name FROM people, hr.people x"),
            filter("EXISTS (SELECT 1 FROM devices)"),
        ],
    );
    proven(&[case("SELECT full_name FROM people, sites").tables("people sites")]);
}

#[test]
fn table_unreferenced() {
    refused(
        Rule::TableUnreferenced,
        &[
            case("SELECT full_name FROM people").tables("people sites"),
            case("SELECT full_name FROM people").tables("people hr.people"),
            case("WITH sites AS (SELECT full_name FROM people) SELECT full_name FROM sites")
                .tables("people sites"),
        ],
    );
    proven(&[
        case("SELECT full_name FROM people WHERE id IN (SELECT id FROM sites)").tables("people sites"),
        case("SELECT 1 AS full_name").tables(""),
    ]);
}

#[test]
fn unsupported_table_ref() {
    refused(
        Rule::UnsupportedTableRef,
        &[
            case("SELECT full_name FROM people AS p(full_name)"),
            case("SELECT full_name FROM people AS p(a, full_name)"),
            case("SELECT full_name FROM people NATURAL JOIN sites").tables("people sites"),
            case("SELECT full_name FROM (people p JOIN sites s ON s.id = p.site_id) AS j")
                .tables("people sites"),
            case("SELECT full_name FROM people, ROWS FROM (generate_series(1, 2)) AS r(n)"),
            // Names for a row's fields.
            case("SELECT full_name FROM people, json_to_recordset('[]') r(a)"),
            case("SELECT z.b AS full_name FROM people, unnest(creds) AS z(a, b)"),
            case("SELECT z.b AS full_name FROM people, unnest(creds) WITH ORDINALITY AS z(a, b, c)"),
            case("SELECT x.b AS full_name FROM people, jsonb_populate_record(cred, data) AS x(a, b)"),
            case("SELECT x.a AS full_name FROM people, json_populate_recordset(cred, data) AS x(a)"),
            case("SELECT x.a AS full_name FROM people, jsonb_to_record(data) AS x(a, b text)"),
            case("SELECT x.a AS full_name FROM people, people_of(id) AS x(a)").guard("people_of"),
            case("SELECT l AS full_name FROM people, lower(full_name) AS l(l)"),
        ],
    );
    proven(&[
        case("SELECT q.full_name FROM people p CROSS JOIN LATERAL (SELECT p.a) AS q(full_name)"),
        case("WITH q(full_name) AS (SELECT a FROM people) SELECT full_name FROM q"),
        case("WITH q AS (SELECT a FROM people) SELECT r.full_name FROM q AS r(full_name)"),
        case("SELECT full_name FROM people JOIN sites USING (id)").tables("people sites"),
        case("SELECT full_name FROM (people p JOIN sites s ON s.id = p.site_id)").tables("people sites"),
        case("SELECT full_name FROM people, generate_series(1, 2) AS n WHERE n > 1"),
        case("SELECT full_name FROM people, websearch_to_tsquery(:q) AS q WHERE to_tsvector(a) @@ q")
            .params("q"),
        case(
            "SELECT full_name FROM people, plainto_tsquery('simple', :q) AS t(q) WHERE to_tsvector(a) @@ t.q",
        )
        .params("q"),
        case(
            "SELECT full_name FROM people, unnest(tags) WITH ORDINALITY AS t(tag, n) WHERE tag = 'x' AND n = 1",
        ),
        case("SELECT full_name FROM people, jsonb_to_recordset(phones) AS r(kind text, number text)"),
        case("SELECT full_name FROM people, regexp_matches(full_name, 'a') AS m(parts)"),
        case("SELECT x.login AS full_name FROM people, jsonb_populate_record(cred, data) AS x"),
        case("SELECT x.login AS full_name FROM people, people_of(id) AS x").guard("people_of"),
        case("SELECT full_name FROM people, jsonb_to_record(data) AS r(a int, b text)"),
    ]);
}

#[test]
fn sensitive_column() {
    refused(
        Rule::SensitiveColumn,
        &[
            case("SELECT password_hash FROM people").columns("password_hash"),
            case("SELECT p.full_name AS otp FROM people p").columns("otp"),
            case("SELECT iban_code FROM people").columns("iban_code"),
            case("SELECT pass FROM people").columns("pass").waive("pass", " "),
        ],
    );
    proven(&[
        case("SELECT passenger_name FROM people").columns("passenger_name"),
        case("SELECT pass FROM people").columns("pass").waive("pass", "a mountain pass"),
    ]);
}

#[test]
fn sensitive_identifier() {
    refused(
        Rule::SensitiveIdentifier,
        &[
            case("SELECT password_hash AS full_name FROM people"),
            case("SELECT \"Password\" AS full_name FROM people"),
            case("SELECT UserPass AS full_name FROM people"),
            case("SELECT upper(p.\"apiKey\") AS full_name FROM people p"),
            case("SELECT (p.auth).secret AS full_name FROM people p"),
            case("SELECT full_name FROM people AS tokens"),
            case("WITH hashes AS (SELECT full_name FROM people) SELECT full_name FROM hashes"),
            case("SELECT full_name FROM people JOIN sites USING (otp)").tables("people sites"),
            case("SELECT full_name FROM people ORDER BY salt LIMIT 9"),
            case("SELECT md5(hashtext(full_name)::text) AS full_name FROM people"),
            filter("mfa_secret IS NOT NULL"),
            case("SELECT full_name FROM people, jsonb_to_record(data) AS r(password text)"),
            filter("data ->> 'password' = 'x'"),
            filter("(data -> 'auth') -> ('token') IS NULL"),
            filter("data #>> '{auth,pass}' = 'x'"),
            filter("data #> ARRAY['auth', 'otp'] IS NULL"),
            filter("data['salt'] IS NULL"),
            filter("data ? 'password'"),
            filter("data @> '{\"password\": 1}'"),
            filter("data @? '$.auth.password'"),
            filter("jsonb_path_exists(data, '$.a ? (@.token == 1)')"),
            filter("jsonb_path_query_first(data, '$.\"api-key\"') IS NULL"),
            filter("jsonb_extract_path_text(data, 'a', 'secret') = 'x'"),
            case("SELECT full_name FROM people, jsonb_path_query(data, '$.password') AS x"),
            case("SELECT json_build_object('password', full_name) AS full_name FROM people"),
            filter("data -> E'\\x70assword' IS NULL"),
            filter("data -> 'pass'\n'word' IS NULL"),
            filter("data -> $$token$$ IS NULL"),
            // Which member is read is not written.
            filter("data ->> name = 'x'"),
            filter("data ->> ('a' || 'b') = 'x'"),
            filter("data ->> :key = 'x'").params("key"),
            filter("jsonb_extract_path_text(data, :key) = 'x'").params("key"),
            filter("data[(:key)] IS NULL").params("key"),
            filter("data @> CAST(:key AS jsonb)").params("key"),
            filter("data ? ANY (tags)"),
        ],
    );
    proven(&[
        case("SELECT password_hash AS full_name FROM people").waive("password_hash", "a pattern in knitting"),
        case("SELECT UserPass AS full_name FROM people").waive("userpass", "the name of a shop"),
        filter("data ->> 'token' = 'x'").waive("token", "a token of appreciation"),
        filter("data ->> 'passenger' = 'x' AND data -> 0 IS NULL AND data #>> '{a,b}' = 'y'"),
        filter("data -> (n)::int IS NULL AND tags[1] = 'x' AND tags[n::int] = 'y'"),
        filter("data @> '{\"kind\": 1}' AND data ? 'kind' AND data @? '$.a[*]'"),
        filter("kind = 'password reset' AND full_name || 'token' <> 'x'"),
        filter("to_tsvector(full_name) @@ plainto_tsquery(:key)").params("key"),
        filter("tags @> ARRAY[:key]").params("key"),
    ]);
}

#[test]
fn what_the_guard_refuses_has_its_rule() {
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
            case("SELECT full_name::regclass FROM people"),
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
fn wildcard_select() {
    refused(
        Rule::WildcardSelect,
        &[
            case("SELECT * FROM people"),
            case("SELECT p.* FROM people p"),
            case("SELECT DISTINCT * FROM people"),
            case("SELECT full_name, * FROM people"),
            case("SELECT (p.auth).* FROM people p"),
            case("TABLE people"),
            case("SELECT full_name FROM (TABLE people) q"),
            filter("EXISTS (SELECT * FROM people)"),
            filter("ROW(p.*) IS NULL"),
            case("SELECT p AS full_name FROM people p"),
            case("SELECT people AS full_name FROM people"),
            case("SELECT people AS full_name FROM hr.people").tables("hr.people"),
            case("SELECT to_json(p) AS full_name FROM people p"),
            case("SELECT json_agg(p ORDER BY p.id) AS full_name FROM people p"),
            case("SELECT count(p) AS full_name FROM people p"),
            case("SELECT count(p.*) AS full_name FROM people p"),
            case("SELECT p.to_json AS full_name FROM people p"),
            case("SELECT (p).full_name FROM people p"),
            case("SELECT full_name FROM people p WHERE p IS NOT NULL"),
            case("SELECT full_name FROM people p WHERE EXISTS (SELECT p FROM sites)").tables("people sites"),
            case("SELECT row_to_json(q) AS full_name FROM (SELECT full_name FROM people) q"),
            case("WITH q AS (SELECT full_name FROM people) SELECT q::text AS full_name FROM q"),
            case("SELECT j AS full_name FROM people JOIN sites USING (id) AS j").tables("people sites"),
            case("SELECT full_name FROM people p GROUP BY full_name, p"),
            case("SELECT full_name FROM people p ORDER BY p LIMIT 9"),
            case("SELECT p.hstore AS full_name FROM people p").guard("@hstore"),
            case("SELECT value AS full_name FROM people, jsonb_each_text(data) AS m"),
            case("SELECT jsonb_pretty(data) AS full_name FROM people"),
            case("SELECT svals(data) AS full_name FROM people").guard("@hstore"),
            filter("data @? '$.*'"),
            filter("data #>> '{}' = 'x'"),
            filter("data #>> (ARRAY[]::text[]) = 'x'"),
            filter("jsonb_extract_path_text(data) = 'x'"),
            case("SELECT p.record_out AS full_name FROM people p"),
            case("SELECT full_name FROM people, jsonb_path_query(data, '$.keyvalue()') AS x"),
            case("SELECT (jsonb_each_text(data)).value AS full_name FROM people"),
            filter("jsonb_path_exists(data, '$ . **.a'::jsonpath)"),
        ],
    );
    proven(&[
        case("SELECT count(*) AS full_name FROM people"),
        case("SELECT 2 * 3 AS full_name FROM people"),
        case("SELECT p.a * p.b AS full_name FROM people p"),
        filter("EXISTS (SELECT 1 FROM people)"),
        case("SELECT n AS full_name FROM people, unnest(tags) AS n"),
        case("SELECT q.count AS full_name FROM (SELECT count(*) AS count FROM people) q"),
        case("SELECT count(*) AS people FROM people ORDER BY people LIMIT 9").columns("people"),
        case("SELECT status AS people FROM people GROUP BY people").columns("people"),
        case("SELECT q AS full_name FROM (SELECT full_name AS q FROM people) q"),
        case("SELECT to_json(p.full_name) AS full_name FROM people p"),
        filter("data @? '$.a[*].b'"),
    ]);
}

#[test]
fn no_caller_names_members() {
    refused(
        Rule::SensitiveIdentifier,
        &[
            // A new member has a name of the caller's.
            filter("data @> jsonb_build_object(:k, 1)").params("k"),
            filter("data @> jsonb_build_object('a', 1, 'b' || :k, 2)").params("k"),
            filter("data @> jsonb_build_object(VARIADIC ARRAY[:k, 'x'])").params("k"),
            filter("data @> jsonb_object(ARRAY[:k], ARRAY['x'])").params("k"),
            filter("data @> jsonb_object(ARRAY[:k, 'x'])").params("k"),
            filter("data @> (SELECT jsonb_object_agg(:k, 1))").params("k"),
            filter("data @> jsonb_set('{}', ARRAY[:k], '1')").params("k"),
            filter("data @> jsonb_insert('{}', (:k)::text[], '1')").params("k"),
            filter("data @> (:k)::hstore").params("k").guard("@hstore"),
            filter("data @> hstore(:k, 'x')").params("k").guard("@hstore"),
            case("SELECT full_name FROM people, (SELECT :k AS k) q WHERE data @> jsonb_build_object(q.k, 1)")
                .params("k"),
            // Whole values are the caller's, also in arrays and by way of a column.
            filter("data @> ANY (:k::jsonb[])").params("k"),
            filter("data @> ANY (CAST(:k AS _jsonb))").params("k"),
            filter("data @> (:k::jsonb[])[1]").params("k"),
            filter("data @> ANY (:k::hstore[])").params("k").guard("@hstore"),
            case("WITH args AS (SELECT :k AS flt) SELECT full_name FROM people, args WHERE data @> flt::jsonb").params("k"),
            case("SELECT full_name FROM people JOIN (VALUES ('{' || :k || '}')) AS p (j) ON data @> p.j::jsonb").params("k"),
            // Members of an hstore, and whatever functions nobody knows do.
            filter("fetchval(data, :k) = 'x'").params("k").guard("@hstore"),
            filter("fetchval(data, 'password') = 'x'").guard("@hstore"),
            filter("fetchval(data, full_name) = 'x'").guard("@hstore"),
            case("SELECT slice(data, ARRAY[:k]) AS full_name FROM people").params("k").guard("@hstore"),
            case("SELECT slice_array(data, ARRAY['a', :k]) AS full_name FROM people")
                .params("k")
                .guard("@hstore"),
            case("SELECT delete(data, :k) AS full_name FROM people").params("k").guard("@hstore"),
            filter("exist(data, :k) AND exists_any(data, ARRAY['a'])").params("k").guard("@hstore"),
            filter("defined(data, 'token')").guard("@hstore"),
            filter("member_of(data, 'token') = 1").guard("member_of"),
        ],
    );
    proven(&[
        filter("data @> jsonb_build_object('a', :x)").params("x"),
        case("SELECT jsonb_object_agg(full_name, id) AS full_name FROM people"),
        filter("data @> hstore('a', :x)").params("x").guard("@hstore"),
        filter("fetchval(data, 'a') = :x").params("x").guard("@hstore"),
        filter("member_of(data, 'a') = :x").params("x").guard("member_of"),
    ]);
}

#[test]
fn text_of_what_has_members() {
    refused(
        Rule::WildcardSelect,
        &[
            case("SELECT jsonb_to_tsvector('simple', data, '[\"all\"]') AS full_name FROM people"),
            case("SELECT json_to_tsvector(data, '\"all\"') AS full_name FROM people"),
            case("SELECT jsonb_extract_path_text(data, VARIADIC '{}') AS full_name FROM people"),
            case("SELECT jsonb_extract_path_text(data, VARIADIC ARRAY[]::text[]) AS full_name FROM people"),
            case("SELECT (data #> '{a}')::text AS full_name FROM people"),
            case("SELECT concat(jsonb_path_query_first(data, '$.a')) AS full_name FROM people"),
            case("SELECT CAST(note::jsonb AS varchar) AS full_name FROM people"),
            case("SELECT upper(note::json::text) AS full_name FROM people"),
            case("SELECT e::text AS full_name FROM people, jsonb_array_elements(data) AS e"),
            case("SELECT value::text AS full_name FROM people, jsonb_array_elements(data)"),
            case("SELECT x || '' AS full_name FROM people, jsonb_path_query(data, '$.a') AS q(x)"),
            case("SELECT r.a::text AS full_name FROM people, jsonb_to_record(data) AS r(a jsonb)"),
            case("SELECT jsonb_populate_record(cred, data)::text AS full_name FROM people"),
            case("SELECT q.x::text AS full_name FROM (SELECT data #> '{a}' AS x FROM people) q"),
            case(
                "WITH q(x) AS (SELECT 1 UNION SELECT data #> '{a}' FROM people) SELECT concat(x) AS full_name FROM q",
            ),
            case("SELECT (SELECT data #> '{a}')::text AS full_name FROM people"),
            case("SELECT ARRAY(SELECT data #> '{a}' FROM people)::text AS full_name FROM people"),
            case("SELECT format('%s', coalesce(data #> '{a}', '1')) AS full_name FROM people"),
            case("SELECT (CASE WHEN true THEN data #> '{a}' END)::text AS full_name FROM people"),
            case("SELECT quote_literal(ARRAY[data #> '{a}']) AS full_name FROM people"),
            case("SELECT ((mode() WITHIN GROUP (ORDER BY data #> '{a}')))::text AS full_name FROM people"),
            case("SELECT (data #> '{a}').text AS full_name FROM people"),
            case("SELECT ((ROW(c)).f1)::text AS full_name FROM people"),
            case("SELECT (q.r).f12 AS full_name FROM (SELECT ROW(c) AS r FROM people) q"),
        ],
    );
    proven(&[
        case("SELECT id::text AS full_name FROM people"),
        case("SELECT lower(data ->> 'a') || '!' AS full_name FROM people"),
        case("SELECT (data ->> 'n')::int::text AS full_name FROM people"),
        case("SELECT data #> '{a}' AS full_name FROM people"),
        case("SELECT concat(jsonb_array_length(data), count(*)) AS full_name FROM people GROUP BY data"),
        case("SELECT to_jsonb(full_name)::text AS full_name FROM people"),
        case(
            "SELECT coalesce(data ->> 'a', :x) AS full_name FROM people WHERE starts_with(data ->> 'a', :x)",
        )
        .params("x"),
        case("SELECT substr(full_name, :n::int) AS full_name FROM people").params("n#"),
        case("SELECT tags[(:n)::int] AS full_name FROM people").params("n#"),
        case("SELECT round((data ->> 'n')::numeric, :n::int) AS full_name FROM people").params("n#"),
        case("SELECT '{\"a\":1}'::jsonb::text AS full_name FROM people"),
    ]);
}

#[test]
fn no_caller_chooses_a_part_of_a_members_text() {
    refused(
        Rule::WildcardSelect,
        &[
            case("SELECT substr(data ->> 'a', :n::int) AS full_name FROM people").params("n#"),
            case("SELECT substring(data ->> 'a' FROM :n) AS full_name FROM people").params("n#"),
            case("SELECT trim(leading :x from data #>> '{a}') AS full_name FROM people").params("x"),
            case("SELECT split_part(lower(data ->> 'a'), ':', :n::int) AS full_name FROM people")
                .params("n#"),
            case("SELECT replace(e, :x, '') AS full_name FROM people, jsonb_array_elements_text(data) AS e")
                .params("x"),
            case("SELECT substr(data ->> 'a', q.n) AS full_name FROM people, (SELECT :n::int AS n) q")
                .params("n#"),
            case("SELECT (string_to_array(data ->> 'a', ','))[(:n)::int] AS full_name FROM people")
                .params("n#"),
            case("SELECT substr(r.a, :n::int) AS full_name FROM people, jsonb_to_record(data) AS r(a text)")
                .params("n#"),
            case("SELECT substr(r.a, :n::int) AS full_name FROM people, jsonb_populate_record(c, data) AS r")
                .params("n#"),
            case("SELECT substr(a, :n::int) AS full_name FROM people, jsonb_populate_record(c, data)")
                .params("n#"),
            case("SELECT substr((jsonb_populate_record(c, data)).a, :n::int) AS full_name FROM people")
                .params("n#"),
            case("SELECT substr(data ->> 'a', n) AS full_name FROM people, generate_series(1, :n) AS n")
                .params("n#"),
            case("SELECT right(q.a, :n::int) AS full_name FROM (SELECT data ->> 'a' AS a FROM people) q")
                .params("n#"),
        ],
    );
}

/// What the database has to say of the types of what a statement reads.
fn needs(case: &Case) -> String {
    let (proven, faults) = case.prove();
    let needs = proven.unwrap_or_else(|| panic!("{}: {faults:#?}", case.sql)).needs;
    let told: Vec<String> = needs
        .iter()
        .map(|(origin, never)| match origin {
            Origin::Column { table: Some(table), name } => format!("{table}.{name}{never}"),
            Origin::Column { table: None, name } => format!("{name}{never}"),
            Origin::Function(name) => format!("{name}(){never}"),
            Origin::Type(name) => format!("::{name}{never}"),
        })
        .collect();
    told.join(" ")
}

#[test]
fn what_text_is_made_of_is_followed_to_columns() {
    let table = [
        ("SELECT full_name FROM people WHERE id = 1", ""),
        ("SELECT full_name FROM people WHERE id = :x AND full_name = :x", ""),
        ("SELECT id::text AS full_name FROM people", "id:jhxra"),
        ("SELECT p.id::text AS full_name FROM people p", "people.id:jhxra"),
        ("SELECT p.id::numeric AS full_name FROM people p", ""),
        ("SELECT lower(a) AS full_name FROM people p WHERE coalesce(b, '') = ''", "a:jhxra"),
        (
            "SELECT concat(c, q.x) AS full_name FROM (SELECT p.a AS x, b FROM people p) q, people",
            "c:jhxra x:jhxra people.a:jhxra",
        ),
        ("SELECT concat(x) AS full_name FROM (SELECT a, b FROM people) q(x)", "a:jhxra x:jhxra"),
        (
            "SELECT concat(q.case) AS full_name FROM (SELECT CASE WHEN a THEN b END FROM people) q",
            "b:jhxra case:jhxra",
        ),
        (
            "WITH q AS (SELECT a FROM people UNION ALL SELECT b FROM people) SELECT a::text AS full_name FROM q",
            "a:jhxra b:jhxra",
        ),
        ("SELECT x::text AS full_name FROM people, unnest(tags) AS x", "tags:jhxra x:jhxra"),
        ("SELECT x AS full_name FROM people, unnest(tags) AS t(x)", "tags:ra"),
        ("SELECT x AS full_name FROM people, unnest(tags) AS x", ""),
        ("SELECT (data -> 'a')::text AS full_name FROM people", "data:j"),
        ("SELECT (c[1]).a AS full_name FROM people", "c:jhx"),
        ("SELECT (c[1:2]).a AS full_name FROM people", "c:jhxa"),
        ("SELECT (to_jsonb(c) -> 'a')::text AS full_name FROM people", "c:jhxra"),
        ("SELECT (c).a AS full_name FROM people", "c:jhxa"),
        ("SELECT (c).a::text AS full_name FROM people", "a:jhxra c:jhxa"),
        ("SELECT (data['a'])::text AS full_name FROM people", "data:jhxra"),
        ("SELECT jsonb_build_object('a', x) AS full_name FROM people", "x:x"),
        ("SELECT jsonb_build_object('a', x)::text AS full_name FROM people", "x:jhxra"),
        ("SELECT full_name FROM people WHERE c = ROW(1, :x)", "c:ra"),
        ("SELECT full_name FROM people WHERE c IN (ROW(1, :x))", "c:ra"),
        ("SELECT full_name FROM people WHERE ROW(1, :x) IN (SELECT c FROM people)", "c:ra"),
        ("SELECT full_name FROM people WHERE nullif(c, ROW(1, :x)) IS NULL", "c:ra"),
        ("SELECT full_name FROM people JOIN (SELECT ROW(1, :x) AS c) q USING (c)", "c:ra"),
        ("SELECT full_name FROM people, (SELECT ROW(1, :x) AS k) q WHERE c = q.k", "c:ra k:ra"),
        ("SELECT c AS full_name FROM people INTERSECT SELECT ROW(1, :x)", "c:ra"),
        ("SELECT full_name FROM people WHERE f(a, :x) = 1", "a:jhxra"),
        ("SELECT f(1)::text AS full_name FROM people", "f():jhxra"),
        ("SELECT x.a::text AS full_name FROM people, f(1) AS x", "a:jhxra f():"),
        ("SELECT x.a AS full_name FROM people, jsonb_populate_record(NULL::cred, data) AS x", "::cred:"),
    ];
    for (sql, expected) in table {
        let params = if sql.contains(":x") { "x" } else { "" };
        let case = case(sql).guard("f,cred");
        let case = if params.is_empty() { case } else { case.params(params) };
        assert_eq!(needs(&case), expected, "{sql}");
    }
}

#[test]
fn arguments_by_name() {
    // By name an argument stands at any place, where it would be taken for another.
    refused(
        Rule::ForbiddenConstruct,
        &[
            case(
                "SELECT jsonb_path_query(target => data, vars => '{}', path => '$.*') AS full_name FROM people",
            ),
            filter("jsonb_path_exists(target => data, vars => '{}', path => '$.p\\u0061ssword')"),
            filter("jsonb_extract_path_text(path_elems => ARRAY[full_name], from_json => '{\"a\":1}') = 'x'"),
            filter("regexp_like(pattern => :x, string => full_name)").params("x"),
        ],
    );
    proven(&[
        filter("born > now() - make_interval(days => 3)"),
        filter("jsonb_path_exists(data, '$.a', '{}', true)"),
    ]);
}

#[test]
fn missing_limit() {
    refused(
        Rule::MissingLimit,
        &[
            case("SELECT full_name FROM people ORDER BY 1 --LIMIT"),
            case("SELECT full_name FROM people ORDER BY 1 LIMIT ALL"),
            case("SELECT full_name FROM people ORDER BY 1 LIMIT NULL"),
            case("SELECT full_name FROM people ORDER BY 1 LIMIT (SELECT 1)"),
            case("SELECT full_name FROM people ORDER BY 1 FETCH FIRST 9 ROWS ONLY --LIMIT"),
            case("SELECT full_name FROM people ORDER BY 1 LIMIT :limit").params("limit#?"),
            case("(SELECT full_name FROM people ORDER BY 1 LIMIT 9)"),
            case("SELECT full_name FROM (SELECT full_name FROM people LIMIT 9) q"),
        ],
    );
    proven(&[
        case("SELECT full_name FROM people ORDER BY 1 LIMIT 9"),
        case("SELECT full_name FROM people ORDER BY 1 LIMIT (9) OFFSET :skip").params("skip#"),
        case("SELECT full_name FROM people UNION SELECT 'x' ORDER BY 1 LIMIT :limit").params("limit#"),
    ]);
}

#[test]
fn limit_lookahead() {
    refused(
        Rule::LimitLookahead,
        &[
            case("SELECT full_name FROM people ORDER BY 1 LIMIT :limit + 1").params("limit#"),
            case("SELECT full_name FROM people ORDER BY 1 LIMIT least(:limit, 5)").params("limit#"),
            case("SELECT full_name FROM people ORDER BY 1 LIMIT :rows").params("rows#"),
            case("SELECT full_name FROM people WHERE id < :limit ORDER BY 1 LIMIT :limit").params("limit#"),
            case("SELECT full_name FROM people ORDER BY 1 LIMIT :limit OFFSET :limit").params("limit#"),
            case("SELECT full_name FROM (SELECT full_name FROM people LIMIT :limit) q ORDER BY 1 LIMIT 9")
                .params("limit#"),
        ],
    );
    proven(&[case("SELECT full_name FROM people ORDER BY 1 LIMIT :limit").params("limit#")]);
}

#[test]
fn order_required() {
    refused(
        Rule::OrderRequired,
        &[
            case("SELECT full_name FROM people LIMIT 9"),
            case("SELECT full_name FROM (SELECT full_name FROM people ORDER BY 1) q LIMIT 9"),
        ],
    );
    proven(&[case("SELECT full_name FROM people ORDER BY 1 LIMIT 9")]);
}

#[test]
fn placeholder_unknown_and_param_unused() {
    refused(
        Rule::PlaceholderUnknown,
        &[
            filter("id = :id"),
            filter("id = :id").params("ids").params_also_used(),
            case("SELECT full_name FROM people ORDER BY 1 LIMIT :limit"),
        ],
    );
    refused(
        Rule::ParamUnused,
        &[
            case("SELECT full_name FROM people").params("id"),
            filter("note = ':id'").params("id"),
            filter("true -- :id\n").params("id"),
            filter("true /* :id */").params("id"),
            filter("note = $$:id$$").params("id"),
            filter("id::id IS NULL").params("id").guard("id"),
        ],
    );
    proven(&[
        filter("id = :id").params("id#"),
        filter("owner = :caller AND tenant = :tenant"),
        filter("(:site IS NULL OR site = :site)").params("site?"),
        filter("id = ANY (ARRAY[:a, -:b]) AND x = ARRAY[[:a], [2]]").params("a# b#"),
    ]);
}

impl Case {
    /// The other parameters are used, too.
    fn params_also_used(mut self) -> Self {
        let uses: Vec<String> = self.params.iter().map(|name| format!("x <> :{name}")).collect();
        self.sql = self.sql.replace("WHERE", &format!("WHERE {} AND", uses.join(" AND ")));
        self
    }
}

#[test]
fn like_unescaped() {
    refused(
        Rule::LikeUnescaped,
        &[
            filter("a LIKE :q").params("q"),
            filter("a LIKE :q").params("q~"),
            filter("a LIKE :q ESCAPE '\\'").params("q"),
            filter("a LIKE :q ESCAPE '!'").params("q~"),
            filter("a LIKE '%' || :q || '%' ESCAPE '\\'").params("q~"),
            filter("a LIKE upper(:q) ESCAPE '\\'").params("q~"),
            filter("a NOT ILIKE (:q)::text ESCAPE '\\'").params("q~"),
            filter("a LIKE 'x' ESCAPE :q").params("q"),
            filter("a LIKE ANY (:q)").params("q~"),
            filter("a LIKE ALL (ARRAY['x', :q])").params("q"),
            filter("a SIMILAR TO :q ESCAPE '\\'").params("q~"),
            filter("a NOT SIMILAR TO 'x' || :q").params("q"),
            filter("a ~ :q").params("q~"),
            filter("a !~* ('^' || :q)").params("q"),
            filter("a ~~ :q").params("q~"),
            filter("a !~~* :q").params("q"),
            filter("a ~ ANY (ARRAY[:q])").params("q"),
            filter("a ~~* SOME (:q)").params("q"),
            filter("regexp_like(a, :q)").params("q"),
            case("SELECT full_name FROM people, regexp_matches(full_name, :q) AS m(x)").params("q"),
            case("SELECT full_name FROM people, regexp_split_to_table(full_name, :q) AS x").params("q"),
            filter("regexp_replace(a, 'x' || :q, '') = 'y'").params("q"),
            filter("pg_catalog.regexp_count(a, :q) > 0").params("q"),
            filter("\"like\"(a, :q)").params("q"),
            filter("to_tsvector(a) @@ ANY ((:q)::tsquery[])").params("q"),
            filter("substring(a FROM :q) = 'x'").params("q"),
            filter("substring(a, :q) = 'x'").params("q"),
            filter("substring(a FROM '.' FOR :q) = 'x'").params("q"),
            filter("substring(a SIMILAR :q ESCAPE '#') = 'x'").params("q"),
            filter("a ~ similar_to_escape(:q)").params("q"),
            filter("to_tsvector(a) @@ to_tsquery(:q)").params("q"),
            filter("to_tsvector(a) @@ (:q)::tsquery").params("q"),
            filter("a LIKE (SELECT :q)").params("q"),
            filter("a LIKE :q || '%'").params("q~"),
            case("SELECT full_name FROM people, (SELECT :q AS pattern) x WHERE a LIKE x.pattern").params("q"),
            case("SELECT full_name FROM people, unnest(ARRAY[:q]) AS x WHERE a ~ x").params("q"),
            case("WITH x(y) AS (VALUES (:q)) SELECT full_name FROM people, x WHERE a ~ ANY (ARRAY[y])")
                .params("q"),
        ],
    );
    proven(&[
        filter("a LIKE :q ESCAPE '\\' OR b NOT ILIKE (:q) ESCAPE '\\'").params("q~"),
        filter("a LIKE 'x%' AND a ~ '^x' AND a = :q").params("q"),
        filter(":q LIKE a || '%'").params("q"),
        filter("substring(a FROM :n FOR :n) = :q").params("n# q"),
        filter("starts_with(a, :q) AND split_part(a, :q, 1) = 'x'").params("q"),
        filter("a LIKE ANY (ARRAY['x%', 'y%']) AND b = :q").params("q"),
        case("SELECT full_name FROM people, (SELECT :q AS same) x WHERE a = x.same AND a LIKE 'x%'")
            .params("q"),
    ]);
}

#[test]
fn match_unused() {
    refused(
        Rule::MatchUnused,
        &[
            filter("a = :q").params("q~"),
            filter("a LIKE :q ESCAPE '\\' OR b = :q").params("q~"),
            filter("a LIKE :q ESCAPE '\\' AND length(:q) > 2").params("q~"),
            filter(":q LIKE a").params("q~"),
            filter(":q IS NULL").params("q~?"),
        ],
    );
    proven(&[filter("(:q IS NULL OR a LIKE :q ESCAPE '\\')").params("q~?"), filter("a = :q").params("q")]);
}

#[test]
fn column_mismatch() {
    refused(
        Rule::ColumnMismatch,
        &[
            case("SELECT full_name, email FROM people"),
            case("SELECT full_name FROM people").columns("full_name email"),
            case("SELECT email, full_name FROM people").columns("full_name email"),
            case("SELECT email AS Full_Names FROM people"),
            case("SELECT \"Full_Name\" FROM people"),
            case("SELECT 'x' FROM people").columns("?column?"),
            case("SELECT a + b FROM people"),
            case("SELECT CASE WHEN a THEN full_name END FROM people"),
            case("SELECT full_name IS NULL FROM people"),
            case("SELECT (SELECT full_name) FROM people"),
            case("SELECT trim(full_name) FROM people").columns("btrim"),
            case("SELECT full_name, full_name FROM people").columns("full_name full_name"),
            case("SELECT email FROM people UNION SELECT full_name FROM people"),
        ],
    );
    refused(Rule::NoColumns, &[case("SELECT full_name FROM people").columns("")]);
    proven(&[
        case("SELECT p.full_name, s.code AS site FROM people p, sites s")
            .tables("people sites")
            .columns("full_name site"),
        case("SELECT (p.Full_Name)::text COLLATE \"C\" FROM people p"),
        case("SELECT count(*), pg_catalog.lower(a), coalesce(a, b) FROM people")
            .columns("count lower coalesce"),
        case("SELECT (p.address).city FROM people p").columns("city"),
        case("SELECT full_name FROM people UNION SELECT email FROM people"),
        case("VALUES (1, 2)").tables("").columns("column1 column2"),
        case("WITH q AS (SELECT 1 AS x FROM people) SELECT x FROM q").columns("x"),
        case("SELECT extract(day FROM born) AS day, a IS DISTINCT FROM b AS differs FROM people")
            .columns("day differs"),
        case("SELECT rank() OVER (PARTITION BY site ORDER BY born) FROM people").columns("rank"),
    ]);
}

#[test]
fn all_faults_are_told_at_once_in_the_order_of_the_text() {
    let (proven, faults) = case("SELECT *, token FROM salaries\nWHERE id = :id AND a ~ :q LIMIT 9")
        .tables("people")
        .params("q unused")
        .prove();
    assert!(proven.is_none());
    let told: Vec<String> = faults
        .iter()
        .map(|fault| match fault.at {
            Some(Position { line, column }) => format!("{} {line}:{column}", fault.rule),
            None => fault.rule.to_string(),
        })
        .collect();
    assert_eq!(
        told,
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
fn placeholders_are_numbered_in_the_order_of_the_text() {
    let (proven, _) = case(
        "SELECT full_name FROM people WHERE a = :b -- :no\n AND (:caller = ':no' OR b = :a OR c = :b) ORDER BY 1 LIMIT :limit",
    )
    .params("a b limit#")
    .prove();
    let proven = proven.unwrap();
    assert_eq!(
        proven.statement.canonical(),
        "SELECT full_name FROM people WHERE a = $1 AND ( $2 = ':no' OR b = $3 OR c = $1 ) ORDER BY 1 LIMIT $4"
    );
    use Placeholder::{Caller, Limit, Param};
    assert_eq!(proven.placeholders, [Param(1), Caller, Param(0), Limit(2)]);
    let position = proven.statement.position_of(57).unwrap();
    assert_eq!((position.line, position.column), (2, 17));
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
