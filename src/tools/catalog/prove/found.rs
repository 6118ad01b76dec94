//! The parts of a statement as the walk finds them, in a form that each rule can go through.

use sqlparser::ast::{Expr, Ident, Query, TableAlias, TableAliasColumnDef};

use super::parts::{Call, Part, placeholders};
use super::scope::Scopes;
use super::tables::Read;
use crate::guard::lexer::Token;
use crate::guard::parser::token_of;

/// The parts of a statement.
#[derive(Default)]
pub(super) struct Found<'t> {
    pub(super) tokens: &'t [Token<'t>],
    pub(super) scopes: Scopes<'t>,
    /// Every expression, with the scope that it sees.
    pub(super) exprs: Vec<(&'t Expr, Option<usize>)>,
    /// Every call, in expressions and in `FROM`.
    pub(super) calls: Vec<Call<'t>>,
    pub(super) queries: Vec<&'t Query>,
    /// Every expression that is no part of another, and whether it is an output column; without arguments in `FROM`.
    pub(super) roots: Vec<(&'t Expr, bool)>,
    /// Calls in `FROM`, and their aliases.
    pub(super) functions: Vec<(Call<'t>, Option<&'t TableAlias>)>,
    /// Other names for the first columns of a query.
    pub(super) renamed: Vec<(&'t Query, &'t [TableAliasColumnDef])>,
    /// Columns that joins compare by their names.
    pub(super) using: Vec<&'t Ident>,
    pub(super) tables: Vec<Read>,
    /// Placeholders that become columns of subqueries, which may be patterns elsewhere; by their tokens.
    pub(super) carried: Vec<usize>,
    /// The parts left to visit, with the scope that it sees.
    pub(super) left: Vec<(Part<'t>, Option<usize>)>,
}

impl<'t> Found<'t> {
    /// Returns the byte of the text where a name stands.
    pub(super) fn place(&self, ident: &Ident) -> Option<usize> {
        token_of(ident.span).and_then(|index| self.byte(index))
    }

    pub(super) fn byte(&self, token: usize) -> Option<usize> {
        self.tokens.get(token).map(|token| token.at)
    }

    /// Returns whether the name is written. The parser is shown other names in place of some forms.
    pub(super) fn is_written(&self, ident: &Ident) -> bool {
        let token = token_of(ident.span).and_then(|index| self.tokens.get(index));
        token.is_some_and(|token| token.is_name() && token.name == ident.value)
    }

    /// Leaves expressions of a clause to be visited: a condition, a key of sorting or grouping, a count.
    pub(super) fn leave(&mut self, exprs: impl IntoIterator<Item = &'t Expr>, scope: Option<usize>) {
        for expr in exprs {
            self.roots.push((expr, false));
            self.left.push((Part::Expr(expr), scope));
        }
    }

    /// Leaves an output column to be visited.
    pub(super) fn leave_column(&mut self, expr: &'t Expr, scope: Option<usize>) {
        self.roots.push((expr, true));
        self.left.push((Part::Expr(expr), scope));
    }

    /// Notes the placeholders that become values of a column that is read elsewhere.
    pub(super) fn carry(&mut self, expr: &'t Expr) {
        self.carried.extend(placeholders(expr));
    }
}
