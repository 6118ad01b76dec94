//! What exposes a marked name, and the nearest that does not.

use super::super::testing::{Case, case, filter};

/// The columns that the database marks.
const MARKED: &str = "data d c cs ps h hs x";

/// The statement is proven; once the columns are marked, the first of these names is exposed, or none.
#[track_caller]
fn check(cases: &[Case], expected: &str) {
    let mut wrong = Vec::new();
    for case in cases {
        let (proven, faults) = case.clone().guard("@hstore,member_of,creds_of,cred").prove();
        let Some(proven) = proven else {
            wrong.push(format!("{}\n  {faults:#?}", case.sql));
            continue;
        };
        let marked = MARKED.split(' ').map(str::to_owned).collect();
        let exposed = proven.member_use.judge(marked).map_or("", |exposed| &exposed.name);
        if exposed != expected {
            wrong.push(format!("{}\n  exposes {exposed:?}", case.sql));
        }
        assert!(proven.member_use.judge(Default::default()).is_none(), "{}", case.sql);
    }
    assert!(wrong.is_empty(), "not {expected:?}:\n{}", wrong.join("\n"));
}

/// `SELECT … AS full_name FROM people`
fn select(expr: &str) -> Case {
    case(&format!("SELECT {expr} AS full_name FROM people p"))
}

#[test]
fn a_marked_name_is_an_output_column() {
    check(
        &[
            select("data"),
            select("(p.c)"),
            select("(SELECT cs)"),
            case(
                "SELECT full_name FROM (SELECT data AS full_name FROM people UNION ALL SELECT h FROM people) q",
            ),
            case("WITH q(full_name) AS (SELECT c FROM people) SELECT full_name FROM q"),
            case("SELECT DISTINCT data AS full_name FROM people"),
            case("SELECT q.column1 AS full_name FROM people, LATERAL (VALUES (data)) q"),
        ],
        "",
    );
    check(
        &[
            select("data::text"),
            select("data::jsonb"),
            select("CAST(p.data AS varchar)"),
            select("upper(data::text)"),
            select("substr(data::text, :n::int, 100)").params("n#"),
            select("(regexp_match(data::text, 'ZS.*'))[1]"),
            select("''::text || data"),
            select("data || '{}'"),
            select("jsonb_concat(data, '{}')"),
            select("concat(data)"),
            select("format('%s', data)"),
            select("to_tsvector('simple', data)"),
            select("to_jsonb(data)"),
            select("CASE WHEN true THEN data END"),
            select("ARRAY[data]"),
            select("nullif(data, '1')"),
            select("max(p.data)"),
        ],
        "data",
    );
}

#[test]
fn a_marked_name_is_not_compared_or_taken_apart() {
    check(
        &[
            select("mode() WITHIN GROUP (ORDER BY data)"),
            select("count(*) FILTER (WHERE data = '1')"),
            select("rank() OVER (ORDER BY data)"),
            case("SELECT rank() OVER w AS full_name FROM people WINDOW w AS (PARTITION BY data)"),
            select("(data).text"),
            select("(note).data"),
            select("data['a']"),
            select("(SELECT data)::text"),
            select("ARRAY(SELECT data FROM people)"),
            select("ARRAY(VALUES ((SELECT data)))"),
            case("SELECT DISTINCT ON (data) full_name FROM people"),
            case("SELECT full_name FROM people GROUP BY full_name, data"),
            case("SELECT full_name FROM people ORDER BY data LIMIT 9"),
            case("SELECT full_name FROM people JOIN sites USING (data)").tables("people sites"),
            case("SELECT full_name FROM people p JOIN sites s ON p.data = s.data").tables("people sites"),
            case("SELECT data AS full_name FROM people INTERSECT SELECT note::jsonb FROM people"),
            case("SELECT data AS full_name FROM people EXCEPT (SELECT note FROM people)"),
            case("SELECT e.data::text AS full_name FROM people, creds_of(id) AS e"),
            filter("data = '1'"),
            filter("data > :x").params("x"),
            filter("data IN ('1')"),
            filter("data BETWEEN '1' AND '2'"),
            filter("data IS DISTINCT FROM '1'"),
            filter("'1' IN (SELECT data FROM people)"),
            filter("'1' = ANY (SELECT data FROM people)"),
            filter("data = ANY ('{}')"),
            filter("member_of(data, 'a') = 'x'"),
        ],
        "data",
    );
}

