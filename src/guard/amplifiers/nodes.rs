//! A query as a list of nodes.

use sqlparser::ast::{Query, Table};

use super::arena::{Item, Kind, Slot};
use super::children::{Children, Raw};
use super::expressions::of_expr;
use super::queries::{of_body, of_factor, of_joins, of_query};
use crate::guard::parser::token_of;

/// Lists a query that the judge of the tree let pass.
pub(super) fn list(query: &Query) -> Vec<Item<'_>> {
    let mut items: Vec<Item<'_>> = Vec::new();
    let mut left = vec![(0, Slot::Body, Raw::Query(query, None))];
    while let Some((parent, slot, raw)) = left.pop() {
        let mut children = Children::default();
        let near = items.get(parent).map_or(0, |parent| parent.at);
        let mut index = parent;
        if let Some((kind, at)) = open(raw, near, &mut children) {
            index = items.len();
            items.push(Item { kind, slot, parent, end: index + 1, at });
        }
        left.extend(children.0.into_iter().rev().map(|(slot, raw)| (index, slot, raw)));
    }
    for index in (1..items.len()).rev() {
        let Some(&Item { parent, end, .. }) = items.get(index) else { continue };
        if let Some(parent) = items.get_mut(parent) {
            parent.end = parent.end.max(end);
        }
    }
    items
}

/// The node itself, unless it only stands around others, and what it holds.
fn open<'t>(raw: Raw<'t>, near: usize, children: &mut Children<'t>) -> Option<(Kind<'t>, usize)> {
    Some(match raw {
        Raw::Query(query, cte) => {
            of_query(query, children);
            (Kind::Query(cte), cte.and_then(|cte| token_of(cte.alias.name.span)).unwrap_or(near))
        }
        Raw::Body(body) => (of_body(body, children), near),
        Raw::Joined(table) => {
            of_joins(table, children);
            return None;
        }
        Raw::Table(Table { table_name, schema_name }) => {
            let alias = table_name.as_ref().map_or("", |name| name.value.as_str());
            (Kind::Table { name: Some(alias).filter(|_| schema_name.is_none()), alias }, near)
        }
        Raw::Factor(factor) => return of_factor(factor, near, children),
        Raw::Expr(expr) => return of_expr(expr, near, children),
        Raw::Value(value) => (Kind::Literal(&value.value), token_of(value.span).unwrap_or(near)),
        Raw::Type(data_type) => (Kind::Cast(data_type), near),
        Raw::Star => (Kind::Star, near),
    })
}
