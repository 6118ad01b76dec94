//! Values of every type, short and long, and tables of the short ones.

/// Types, as `format_type` spells them, and short values.
#[rustfmt::skip]
pub(super) const SAMPLES: &[(&str, &[&str])] = &[
    ("bigint", &["0", "3", "99"]),
    ("bit", &["1", "0"]),
    ("bit varying", &["1", "0110"]),
    ("boolean", &["true", "false"]),
    ("box", &["(2,2),(0,0)"]),
    ("bytea", &["a", "\\x00ff"]),
    ("\"char\"", &["a"]),
    ("character", &["a"]),
    ("character varying", &["a", "b a"]),
    ("cid", &["1"]),
    ("cidr", &["10.0.0.0/8", "::/0"]),
    ("circle", &["<(1,1),5>"]),
    ("date", &["2024-02-29", "0044-03-15 BC"]),
    ("datemultirange", &["{[2024-01-01,2024-01-05)}"]),
    ("daterange", &["[2024-01-01,2024-02-01)"]),
    ("double precision", &["0.25", "7", "1", "99"]),
    ("inet", &["10.1.2.3/8", "::1"]),
    ("int4multirange", &["{[1,3),[5,9)}"]),
    ("int4range", &["[1,50)"]),
    ("int8multirange", &["{[1,3),[5,9)}"]),
    ("int8range", &["[1,50)"]),
    ("int2vector", &["1 2"]),
    ("integer", &["0", "1", "2", "77"]),
    ("interval", &["1 day", "03:04:05", "1 month"]),
    ("json", &["{\"a\":[1,\"b\"]}", "[1,2]", "\"a\"", "[{\"a\":1}]"]),
    ("jsonb", &["{\"a\":[1,\"b\"]}", "[1,2]", "\"a\"", "[{\"a\":1}]"]),
    ("jsonpath", &["$", "$.a", "$[*]", "$.**", "$.a[0 to 1]", "$ ? (@.a > 0)", "$.a like_regex \"^b\""]),
    ("line", &["{1,2,3}"]),
    ("lseg", &["[(0,0),(1,1)]"]),
    ("macaddr", &["08:00:2b:01:02:03"]),
    ("macaddr8", &["08:00:2b:01:02:03:04:05"]),
    ("money", &["12.34"]),
    ("mood", &["sad", "so so"]),
    ("name", &["a", "UTF8", "LATIN1", "WIN1252"]),
    ("numeric", &["0", "1", "0.5", "-7.25", "42", "NaN"]),
    ("nummultirange", &["{[1,3),[5,9)}"]),
    ("numrange", &["[1.5,50)"]),
    ("oid", &["1", "1259"]),
    ("oidvector", &["1 2"]),
    ("path", &["((0,0),(1,1),(2,0))", "[(0,0),(1,1)]"]),
    ("pg_lsn", &["16/B374D848"]),
    ("pg_snapshot", &["10:20:10,14,15"]),
    ("point", &["(1,2)"]),
    ("polygon", &["((0,0),(1,1),(2,0))"]),
    ("real", &["0.25", "7"]),
    ("regclass", &["pg_class", "pg_proc_oid_index"]),
    ("regcollation", &["\"C\""]),
    ("regconfig", &["english", "simple"]),
    ("regdictionary", &["english_stem", "simple"]),
    ("regnamespace", &["public"]),
    ("regoper", &["#-"]),
    ("regoperator", &["+(integer,integer)"]),
    ("regproc", &["now"]),
    ("regprocedure", &["now()"]),
    ("regrole", &["reader"]),
    ("regtype", &["integer", "text"]),
    ("smallint", &["0", "3", "99"]),
    ("text", &[
        "a", "a", "a", "a", "a", "a", "a", "a", "a", "a", "a", "a", "b a", "Zoë", "", "%a_", "(a|b)*", "a+", "hex", "base64", "escape", "NFC", "NFKD", "day", "month", "hour", "g",
        "simple", "UTC", "YYYY-MM-DD", "999D9", "3", "{\"a\":1}", "a, b", "pg_class", "UTF8", "SELECT", "sha256", "0.5", "kB",
    ]),
    ("tid", &["(0,1)"]),
    ("time with time zone", &["12:34:56+02"]),
    ("time without time zone", &["12:34:56.5"]),
    ("timestamp with time zone", &["2024-02-29 12:00Z", "infinity"]),
    ("timestamp without time zone", &["2024-02-29 12:00"]),
    ("tsmultirange", &["{[2024-01-01,2024-01-05)}"]),
    ("tsquery", &["a", "a & b", "!a | b", "a <2> b"]),
    ("tsrange", &["[2024-01-01,2024-02-01)"]),
    ("tstzmultirange", &["{[2024-01-01,2024-01-05)}"]),
    ("tstzrange", &["[2024-01-01,2024-02-01)"]),
    ("tsvector", &["a:1 b:2", "a", "a:1A,3B c:7"]),
    ("txid_snapshot", &["10:20:10,14,15"]),
    ("uuid", &["6ecd8c99-4036-403d-bf84-cf8400f67836"]),
    ("xid", &["1"]),
    ("xid8", &["1"]),
];

