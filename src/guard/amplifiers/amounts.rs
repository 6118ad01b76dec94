//! Numbers as counts: bounds of those that are written, and what keeps the others small.

use sqlparser::ast::Value;

use super::arena::{Item, Kind, Slot, children, within};
use super::expressions::is_small_part;
use super::literals;
use crate::guard::functions::{Group, Number, Rows, operators};

/// A bound of a value as a number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Amount {
    /// An upper bound, without the sign, if only literals decide.
    pub(super) written: Option<f64>,
    /// It holds a column, an aggregate or the clock.
    pub(super) moving: bool,
    /// It can be any number, whatever the literals are.
    pub(super) unbounded: bool,
    /// The factor of its literals on the numbers in its columns.
    pub(super) times: f64,
    /// Its largest literal.
    pub(super) largest: f64,
    /// It holds a literal between zero and one, or a quotient of literals.
    fraction: bool,
}

impl Amount {
    const NONE: Self = Self {
        written: Some(0.0),
        moving: false,
        unbounded: false,
        times: 0.0,
        largest: 0.0,
        fraction: false,
    };
    const UNBOUNDED: Self = Self { written: None, unbounded: true, times: 1.0, ..Self::NONE };
    const COLUMN: Self = Self { written: None, moving: true, times: 1.0, ..Self::NONE };

    const fn written(number: f64) -> Self {
        Self { written: Some(number), times: number, largest: number, ..Self::NONE }
    }

    /// Of both: `merge` makes a bound of two.
    fn with(self, other: Self, merge: impl Fn(f64, f64) -> f64) -> Self {
        Self {
            written: self.written.zip(other.written).map(|(one, other)| merge(one, other)),
            moving: self.moving || other.moving,
            unbounded: self.unbounded || other.unbounded,
            times: merge(self.times, other.times),
            largest: self.largest.max(other.largest),
            fraction: self.fraction || other.fraction,
        }
    }
}

