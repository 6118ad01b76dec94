//! The columns of a query and their names, as PostgreSQL names them.

use std::borrow::Cow;

use super::parts::last_ident;
use sqlparser::ast::{AccessExpr, Expr, Query, SelectItem, SetExpr, Spanned as _};
use sqlparser::tokenizer::Span;

/// A column of a query.
pub(super) struct Output<'t> {
    /// `None` for what PostgreSQL gives a name that depends on its version, such as `?column?`.
    pub(super) name: Option<Cow<'t, str>>,
    pub(super) span: Span,
}

/// The columns of a query, in order; `None` when a wildcard stands for some.
pub(super) fn columns(query: &Query) -> Option<Vec<Output<'_>>> {
    let mut body = query.body.as_ref();
    loop {
        body = match body {
            SetExpr::Select(select) => return select.projection.iter().map(item).collect(),
            SetExpr::Query(query) => &query.body,
            SetExpr::SetOperation { op: _, set_quantifier: _, left, right: _ } => left,
            SetExpr::Values(values) => {
                let width = values.rows.first().map_or(0, |row| row.content.len());
                let named = |number| Output {
                    name: Some(Cow::Owned(format!("column{number}"))),
                    span: Span::empty(),
                };
                return Some((1..=width).map(named).collect());
            }
            SetExpr::Insert(_)
            | SetExpr::Update(_)
            | SetExpr::Delete(_)
            | SetExpr::Merge(_)
            | SetExpr::Table(_) => return None,
        }
    }
}

/// The column that an item of a SELECT list is; none for a wildcard.
pub(super) fn item(item: &SelectItem) -> Option<Output<'_>> {
    match item {
        SelectItem::UnnamedExpr(expr) => {
            Some(Output { name: implicit(expr).map(Cow::Borrowed), span: expr.span() })
        }
        SelectItem::ExprWithAlias { expr: _, alias } => {
            Some(Output { name: Some(Cow::Borrowed(&alias.value)), span: alias.span })
        }
        SelectItem::ExprWithAliases { expr: _, aliases: _ }
        | SelectItem::QualifiedWildcard(_, _)
        | SelectItem::Wildcard(_) => None,
    }
}

/// The name that an expression gives its column, when every version gives it the same.
#[expect(clippy::wildcard_enum_match_arm, reason = "anything else has to be given a name")]
fn implicit(mut expr: &Expr) -> Option<&str> {
    loop {
        expr = match expr {
            Expr::Identifier(name) => return Some(&name.value),
            Expr::CompoundIdentifier(parts) => return parts.last().map(|name| name.value.as_str()),
            Expr::CompoundFieldAccess { root: _, access_chain } => {
                return match access_chain.last() {
                    Some(AccessExpr::Dot(Expr::Identifier(field))) => Some(&field.value),
                    Some(AccessExpr::Dot(_) | AccessExpr::Subscript(_)) | None => None,
                };
            }
            Expr::Function(function) => return last_ident(&function.name).map(|name| name.value.as_str()),
            Expr::Nested(inner)
            | Expr::Cast { kind: _, expr: inner, data_type: _, format: _ }
            | Expr::Collate { expr: inner, collation: _ } => inner,
            _ => return None,
        }
    }
}

/// The parts of set operations, in order.
pub(super) fn arms_of(body: &SetExpr) -> Vec<&SetExpr> {
    let (mut left, mut arms) = (vec![body], Vec::new());
    while let Some(part) = left.pop() {
        if let SetExpr::SetOperation { op: _, set_quantifier: _, left: first, right } = part {
            left.extend([right.as_ref(), first]);
        } else {
            arms.push(part);
        }
    }
    arms
}

/// The expression of a column.
pub(super) fn column_of(item: &SelectItem) -> Option<&Expr> {
    match item {
        SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, alias: _ } => Some(expr),
        SelectItem::ExprWithAliases { expr: _, aliases: _ }
        | SelectItem::QualifiedWildcard(_, _)
        | SelectItem::Wildcard(_) => None,
    }
}

/// The expressions of the columns of a SELECT or VALUES.
#[expect(clippy::wildcard_enum_match_arm, reason = "the others have none of their own")]
pub(super) fn columns_of(arm: &SetExpr) -> Vec<&Expr> {
    match arm {
        SetExpr::Select(select) => select.projection.iter().filter_map(column_of).collect(),
        SetExpr::Values(values) => values.rows.iter().flat_map(|row| &row.content).collect(),
        _ => Vec::new(),
    }
}
