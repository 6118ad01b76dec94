//! The functions a query may call: closed lists, each group with the reason why it is harmless.
//!
//! Made from `pg_proc` of PostgreSQL 13 to 18: what is immutable or stable and has no effect, minus what only
//! operators, indexes and planners call, plus a few volatile ones that disturb nobody. A name stands for all its
//! overloads, so a name with one dangerous overload is absent.

/// Functions that are harmless for one reason.
pub(crate) struct Group {
    /// Why.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "the reason is for readers; a test wants one for every group")
    )]
    pub(crate) reason: &'static str,
    /// Names as `pg_proc` has them, sorted.
    pub(crate) names: &'static [&'static str],
}

/// Whether the name is a built-in function that may be called.
pub(crate) fn is_built_in(name: &str) -> bool {
    BUILT_IN.iter().any(|group| group.names.binary_search(&name).is_ok())
}

/// Whether a name is one of these, or begins with what stands before a `*`.
pub(crate) fn matches_any(patterns: &[&str], name: &str) -> bool {
    patterns.iter().any(|pattern| match pattern.strip_suffix('*') {
        Some(prefix) => name.starts_with(prefix),
        None => name == *pattern,
    })
}

/// The lists.
#[rustfmt::skip]
pub(crate) const BUILT_IN: &[Group] = &[
    Group {
        reason: "Aggregates and window functions: they see only the rows of the query.",
        names: &[
            "any_value", "array_agg", "avg", "bit_and", "bit_or", "bit_xor", "bool_and", "bool_or", "corr",
            "count", "covar_pop", "covar_samp", "cume_dist", "dense_rank", "every", "first_value", "json_agg",
            "json_object_agg", "jsonb_agg", "jsonb_object_agg", "lag", "last_value", "lead", "max", "min",
            "mode", "nth_value", "ntile", "percent_rank", "percentile_cont", "percentile_disc", "range_agg",
            "range_intersect_agg", "rank", "regr_avgx", "regr_avgy", "regr_count", "regr_intercept",
            "regr_r2", "regr_slope", "regr_sxx", "regr_sxy", "regr_syy", "row_number", "stddev", "stddev_pop",
            "stddev_samp", "string_agg", "sum", "var_pop", "var_samp", "variance",
        ],
    },
    Group {
        reason: "Dates and times: the clock, the calendar, arithmetic. They read no setting but the time zone, which is pinned.",
        names: &[
            "age", "clock_timestamp", "date_add", "date_bin", "date_part", "date_subtract", "date_trunc",
            "extract", "isfinite", "justify_days", "justify_hours", "justify_interval", "make_date",
            "make_interval", "make_time", "make_timestamp", "make_timestamptz", "now", "overlaps",
            "statement_timestamp", "timeofday", "timezone", "to_date", "to_timestamp",
            "transaction_timestamp",
        ],
    },
    Group {
        reason: "JSON: building, taking apart, paths. `*_populate_*` and `*_to_record*` cast to types that are judged where written.",
        names: &[
            "array_to_json", "json_array_elements", "json_array_elements_text", "json_array_length",
            "json_build_array", "json_build_object", "json_each", "json_each_text", "json_extract_path",
            "json_extract_path_text", "json_object", "json_object_keys", "json_populate_record",
            "json_populate_recordset", "json_strip_nulls", "json_to_record", "json_to_recordset",
            "json_to_tsvector", "json_typeof", "jsonb_array_elements", "jsonb_array_elements_text",
            "jsonb_array_length", "jsonb_build_array", "jsonb_build_object", "jsonb_concat", "jsonb_each",
            "jsonb_each_text", "jsonb_extract_path", "jsonb_extract_path_text", "jsonb_insert",
            "jsonb_object", "jsonb_object_keys", "jsonb_path_exists", "jsonb_path_exists_tz",
            "jsonb_path_match", "jsonb_path_match_tz", "jsonb_path_query", "jsonb_path_query_array",
            "jsonb_path_query_array_tz", "jsonb_path_query_first", "jsonb_path_query_first_tz",
            "jsonb_path_query_tz", "jsonb_populate_record", "jsonb_populate_recordset", "jsonb_pretty",
            "jsonb_set", "jsonb_set_lax", "jsonb_strip_nulls", "jsonb_to_record", "jsonb_to_recordset",
            "jsonb_to_tsvector", "jsonb_typeof", "row_to_json", "to_json", "to_jsonb",
        ],
    },
    Group {
        reason: "Arrays and set-returning functions over them.",
        names: &[
            "array_append", "array_cat", "array_dims", "array_fill", "array_length", "array_lower",
            "array_ndims", "array_position", "array_positions", "array_prepend", "array_remove",
            "array_replace", "array_reverse", "array_sample", "array_shuffle", "array_sort",
            "array_to_string", "array_to_tsvector", "array_upper", "cardinality", "generate_series",
            "generate_subscripts", "string_to_array", "string_to_table", "trim_array", "unnest",
        ],
    },
    Group {
        reason: "Ranges and multiranges.",
        names: &[
            "datemultirange", "daterange", "enum_range", "int4multirange", "int4range", "int8multirange",
            "int8range", "isempty", "lower_inc", "lower_inf", "multirange", "nummultirange", "numrange",
            "range_merge", "tsmultirange", "tsrange", "tstzmultirange", "tstzrange", "upper_inc", "upper_inf",
        ],
    },
    Group {
        reason: "Text search, with the queries built from values. `ts_stat` and `ts_rewrite` run SQL given as text and are absent.",
        names: &[
            "numnode", "phraseto_tsquery", "plainto_tsquery", "setweight", "strip", "to_tsquery",
            "to_tsvector", "ts_delete", "ts_filter", "ts_headline", "ts_lexize", "ts_rank", "ts_rank_cd",
            "tsquery_phrase", "tsvector_to_array", "websearch_to_tsquery",
        ],
    },
    Group {
        reason: "Geometry.",
        names: &[
            "area", "bound_box", "box", "center", "circle", "diagonal", "diameter", "height", "isclosed",
            "ishorizontal", "isopen", "isparallel", "isperp", "isvertical", "line", "lseg", "npoints", "path",
            "pclose", "point", "polygon", "popen", "radius", "slope", "width",
        ],
    },
    Group {
        reason: "Network addresses.",
        names: &[
            "abbrev", "broadcast", "family", "host", "hostmask", "inet_merge", "inet_same_family",
            "macaddr8_set7bit", "masklen", "netmask", "network", "set_masklen",
        ],
    },
    Group {
        reason: "Mathematics. The random ones disturb nobody: `setseed` is absent.",
        names: &[
            "abs", "acos", "acosd", "acosh", "asin", "asind", "asinh", "atan", "atan2", "atan2d", "atand",
            "atanh", "cbrt", "ceil", "ceiling", "cos", "cosd", "cosh", "cot", "cotd", "degrees", "div", "erf",
            "erfc", "exp", "factorial", "floor", "gamma", "gcd", "lcm", "lgamma", "ln", "log", "log10",
            "min_scale", "mod", "pi", "pow", "power", "radians", "random", "random_normal", "round", "scale",
            "sign", "sin", "sind", "sinh", "sqrt", "tan", "tand", "tanh", "trim_scale", "trunc",
            "width_bucket",
        ],
    },
    Group {
        reason: "Hashes and UUIDs: pure functions of their arguments, or random.",
        names: &[
            "crc32", "crc32c", "gen_random_uuid", "hashtext", "hashtextextended", "md5", "sha224", "sha256",
            "sha384", "sha512", "uuid_extract_timestamp", "uuid_extract_version", "uuidv4", "uuidv7",
        ],
    },
    Group {
        reason: "Casts spelled as calls, to the types that may be cast to.",
        names: &[
            "bool", "bpchar", "char", "cidr", "date", "float4", "float8", "int2", "int4", "int8", "interval",
            "macaddr", "macaddr8", "money", "name", "numeric", "oid", "pg_lsn", "text", "time", "timestamp",
            "timestamptz", "timetz", "varbit", "varchar", "xid",
        ],
    },
    Group {
        reason: "Enums, rows and sizes.",
        names: &[
            "cash_words", "enum_first", "enum_last", "num_nonnulls", "num_nulls", "pg_column_size",
            "pg_size_bytes", "pg_size_pretty", "pg_typeof",
        ],
    },
    Group {
        reason: "Strings, patterns and bytes. `format` and `quote_*` only build text, nothing runs it.",
        names: &[
            "ascii", "bit", "bit_count", "bit_length", "btrim", "casefold", "char_length", "character_length",
            "chr", "concat", "concat_ws", "convert", "convert_from", "convert_to", "decode", "encode",
            "format", "get_bit", "get_byte", "initcap", "is_normalized", "left", "length", "like", "lower",
            "lpad", "ltrim", "normalize", "octet_length", "overlay", "parse_ident", "position", "quote_ident",
            "quote_literal", "quote_nullable", "regexp_count", "regexp_instr", "regexp_like", "regexp_match",
            "regexp_matches", "regexp_replace", "regexp_split_to_array", "regexp_split_to_table",
            "regexp_substr", "repeat", "replace", "reverse", "right", "rpad", "rtrim", "set_bit", "set_byte",
            "similar_to_escape", "split_part", "starts_with", "strpos", "substr", "substring", "to_ascii",
            "to_bin", "to_char", "to_hex", "to_number", "to_oct", "translate", "trim", "unicode_assigned",
            "unistr", "upper",
        ],
    },
];
