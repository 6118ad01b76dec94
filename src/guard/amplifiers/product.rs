//! The product: what counts, literals, rows and references of a statement can make of one value together.

use super::amounts;
use super::counts::{Counts, ELEMENT_BYTES};
use super::excess::{Excess, MAX_BYTES, MAX_COUNT, MAX_LITERAL};
use super::literals::{self, NUMERIC_DIGITS};
use super::nodes::{Kind, Node, Nodes};
use crate::guard::functions::{Number, Rows, Size, Time, operators};

/// Literals up to this length are not counted beside a count.
const SHORT: f64 = 16.0;
/// Literals up to this length are not counted where time is, nor without a count.
const LONG: f64 = 1_000.0;
/// The rows of a table that an aggregate is taken to hold in one value.
const TABLE_ROWS: f64 = 1_000.0;
/// The number that a column of a table stands for.
const TABLE_NUMBER: f64 = 100.0;

/// Checks the product, with what can reach the counts that hold columns.
pub(super) fn check(nodes: &Nodes, counts: &Counts, (one, all): (f64, f64)) -> Result<(), (usize, Excess)> {
    let mut digits: f64 = nodes.iter().map(|(_, node)| exponents(&node.kind)).sum();
    if digits > MAX_COUNT {
        return Err((0, Excess::Together { what: described(nodes, &[], 1.0, digits, 1.0) }));
    }
    let longest = nodes.longest_text(0);
    let long = if longest > LONG { longest } else { 1.0 };
    let series = series(nodes);
    beside(nodes, counts, &series, long)?;
    // Rows are kept in memory by what collects them, and by set operations that cannot spill.
    let holds = |(_, node): (usize, &Node)| matches!(node.kind, Kind::Query { keeps: true, .. });
    let kept = if collects(nodes) || nodes.iter().any(holds) { series } else { Vec::new() };
    let borrowed = counts.replacing.iter().map(|index| (*index, long)).filter(|_| long > 1.0);
    let factors: Vec<_> = counts.factors.iter().chain(&kept).copied().chain(borrowed).collect();
    // What a column or a row brings could be any literal of the statement.
    let beside = |index: usize| {
        let rows = |(index, _)| nodes.function(index).is_some_and(|function| function.rows == Rows::Set);
        if nodes.reads(index) || nodes.within(index).any(rows) { longest } else { nodes.longest_text(index) }
    };
    let mut text = long;
    let (mut unit, mut references) = (1.0, one);
    if !factors.is_empty() {
        digits +=
            nodes.iter().filter(|(index, _)| is_made(nodes, *index)).map(|_| NUMERIC_DIGITS).sum::<f64>();
        let indices = factors.iter().map(|(index, _)| *index).chain(counts.replacing.iter().copied());
        text = indices.map(beside).filter(|length| *length > SHORT).fold(long, f64::max);
        unit = if kept.is_empty() { counts.unit } else { counts.unit.max(ELEMENT_BYTES) };
        unit *= if kept.is_empty() && collects(nodes) { TABLE_ROWS } else { 1.0 };
        references = all;
    }
    let by: f64 = factors.iter().map(|(_, by)| by).product::<f64>() * digits.max(1.0);
    let at =
        factors.iter().max_by(|(_, one), (_, other)| one.total_cmp(other)).map_or(0, |(index, _)| *index);
    if by * text * unit * references > MAX_BYTES {
        return Err((at, Excess::Together { what: described(nodes, &factors, text, digits, references) }));
    }
    let busy = by * long * one;
    if !factors.is_empty()
        && busy * busy > MAX_BYTES
        && nodes.iter().any(|(index, _)| is_quadratic(nodes, index))
    {
        return Err((at, Excess::Busy { what: described(nodes, &factors, long, digits, one) }));
    }
    Ok(())
}

/// Returns true for a call or an operator that nothing cancels while it compares two values.
pub(super) fn is_quadratic(nodes: &Nodes, index: usize) -> bool {
    match nodes.kind(index) {
        Kind::Operator(sign) => operators::is_quadratic(sign),
        Kind::Cast { name, .. } => name == "tsquery",
        // Blanks are trimmed in one step each.
        Kind::Call { name, arguments: 1, .. } if name.ends_with("trim") => false,
        Kind::Call { function: Some(function), .. } => function.time == Time::Quadratic,
        _ => false,
    }
}

