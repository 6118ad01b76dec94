//! What functions make of values that have members, by their names.

use super::super::members::Kinds;

/// What becomes of the arguments in a function's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Becomes {
    /// Nothing of them is in it but numbers, truth and the names of members.
    Nothing,
    /// It is them, or holds them under names that are written or their own.
    Themselves,
    /// It is a JSON value that is taken from one, or one that was changed.
    Json,
    /// It is a row whose fields have the names of its type.
    Row,
    /// It is the text of a member.
    Part,
    /// It is made of their text, as far as anybody knows.
    Text,
}

const NOTHING: &[&str] = &[
    "akeys",
    "array_dims",
    "array_length",
    "array_lower",
    "array_ndims",
    "array_upper",
    "cardinality",
    "count",
    "defined",
    "exist",
    "exists_all",
    "exists_any",
    "generate_subscripts",
    "isdefined",
    "isexists",
    "json_array_length",
    "json_object_keys",
    "json_typeof",
    "jsonb_array_length",
    "jsonb_object_keys",
    "jsonb_path_exists",
    "jsonb_path_exists_tz",
    "jsonb_path_match",
    "jsonb_path_match_tz",
    "jsonb_typeof",
    "num_nonnulls",
    "num_nulls",
    "pg_column_size",
    "pg_typeof",
    "skeys",
];

const THEMSELVES: &[&str] = &[
    "any_value",
    "array_agg",
    "array_append",
    "array_cat",
    "array_fill",
    "array_prepend",
    "array_remove",
    "array_replace",
    "array_reverse",
    "array_sample",
    "array_shuffle",
    "array_sort",
    "coalesce",
    "delete",
    "first_value",
    "greatest",
    "lag",
    "last_value",
    "lead",
    "least",
    "max",
    "min",
    "mode",
    "nth_value",
    "nullif",
    "percentile_disc",
    "row",
    "slice",
    "trim_array",
    "unnest",
];

/// They name what they are given, or it names itself.
const BUILDERS: &[&str] = &[
    "array_to_json",
    "json_agg",
    "json_build_array",
    "json_build_object",
    "json_object",
    "json_object_agg",
    "jsonb_agg",
    "jsonb_build_array",
    "jsonb_build_object",
    "jsonb_object",
    "jsonb_object_agg",
    "row_to_json",
    "to_json",
    "to_jsonb",
];

const PARTS: &[&str] = &[
    "fetchval",
    "json_array_elements_text",
    "json_extract_path_text",
    "jsonb_array_elements_text",
    "jsonb_extract_path_text",
    "slice_array",
];

const ROWS: &[&str] = &[
    "json_populate_record",
    "json_populate_recordset",
    "json_to_record",
    "json_to_recordset",
    "jsonb_populate_record",
    "jsonb_populate_recordset",
    "jsonb_to_record",
    "jsonb_to_recordset",
];

/// Functions that test a text as a whole: a parameter beside it chooses no part of it that would be seen.
const WHOLE: &[&str] = &[
    "array_to_string",
    "coalesce",
    "concat",
    "concat_ws",
    "difference",
    "greatest",
    "least",
    "levenshtein",
    "levenshtein_less_equal",
    "nullif",
    "similarity",
    "starts_with",
    "strict_word_similarity",
    "string_agg",
    "strpos",
    "ts_rank",
    "ts_rank_cd",
    "word_similarity",
];

/// Whether a function makes JSON of what it is given: what must not be that, must not be this of anything that has members.
pub(super) fn builds(name: &str) -> bool {
    BUILDERS.contains(&name)
}

/// What becomes of the arguments of a function.
pub(super) fn becomes(name: &str) -> Becomes {
    if NOTHING.contains(&name) {
        Becomes::Nothing
    } else if PARTS.contains(&name) {
        Becomes::Part
    } else if THEMSELVES.contains(&name) || BUILDERS.contains(&name) || name.starts_with("hstore") {
        Becomes::Themselves
    } else if ROWS.contains(&name) {
        Becomes::Row
    } else if name.starts_with("json") {
        Becomes::Json
    } else {
        Becomes::Text
    }
}

/// What the arguments of a function must not be.
pub(super) fn never(name: &str) -> Kinds {
    match becomes(name) {
        // In JSON the text of XML is a text.
        Becomes::Themselves if BUILDERS.contains(&name) => Kinds::XML,
        Becomes::Text => Kinds::ALL,
        Becomes::Nothing | Becomes::Themselves | Becomes::Json | Becomes::Row | Becomes::Part => Kinds::NONE,
    }
}

/// What they must not be beside a parameter, with which they are compared or that chooses what is seen of them.
pub(super) fn never_beside(name: &str) -> Kinds {
    match becomes(name) {
        Becomes::Nothing | Becomes::Themselves if !BUILDERS.contains(&name) => Kinds::ROW | Kinds::ROWS,
        Becomes::Text if !WHOLE.contains(&name) => Kinds::PART,
        Becomes::Nothing
        | Becomes::Themselves
        | Becomes::Json
        | Becomes::Row
        | Becomes::Part
        | Becomes::Text => Kinds::NONE,
    }
}

/// Functions whose rows are single values, under the name of the function or its alias.
pub(super) const OF_ONE_COLUMN: &[&str] = &[
    "generate_series",
    "generate_subscripts",
    "json_array_elements",
    "json_array_elements_text",
    "json_object_keys",
    "jsonb_array_elements",
    "jsonb_array_elements_text",
    "jsonb_object_keys",
    "jsonb_path_query",
    "jsonb_path_query_tz",
    "phraseto_tsquery",
    "plainto_tsquery",
    "regexp_matches",
    "regexp_split_to_table",
    "string_to_table",
    "unnest",
    "websearch_to_tsquery",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_are_sorted_and_none_takes_from_another() {
        for list in [NOTHING, THEMSELVES, BUILDERS, PARTS, ROWS, WHOLE, OF_ONE_COLUMN] {
            assert!(list.is_sorted_by(|a, b| a < b), "{list:?}");
        }
        let kinds = [NOTHING, THEMSELVES, BUILDERS, PARTS, ROWS];
        let all: std::collections::BTreeSet<&&str> = kinds.into_iter().flatten().collect();
        assert_eq!(all.len(), kinds.iter().map(|list| list.len()).sum::<usize>());
    }
}
