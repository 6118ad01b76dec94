//! Numbers as counts: bounds of those that are written, and what keeps the others small.

use super::nodes::{Kind, Nodes};
use crate::guard::functions::{Group, Number, Rows, operators};

/// A bound of a value as a number, without its sign.
#[derive(Clone, Copy, Debug)]
pub(super) struct Amount {
    /// It holds a column, an aggregate or the clock.
    pub(super) moving: bool,
    /// The number, or what the numbers in its columns are multiplied by.
    pub(super) times: f64,
    /// Its largest literal.
    pub(super) largest: f64,
}

impl Amount {
    const COLUMN: Self = Self { moving: true, times: 1.0, largest: 0.0 };

    const fn written(number: f64) -> Self {
        Self { moving: false, times: number, largest: number }
    }
}

fn merge(one: Option<Amount>, other: Option<Amount>, by: fn(f64, f64) -> f64) -> Option<Amount> {
    let (one, other) = one.zip(other)?;
    let (moving, largest) = (one.moving || other.moving, one.largest.max(other.largest));
    Some(Amount { moving, times: by(one.times, other.times), largest })
}

/// Returns the bound of a node, or nothing where it could be any number.
pub(super) fn of(nodes: &Nodes, index: usize) -> Option<Amount> {
    let operand = |nth| nodes.argument(index, nth).and_then(|operand| of(nodes, operand));
    let arguments = || nodes.arguments(index).map(|(child, _)| of(nodes, child));
    let largest = || arguments().reduce(|one, other| merge(one, other, f64::max));
    let column = || operand(0).filter(|amount| amount.moving).map(|_| Amount::COLUMN);
    match nodes.kind(index) {
        Kind::Literal { number, .. } => number.map(Amount::written),
        // A literal in a subquery stands beside the count.
        Kind::Column { .. } | Kind::Star | Kind::Subquery => Some(Amount::COLUMN),
        Kind::Minus | Kind::Cast { .. } => operand(0),
        Kind::Case(operand) => {
            let skip = usize::from(*operand);
            let last = nodes.children(index).count();
            let results = nodes
                .children(index)
                .skip(skip)
                .filter(|(_, node)| (node.nth - skip) % 2 == 1 || node.nth + 1 == last);
            results.map(|(child, _)| of(nodes, child)).reduce(|one, other| merge(one, other, f64::max))?
        }
        Kind::Truth => Some(Amount::written(1.0)),
        Kind::Access => column(),
        Kind::Part(small) => part(nodes, index, *small),
        Kind::Operator(sign) => match sign.as_str() {
            "+" | "-" => merge(operand(0), operand(1), |one, other| one + other),
            "*" => {
                let (one, other) = operand(0).zip(operand(1))?;
                let both = merge(Some(one), Some(other), |one, other| one * other);
                both.filter(|_| !(one.moving && other.moving))
            }
            "/" => operand(0).filter(|_| is_divisor(nodes, index)),
            "%" => operand(1),
            sign if operators::compares(sign) => Some(Amount::written(1.0)),
            sign if operators::accesses(sign) => column(),
            _ => None,
        },
        Kind::Call { function: Some(function), name, .. } => {
            let counted = matches!(function.rows, Rows::Aggregate | Rows::Collects | Rows::Window);
            let clock = matches!(function.group, Group::Times | Group::Grammar);
            match function.number {
                Number::Counts => position(nodes, index, counted),
                Number::Keeps if name == "least" => {
                    let all: Vec<_> = arguments().collect();
                    let limits = all.iter().flatten().filter(|amount| !amount.moving);
                    let limit = limits.min_by(|one, other| one.times.total_cmp(&other.times)).copied();
                    limit.or_else(|| all.into_iter().reduce(|one, other| merge(one, other, f64::max))?)
                }
                Number::Keeps => {
                    let all = largest().unwrap_or(Some(Amount { moving: clock, ..Amount::written(1.0) }))?;
                    Some(Amount { moving: all.moving || counted, times: all.times.max(1.0), ..all })
                }
                Number::Part => {
                    let field = nodes.argument(index, 0).and_then(|field| nodes.literal(field));
                    part(nodes, index, field.is_some_and(operators::is_small_part))
                }
                Number::Large => None,
            }
        }
        _ => None,
    }
}

/// Returns true for a divisor that is a number from 1, or that a column gives; what it is then is not looked at.
fn is_divisor(nodes: &Nodes, index: usize) -> bool {
    let Some(divisor) = nodes.argument(index, 1) else { return false };
    let fraction = nodes.within(divisor).any(|(_, node)| {
        matches!(node.kind, Kind::Literal { number: Some(number), .. } if number > 0.0 && number < 1.0)
    });
    let amount = of(nodes, divisor);
    let written = matches!(nodes.kind(divisor), Kind::Literal { number: Some(_), .. });
    !fraction && amount.is_some_and(|amount| amount.moving || written && amount.times >= 1.0)
}

/// A length or a position in what a column holds, as far as repetitions within do not lengthen that.
fn position(nodes: &Nodes, index: usize, counted: bool) -> Option<Amount> {
    let numbers = nodes.within(index).filter_map(|(_, node)| match node.kind {
        Kind::Literal { number, quoted: false, .. } => number,
        _ => None,
    });
    let all = numbers.fold(Amount::COLUMN, |all, number| Amount {
        times: all.times * number.max(1.0),
        largest: all.largest.max(number),
        ..all
    });
    (counted || nodes.reads(index)).then_some(all)
}

/// A part of a date that a column or the clock gives. Literals of dates and intervals move it no further than they say.
fn part(nodes: &Nodes, index: usize, small: bool) -> Option<Amount> {
    let clock = |index| nodes.function(index).is_some_and(|function| function.group == Group::Times);
    let moves = nodes.reads(index) || nodes.within(index).skip(1).any(|(inner, _)| clock(inner));
    (small && moves).then(|| Amount { largest: nodes.largest_number(index), ..Amount::COLUMN })
}