/// The parts of long values, the plainest first: the beginning, the repeated part, its separator, the end.
#[rustfmt::skip]
pub(super) const LONG: &[(&str, &[[&str; 4]])] = &[
    ("text", &[
        ["", "a", "", ""], ["", "ab ", "", ""], ["", "é", "", ""], ["", "\"", "", ""], ["", "\\", "", ""], ["", "%", "", ""],
        ["", "a", ",", ""], ["", "(a|b)*", "", ""], ["(", "a?", "", ")+"], ["", "a.*", "", "c"], ["", "a1", " & ", ""], ["", "1", "", ""],
        ["", "<b>", "", ""], ["[", "1", ",", "]"], ["", "\u{301}", "", ""], ["", "\u{fdfa}", "", ""], ["", "_%", "", ""], ["{", "a", ",", "}"],
        ["", "[ab]", "", ""], ["", "\u{1}", "", ""], ["", "$", "", ""], ["", "9", "", ""], ["", "/", "", "a"], ["", "&amp;", "", ""],
    ]),
    ("character varying", &[["", "a", "", ""], ["", "é ", "", ""]]),
    ("bytea", &[["", "a", "", ""], ["\\x", "00", "", ""]]),
    ("bit varying", &[["", "01", "", ""]]),
    ("numeric", &[["", "9", "", ""], ["0.", "7", "", ""], ["1.", "0", "", "1e99"]]),
    ("json", &[["[", "1", ",", "]"], ["[", "\"a\"", ",", "]"], ["\"", "\\u0001", "", "\""], ["{", "\"a\":1", ",", "}"], ["[", "1e9999", ",", "]"]]),
    ("jsonb", &[["[", "1", ",", "]"], ["[", "\"a\"", ",", "]"], ["\"", "\\u0001", "", "\""], ["[", "{\"a\":1}", ",", "]"], ["[", "1e9999", ",", "]"]]),
    ("jsonpath", &[["$", ".a", "", ""], ["$", ".**", "", ""], ["$[", "0 to 9", ",", "]"], ["$", "[*]", "", ""], ["$", ".keyvalue()", "", ""]]),
    ("tsvector", &[["", "ab", " ", ""], ["a:", "7", ",", ""], ["", "a1:1A b2:3 ", " ", ""]]),
    ("tsquery", &[["", "a", " & ", ""], ["", "a", " <9> ", ""], ["", "!a", " | ", ""], ["", "a:*", " <-> ", ""]]),
    ("text[]", &[["{", "a", ",", "}"], ["{", "\" \"", ",", "}"], ["{", "NULL", ",", "}"]]),
    ("integer[]", &[["{", "1", ",", "}"], ["{", "77", ",", "}"]]),
    ("numeric[]", &[["{", "1e99999", ",", "}"]]),
    ("int4multirange", &[["{", "[1,3)", ",", "}"]]),
    ("nummultirange", &[["{", "[1e999,2e999)", ",", "}"]]),
    ("path", &[["(", "(1,2)", ",", ")"]]),
    ("polygon", &[["(", "(1,2)", ",", ")"]]),
];

/// The tables: each type in one of them, five columns a table, short values.
pub(super) fn setup() -> String {
    let mut sql = String::new();
    for (table, types) in SAMPLES.chunks(5).enumerate() {
        let columns = types.iter().enumerate().map(|(at, (of, _))| format!("c{at} {of}"));
        sql += &format!("CREATE TABLE k{table} ({});", columns.collect::<Vec<_>>().join(", "));
        for row in 0..4 {
            let values = types.iter().map(|(_, samples)| format!("'{}'", samples[row % samples.len()]));
            sql += &format!("INSERT INTO k{table} VALUES ({});", values.collect::<Vec<_>>().join(", "));
        }
    }
    sql + "GRANT SELECT ON ALL TABLES IN SCHEMA public TO PUBLIC; ANALYZE;"
}
