//! Values of every kind of type, through a view, in the forms of the README.

use mcp_server_suite::guard::GuardConfig;
use serde_json::{Value, json};

use crate::sql::run::Rig;

/// An expression, the name of its type, the cell.
type Case<'c> = (&'c str, &'c str, Value);

/// All of them as the columns of one row.
#[track_caller]
fn check(cases: &[Case<'_>]) {
    let rig = Rig::new("");
    let expressions: Vec<&str> = cases.iter().map(|(expression, _, _)| *expression).collect();
    let answer = rig.seen(cases.len(), &format!("SELECT {}", expressions.join(", "))).unwrap();
    for (index, (expression, type_name, cell)) in cases.iter().enumerate() {
        assert_eq!(answer["columns"][index]["type"], *type_name, "{expression}");
        assert_eq!(answer["rows"][0][index], *cell, "{expression}");
    }
}

#[test]
fn numbers() {
    check(&[
        ("true", "bool", json!(true)),
        ("NULL::bool", "bool", json!(null)),
        ("(-2)::int2", "int2", json!(-2)),
        ("2147483647", "int4", json!(2_147_483_647)),
        ("9007199254740991", "int8", json!(9_007_199_254_740_991_i64)),
        ("9007199254740992", "int8", json!("9007199254740992")),
        ("'-9223372036854775808'::int8", "int8", json!("-9223372036854775808")),
        ("0.1::float4", "float4", json!(0.1)),
        ("1e300::float8", "float8", json!(1e300)),
        ("'NaN'::float8", "float8", json!("NaN")),
        ("'-Infinity'::float4", "float4", json!("-Infinity")),
        ("1.50", "numeric", json!("1.50")),
        ("-0.00012", "numeric", json!("-0.00012")),
        ("1e30::numeric", "numeric", json!("1000000000000000000000000000000")),
        ("123456.789::numeric(20,5)", "numeric", json!("123456.78900")),
        ("'NaN'::numeric", "numeric", json!("NaN")),
        ("12::money", "money", json!("$12.00")),
        ("5::oid", "oid", json!("5")),
        ("'7'::xid8", "xid8", json!("7")),
    ]);
}

#[test]
fn texts_and_bytes() {
    check(&[
        ("'a\"é'::text", "text", json!("a\"é")),
        ("'literal'", "text", json!("literal")),
        ("'v'::varchar(5)", "varchar", json!("v")),
        ("'c'::char(3)", "bpchar", json!("c  ")),
        ("'n'::name", "name", json!("n")),
        ("'x'::\"char\"", "char", json!("x")),
        ("'\\x00ff'::bytea", "bytea", json!("\\x00ff")),
        (
            "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid",
            "uuid",
            json!("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"),
        ),
        ("'<a/>'::xml", "xml", json!("<a/>")),
        ("B'101'", "bit", json!("101")),
        ("'c'::refcursor", "refcursor", json!("c")),
        ("'{\"a\": [1, null]}'::json", "json", json!({"a": [1, null]})),
        ("'{\"b\": 1.5}'::jsonb", "jsonb", json!({"b": 1.5})),
        ("'{\"a\":1,\"a\":2}'::json", "json", json!("{\"a\":1,\"a\":2}")),
        ("'\"\\u0000\"'::json", "json", json!("\u{0}")),
        ("'1e400'::json", "json", json!("1e400")),
        ("'null'::jsonb", "jsonb", json!(null)),
    ]);
}

#[test]
fn dates_and_times() {
    check(&[
        ("date '2024-02-29'", "date", json!("2024-02-29")),
        ("date '0044-03-15 BC'", "date", json!("0044-03-15 BC")),
        ("date 'infinity'", "date", json!("infinity")),
        ("time '24:00'", "time", json!("24:00:00")),
        ("timetz '01:02:03.5+02:30'", "timetz", json!("01:02:03.5+02:30")),
        ("timestamp '2024-01-02 03:04:05.6'", "timestamp", json!("2024-01-02T03:04:05.6")),
        ("timestamp '10000-01-01 00:00'", "timestamp", json!("10000-01-01 00:00:00")),
        ("timestamptz '2024-01-02 03:04:05+09'", "timestamptz", json!("2024-01-01T18:04:05Z")),
        ("timestamptz '0001-01-01 00:00Z BC'", "timestamptz", json!("0001-01-01 00:00:00+00 BC")),
        ("timestamptz '-infinity'", "timestamptz", json!("-infinity")),
        ("interval '1 year 2 mons -3 days 04:05:06.7'", "interval", json!("P1Y2M-3DT4H5M6.7S")),
        ("interval '-00:00:00.5'", "interval", json!("PT-0.5S")),
        ("interval '0'", "interval", json!("PT0S")),
    ]);
}

#[test]
fn arrays() {
    check(&[
        ("ARRAY[1,NULL,3]", "int4[]", json!([1, null, 3])),
        ("ARRAY[[1,2],[3,4]]", "int4[]", json!([[1, 2], [3, 4]])),
        ("'[5:6]={7,8}'::int[]", "int4[]", json!([7, 8])),
        ("'{}'::text[]", "text[]", json!([])),
        ("ARRAY['a,b',NULL]", "text[]", json!(["a,b", null])),
        ("ARRAY[1.5]", "numeric[]", json!(["1.5"])),
        ("ARRAY[timestamptz '2024-01-01 00:00Z']", "timestamptz[]", json!(["2024-01-01T00:00:00Z"])),
        ("ARRAY['{\"a\":1}'::jsonb]", "jsonb[]", json!([{"a": 1}])),
        ("ARRAY[inet '1.2.3.4']", "inet[]", json!(["1.2.3.4"])),
        ("ARRAY[point '(1,2)', NULL]", "point[]", json!(["(1,2)", null])),
        ("ARRAY['postgres=r/postgres'::aclitem]", "aclitem[]", json!(["postgres=r/postgres"])),
        ("ARRAY['sad'::mood]", "mood[]", json!(["sad"])),
        ("ARRAY[3::positive]", "positive[]", json!([3])),
        (
            "ARRAY[ROW(1,'x','2024-01-01 00:00Z')::pair]",
            "pair[]",
            json!([{"a": 1, "b": "x", "at": "2024-01-01T00:00:00Z"}]),
        ),
        ("'1 2'::int2vector", "int2vector", json!("1 2")),
        ("'3 4'::oidvector", "oidvector", json!("3 4")),
    ]);
}

#[test]
fn types_of_the_database_itself() {
    check(&[
        ("'so so'::mood", "mood", json!("so so")),
        ("5::positive", "int4", json!(5)),
        (
            "ROW(1,'b','2024-01-01 00:00Z')::pair",
            "pair",
            json!({"a": 1, "b": "b", "at": "2024-01-01T00:00:00Z"}),
        ),
        ("ROW(NULL,NULL,NULL)::pair", "pair", json!({"a": null, "b": null, "at": null})),
        ("NULL::pair", "pair", json!(null)),
        ("ROW('s','(1,1),(0,0)')::shape", "shape", json!({"name": "s", "area": "(1,1),(0,0)"})),
        ("ARRAY[ROW('s',NULL)::shape]", "shape[]", json!([{"name": "s", "area": null}])),
    ]);
}

#[test]
fn everything_else_is_postgresqls_text() {
    check(&[
        ("int4range(1,5)", "int4range", json!("[1,5)")),
        ("'{[1,2)}'::int4multirange", "int4multirange", json!("{[1,2)}")),
        ("inet '10.0.0.1'", "inet", json!("10.0.0.1")),
        ("cidr '10.0.0.0/8'", "cidr", json!("10.0.0.0/8")),
        ("macaddr '08:00:2b:01:02:03'", "macaddr", json!("08:00:2b:01:02:03")),
        ("point '(1,2)'", "point", json!("(1,2)")),
        ("box '(1,1),(0,0)'", "box", json!("(1,1),(0,0)")),
        ("'a b'::tsvector", "tsvector", json!("'a' 'b'")),
        ("'a & b'::tsquery", "tsquery", json!("'a' & 'b'")),
        ("'$.a'::jsonpath", "jsonpath", json!("$.\"a\"")),
        ("'pg_class'::regclass", "regclass", json!("pg_class")),
        ("'0/16B3748'::pg_lsn", "pg_lsn", json!("0/16B3748")),
        ("'(1,2)'::tid", "tid", json!("(1,2)")),
        ("'postgres=r/postgres'::aclitem", "aclitem", json!("postgres=r/postgres")),
    ]);
}

/// Values that cannot stand in a view: records without a name, columns that share one.
#[test]
fn types_that_only_a_query_has() {
    let rig = Rig::new("");
    let check = |select: &str, types: &[&str], row: Value| {
        let answer = rig.query(select).unwrap_or_else(|failure| panic!("{select}: {failure}"));
        let reported: Vec<&Value> =
            answer["columns"].as_array().unwrap().iter().map(|column| &column["type"]).collect();
        assert_eq!(reported, types, "{select}");
        assert_eq!(answer["rows"][0], row, "{select}");
    };
    check("SELECT ROW(1,NULL)", &["record"], json!([{"f1": 1, "f2": null}]));
    check(
        "SELECT ROW(1.50::numeric, 9007199254740993::int8, 1.5::float8)",
        &["record"],
        json!([{"f1": "1.50", "f2": "9007199254740993", "f3": 1.5}]),
    );
    check("SELECT ARRAY[ROW(1,'x')]", &["record[]"], json!([[{"f1": 1, "f2": "x"}]]));
    check("SELECT t FROM (SELECT 1 AS x, 'y' AS z) t", &["record"], json!([{"x": 1, "z": "y"}]));
    check("SELECT 1 AS a, 2 AS a, 3 AS \"\"\"\"", &["int4"; 3], json!([1, 2, 3]));
    check("SELECT FROM item LIMIT 1", &[], json!([]));
    let bounds = rig.query("SELECT histogram_bounds FROM pg_stats WHERE attname = 'id'").unwrap();
    assert_eq!(bounds["columns"][0]["type"], "anyarray");
    assert_eq!(bounds["rows"][0][0].as_array().map(|bounds| bounds.len()), Some(101), "{bounds}");
}

#[test]
fn numbers_at_their_ends() {
    check(&[
        ("'-0'::float8", "float8", json!(-0.0)),
        ("3.4028235e38::float4", "float4", json!(3.402_823_5e38)),
        ("1e-45::float4", "float4", json!(1e-45)),
        ("1.7976931348623157e308::float8", "float8", json!(1.797_693_134_862_315_7e308)),
        ("5e-324::float8", "float8", json!(5e-324)),
        ("0.1::float8 + 0.2::float8", "float8", json!(0.300_000_000_000_000_04)),
        ("'Infinity'::numeric", "numeric", json!("Infinity")),
        ("1e-20::numeric", "numeric", json!("0.00000000000000000001")),
        ("0.00::numeric", "numeric", json!("0.00")),
        ("'-92233720368547758.08'::money", "money", json!("-$92,233,720,368,547,758.08")),
        ("4294967295::oid", "oid", json!("4294967295")),
        ("'4294967295'::xid", "xid", json!("4294967295")),
        ("'3'::cid", "cid", json!("3")),
        ("'1.3e100'::json", "json", json!(1.3e100)),
        ("'[1.10, 8.41e21]'::jsonb", "jsonb", json!([1.1, 8.41e21])),
        ("'{\"a\": [1e400]}'::json", "json", json!("{\"a\": [1e400]}")),
        ("'[\"\\u0000\", \"\\ud83d\\ude00\"]'::json", "json", json!(["\u{0}", "😀"])),
    ]);
}

#[test]
fn times_at_their_ends() {
    check(&[
        ("date '4714-11-24 BC'", "date", json!("4714-11-24 BC")),
        ("date '5874897-12-31'", "date", json!("5874897-12-31")),
        ("date '-infinity'", "date", json!("-infinity")),
        ("timetz '24:00:00-15:59:59'", "timetz", json!("24:00:00-15:59:59")),
        ("timestamp '294276-12-31 23:59:59.999999'", "timestamp", json!("294276-12-31 23:59:59.999999")),
        ("timestamp 'infinity'", "timestamp", json!("infinity")),
        ("timestamptz '1883-11-18 12:03:58-4:56:02'", "timestamptz", json!("1883-11-18T17:00:00Z")),
        ("interval '-178000000 years'", "interval", json!("P-178000000Y")),
        ("interval '-1 day +02:03:04'", "interval", json!("P-1DT2H3M4S")),
        ("ARRAY[date 'infinity', '0044-03-15 BC']", "date[]", json!(["infinity", "0044-03-15 BC"])),
        ("daterange('-infinity', NULL)", "daterange", json!("[-infinity,)")),
        ("tstzrange('2024-01-01 00:00Z', NULL)", "tstzrange", json!("[\"2024-01-01 00:00:00+00\",)")),
    ]);
}

#[test]
fn every_other_type_that_a_server_brings() {
    check(&[
        ("B'1'::varbit", "varbit", json!("1")),
        ("line '{1,2,3}'", "line", json!("{1,2,3}")),
        ("lseg '[(0,0),(1,1)]'", "lseg", json!("[(0,0),(1,1)]")),
        ("path '((0,0),(1,1))'", "path", json!("((0,0),(1,1))")),
        ("polygon '((0,0),(1,1))'", "polygon", json!("((0,0),(1,1))")),
        ("circle '<(0,0),1.5>'", "circle", json!("<(0,0),1.5>")),
        ("macaddr8 '08:00:2b:01:02:03:04:05'", "macaddr8", json!("08:00:2b:01:02:03:04:05")),
        ("inet '10.0.0.1/8'", "inet", json!("10.0.0.1/8")),
        ("inet '::1'", "inet", json!("::1")),
        ("'10:20:10,14'::pg_snapshot", "pg_snapshot", json!("10:20:10,14")),
        ("'int'::regtype", "regtype", json!("integer")),
        ("'pg_catalog'::regnamespace", "regnamespace", json!("pg_catalog")),
        ("(SELECT 10::oid)::regrole", "regrole", json!("postgres")),
        ("'abs(int)'::regprocedure", "regprocedure", json!("abs(integer)")),
        ("'now'::regproc", "regproc", json!("now")),
        ("'+(int,int)'::regoperator", "regoperator", json!("+(integer,integer)")),
        ("'simple'::regconfig", "regconfig", json!("simple")),
        ("'simple'::regdictionary", "regdictionary", json!("simple")),
        ("'\"C\"'::regcollation", "regcollation", json!("\"C\"")),
        ("ARRAY['pg_class'::regclass, NULL]", "regclass[]", json!(["pg_class", null])),
        ("ARRAY[int4range(1, 5)]", "int4range[]", json!(["[1,5)"])),
        ("ARRAY['{[1,2)}'::int4multirange]", "int4multirange[]", json!(["{[1,2)}"])),
        ("ARRAY['a'::\"char\", 'b']", "char[]", json!(["a", "b"])),
        ("ARRAY['\\x01'::bytea]", "bytea[]", json!(["\\x01"])),
        ("ARRAY['n'::name]", "name[]", json!(["n"])),
        ("ARRAY[interval '1 day']", "interval[]", json!(["P1D"])),
        ("ARRAY['{\"a\":1,\"a\":2}'::json]", "json[]", json!(["{\"a\":1,\"a\":2}"])),
        ("ARRAY[9007199254740993, NULL]", "int8[]", json!(["9007199254740993", null])),
        ("'[0:1][-1:0]={{1,2},{3,4}}'::int[]", "int4[]", json!([[1, 2], [3, 4]])),
        ("'{NULL}'::gtsvector[]", "gtsvector[]", json!([null])),
        ("NULL::gtsvector", "gtsvector", json!(null)),
    ]);
}

/// NULL of every type of the catalog, and an array that holds one.
#[test]
fn no_type_of_the_catalog_is_an_error() {
    let rig = Rig::new("");
    let types = rig
        .admin()
        .query(
            "SELECT format('%I.%I', n.nspname, t.typname), CASE WHEN a.oid > 0 THEN format('%I.%I', n.nspname, a.typname) END \
               FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace LEFT JOIN pg_type a ON a.oid = t.typarray \
              WHERE t.typtype NOT IN ('c', 'p') AND t.typcategory <> 'A' AND t.typisdefined AND n.nspname !~ '^pg_(toast|temp)'",
            &[],
        )
        .unwrap();
    assert!(types.len() > 80, "{}", types.len());
    for chunk in types.chunks(100) {
        let mut expressions = Vec::new();
        let mut expected = Vec::new();
        for row in chunk {
            expressions.push(format!("NULL::{}", row.get::<_, &str>(0)));
            expected.push(json!(null));
            if let Some(array) = row.get::<_, Option<&str>>(1) {
                expressions.push(format!("'{{NULL}}'::{array}"));
                expected.push(json!([null]));
            }
        }
        let answer = rig.seen(expressions.len(), &format!("SELECT {}", expressions.join(", "))).unwrap();
        for (index, expression) in expressions.iter().enumerate() {
            assert_eq!(answer["rows"][0][index], expected[index], "{expression}");
        }
    }
}

/// Those that this installation has.
#[test]
fn types_of_extensions_are_their_text() {
    let rig = Rig::new("CREATE SCHEMA ext; GRANT USAGE ON SCHEMA ext TO PUBLIC");
    for (extension, expression, type_name, cell) in [
        ("hstore", "'a=>1, b=>NULL'::ext.hstore", "hstore", json!("\"a\"=>\"1\", \"b\"=>NULL")),
        ("hstore", "ARRAY['a=>1'::ext.hstore, NULL]", "hstore[]", json!([{"a": "1"}, null])),
        ("citext", "'Ab'::ext.citext", "citext", json!("Ab")),
        ("citext", "ARRAY['Ab'::ext.citext]", "citext[]", json!(["Ab"])),
        ("cube", "'(1,2),(3,4)'::ext.cube", "cube", json!("(1, 2),(3, 4)")),
        ("ltree", "'a.b'::ext.ltree", "ltree", json!("a.b")),
        ("ltree", "ARRAY['a.b'::ext.ltree]", "ltree[]", json!(["a.b"])),
        ("seg", "'1.50 .. 2'::ext.seg", "seg", json!("1.50 .. 2")),
        ("isn", "'978-0-393-04002-9'::ext.isbn13", "isbn13", json!("978-0-393-04002-9")),
    ] {
        let install = format!("CREATE EXTENSION IF NOT EXISTS {extension} SCHEMA ext");
        if rig.admin().batch_execute(&install).is_err() {
            continue;
        }
        let answer = rig
            .seen(1, &format!("SELECT {expression}"))
            .unwrap_or_else(|failure| panic!("{expression}: {failure:?}"));
        assert_eq!(answer["columns"][0]["type"], type_name, "{expression}");
        assert_eq!(answer["rows"][0][0], cell, "{expression}");
    }
}

#[test]
fn values_of_functions_that_no_table_can_hold() {
    let setup = "CREATE FUNCTION nothing() RETURNS void LANGUAGE plpgsql AS 'BEGIN END'";
    let rig = Rig::with(setup, |settings| settings.guard = GuardConfig::parse("nothing, textout").unwrap());
    for (select, type_name, cell) in [
        ("SELECT nothing()", "void", json!("")),
        ("SELECT textout('a')", "cstring", json!("a")),
        ("SELECT NULL", "text", json!(null)),
        ("SELECT 'a' AS \"?column?\"", "text", json!("a")),
        (
            "SELECT ROW(ROW(1.10, NULL), ARRAY[2.50], '{\"k\": 1.0}'::jsonb)",
            "record",
            json!({"f1": {"f1": "1.10", "f2": null}, "f2": ["2.50"], "f3": {"k": "1.0"}}),
        ),
        ("SELECT ROW()", "record", json!({})),
        ("SELECT q FROM (SELECT 1 AS a, 2 AS a) q", "record", json!("{\"a\":1,\"a\":2}")),
    ] {
        let answer = rig.query(select).unwrap_or_else(|failure| panic!("{select}: {failure:?}"));
        assert_eq!(answer["columns"][0]["type"], type_name, "{select}");
        assert_eq!(answer["rows"][0][0], cell, "{select}");
    }
}
