//! The product: what counts, literals, rows and references of a statement can make of one value together.

use super::arena::{Item, Kind, Slot};
use super::counts::{Counts, Factor};
use super::excess::{Excess, MAX_BYTES, MAX_COUNT, MAX_LITERAL, Quantity};
use super::listing::Listing;
use super::literals::{self, NUMERIC_DIGITS, as_float};
use super::references::References;
use crate::guard::functions::{Rows, operators};
use crate::guard::judge::names::type_name;

/// Literals up to this length are not counted beside a count.
const SHORT: f64 = 16.0;
/// Literals up to this length are not counted where time is, nor without a count.
const LONG: f64 = 1_000.0;
/// Bytes that an element of an array takes while it is written out, on average: a range or a shape takes 1 KB.
const ELEMENT_BYTES: f64 = 120.0;
/// The rows of a table that an aggregate is taken to hold in one value.
const TABLE_ROWS: f64 = 1_000.0;
/// The number that a column of a table stands for.
const TABLE_NUMBER: f64 = 100.0;
/// Checks the product, with what can reach the counts that hold columns.
pub(super) fn check(
    listing: &Listing<'_>,
    counts: &Counts,
    references: References,
) -> Result<(), (usize, Excess)> {
    let series = series(listing);
    let kept = series.iter().filter(|series| is_kept(listing, series.index));
    let mut factors: Vec<&Factor> = counts.factors.iter().chain(kept).collect();
    let longest = longest_in(listing, 0);
    let long = if longest > LONG { longest } else { 1.0 };
    let borrowed: Vec<Factor> =
        counts.replacing.iter().map(|index| Factor { index: *index, by: long }).collect();
    factors.extend(borrowed.iter().filter(|factor| factor.by > 1.0));
    let mut digits = exponents(listing);
    if digits > MAX_COUNT {
        return Err((0, Excess::Exponents { digits: Quantity(digits) }));
    }
    beside(listing, counts, &series, long)?;
    let Some(largest) = factors.iter().max_by(|one, other| one.by.total_cmp(&other.by)) else {
        let bytes = long * digits.max(1.0) * references.of_one;
        let what = || described(listing, &[], long, digits, references.of_one);
        return if bytes > MAX_BYTES { Err((0, Excess::Together { what: what() })) } else { Ok(()) };
    };
    digits += made_digits(listing);
    let at = listing.at(largest.index);
    let base: f64 = factors.iter().map(|factor| factor.by).product();
    let written = references.of_all.max(references.of_one);
    // What a column or a row brings could be any literal of the statement.
    let brought = |item: &Item<'_>| {
        matches!(item.kind, Kind::Column { .. } | Kind::Star | Kind::Call("generate_series", _))
    };
    let beside = |index: usize| {
        let any = listing.within(index).any(|(_, item)| brought(item) || item.kind.is_level());
        if any { longest } else { longest_in(listing, index) }
    };
    let indices = factors.iter().map(|factor| factor.index).chain(counts.replacing.iter().copied());
    let counted = indices.map(beside).filter(|length| *length > SHORT).fold(long, f64::max);
    if base * counted * digits.max(1.0) * overhead(listing, counts, &factors) * written > MAX_BYTES {
        let what = described(listing, &factors, counted, digits, written);
        return Err((at, Excess::Together { what }));
    }
    let busy = base * long * digits.max(1.0) * references.of_one;
    if busy * busy > MAX_BYTES && listing.iter().any(|(index, _)| listing.is_quadratic(index)) {
        return Err((
            at,
            Excess::Busy { what: described(listing, &factors, long, digits, references.of_one) },
        ));
    }
    Ok(())
}

/// Returns the length of the longest literal in a node.
fn longest_in(listing: &Listing<'_>, index: usize) -> f64 {
    let lengths = listing.within(index).filter_map(|(_, item)| match item.kind {
        Kind::Literal(value) => Some(as_float(literals::length(value))),
        _ => None,
    });
    lengths.fold(1.0, f64::max)
}

/// Returns the bytes that each byte or element takes.
fn overhead(listing: &Listing<'_>, counts: &Counts, factors: &[&Factor]) -> f64 {
    let is = |names: &[&str]| {
        factors
            .iter()
            .any(|factor| matches!(listing.kind(factor.index), Kind::Call(name, _) if names.contains(&name)))
    };
    let elements = if is(&["array_fill", "generate_series"]) { ELEMENT_BYTES } else { 1.0 };
    let rows = if listing.collects() && !is(&["generate_series"]) { TABLE_ROWS } else { 1.0 };
    counts.overhead.max(elements) * rows
}

