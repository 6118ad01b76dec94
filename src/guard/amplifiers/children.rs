//! The parts of a node before they are listed.

use sqlparser::ast::{
    Cte, DataType, Expr, Query, SetExpr, Table, TableFactor, TableWithJoins, ValueWithSpan,
};

use super::arena::Slot;

/// A part that is left to be listed.
#[derive(Clone, Copy)]
pub(super) enum Raw<'t> {
    Query(&'t Query, Option<&'t Cte>),
    Body(&'t SetExpr),
    Table(&'t Table),
    Factor(&'t TableFactor),
    Joined(&'t TableWithJoins),
    Expr(&'t Expr),
    Value(&'t ValueWithSpan),
    Type(&'t DataType),
    Star,
}

/// The parts of a node, in order.
#[derive(Default)]
pub(super) struct Children<'t>(pub(super) Vec<(Slot<'t>, Raw<'t>)>);

impl<'t> Children<'t> {
    pub(super) fn push(&mut self, slot: Slot<'t>, raw: Raw<'t>) {
        self.0.push((slot, raw));
    }

    pub(super) fn exprs(&mut self, slot: Slot<'t>, exprs: impl IntoIterator<Item = &'t Expr>) {
        self.0.extend(exprs.into_iter().map(|expr| (slot, Raw::Expr(expr))));
    }

    pub(super) fn operands(&mut self, exprs: impl IntoIterator<Item = &'t Expr>) {
        let numbered = exprs.into_iter().enumerate();
        self.0.extend(numbered.map(|(index, expr)| (Slot::Argument(index), Raw::Expr(expr))));
    }
}