/// Returns true for what holds all rows it sees in one value.
fn keeps(kind: &Kind) -> bool {
    match kind {
        Kind::Call { function, .. } => function.is_some_and(|function| function.rows == Rows::Collects),
        kind => matches!(kind, Kind::Keeps),
    }
}

/// Returns true where an aggregate or a subquery anywhere holds all its rows in one value.
pub(super) fn collects(nodes: &Nodes) -> bool {
    nodes.iter().any(|(_, node)| keeps(&node.kind))
}

/// Beside a count that holds a column no literal is large enough to reach it through that column.
fn beside(nodes: &Nodes, counts: &Counts, series: &[(usize, f64)], long: f64) -> Result<(), (usize, Excess)> {
    let moving = counts.moving.iter().max_by(|(_, one), (_, other)| one.total_cmp(other));
    let Some((moving, times)) = moving else { return Ok(()) };
    let name = nodes.name(*moving);
    let mut largest = TABLE_NUMBER;
    for (index, node) in nodes.iter() {
        let number = match &node.kind {
            Kind::Literal { .. } => nodes.largest_number(index),
            kind if makes_any(nodes, index, kind) => f64::INFINITY,
            _ => continue,
        };
        if number > largest && !is_harmless(nodes, index) {
            largest = number;
            if number == f64::INFINITY {
                let literal = format!("A result of {}", nodes.name(index));
                return Err((index, Excess::Beside { name, literal }));
            } else if number > MAX_LITERAL {
                return Err((index, Excess::Beside { name, literal: format!("The literal {number}") }));
            }
        }
    }
    let rows: f64 = series.iter().map(|(_, rows)| rows).product();
    let times = times * largest.max(rows) * long;
    if times > MAX_BYTES {
        let what = format!("{} ({name}) times what the tables hold", times);
        return Err((*moving, Excess::Together { what }));
    }
    Ok(())
}

/// Returns true for a node whose number is any: a power, and what a recursion multiplies or doubles at every step.
fn makes_any(nodes: &Nodes, index: usize, kind: &Kind) -> bool {
    let repeated =
        || nodes.recursive && nodes.around(index).any(|(outer, _)| nodes.with_name(outer).is_some());
    match kind {
        Kind::Call { function: Some(function), .. } => {
            matches!((function.size, function.number), (Size::Digits(_), Number::Large))
        }
        Kind::Operator(sign) if sign == "*" => repeated(),
        Kind::Operator(sign) if sign == "+" => {
            repeated() && nodes.arguments(index).all(|(it, _)| nodes.reads(it))
        }
        Kind::Operator(sign) => sign == "^" || sign == "<<",
        _ => false,
    }
}

/// Returns true for a literal that cannot become a count: a divisor, a date, an address, or, without a recursion that it
/// could stop, an operand of a comparison or a limit.
fn is_harmless(nodes: &Nodes, index: usize) -> bool {
    let mut nth = nodes.within(index).next().map_or(0, |(_, node)| node.nth);
    for (outer, node) in nodes.around(index) {
        match &node.kind {
            Kind::Cast { name, .. } if operators::holds_digits(name) => return true,
            Kind::Operator(sign) if sign == "/" && nth == 1 => return true,
            // What is limited is no larger than its limit.
            Kind::Call { name, .. }
                if name == "least" && amounts::of(nodes, outer).is_some_and(|amount| !amount.moving) =>
            {
                return true;
            }
            Kind::Operator(sign) if operators::compares(sign) => return !nodes.recursive,
            Kind::Truth => return !nodes.recursive,
            Kind::Query { limits, .. } => return nth + limits >= node.children && !nodes.recursive,
            Kind::Select(_) => return false,
            _ => nth = node.nth,
        }
    }
    false
}

