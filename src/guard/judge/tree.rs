//! The judge of the tree.
//!
//! Every enum is matched without `_` and every struct destructured without `..`, so that a new version of the parser does
//! not build before its new variants and fields have been judged.

use sqlparser::ast::{Array, Expr, Query};

use super::roles::NameRole;
use super::walk::{Node, Walk};
use super::{expressions, from, select};
use crate::guard::config::GuardConfig;
use crate::guard::lexer::Token;
use crate::guard::refusal::Refusal;

/// Judges a tree. Returns the role of every token, which names the tree accounts for.
pub(crate) fn judge(
    query: &Query,
    tokens: &[Token<'_>],
    config: &GuardConfig,
) -> Result<Vec<NameRole>, Refusal> {
    let mut walk = Walk::new(query, tokens, config);
    while let Some(node) = walk.left.pop() {
        let left = walk.left.len();
        match node {
            Node::Query(query) => select::judge_query(&mut walk, query)?,
            Node::Body(body) => select::judge_body(&mut walk, body)?,
            Node::Joined(table) => from::judge_joined(&mut walk, table)?,
            Node::Factor(factor) => from::judge_factor(&mut walk, factor)?,
            Node::Element(Expr::Array(Array { elem, named: _ })) => walk.elements(elem),
            Node::Expr(expr) | Node::Element(expr) => expressions::judge_expr(&mut walk, expr)?,
        }
        // The first node is judged first, so that the first refusal is reported.
        walk.left.get_mut(left..).unwrap_or_default().reverse();
    }
    Ok(walk.into_roles())
}
