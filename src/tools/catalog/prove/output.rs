//! What a query's columns are called, as PostgreSQL calls them.

use std::borrow::Cow;

use sqlparser::{
    ast::{AccessExpr, Expr, ObjectName, ObjectNamePart, Query, SelectItem, SetExpr, Spanned as _},
    tokenizer::Span,
};

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
            Expr::Function(function) => return last_name(&function.name),
            Expr::Nested(inner)
            | Expr::Cast { kind: _, expr: inner, data_type: _, format: _ }
            | Expr::Collate { expr: inner, collation: _ } => inner,
            _ => return None,
        }
    }
}

/// The name of a function or a type, without its schema.
pub(super) fn last_name(ObjectName(parts): &ObjectName) -> Option<&str> {
    match parts.last()? {
        ObjectNamePart::Identifier(ident) => Some(&ident.value),
        ObjectNamePart::Function(_) => None,
    }
}
