//! The columns of a query and their names, as PostgreSQL names them.

use sqlparser::ast::{AccessExpr, Expr, Ident, ObjectName, Query, SelectItem, SetExpr, Spanned as _};
use sqlparser::tokenizer::Span;

/// A column of a query: its name, and its place. PostgreSQL gives some a name that depends on its version, such as
/// `?column?`; these have none here.
pub(crate) type Output = (Option<String>, Span);

/// The columns of a query, in order; `None` when a wildcard stands for some.
pub(crate) fn columns(query: &Query) -> Option<Vec<Output>> {
    let mut body = query.body.as_ref();
    loop {
        body = match body {
            SetExpr::Select(select) => {
                let items = select.projection.iter().map(column_of);
                return items.map(|item| item.map(|(expr, alias)| output(expr, alias))).collect();
            }
            SetExpr::Query(query) => &query.body,
            SetExpr::SetOperation { op: _, set_quantifier: _, left, right: _ } => left,
            SetExpr::Values(values) => {
                let width = values.rows.first().map_or(0, |row| row.content.len());
                return Some(
                    (1..=width).map(|number| (Some(format!("column{number}")), Span::empty())).collect(),
                );
            }
            SetExpr::Insert(_)
            | SetExpr::Update(_)
            | SetExpr::Delete(_)
            | SetExpr::Merge(_)
            | SetExpr::Table(_) => return None,
        }
    }
}

/// The expression of an item of a SELECT list and its alias; none for a wildcard.
pub(crate) const fn column_of(item: &SelectItem) -> Option<(&Expr, Option<&Ident>)> {
    match item {
        SelectItem::UnnamedExpr(expr) => Some((expr, None)),
        SelectItem::ExprWithAlias { expr, alias } => Some((expr, Some(alias))),
        SelectItem::ExprWithAliases { expr: _, aliases: _ }
        | SelectItem::QualifiedWildcard(_, _)
        | SelectItem::Wildcard(_) => None,
    }
}

fn output(expr: &Expr, alias: Option<&Ident>) -> Output {
    match alias {
        Some(alias) => (Some(alias.value.clone()), alias.span),
        None => (implicit(expr).map(str::to_owned), expr.span()),
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

/// The expressions of each column of a query, those of all parts of a set operation together.
#[expect(clippy::wildcard_enum_match_arm, reason = "the others have none of their own")]
pub(crate) fn exprs_of(query: &Query) -> Vec<Vec<&Expr>> {
    let (mut left, mut columns) = (vec![query.body.as_ref()], Vec::new());
    while let Some(part) = left.pop() {
        let rows: Vec<Vec<&Expr>> = match part {
            SetExpr::SetOperation { op: _, set_quantifier: _, left: first, right } => {
                left.extend([right.as_ref(), first]);
                continue;
            }
            SetExpr::Query(query) => {
                left.push(&query.body);
                continue;
            }
            SetExpr::Select(select) => {
                vec![select.projection.iter().filter_map(column_of).map(|(expr, _)| expr).collect()]
            }
            SetExpr::Values(values) => values.rows.iter().map(|row| row.content.iter().collect()).collect(),
            _ => continue,
        };
        for (index, expr) in rows.into_iter().flat_map(|row| row.into_iter().enumerate()) {
            columns.resize_with(columns.len().max(index + 1), Vec::new);
            columns.get_mut(index).into_iter().for_each(|column| column.push(expr));
        }
    }
    columns
}

/// The name of a function, a type or a column, without its schema.
pub(crate) fn last_ident(ObjectName(parts): &ObjectName) -> Option<&Ident> {
    parts.last()?.as_ident()
}
