//! How many steps PostgreSQL takes to compare values, while nothing can cancel it.

use sqlparser::ast::{BinaryOperator, Expr, FunctionArg};

use super::{
    bounds::{Bound, argument, named, symbol},
    literals::{literal_of, literal_text},
    names::{last_name, type_name},
};

/// The most pairs of elements that two arrays are compared by, or two texts, polygons or numbers: nothing cancels it.
pub(super) const MAX_PAIRS: u64 = 100_000_000;
/// Functions that look for one text in another, position by position.
const SEARCHING: &[&str] = &[
    "btrim",
    "ltrim",
    "position",
    "replace",
    "rtrim",
    "split_part",
    "string_to_array",
    "string_to_table",
    "strpos",
    "translate",
    "trim",
];
/// Functions that read a text search's query, in which each word is looked for among the others.
const READING_QUERIES: &[&str] =
    &["phraseto_tsquery", "plainto_tsquery", "to_tsquery", "websearch_to_tsquery"];
/// Functions that give what a text search looks into.
const GIVING_VECTORS: &[&str] = &[
    "array_to_tsvector",
    "json_to_tsvector",
    "jsonb_to_tsvector",
    "setweight",
    "strip",
    "to_tsvector",
    "ts_delete",
    "ts_filter",
];
/// The most positions of a word that a `tsvector` keeps.
const POSITIONS_OF_WORD: u64 = 256;
/// Functions of two numbers, whose digits are multiplied with each other.
const MULTIPLYING: &[&str] = &["div", "gcd", "lcm", "mod"];

/// In how many steps a call compares its arguments, while nothing can cancel it.
pub(super) fn pairs_of_call(name: &str, args: &[FunctionArg], bounds: &[Bound]) -> u64 {
    let bytes = |index: usize| bounds.get(index).map_or(0, |bound| bound.bytes);
    match name {
        // Marks are put in order by exchanging neighbours.
        "normalize" | "is_normalized" => pairs_of_marks(bytes(0)),
        // A vector and a query, perhaps behind weights.
        "ts_rank" | "ts_rank_cd" => {
            pairs_of_ranking(bytes(0), bytes(1)).max(pairs_of_ranking(bytes(1), bytes(2)))
        }
        _ if name.starts_with("jsonb_path_") => {
            let path = named(args, "path").or(args.get(1).and_then(argument));
            pairs_of_path(bounds.iter().map(|bound| bound.bytes).max().unwrap_or_default(), path)
        }
        // At every field the length of what is left is measured.
        "to_date" | "to_timestamp" => pairs(bytes(0), bytes(1), 8),
        "strict_word_similarity" | "word_similarity" => pairs(bytes(0), bytes(1), 2),
        _ if READING_QUERIES.contains(&name) => pairs_of_query(bytes(args.len().saturating_sub(1))),
        _ if SEARCHING.contains(&name) => bytes(0).saturating_mul(bytes(1)),
        _ if MULTIPLYING.contains(&name) => pairs(bytes(0), bytes(1), 4),
        _ => 0,
    }
}

/// In how many steps an operator compares its operands, while nothing can cancel it.
pub(super) fn pairs_of_operation(op: &BinaryOperator, left: Bound, right: Bound, written: &Expr) -> u64 {
    match symbol(op) {
        "*" | "/" | "%" | "-" | "~=" => pairs(left.bytes, right.bytes, 4),
        "~~" | "!~~" | "~~*" | "!~~*" => left.bytes.saturating_mul(right.bytes),
        "@?" => pairs_of_path(left.bytes, Some(written)),
        "@@" if gives_vector(written) => pairs_of_path(left.bytes, Some(written)),
        "@@" => pairs_of_path(left.bytes, Some(written)).max(pairs_of_query(right.bytes)),
        // Of words, by their trigrams.
        "<%" | "%>" | "<<%" | "%>>" | "<<->" | "<->>" | "<<<->" | "<->>>" => {
            pairs(left.bytes, right.bytes, 2)
        }
        // Of arrays, and of JSON, in which an element may be two bytes.
        "&&" | "@>" | "<@" | "?&" | "?|" => pairs(left.bytes, right.bytes, 2),
        // Of shapes: every edge with every other, which takes as long as a hundred simple steps.
        "<->" | "?#" | "##" => pairs(left.bytes, right.bytes, 4).saturating_mul(100),
        _ => 0,
    }
}

/// The steps of reading the query of a text search.
pub(super) fn pairs_of_query(text: u64) -> u64 {
    pairs(text, text, 2)
}

/// Whether this is what a text search looks into, and no query.
fn gives_vector(expr: &Expr) -> bool {
    matches!(expr, Expr::Function(function) if GIVING_VECTORS.contains(&last_name(&function.name)))
        || matches!(expr, Expr::Cast { data_type, .. } if type_name(data_type) == "tsvector")
}

/// The steps of a path of a JSON value: a comparison in it may be of all members with all.
fn pairs_of_path(json: u64, path: Option<&Expr>) -> u64 {
    let compares = path.and_then(literal_of).is_none_or(|path| literal_text(path).contains(['<', '>', '=']));
    if compares { pairs(json, json, 2) } else { 0 }
}

/// The steps of ranking: every position of a word that is asked for with every one of the others.
fn pairs_of_ranking(vector: u64, query: u64) -> u64 {
    let positions = (vector / 2).min((query / 2).saturating_mul(POSITIONS_OF_WORD));
    positions.saturating_mul(positions)
}

/// The steps of putting so many bytes of combining marks in order.
pub(super) fn pairs_of_marks(bytes: u64) -> u64 {
    pairs(bytes, bytes, 4)
}

/// Pairs of elements, each of so many bytes at least.
const fn pairs(left: u64, right: u64, element: u64) -> u64 {
    (left / element).saturating_mul(right / element)
}