/// Beside a count that holds a column no literal is large enough to reach it through that column.
fn beside(
    listing: &Listing<'_>,
    counts: &Counts,
    series: &[Factor],
    longest: f64,
) -> Result<(), (usize, Excess)> {
    let Some(moving) = counts.moving.iter().max_by(|one, other| one.by.total_cmp(&other.by)) else {
        return Ok(());
    };
    let name = listing.name(moving.index);
    let recursive: Vec<usize> = listing.recursive().map(|(index, _)| index).collect();
    let mut largest = TABLE_NUMBER;
    for (index, item) in listing.iter() {
        let number = reaches(listing, index, &recursive);
        if number <= largest || is_harmless(listing, index, recursive.is_empty()) {
            continue;
        }
        if number > MAX_LITERAL {
            let literal = match item.kind {
                Kind::Literal(_) => format!("The literal {}", Quantity(number)),
                _ => format!("A result of {}", listing.name(index)),
            };
            return Err((item.at, Excess::Beside { name, literal }));
        }
        largest = number;
    }
    let rows: f64 = series.iter().map(|series| series.by).product();
    let times = moving.by * largest.max(rows) * longest;
    if times > MAX_BYTES {
        return Err((listing.at(moving.index), Excess::Times { name, times: Quantity(times) }));
    }
    Ok(())
}

/// The number that a node brings into the statement. Multiplied or doubled at every step of a recursion, it is soon any.
fn reaches(listing: &Listing<'_>, index: usize, recursive: &[usize]) -> f64 {
    let moves = |n| {
        listing.argument(index, n).and_then(|argument| listing.amount(argument)).is_some_and(|it| it.moving)
    };
    let repeated = || listing.around(index).any(|(outer, _)| recursive.contains(&outer));
    match listing.kind(index) {
        Kind::Literal(value) => literals::largest_number(value),
        Kind::Operator("^" | "<<") | Kind::Call("power" | "pow" | "exp" | "factorial", Some(_)) => {
            f64::INFINITY
        }
        Kind::Operator("*") if repeated() => f64::INFINITY,
        Kind::Operator("+") if moves(0) && moves(1) && repeated() => f64::INFINITY,
        _ => 0.0,
    }
}

/// Returns true for a literal that cannot become a count: a divisor, a date, an address, or, without a recursion that it
/// could stop, an operand of a comparison or a limit.
fn is_harmless(listing: &Listing<'_>, index: usize, compared: bool) -> bool {
    let mut slot = listing.items.get(index).map_or(Slot::Body, |item| item.slot);
    for (outer, item) in listing.around(index) {
        match item.kind {
            // What is limited is no larger than its limit.
            Kind::Call("least", _)
                if listing.amount(outer).is_some_and(|amount| amount.written.is_some()) =>
            {
                return true;
            }
            _ if slot == Slot::Limit => return compared,
            Kind::Operator("/") if slot == Slot::Argument(1) => return true,
            Kind::Cast(data_type) if is_text_of_digits(data_type) => return true,
            Kind::Operator(operator) if operators::compares(operator) => return compared,
            Kind::Truth => return compared,
            kind if kind.is_level() => return false,
            _ => slot = item.slot,
        }
    }
    false
}

fn is_text_of_digits(data_type: &sqlparser::ast::DataType) -> bool {
    use sqlparser::ast::DataType;
    matches!(data_type, DataType::Interval { .. } | DataType::Time(..) | DataType::Timestamp(..))
        || operators::holds_digits(type_name(data_type))
}

/// Series of numbers, and how many rows each has. One whose bounds are not written has as many as the largest other.
fn series(listing: &Listing<'_>) -> Vec<Factor> {
    let rows = |index: usize| {
        let bound = |n| listing.argument(index, n).map(|argument| bound(listing, argument));
        let ((first, exact), (last, also)) = (bound(0)??, bound(1)??);
        let step = bound(2).map_or(Some(1.0), |step| step.map(|(step, _)| step.abs()))?;
        // Numbers that are written are as far apart as they are, others are at most on both sides of zero.
        let distance = if exact && also { (last - first).abs() } else { first.abs() + last.abs() };
        Some((distance / step).floor() + 1.0)
    };
    let calls =
        listing.iter().filter(|(_, item)| matches!(item.kind, Kind::Call("generate_series", Some(_))));
    let series: Vec<(usize, Option<f64>)> = calls.map(|(index, _)| (index, rows(index))).collect();
    let most = series.iter().filter_map(|(_, rows)| *rows).fold(1.0, f64::max);
    series
        .into_iter()
        .map(|(index, rows)| Factor { index, by: rows.unwrap_or(most) })
        .filter(|series| series.by > 1.0)
        .collect()
}

