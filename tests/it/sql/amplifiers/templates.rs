//! Templates of what is no plain call: forms of the grammar, amplifiers, sources of rows.
//!
//! `{type}` is a hole for an expression of that type; `{any}` of any type, `{ordered}` of one with an order, `{digits}` for a
//! number, `{from}` for a source of rows, `{query}` for a subquery, `{root}` for the call under test.

use crate::sql::random::Random;

/// Expressions that are no call, by the type that they give; `*` is any type, and `{*}` the same.
#[rustfmt::skip]
pub(super) const FORMS: &[(&str, &[&str])] = &[
    ("*", &[
        "coalesce({*}, {*})", "CASE WHEN {boolean} THEN {*} ELSE {*} END", "({*[]})[{integer}]", "(SELECT {*} FROM {from} LIMIT 1)",
        "(SELECT {*} FROM {from} ORDER BY {ordered} DESC LIMIT 1)", "(SELECT {*} FROM {from} WHERE {boolean} LIMIT 1)",
    ]),
    ("text", &[
        "{any}::text", "{text} COLLATE \"C\"", "substring({text} FROM {integer} FOR {integer})", "greatest({text}, {text})",
    ]),
    ("boolean", &["{text} LIKE {text}", "{any} IS NULL", "{text} NOT IN ({query})"]),
    ("integer", &["least({integer}, {digits})", "({integer} * {integer})", "({integer} + {integer})"]),
    ("record", &["ROW({text}, {integer})"]),
    ("[]", &["ARRAY[{e}, {e}, {e}]", "({*})[{integer}:{integer}]", "ARRAY(SELECT {e} FROM {from})"]),
];

/// Expressions that make much of little, by the type that they give; `[]` is any array, `{e}` its element.
#[rustfmt::skip]
pub(super) const AMPLIFIERS: &[(&str, &[&str])] = &[
    ("text", &[
        "repeat({text}, {integer})", "rpad({text}, {integer})", "lpad({text}, {integer}, {text})", "replace({text}, {text}, {text})",
        "regexp_replace({text}, {text}, {text}, 'g')", "array_to_string({text[]}, {text})", "{text}::char({digits})",
        "(SELECT string_agg({text}, {text}) FROM {from})", "format('%{digits}s%{digits}s', {text}, {text})", "({any})::text",
        "to_json({text})::text", "({text} || {text})",
    ]),
    ("numeric", &[
        "power({numeric}, {integer})", "({numeric} ^ {numeric})", "factorial({integer})", "repeat({text}, {integer})::numeric",
        "({text})::numeric",
    ]),
    ("[]", &[
        "array_fill({e}, ARRAY[{integer}])", "ARRAY(SELECT {e} FROM generate_series(1, {integer}))",
        "array_fill({e}, ARRAY[{integer}, {integer}])", "array_replace({*}, {e}, {e})", "ARRAY(SELECT {e} FROM {from})",
        "(SELECT array_agg({e}) FROM {from})", "({*} || {*})",
    ]),
    ("jsonb", &[
        "to_jsonb({text})", "to_jsonb({text[]})", "(SELECT jsonb_agg({any}) FROM {from})",
        "('[' || repeat({text}, {integer}) || '1]')::jsonb", "jsonb_build_object({text}, {any}, {text}, {any})",
    ]),
    ("json", &["to_json({text})", "(SELECT json_agg({any}) FROM {from})", "array_to_json({text[]})"]),
    ("bytea", &["({text})::bytea", "decode(repeat({text}, {integer}), 'hex')", "convert_to({text}, 'UTF8')"]),
    ("bit", &["({bit})::bit({digits})"]),
    ("record", &["ROW({text}, {integer})"]),
    ("bit varying", &["({bit})::bit({digits})", "({bit varying} || {bit varying})"]),
    ("tsvector", &["to_tsvector('simple', {text})", "({text})::tsvector", "({tsvector} || {tsvector})"]),
    ("tsquery", &["(repeat('a & ', {integer}) || 'a')::tsquery", "({text})::tsquery", "({tsquery} && {tsquery})"]),
    ("int4multirange", &["(SELECT range_agg(int4range(0, 1)) FROM {from})", "({text})::int4multirange"]),
    ("polygon", &["polygon({integer}, {circle})", "({path})::polygon"]),
    ("path", &["('(' || repeat('(1,2),', {integer}) || '(1,2))')::path"]),
    ("integer", &["length({text})", "cardinality({text[]})", "{integer}"]),
    ("bigint", &["(SELECT count(*) FROM {from})", "length({text})::bigint"]),
    ("double precision", &["length({text})::double precision"]),
];