/// Returns the bound of every node.
pub(super) fn of(items: &[Item<'_>]) -> Vec<Amount> {
    let mut amounts = vec![Amount::UNBOUNDED; items.len()];
    for index in (0..items.len()).rev() {
        let amount = amount(items, &amounts, index);
        if let Some(place) = amounts.get_mut(index) {
            *place = amount;
        }
    }
    amounts
}

fn amount(items: &[Item<'_>], amounts: &[Amount], index: usize) -> Amount {
    let Some(item) = items.get(index) else { return Amount::UNBOUNDED };
    let known = |child: usize| amounts.get(child).copied().unwrap_or(Amount::UNBOUNDED);
    let values = || {
        let parts = children(items, index);
        parts.filter(|(_, item)| item.slot.is_argument() || matches!(item.slot, Slot::Output | Slot::Body))
    };
    let largest = || values().map(|(child, _)| known(child)).reduce(|one, other| one.with(other, f64::max));
    let nth = |n: usize| values().nth(n).map_or(Amount::UNBOUNDED, |(child, _)| known(child));
    match item.kind {
        Kind::Literal(value) => of_literal(value),
        Kind::Column { .. } | Kind::Star => Amount::COLUMN,
        Kind::Same
        | Kind::Minus
        | Kind::Cast(_)
        | Kind::Choice
        | Kind::Query(_)
        | Kind::Rows { .. }
        | Kind::Set { .. } => largest().unwrap_or(Amount::NONE),
        Kind::Truth => Amount { fraction: false, ..Amount::written(1.0) },
        Kind::Operator("+" | "-") => nth(0).with(nth(1), |one, other| one + other),
        Kind::Operator("*") => product(nth(0), nth(1)),
        Kind::Operator("/") => quotient(nth(0), nth(1)),
        Kind::Operator("%") => Amount { largest: nth(0).largest.max(nth(1).largest), ..nth(1) },
        Kind::Operator(operator) if operators::compares(operator) => Amount::written(1.0),
        Kind::Operator(operator) if operators::accesses(operator) => accessed(nth(0)),
        Kind::Access => accessed(nth(0)),
        Kind::Part { small } => part(items, index, largest().unwrap_or(Amount::UNBOUNDED), small),
        Kind::Call(name, function) => {
            let all = largest();
            let Some(function) = function else {
                return Amount { unbounded: true, ..all.unwrap_or(Amount::NONE) };
            };
            let clock = all.is_none() && matches!(function.group, Group::Times | Group::Grammar);
            let counted = matches!(function.rows, Rows::Aggregate | Rows::Collects | Rows::Window);
            let all = all.unwrap_or(Amount::written(1.0));
            let all = Amount { moving: all.moving || clock || counted, ..all };
            match function.number {
                Number::Counts => count(items, index, all),
                Number::Keeps if name == "least" => least(values().map(|(child, _)| known(child)), all),
                Number::Keeps => {
                    Amount { written: all.written.filter(|_| !counted), times: all.times.max(1.0), ..all }
                }
                Number::Part => {
                    let field = values().next().and_then(|(_, item)| match item.kind {
                        Kind::Literal(value) => Some(literals::text(value)),
                        _ => None,
                    });
                    part(items, index, all, field.is_some_and(is_small_part))
                }
                Number::Large => Amount { unbounded: true, ..all },
            }
        }
        Kind::Operator(_) | Kind::Build | Kind::Kept | Kind::Table { .. } => {
            Amount { unbounded: true, ..largest().unwrap_or(Amount::NONE) }
        }
    }
}

fn of_literal(value: &Value) -> Amount {
    match literals::number(value) {
        Some(number) => Amount { fraction: number > 0.0 && number < 1.0, ..Amount::written(number) },
        None => Amount { largest: literals::largest_number(value), ..Amount::UNBOUNDED },
    }
}

fn product(one: Amount, other: Amount) -> Amount {
    let both = one.with(other, |one, other| one * other);
    Amount { unbounded: both.unbounded || one.moving && other.moving, ..both }
}

/// A divisor counts only where it is made of literals and may be below one.
fn quotient(value: Amount, divisor: Amount) -> Amount {
    let safe = divisor.written.map_or(divisor.moving, |number| number >= 1.0);
    let moving = value.moving || divisor.moving;
    let fraction = value.fraction || !value.moving;
    Amount { unbounded: value.unbounded || !safe || divisor.fraction, moving, fraction, ..value }
}

/// A field of a column is one; of what is written it could be anything.
fn accessed(value: Amount) -> Amount {
    if value.moving && !value.unbounded { Amount::COLUMN } else { Amount { unbounded: true, ..value } }
}

/// A length or a position in what a column holds, as far as repetitions within do not lengthen that.
fn count(items: &[Item<'_>], index: usize, all: Amount) -> Amount {
    let numbers = within(items, index).filter_map(|(_, item)| match item.kind {
        Kind::Literal(value @ Value::Number(..)) => literals::number(value),
        _ => None,
    });
    let times = numbers.fold(1.0, |times, number| times * number.max(1.0));
    Amount { written: None, unbounded: !all.moving, times, ..all }
}

/// The smallest of what is written bounds the rest.
fn least(values: impl Iterator<Item = Amount>, all: Amount) -> Amount {
    let limit = values.filter(|value| !value.unbounded).filter_map(|value| value.written).reduce(f64::min);
    limit.map_or(all, |limit| Amount { fraction: all.fraction, ..Amount::written(limit) })
}

/// A part of a date that a column or the clock gives; literals of dates and intervals move it no further than they say.
fn part(items: &[Item<'_>], index: usize, all: Amount, small: bool) -> Amount {
    let literals = within(items, index).filter_map(|(_, item)| match item.kind {
        Kind::Literal(value) => Some(literals::largest_number(value)),
        _ => None,
    });
    let largest = literals.fold(0.0, f64::max);
    Amount { unbounded: !small || !all.moving, written: None, times: 1.0, largest, fraction: false, ..all }
}
