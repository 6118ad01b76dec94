//! Patterns: JSON paths that find an item many times, and regular expressions that repeat repetitions.

use super::excess::{Excess, MAX_ITEMS, MAX_REPETITIONS};
use super::literals::as_float;
use super::nodes::{Kind, Nodes};
use crate::guard::functions::Keys;

/// Checks every path and every regular expression that is written, and that paths are.
pub(super) fn check(nodes: &Nodes) -> Result<(), (usize, Excess)> {
    for (index, node) in nodes.iter() {
        let (path, pattern) = match &node.kind {
            Kind::Call { function: Some(function), .. } => {
                (function.keys == Keys::Path, function.pattern.and_then(|nth| nodes.argument(index, nth)))
            }
            Kind::Operator(sign) if sign.contains('~') => (false, nodes.argument(index, 1)),
            Kind::Operator(sign) => (sign == "@?" || sign == "@@", None),
            Kind::Cast { name, .. } if name == "jsonpath" => {
                let made = |(inner, _)| !matches!(nodes.kind(inner), Kind::Column { .. });
                if nodes.literal(index).is_none() && nodes.arguments(index).any(made) {
                    return Err((index, Excess::PathMade));
                }
                (true, None)
            }
            _ => continue,
        };
        let mut texts = nodes.within(index).filter(|_| path).filter_map(|(inner, _)| nodes.literal(inner));
        if texts.any(|text| items(text) > MAX_ITEMS) {
            return Err((
                index,
                Excess::Pattern { name: nodes.name(index), most: MAX_ITEMS, what: "items for each one" },
            ));
        }
        if pattern.and_then(|it| nodes.literal(it)).is_some_and(|it| repetitions(it) > MAX_REPETITIONS) {
            return Err((
                index,
                Excess::Pattern { name: nodes.name(index), most: MAX_REPETITIONS, what: "repetitions" },
            ));
        }
    }
    Ok(())
}

/// Returns the number of items that a path can make of each one: `[0,0]` finds an item twice, and so on; `keyvalue()`
/// makes three members of every one, 8 with what is written around them. No bound with more than one `**`.
fn items(path: &str) -> f64 {
    let lists: f64 = path.split('[').skip(1).map(|list| as_float(list.matches(',').count() + 1)).product();
    let deep = if path.matches("**").count() > 1 { f64::INFINITY } else { 1.0 };
    path.matches("keyvalue").fold(lists * deep, |items, _| items * 8.0)
}

/// Returns the product of all `{n}` and `{n,m}` of a regular expression, nested or not.
fn repetitions(pattern: &str) -> f64 {
    let bounds = pattern.split('{').skip(1).filter_map(|rest| rest.split_once('}'));
    let counts = bounds.filter_map(|(bound, _)| bound.rsplit(',').find_map(|n| n.trim().parse::<f64>().ok()));
    counts.filter(|count| *count > 1.0).product()
}
