//! The rules in their order.

use sqlparser::ast::Query;

use super::counts::Counts;
use super::excess::Excess;
use super::nodes::Nodes;
use super::{patterns, product, references, uncancellable};
use crate::guard::lexer::Token;
use crate::guard::refusal::Refusal;

/// Checks a query that the judges let pass.
pub(crate) fn check(query: &Query, tokens: &[Token<'_>]) -> Result<(), Refusal> {
    let nodes = Nodes::of(query);
    judge(&nodes).map_err(|(index, excess)| {
        let at = tokens.get(nodes.at(index)).map_or(0, |token| token.at);
        Refusal::violation(at, excess.to_string())
    })
}

fn judge(nodes: &Nodes) -> Result<(), (usize, Excess)> {
    let counts = Counts::of(nodes)?;
    patterns::check(nodes)?;
    uncancellable::check_added(nodes, &counts)?;
    let references = references::check(nodes, &counts.growth)?;
    product::check(nodes, &counts, references)?;
    uncancellable::check(nodes)
}