/// Sources of rows that the text alone makes, and how many rows each has. A series with a bound that is not known has as many
/// rows as the largest other, or as the largest literal that could be the bound. A function that takes a literal apart
/// counts beside another long literal.
fn series(nodes: &Nodes) -> Vec<(usize, f64)> {
    let bound = |index, nth| nodes.argument(index, nth).and_then(|bound| bound_of(nodes, bound));
    let rows = |index| {
        // A step that is not known is one.
        let step = bound(index, 2).map_or(1.0, |(_, step)| step.abs());
        match (bound(index, 0), bound(index, 1)) {
            (Some((low, least)), Some((high, most))) => {
                Some(((high - least).abs().max((most - low).abs()) / step).floor() + 1.0)
            }
            (Some((low, high)), None) | (None, Some((low, high))) => {
                Some((low.abs().max(high.abs()) / step).floor()).filter(|rows| *rows > TABLE_NUMBER)
            }
            (None, None) => None,
        }
    };
    let gives_rows = |index| nodes.function(index).filter(|function| function.rows == Rows::Set);
    let (all, others): (Vec<_>, Vec<_>) = (0..nodes.len())
        .filter_map(|index| Some((index, gives_rows(index)?)))
        .partition(|(_, function)| function.name == "generate_series");
    let all: Vec<_> = all.into_iter().map(|(index, _)| (index, rows(index))).collect();
    let known = all.iter().filter_map(|(_, rows)| *rows).fold(1.0, f64::max);
    let numbers = nodes.iter().filter(|(_, node)| matches!(node.kind, Kind::Literal { .. }));
    let largest = numbers
        .map(|(index, _)| (index, nodes.largest_number(index)))
        .filter(|(index, number)| number.is_finite() && *number > TABLE_NUMBER && !is_harmless(nodes, *index))
        .fold(1.0, |most: f64, (_, number)| most.max(number));
    let apart = others.into_iter().filter_map(|(index, _)| {
        let outside = |(other, _): &(usize, &Node)| !nodes.within(index).any(|(inner, _)| inner == *other);
        let long = nodes.iter().filter(outside).any(|(other, node)| {
            matches!(node.kind, Kind::Literal { .. }) && nodes.longest_text(other) > LONG
        });
        long.then(|| (index, Some(nodes.longest_text(index) / 2.0)))
    });
    all.iter()
        .copied()
        .chain(apart)
        .map(|(index, rows)| {
            // A literal in a series of times is a time.
            let is_of_times = nodes.argument(index, 2).is_some_and(|step| nodes.name(step) == "timestamp");
            let unknown = if is_of_times { known } else { known.max(largest) };
            (index, rows.unwrap_or(unknown))
        })
        .filter(|(_, rows)| *rows > 1.0)
        .collect()
}

/// The least and the largest value of a bound: the number that is written, or on both sides of zero.
fn bound_of(nodes: &Nodes, index: usize) -> Option<(f64, f64)> {
    match nodes.kind(index) {
        Kind::Minus => return bound_of(nodes, nodes.argument(index, 0)?).map(|(low, high)| (-high, -low)),
        Kind::Subquery => return Some((-nodes.largest_number(index), nodes.largest_number(index))),
        _ => {}
    }
    let amount = amounts::of(nodes, index).filter(|amount| !amount.moving)?.times;
    match nodes.literal(index) {
        Some(text) if text.trim().starts_with('-') => Some((-amount, -amount)),
        Some(_) => Some((amount, amount)),
        None => Some((-amount, amount)),
    }
}

fn exponents(kind: &Kind) -> f64 {
    if let Kind::Literal { text, .. } = kind { literals::exponents(text) } else { 0.0 }
}

/// Returns true for a text that is put together of literals alone, with digits in them, and becomes a number.
fn is_made(nodes: &Nodes, index: usize) -> bool {
    let expands = matches!(nodes.kind(index), Kind::Cast { name, .. } if operators::expands(name));
    let digit = |kind: &Kind| matches!(kind, Kind::Literal { text, .. } if text.contains(|c: char| c.is_ascii_digit()));
    expands
        && nodes.literal(index).is_none()
        && amounts::of(nodes, index).is_none()
        && nodes.within(index).any(|(_, node)| digit(&node.kind))
        && !nodes.reads(index)
}

/// Names the factors.
fn described(nodes: &Nodes, factors: &[(usize, f64)], text: f64, digits: f64, references: f64) -> String {
    let counts = factors.iter().take(4).map(|(index, by)| (*by, format!("{by} ({})", nodes.name(*index))));
    let more = [
        (text, format!("a literal of {text} bytes")),
        (digits, format!("exponents of {digits} digits")),
        (references, format!("{references} references to a column")),
    ];
    let parts = counts.chain(more).filter(|(by, _)| *by > 1.0).map(|(_, part)| part);
    parts.collect::<Vec<_>>().join(" times ")
}
