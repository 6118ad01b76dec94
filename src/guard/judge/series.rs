//! How many rows functions give, and which keep or join them.

use sqlparser::ast::{Expr, FunctionArg};

use super::{
    bounds::{Bound, TABLE_NUMBER, argument, of_call},
    growth::keeps_rows,
    literals::{literal_of, literal_text, whole},
    moments,
};

/// Functions that give as many rows as what they are given has parts.
const RETURNING_ROWS: &[&str] = &[
    "generate_subscripts",
    "json_array_elements",
    "json_array_elements_text",
    "json_each",
    "json_each_text",
    "json_object_keys",
    "json_populate_recordset",
    "json_to_recordset",
    "jsonb_array_elements",
    "jsonb_array_elements_text",
    "jsonb_each",
    "jsonb_each_text",
    "jsonb_object_keys",
    "jsonb_populate_recordset",
    "jsonb_to_recordset",
    "regexp_matches",
    "regexp_split_to_table",
    "string_to_table",
    "unnest",
];

/// How many rows a function gives.
pub(super) fn rows_of(function: &str, args: &[FunctionArg], bounds: &[Bound]) -> u64 {
    match function {
        "generate_series" => series(args, bounds),
        _ if function.starts_with("jsonb_path_query") => of_call(function, args, bounds).bytes,
        _ if RETURNING_ROWS.contains(&function) => {
            bounds.iter().fold(1, |sum, bound| sum.saturating_add(bound.bytes))
        }
        _ => 1,
    }
}

/// How many rows a series of numbers or of dates has.
fn series(args: &[FunctionArg], bounds: &[Bound]) -> u64 {
    let expr = |index: usize| args.get(index).and_then(argument);
    let nth = |index: usize| bounds.get(index).map_or(0, |bound| bound.number);
    let step = expr(2);
    if let ([Some(first), Some(last), Some(step)], [one, other, _]) = ([expr(0), expr(1), expr(2)], bounds)
        && moments::is_step(step)
    {
        return moments::rows([first, last, step], [*one, *other]);
    }
    // Without signs: numbers that are written are as far apart as they are, others at most on both sides of zero.
    let written = |index: usize| match args.get(index).and_then(argument) {
        Some(Expr::Value(value)) => literal_text(value).parse::<u64>().ok(),
        Some(_) | None => None,
    };
    let distance = match (written(0), written(1)) {
        (Some(first), Some(last)) => first.abs_diff(last),
        _ => nth(0).saturating_add(nth(1)),
    };
    let distance = distance.saturating_add(1);
    match step.map(whole) {
        None => distance,
        Some(0) if nth(2) != TABLE_NUMBER => distance.saturating_mul(step.map_or(1, fraction)),
        Some(step) => distance.div_ceil(step.max(1)),
    }
}

/// By how much a step that is no whole number multiplies rows: ten for each digit behind the point.
fn fraction(step: &Expr) -> u64 {
    let digits =
        literal_of(step).and_then(|text| literal_text(text).split_once('.')).map(|(_, digits)| digits);
    let digits = digits.filter(|digits| digits.bytes().all(|c| c.is_ascii_digit()));
    let power = digits.and_then(|digits| u32::try_from(digits.len()).ok()).unwrap_or(u32::MAX);
    10_u64.saturating_pow(power)
}

/// Functions that make one row of many.
pub(super) fn is_aggregate(name: &str) -> bool {
    keeps_rows(name)
        || matches!(name, "avg" | "bool_and" | "bool_or" | "count" | "every" | "max" | "min" | "sum")
}