#[test]
fn a_composite_value_is_selected_whole() {
    check(
        &[
            select("c::text"),
            select("concat(c)"),
            select("(c).login"),
            select("(c).extra::text"),
            select("(to_jsonb(c) -> 'login')::text"),
            filter("c = ROW('bob', :k, NULL)::cred").params("k"),
            filter("c IN (SELECT ROW('bob', :k, NULL)::cred)").params("k"),
            filter("(SELECT c) IN (ROW(1, :k))").params("k"),
            filter("nullif(c, ROW(1, :k)) IS NULL").params("k"),
            case("SELECT full_name FROM people a, (SELECT ROW(1, :k) AS k) q WHERE a.c > q.k").params("k"),
            case("SELECT full_name FROM people JOIN (SELECT ROW(1, :k) AS c) q USING (c)").params("k"),
            case("SELECT full_name FROM people, jsonb_populate_record(c, '{}') AS e"),
        ],
        "c",
    );
    check(
        &[
            select("cs::text"),
            select("(cs).text"),
            select("(cs[1]).login"),
            select("array_to_string(cs, ',')"),
        ],
        "cs",
    );
    check(&[select("h::text")], "h");
    check(&[select("hs::text")], "hs");
    check(&[select("x::text"), select("to_jsonb(x)")], "x");
    check(
        &[
            case("SELECT z AS full_name FROM people, unnest(ps) AS z"),
            case("SELECT z.a AS full_name FROM people, unnest(ps) AS z(a)"),
        ],
        "ps",
    );
}

#[test]
fn an_operator_takes_a_member_by_a_written_name() {
    check(
        &[
            select("data -> 'a'"),
            select("data ->> 'a'"),
            select("data #> '{a,b}'"),
            select("upper(data #>> ARRAY['a', 'b'])"),
            select("data -> 0 -> 'b'"),
            select("data -> n::int"),
            select("lower(h -> 'a')"),
            // The member is taken by its name, as `->>` takes it.
            select("(data -> 'a')::int"),
            filter("data @> '{\"a\": 1}' AND data ? 'a' AND data ?| ARRAY['a'] AND data ?& '{a}'::text[]"),
            filter("data @? '$.a[*]' AND data @@ '$.a == 1'"),
            filter("data @> jsonb_build_object('a', :x)").params("x"),
            filter("h @> hstore('a', :x)").params("x"),
            filter("data OPERATOR(pg_catalog.->>) 'a' = :x").params("x"),
        ],
        "",
    );
    check(
        &[
            filter("data @> note::jsonb"),
            filter("data @> (SELECT '1'::jsonb)"),
            filter("'{}' @> data"),
            filter("data <@ '{}'"),
            filter("data #- '{a}' IS NULL"),
            filter("data - 'a' IS NULL"),
            filter("data @> jsonb_build_object(note, 1)"),
            filter("data @> jsonb_build_object('a', jsonb_build_object(note, 1))"),
            filter("data @> jsonb_build_object('a', note::jsonb)"),
        ],
        "data",
    );
}

#[test]
fn a_member_that_is_taken_by_position_is_still_the_value() {
    check(
        &[
            select("data -> 0"),
            select("data #> '{}'"),
            select("(data -> 0) #>> '{a,0}'"),
            select("data -> 1 ->> 'a'"),
        ],
        "",
    );
    check(
        &[
            select("(data -> 0)::text"),
            select("data ->> 0"),
            select("(data #> '{}')::text"),
            select("data #>> '{0,1}'"),
            select("(data #> ARRAY[]::text[])::text"),
            select("(data #> '{ }'::text[])::text"),
            select("(data #> '{\"0\",-1}')::text"),
            select("(data #> '{+0}')::text"),
            select("(data #> E'{\"\\t0\"}')::text"),
            select("(data #> _text '{}')::text"),
            select("(data #> _text '{0}')::text"),
            select("(data #> '{.0}')::text"),
            select("encode(convert_to((data #> '{}')::text, 'UTF8'), 'hex')"),
            select("jsonb_extract_path_text(data, '0')"),
            select("jsonb_extract_path(data, '0')::text"),
            select("json_agg(data) ->> 0"),
            select("(jsonb_agg(data) -> 0)::text"),
            filter("data #> '{}' > note::jsonb"),
            filter("coalesce(data -> 0, '1') = '1'"),
        ],
        "data",
    );
    check(&[select("(hstore_to_jsonb(h) #> '{}')::text")], "h");
    check(&[case("SELECT y ->> 0 AS full_name FROM (SELECT jsonb_agg(data) AS y FROM people) q")], "y");
}

