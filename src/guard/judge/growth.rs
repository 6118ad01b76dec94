//! What functions do to the size of what they are given, by name.

/// Functions that pad to a length or repeat, and those that multiply in other ways.
const AMPLIFYING: &[&str] = &[
    "array_fill",
    "array_to_string",
    "concat_ws",
    "exp",
    "factorial",
    "format",
    "jsonb_pretty",
    "lpad",
    "polygon",
    "pow",
    "power",
    "regexp_instr",
    "regexp_match",
    "regexp_matches",
    "regexp_replace",
    "regexp_substr",
    "repeat",
    "replace",
    "round",
    "rpad",
    "ts_headline",
    "trunc",
];

/// Functions whose result can be some times as long as their arguments: escapes, encodings, markup. Each may be six
/// bytes where one was.
const GROWING: &[&str] = &[
    "array_to_json",
    "casefold",
    "concat",
    "convert",
    "convert_from",
    "convert_to",
    "encode",
    "initcap",
    "json_build_array",
    "json_build_object",
    "json_object",
    "json_strip_nulls",
    "jsonb_build_array",
    "jsonb_build_object",
    "jsonb_insert",
    "jsonb_object",
    "jsonb_set",
    "jsonb_set_lax",
    "jsonb_strip_nulls",
    "lower",
    "normalize",
    "parse_ident",
    "quote_ident",
    "quote_literal",
    "quote_nullable",
    "regexp_split_to_array",
    "row_to_json",
    "string_to_array",
    "to_ascii",
    "to_char",
    "to_json",
    "to_jsonb",
    "to_tsvector",
    "translate",
    "tsvector_to_array",
    "unistr",
    "upper",
];

/// Functions of one number, or of which one argument is the result, or whose result is no larger than an argument.
const KEEPING_NUMBERS: &[&str] = &[
    "abs",
    "any_value",
    "array_agg",
    "avg",
    "cbrt",
    "ceil",
    "ceiling",
    "coalesce",
    "cume_dist",
    "first_value",
    "floor",
    "generate_series",
    "greatest",
    "int2",
    "int4",
    "int8",
    "lag",
    "last_value",
    "lead",
    "least",
    "max",
    "min",
    "mod",
    "nth_value",
    "ntile",
    "nullif",
    "numeric",
    "percent_rank",
    "random",
    "sign",
    "sqrt",
    "unnest",
    "width_bucket",
];

/// Functions that count what they are given.
const COUNTING: &[&str] = &[
    "array_length",
    "array_lower",
    "array_position",
    "array_upper",
    "bit_length",
    "cardinality",
    "char_length",
    "character_length",
    "dense_rank",
    "generate_subscripts",
    "json_array_length",
    "jsonb_array_length",
    "length",
    "num_nonnulls",
    "num_nulls",
    "octet_length",
    "position",
    "rank",
    "regexp_count",
    "row_number",
    "strpos",
];

/// Aggregates that keep every row they see.
const KEEPING_ROWS: &[&str] = &[
    "array_agg",
    "json_agg",
    "json_object_agg",
    "jsonb_agg",
    "jsonb_object_agg",
    "mode",
    "percentile_cont",
    "percentile_disc",
    "range_agg",
    "string_agg",
];

/// Whether the result can be some times as long as the arguments.
pub(super) fn lengthens(name: &str) -> bool {
    GROWING.contains(&name)
}

/// Whether a call of this function may give more than it is given.
pub(super) fn grows(name: &str) -> bool {
    AMPLIFYING.contains(&name) || lengthens(name)
}

/// Whether the function gives one of its arguments, or a number no larger than one.
pub(super) fn keeps_numbers(name: &str) -> bool {
    KEEPING_NUMBERS.contains(&name)
}

/// Whether the function counts what it is given.
pub(super) fn counts(name: &str) -> bool {
    COUNTING.contains(&name)
}

/// Whether the aggregate keeps every row it sees.
pub(super) fn keeps_rows(name: &str) -> bool {
    KEEPING_ROWS.contains(&name)
}