/// The value of a bound, and whether it is written as it is; of what is computed, the largest it can be.
fn bound(listing: &Listing<'_>, argument: usize) -> Option<(f64, bool)> {
    let amount = listing.amount(argument).filter(|amount| !amount.unbounded && !amount.moving)?;
    let exact = listing.literal(argument).map(|value| literals::text(value).trim().starts_with('-'));
    let signs = listing.within(argument).filter(|(_, item)| matches!(item.kind, Kind::Minus)).count();
    let negative = exact.is_some_and(|minus| minus != (signs % 2 == 1));
    amount.written.map(|number| (if negative { -number } else { number }, exact.is_some()))
}

/// Returns true where the rows of a series are kept in memory, by its level or by one that reads it.
fn is_kept(listing: &Listing<'_>, index: usize) -> bool {
    let mut level = listing.level(index);
    // A series among the columns gives its rows after aggregates have made one of many.
    let mut among_columns =
        !listing.children(level).any(|(child, item)| child == index && item.slot == Slot::From);
    loop {
        if listing.own(level).any(|(index, _)| listing.is_collecting(index)) {
            return true;
        }
        let aggregates =
            |index| listing.function(index).is_some_and(|function| function.rows == Rows::Aggregate);
        if !among_columns
            && matches!(listing.kind(level), Kind::Rows { grouped: false })
            && listing.own(level).any(|(index, _)| aggregates(index))
        {
            return false;
        }
        among_columns = false;
        let Some(item) = listing.items.get(level) else { return false };
        match (item.slot, listing.kind(item.parent)) {
            // A WITH query may be read anywhere.
            (Slot::With, _) => return listing.collects(),
            (Slot::Argument(_) | Slot::Condition, Kind::Kept) => return true,
            // EXCEPT and INTERSECT keep their rows, and UNION does in a recursion.
            (Slot::Body, Kind::Set { union: false, .. }) => return true,
            (Slot::Body, Kind::Set { all: false, .. }) if listing.recursive().next().is_some() => {
                return true;
            }
            (Slot::Body | Slot::From | Slot::Lateral, _) if item.parent != level => level = item.parent,
            _ => return false,
        }
    }
}

/// Returns the digits that the exponents of all literals stand for.
fn exponents(listing: &Listing<'_>) -> f64 {
    let of_literals = listing.iter().map(|(_, item)| match item.kind {
        Kind::Literal(value) => as_float(literals::exponents(value)),
        _ => 0.0,
    });
    of_literals.sum()
}

/// Returns the digits that may hide in texts that are put together and become numbers.
fn made_digits(listing: &Listing<'_>) -> f64 {
    let made = listing.iter().filter(|(index, item)| match item.kind {
        Kind::Cast(data_type) => writes_out(data_type) && is_made(listing, *index),
        _ => false,
    });
    made.map(|_| as_float(NUMERIC_DIGITS)).sum()
}

fn writes_out(data_type: &sqlparser::ast::DataType) -> bool {
    use sqlparser::ast::{ArrayElemTypeDef, DataType};
    match data_type {
        DataType::Array(ArrayElemTypeDef::SquareBracket(element, _)) => {
            operators::expands(type_name(element))
        }
        _ => operators::expands(type_name(data_type)),
    }
}

/// Returns true for a cast of a text that is put together of literals alone, with digits in them.
fn is_made(listing: &Listing<'_>, index: usize) -> bool {
    let inner = listing.argument(index, 0).map(|inner| listing.bare(inner));
    let Some(inner) =
        inner.filter(|inner| matches!(listing.kind(*inner), Kind::Operator("||") | Kind::Call(..)))
    else {
        return false;
    };
    let digits = |item: &Item<'_>| match item.kind {
        Kind::Literal(value) => literals::text(value).contains(|c: char| c.is_ascii_digit()),
        _ => false,
    };
    let columns = |item: &Item<'_>| matches!(item.kind, Kind::Column { .. } | Kind::Star | Kind::Query(_));
    listing.amount(inner).is_none_or(|amount| amount.unbounded)
        && listing.within(inner).any(|(_, item)| digits(item))
        && !listing.within(inner).any(|(_, item)| columns(item))
}

/// Names the factors.
fn described(listing: &Listing<'_>, factors: &[&Factor], longest: f64, digits: f64, written: f64) -> String {
    let mut parts: Vec<String> = factors
        .iter()
        .map(|factor| format!("{} ({})", Quantity(factor.by), listing.name(factor.index)))
        .collect();
    let omitted = parts.len().saturating_sub(4);
    parts.truncate(4);
    let more = [
        (omitted > 0, format!("{omitted} more counts")),
        (longest > 1.0, format!("a literal of {} bytes", Quantity(longest))),
        (digits > 0.0, format!("exponents of {} digits", Quantity(digits))),
        (written > 1.0, format!("{} references to a column", Quantity(written))),
    ];
    parts.extend(more.into_iter().filter(|(holds, _)| *holds).map(|(_, part)| part));
    parts.join(" times ")
}