#[test]
fn nothing_is_taken_from_an_object_that_is_built() {
    check(
        &[
            select("jsonb_build_object('a', data)"),
            case(
                "SELECT jsonb_agg(o) AS full_name FROM (SELECT jsonb_build_object('a', data) AS o FROM people) q",
            ),
            case(
                "SELECT o ->> 'a' AS full_name FROM (SELECT jsonb_build_object('a', note) AS o FROM people) q",
            ),
        ],
        "",
    );
    check(
        &[
            select("jsonb_build_object('a', data) ->> 'a'"),
            select("(json_build_object('a', coalesce(data, '{}')) -> 'a')::text"),
            select("json_agg(json_build_object('a', data)) -> 0 ->> 'a'"),
            select("(SELECT jsonb_build_object('a', data)) ->> 'a'"),
            filter("jsonb_build_object('a', data) ->> 'a' LIKE '%x%'"),
        ],
        "data",
    );
    check(&[select("jsonb_build_object('a', c) -> 'a'")], "c");
    check(
        &[
            case(
                "SELECT o ->> 'a' AS full_name FROM (SELECT jsonb_build_object('a', data) AS o FROM people) q",
            ),
            case(
                "WITH r(o) AS (SELECT json_agg(jsonb_build_object('a', data)) FROM people) SELECT o -> 0 ->> 'a' AS full_name FROM r",
            ),
        ],
        "o",
    );
}

#[test]
fn a_text_of_the_caller_is_no_column_beside_a_marked_name() {
    check(
        &[
            case("SELECT full_name FROM people WHERE data ->> 'a' = :k AND id IN (SELECT id FROM people WHERE note = :k)")
                .params("k"),
            case("SELECT data -> 'a' AS full_name FROM people, generate_series(1, :k) n").params("k#"),
            case("WITH args AS (SELECT :k::int AS n) SELECT data AS full_name FROM people, args WHERE id = n").params("k#"),
            case("SELECT full_name FROM people, (SELECT :k AS k) q WHERE note = q.k").params("k"),
            case("SELECT coalesce(data ->> 'a', :k) AS full_name FROM people").params("k"),
            case("SELECT data AS full_name FROM people UNION SELECT jsonb_agg(d) FROM people UNION SELECT NULL::jsonb"),
            // A number names no member.
            case("SELECT data -> 'a' AS full_name FROM people UNION ALL SELECT to_jsonb(:k::int)").params("k#"),
            case("SELECT y AS full_name FROM (SELECT data -> 'a' AS y FROM people UNION ALL SELECT jsonb_build_object('b', :k::int)) q").params("k#"),
            case("SELECT data AS full_name FROM people, (SELECT :k::int AS k) q WHERE data -> 'a' > to_jsonb(q.k)").params("k#"),
        ],
        "",
    );
    check(
        &[
            case(
                "SELECT full_name FROM people, (SELECT :k AS k) q WHERE data @> jsonb_build_object('a', q.k)",
            )
            .params("k"),
            case("SELECT full_name FROM people, (SELECT :k AS k) q WHERE data #> '{a}' > q.k::jsonb")
                .params("k"),
            case("SELECT full_name FROM people, (SELECT :k AS k) q WHERE data -> 'a' @> q.k::jsonb")
                .params("k"),
            case("SELECT full_name FROM people, unnest(ARRAY[:k]) AS flt WHERE data -> 'a' > flt::jsonb")
                .params("k"),
            case("SELECT full_name FROM people, LATERAL (VALUES (:k)) v(k) WHERE data -> 'a' > v.k::jsonb")
                .params("k"),
            case("SELECT data AS full_name FROM people WHERE data -> 'a' > (SELECT :k)::jsonb").params("k"),
        ],
        "k",
    );
}

