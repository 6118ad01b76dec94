//! Calls that nothing cancels, on values that the statement itself makes; and functions of which nothing is known.

use super::counts::Counts;
use super::excess::Excess;
use super::nodes::{Kind, Nodes};
use super::product::{collects, is_quadratic};
use crate::guard::functions::Rows;

/// PostgreSQL does not look at cancels while it compares two values: one of them must be a literal or a table's.
pub(super) fn check(nodes: &Nodes) -> Result<(), (usize, Excess)> {
    if !collects(nodes) && !nodes.recursive {
        return Ok(());
    }
    for (index, _) in nodes.iter().filter(|(index, _)| is_quadratic(nodes, *index)) {
        let name = nodes.name(index);
        // What an aggregate makes nests no deeper than what it is made of.
        let shallow = name == "jsonb_pretty" && !nodes.recursive;
        if !shallow && !nodes.arguments(index).any(|(operand, _)| is_small(nodes, operand)) {
            return Err((index, Excess::Uncancellable { name }));
        }
    }
    Ok(())
}

/// Returns true for a value of literals and of columns of tables alone, row by row.
fn is_small(nodes: &Nodes, operand: usize) -> bool {
    nodes.within(operand).all(|(_, node)| match &node.kind {
        Kind::Column { of, .. } => is_of_table(nodes, of.as_deref()),
        Kind::Call { function, .. } => function.is_some_and(|function| function.rows == Rows::One),
        kind => !matches!(kind, Kind::Star | Kind::Keeps | Kind::Query { .. }),
    })
}

/// Returns true where all that a column could be of is a table, or what a function makes of literals.
fn is_of_table(nodes: &Nodes, of: Option<&str>) -> bool {
    let mut sources = nodes.iter().filter_map(|(index, node)| match &node.kind {
        Kind::From { name, alias, .. } if of.is_none_or(|of| of == alias) => Some((index, name)),
        _ => None,
    });
    let plain = |kind: &Kind| !matches!(kind, Kind::Column { .. } | Kind::Query { .. });
    sources.all(|(index, name)| {
        name.as_ref().is_none_or(|name| !nodes.is_with(name))
            && nodes.within(index).all(|(_, node)| plain(&node.kind))
    })
}

/// A function that the operator added may make anything: it stands neither in nor around what multiplies.
pub(super) fn check_added(nodes: &Nodes, counts: &Counts) -> Result<(), (usize, Excess)> {
    let factors = counts.factors.iter().chain(&counts.moving).map(|(index, _)| *index);
    let multiplying: Vec<usize> = factors.chain(counts.replacing.iter().copied()).collect();
    for (index, node) in nodes.iter() {
        let Kind::Call { name, function: None, .. } = &node.kind else { continue };
        let near = nodes.around(index).chain(nodes.within(index));
        let calls =
            |index: &usize| matches!(nodes.kind(*index), Kind::Call { .. }) && multiplying.contains(index);
        if let Some(around) = near.map(|(index, _)| index).find(calls) {
            return Err((index, Excess::Added { name: name.clone(), around: nodes.name(around) }));
        }
    }
    Ok(())
}
