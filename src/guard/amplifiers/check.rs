//! The rules in their order.

use sqlparser::ast::Query;

use super::counts::Counts;
use super::excess::Excess;
use super::listing::Listing;
use super::{patterns, product, recursion, references, uncancellable};
use crate::guard::lexer::Token;
use crate::guard::refusal::Refusal;

/// Checks a query that the judges let pass.
pub(crate) fn check(query: &Query, tokens: &[Token<'_>]) -> Result<(), Refusal> {
    judge(query).map_err(|(token, excess)| {
        Refusal::violation(tokens.get(token).map_or(0, |token| token.at), excess.to_string())
    })
}

fn judge(query: &Query) -> Result<(), (usize, Excess)> {
    let listing = Listing::of(query);
    let counts = Counts::of(&listing)?;
    patterns::check(&listing)?;
    uncancellable::check_added(&listing, &counts)?;
    recursion::check(&listing, &counts)?;
    let references = references::check(&listing, &counts.growth)?;
    product::check(&listing, &counts, references)?;
    uncancellable::check(&listing)
}