#[test]
fn rows_of_one_column_are_all_marked_or_literals() {
    check(
        &[
            case(
                "WITH args AS (SELECT :k AS k) SELECT count(*) AS full_name FROM (SELECT data FROM people UNION SELECT k::jsonb FROM args) q",
            )
            .params("k"),
            case(
                "WITH args AS (SELECT :k AS k) SELECT count(DISTINCT y) AS full_name FROM (SELECT data AS y FROM people UNION ALL SELECT k::jsonb FROM args) q",
            )
            .params("k"),
            case("SELECT data AS full_name FROM people UNION SELECT ROW(1, :k)").params("k"),
            case(
                "WITH RECURSIVE q(y) AS (SELECT data FROM people UNION ALL SELECT y -> 'a' FROM q) SELECT y::text AS full_name FROM q",
            ),
            case("SELECT data AS full_name FROM people UNION ALL SELECT jsonb_build_object('pin', :k::int)").params("k#"),
            case("SELECT data AS full_name FROM people UNION SELECT jsonb_agg(note) FROM people"),
            case("SELECT data AS full_name FROM people UNION SELECT jsonb_build_object('a', data) FROM people"),
            case("SELECT data AS full_name FROM people UNION ALL SELECT y.k FROM (SELECT jsonb_build_object('pin', g) AS k FROM generate_series(1, 9) g WHERE g = :k) y").params("k#"),
            case("SELECT x AS full_name FROM (SELECT data AS x FROM people UNION SELECT note::jsonb FROM people) q"),
            case("SELECT x AS full_name FROM people, LATERAL (VALUES (data), (jsonb_build_object('pin', :k::int))) v(x)").params("k#"),
            case("WITH RECURSIVE q(x) AS (SELECT data FROM people UNION SELECT to_jsonb(note) FROM people, q) SELECT x AS full_name FROM q"),
            case("SELECT data AS full_name FROM people UNION SELECT note FROM people"),
        ],
        "data",
    );
}

#[test]
fn clauses_of_a_recursive_query_name_no_marked_column() {
    let recursive = |clause: &str| {
        case(&format!(
            "WITH RECURSIVE q AS (SELECT data, id FROM people UNION ALL SELECT p.data, p.id FROM people p, q WHERE p.id = q.id + 1) {clause} SELECT data AS full_name FROM q"
        ))
    };
    check(&[recursive("SEARCH DEPTH FIRST BY id SET s"), recursive("CYCLE id SET is_cycle USING path")], "");
    check(
        &[recursive("SEARCH DEPTH FIRST BY id, data SET s"), recursive("CYCLE data SET is_cycle USING path")],
        "data",
    );
}

#[test]
fn a_function_inspects_or_keeps_its_first_argument() {
    check(
        &[
            select("count(data)"),
            select("jsonb_typeof(data)"),
            select("pg_catalog.jsonb_array_length(data -> 'a')"),
            select("concat(cardinality(cs), array_length(cs, 1), num_nulls(c))"),
            select("jsonb_extract_path_text(data, 'a')"),
            select("jsonb_extract_path(data, 'a', 'b')"),
            select("jsonb_agg(data)"),
            select("array_agg(c ORDER BY id)"),
            select("coalesce(data, '{}'::jsonb)"),
            select("json_build_object('a', data, 'b', coalesce(cs, NULL))"),
            select("json_agg(json_build_object('a', (SELECT data -> 'b')))"),
            select("hstore_to_jsonb(h)"),
            select("jsonb_array_elements(data)"),
            case("SELECT e AS full_name FROM people, jsonb_array_elements(data -> 'a') AS e"),
            case(
                "SELECT e -> 'a' AS full_name FROM people, jsonb_array_elements(data) WITH ORDINALITY AS t(e, n) WHERE n = 1",
            ),
        ],
        "",
    );
    check(
        &[
            select("jsonb_agg(data)::text"),
            select("upper(coalesce(data, '{}')::text)"),
            select("concat(jsonb_build_object('a', data))"),
            select("coalesce(data, note::jsonb)"),
            select("coalesce(note::jsonb, data)"),
            select("jsonb_build_object(data, 1)"),
            select("jsonb_object_agg(full_name, data)"),
            select("jsonb_array_length(jsonb_concat(data, '[]'))"),
            select("jsonb_object_keys(data)"),
            select("jsonb_path_query(data, '$.a')"),
            select("concat(jsonb_path_query_first(data, '$.a'))"),
            select("num_nulls(1, data)"),
            select("jsonb_array_elements_text(data)"),
            select("jsonb_populate_record(cred, data)::text"),
            case("SELECT x.y || '' AS full_name FROM people, jsonb_path_query(data, '$.a') AS x(y)"),
            case("SELECT r.a::text AS full_name FROM people, jsonb_to_record(data) AS r(a jsonb)"),
            case("SELECT replace(e, :x, '') AS full_name FROM people, jsonb_array_elements_text(data) AS e")
                .params("x"),
        ],
        "data",
    );
}

