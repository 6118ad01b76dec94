//! References: how often one value is written out when columns of subqueries stand for what they are made of.
//!
//! `a || a` over a subquery whose `a` is `b || b` holds four times b, and the planner plans it four times. Names are not
//! resolved: a query is built on the heaviest that it reads, on all in its FROM that may use what stands before them,
//! and on the subqueries of its expressions.

use std::collections::HashMap;

use super::excess::{Excess, MAX_REFERENCES};
use super::nodes::{Kind, Nodes};
use crate::guard::functions::Size;

/// The weight that a subquery in an expression has for the planner.
const SUBQUERY: f64 = 16.0;

/// A WITH RECURSIVE query that stands behind what reads it: too much, for it is not weighed yet.
const LATER: f64 = f64::INFINITY;

/// Counts of columns by their names, whatever they are columns of.
#[derive(Default)]
struct Uses<'n> {
    names: HashMap<&'n str, f64>,
    stars: f64,
}

impl<'n> Uses<'n> {
    fn add(&mut self, nodes: &'n Nodes, index: usize) {
        for (_, node) in nodes.within(index) {
            match &node.kind {
                Kind::Column { name, .. } => *self.names.entry(name).or_default() += 1.0,
                Kind::Star => self.stars += 1.0,
                _ => {}
            }
        }
    }

    fn most(&self) -> f64 {
        self.names.values().copied().fold(0.0, f64::max) + self.stars
    }
}

/// Returns the most times that a column is written out by one value, and by all expressions of a query together.
pub(super) fn check(nodes: &Nodes, growth: &[f64]) -> Result<(f64, f64), (usize, Excess)> {
    let growth = nested(nodes, growth);
    let mut weights = Weights { nodes, growth, known: HashMap::new(), with: HashMap::new() };
    let (mut most, mut together) = (1.0_f64, Uses::default());
    together.add(nodes, 0);
    for &index in nodes.inner_first.iter().filter(|index| nodes.kind(**index).is_query()) {
        most = most.max(weights.weigh(index)?);
    }
    Ok((most, most * together.most().max(1.0)))
}

/// Returns the growth of each node with all that it holds; subqueries are counted apart.
fn nested(nodes: &Nodes, growth: &[f64]) -> Vec<f64> {
    let mut nested = growth.to_vec();
    for &index in &nodes.inner_first {
        let within = nodes.children(index).filter(|(_, node)| !node.kind.is_query());
        let within = within.map(|(child, _)| nested.get(child).copied().unwrap_or(1.0));
        // A replacement multiplies with what it is put into.
        let multiplies = |size| matches!(size, Size::Product(..) | Size::Template(_));
        let within = if nodes.function(index).is_some_and(|function| multiplies(function.size)) {
            within.product()
        } else {
            within.fold(1.0, f64::max)
        };
        nested.iter_mut().skip(index).take(1).for_each(|nested| *nested *= within);
    }
    nested
}

struct Weights<'n> {
    nodes: &'n Nodes,
    growth: Vec<f64>,
    known: HashMap<usize, f64>,
    with: HashMap<&'n str, f64>,
}

impl<'n> Weights<'n> {
    /// Weighs a SELECT, or a query around it, by what it holds.
    fn weigh(&mut self, index: usize) -> Result<f64, (usize, Excess)> {
        let nodes = self.nodes;
        let (mut below, mut lateral, mut roots) = (1.0, 1.0, Vec::new());
        for (child, node) in nodes.children(index) {
            match &node.kind {
                Kind::Query { .. } if nodes.with_name(child).is_some() => {}
                Kind::Query { .. } | Kind::Select(_) => below = self.read(below, self.of(child)),
                Kind::From { lateral: true, .. } => lateral *= self.of_source(child),
                Kind::From { .. } => below = self.read(below, self.of_source(child)),
                _ => roots.push((child, node.nth)),
            }
        }
        below *= lateral;
        let mut weight = below;
        for (root, nth) in roots {
            let (of_root, planned) = self.of_root(root, below);
            if of_root * planned > MAX_REFERENCES {
                return Err((root, Excess::References));
            }
            if !matches!(nodes.kind(index), Kind::Select(outputs) if !outputs.contains(&nth)) {
                weight = weight.max(of_root);
            }
        }
        if weight > MAX_REFERENCES {
            return Err((index, Excess::References));
        }
        self.known.insert(index, weight);
        if let Some(name) = nodes.with_name(index) {
            let known = self.with.entry(name).or_insert(weight);
            *known = known.max(weight);
        }
        Ok(weight)
    }

    fn of(&self, index: usize) -> f64 {
        self.known.get(&index).copied().unwrap_or(1.0)
    }

    /// The weight with one more source. Queries that are NOT MATERIALIZED are planned wherever they are read.
    fn read(&self, below: f64, source: f64) -> f64 {
        if self.nodes.not_materialized { below + source } else { below.max(source) }
    }

    /// The weight of what stands in FROM. A WITH query that reads itself gets its rows one by one, as from a table.
    fn of_source(&self, index: usize) -> f64 {
        let nodes = self.nodes;
        let Kind::From { name: Some(name), .. } = nodes.kind(index) else {
            let weights = nodes.children(index).map(|(child, node)| match &node.kind {
                Kind::Query { .. } => self.of(child),
                _ => self.of_root(child, 1.0).0,
            });
            return weights.fold(1.0, f64::max);
        };
        let within = || nodes.around(index).any(|(outer, _)| nodes.with_name(outer) == Some(name));
        match self.with.get(name.as_str()) {
            Some(weight) => *weight,
            None if nodes.recursive && nodes.is_with(name) && !within() => LATER,
            None => 1.0,
        }
    }

    /// Returns the most uses of one column below in an expression as it is written out, and what subqueries in it cost
    /// the planner besides.
    fn of_root(&self, root: usize, below: f64) -> (f64, f64) {
        let (mut uses, mut queries, mut planned, mut next) = (Uses::default(), 1.0, 1.0, root);
        // Of a subquery in it every column may be one of this query.
        uses.add(self.nodes, root);
        for (index, node) in self.nodes.within(root) {
            if index >= next && matches!(node.kind, Kind::Query { .. }) {
                (queries, planned, next) = (queries * self.of(index), SUBQUERY, node.end);
            }
        }
        let growth = self.growth.get(root).copied().unwrap_or(1.0);
        (growth * (uses.most() * below).max(1.0) * queries, planned)
    }
}