/// Expressions that make much of the call under test.
#[rustfmt::skip]
pub(super) const AROUND: &[&str] = &[
    "repeat(({root})::text, {integer})", "lpad(({root})::text, {integer}, {text})", "replace(({root})::text, {text}, {text})",
    "(SELECT string_agg(({root})::text, {text}) FROM {from})", "(SELECT array_agg({root}) FROM {from})",
    "(SELECT jsonb_agg({root}) FROM {from})", "array_fill({root}, ARRAY[{integer}])", "(({root})::text || {text})",
    "array_fill(({root})::text, ARRAY[{integer}])",
];

/// Names in these templates that are counted as calls.
pub(super) const NAMED: &[&str] =
    &["repeat", "array_fill", "string_agg", "array_agg", "jsonb_agg", "json_agg", "lpad", "rpad"];

/// Sources of rows: a table of the test, a function, or what stands here.
#[rustfmt::skip]
pub(super) const SOURCES: &[&str] = &[
    "{table}", "{table}", "{table}", "{rows}", "generate_series(1, {integer})", "generate_series(1, {integer})", "unnest({text[]})",
    "unnest({any[]})", "(SELECT {any})", "(SELECT {any} FROM {from})", "(VALUES ({text}), ({text}), ({text}))",
];

/// Templates of functions whose arguments no signature can give.
#[rustfmt::skip]
pub(super) const SPECIAL: &[(&str, &str, &str)] = &[
    ("convert", "bytea", "convert({bytea}, 'UTF8', 'LATIN1')"),
    ("json_populate_record", "record", "(SELECT json_populate_record(k, {json}) FROM k0 AS k LIMIT 1)"),
    ("jsonb_populate_record", "record", "(SELECT jsonb_populate_record(k, {jsonb}) FROM k0 AS k LIMIT 1)"),
    ("json_populate_recordset", "record", "(SELECT json_populate_recordset(k, {json}) FROM k0 AS k LIMIT 1)"),
    ("jsonb_populate_recordset", "record", "(SELECT jsonb_populate_recordset(k, {jsonb}) FROM k0 AS k LIMIT 1)"),
    ("json_to_record", "text", "(SELECT s.a FROM json_to_record({json}) AS s (a text) LIMIT 1)"),
    ("jsonb_to_record", "text", "(SELECT s.a FROM jsonb_to_record({jsonb}) AS s (a text) LIMIT 1)"),
    ("json_to_recordset", "text", "(SELECT s.a FROM json_to_recordset({json}) AS s (a text) LIMIT 1)"),
    ("jsonb_to_recordset", "text", "(SELECT s.a FROM jsonb_to_recordset({jsonb}) AS s (a text) LIMIT 1)"),
];

/// One of the first templates that give the type: those multiply most.
pub(super) fn pick_of(
    table: &[(&str, &'static [&'static str])],
    of: &str,
    first: usize,
    random: &mut Random,
) -> Option<&'static str> {
    let fits = |name: &str| name == of || name == "*" || name == "[]" && of.ends_with("[]");
    let fitting: Vec<_> = table.iter().filter(|(name, _)| fits(name)).collect();
    if fitting.is_empty() {
        return None;
    }
    let (_, templates) = fitting[random.below(fitting.len())];
    Some(random.pick(&templates[..first.min(templates.len())]))
}