#[test]
fn before_is_null() {
    check(&[filter("data IS NULL AND (p.c) IS NOT NULL AND (SELECT h) IS NULL")], "");
    check(&[filter("data IS NOT NULL = (c IS NULL) AND data::text IS NULL")], "data");
}

#[test]
fn a_mark_is_passed_on_to_aliases() {
    check(
        &[
            case("SELECT y::text AS full_name FROM (SELECT data AS y FROM people) q"),
            case("SELECT q.y::text AS full_name FROM (SELECT data FROM people) q(y)"),
            case("SELECT y::text AS full_name FROM (SELECT data -> 'a' AS y FROM people) q"),
            case("SELECT y::text AS full_name FROM (SELECT data #> '{a}' AS y FROM people) q"),
            case("SELECT y::text AS full_name FROM (SELECT jsonb_agg(data) AS y FROM people) q"),
            case("SELECT y::text AS full_name FROM (SELECT (SELECT data) AS y FROM people) q"),
            case("SELECT y::text AS full_name FROM (SELECT a AS y FROM (SELECT data AS a FROM people) q) q"),
            case(
                "SELECT y::text AS full_name FROM (SELECT full_name AS y FROM people UNION ALL SELECT data FROM people) q",
            ),
            case(
                "SELECT y::text AS full_name FROM (SELECT full_name AS y FROM people UNION ALL (SELECT data FROM people)) q",
            ),
            case("SELECT y::text AS full_name FROM people, LATERAL (VALUES (1, data)) q(a, y)"),
            case(
                "WITH q(y) AS (SELECT 1 UNION SELECT data #> '{a}' FROM people) SELECT concat(y) AS full_name FROM q",
            ),
            case("WITH q AS (SELECT data FROM people) SELECT concat(r.y) AS full_name FROM q AS r(y)"),
            case("SELECT y::text AS full_name FROM people, jsonb_array_elements(data) AS y"),
            case("SELECT y::text AS full_name FROM people, jsonb_array_elements(data) AS q(y)"),
            case("SELECT data AS y FROM people ORDER BY y LIMIT 9").columns("y"),
        ],
        "y",
    );
    check(&[case("SELECT value::text AS full_name FROM people, jsonb_array_elements(data)")], "value");
    check(
        &[case("SELECT q.coalesce::text AS full_name FROM (SELECT coalesce(data, '{}') FROM people) q")],
        "coalesce",
    );
    check(&[case("SELECT q.column1::text AS full_name FROM people, LATERAL (VALUES (data)) q")], "column1");
    check(
        &[case("SELECT \"?column?\"::text AS full_name FROM (SELECT data -> 'a' FROM people) q")],
        "?column?",
    );
    // Another column of the query, a name that is given to something else.
    check(
        &[
            case("SELECT y::text AS full_name FROM (SELECT data, id AS y FROM people) q"),
            case("SELECT y::text AS full_name FROM (SELECT data ->> 'a' AS y FROM people) q"),
            case("SELECT y::text AS full_name FROM (SELECT count(data) AS y FROM people) q"),
            case("SELECT y::text AS full_name FROM (SELECT coalesce(full_name, '') AS y FROM people) q"),
            case(
                "SELECT n::text AS full_name FROM people, jsonb_array_elements(data) WITH ORDINALITY AS t(e, n)",
            ),
        ],
        "",
    );
}

#[test]
fn text_of_a_member_that_is_taken_by_its_name_is_left_to_the_reviewer() {
    check(
        &[
            select("(data -> 'in')::text"),
            select("(SELECT data #> '{a}')::text"),
            select("format('%s', coalesce(data #> '{a}', '1'))"),
            select("(CASE WHEN true THEN data #> '{a}' END)::text"),
            select("quote_literal(ARRAY[data #> '{a}'])"),
            select("(data #> '{a}').text"),
            select("substr(data ->> 'a', :n::int)").params("n#"),
            select("trim(leading :x from data #>> '{a}')").params("x"),
            select("split_part(lower(data ->> 'a'), ':', :n::int)").params("n#"),
            select("(string_to_array(data ->> 'a', ','))[(:n)::int]").params("n#"),
            case("SELECT right(q.a, :n::int) AS full_name FROM (SELECT data ->> 'a' AS a FROM people) q")
                .params("n#"),
            // A text column that holds JSON.
            select("upper(note::json::text)"),
        ],
        "",
    );
}
