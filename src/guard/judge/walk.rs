//! The walk over the tree: the nodes that are left, and the roles of names found so far.
//!
//! The walk keeps its own list of nodes: its stack does not grow with the tree.

use sqlparser::ast::{Expr, Ident, Query, SetExpr, TableFactor, TableWithJoins};
use sqlparser::tokenizer::Span;

use super::roles::NameRole;
use crate::guard::config::GuardConfig;
use crate::guard::lexer::Token;
use crate::guard::parser::token_of;
use crate::guard::refusal::{Reason, Refusal};

/// A node that is left to judge.
pub(super) enum Node<'t> {
    Query(&'t Query),
    Body(&'t SetExpr),
    Joined(&'t TableWithJoins),
    Factor(&'t TableFactor),
    Expr(&'t Expr),
    /// An element of `ARRAY[…]`, where a further `[…]` is an array.
    Element(&'t Expr),
}

/// The state of a walk.
pub(super) struct Walk<'t, 's> {
    pub(super) config: &'t GuardConfig,
    pub(super) left: Vec<Node<'t>>,
    tokens: &'t [Token<'s>],
    /// The token of the name seen last: the place of a refusal.
    near: usize,
    roles: Vec<NameRole>,
}

impl<'t, 's> Walk<'t, 's> {
    pub(super) fn new(query: &'t Query, tokens: &'t [Token<'s>], config: &'t GuardConfig) -> Self {
        let roles = vec![NameRole::None; tokens.len()];
        Self { config, left: vec![Node::Query(query)], tokens, near: 0, roles }
    }

    /// Refuses the statement at the name seen last.
    pub(super) fn refuse<T>(&self, detail: impl Into<String>) -> Result<T, Refusal> {
        Err(Refusal::violation(self.tokens.get(self.near).map_or(0, |t| t.at), detail))
    }

    /// Refuses a name that could call a function.
    pub(super) fn refuse_function<T>(&self, detail: impl Into<String>) -> Result<T, Refusal> {
        self.refuse(detail).map_err(|refusal| refusal.about(Reason::Function))
    }

    /// Refuses a clause that only other databases have.
    pub(super) fn refuse_foreign<T>(&self) -> Result<T, Refusal> {
        self.refuse("This clause is not PostgreSQL's SQL; leave it out.")
    }

    /// Refuses a clause that only other databases have, when it is there.
    pub(super) fn forbid_foreign(&self, present: bool) -> Result<(), Refusal> {
        if present { self.refuse_foreign() } else { Ok(()) }
    }

    pub(super) fn stand_at(&mut self, ident: &Ident) {
        self.stand_at_span(ident.span);
    }

    pub(super) fn stand_at_span(&mut self, span: Span) {
        if let Some(index) = token_of(span) {
            self.near = index;
        }
    }

    /// Gives the name a role. Refuses a name that is not a token of ours; it always is, unless something went wrong.
    pub(super) fn account(&mut self, ident: &Ident, role: NameRole) -> Result<(), Refusal> {
        let known = token_of(ident.span).and_then(|index| self.roles.get_mut(index));
        let Some(known) = known else { return self.refuse_foreign() };
        *known = role;
        Ok(())
    }

    pub(super) fn exprs(&mut self, exprs: impl IntoIterator<Item = &'t Expr>) {
        self.left.extend(exprs.into_iter().map(Node::Expr));
    }

    /// Leaves the elements of an `ARRAY[…]` for later.
    pub(super) fn elements(&mut self, elements: &'t [Expr]) {
        self.left.extend(elements.iter().map(Node::Element));
    }

    pub(super) fn query(&mut self, query: &'t Query) {
        self.left.push(Node::Query(query));
    }

    pub(super) fn into_roles(self) -> Vec<NameRole> {
        self.roles
    }
}
