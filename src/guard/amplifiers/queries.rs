//! Queries as nodes: their clauses, and what they read from.

use sqlparser::ast::{
    Distinct, GroupByExpr, JoinConstraint, JoinOperator, LimitClause, NamedWindowDefinition, NamedWindowExpr,
    OrderBy, OrderByKind, Query, Select, SelectItem, SelectItemQualifiedWildcardKind, SetExpr, SetOperator,
    SetQuantifier, TableFactor, TableFunctionArgs, TableSampleKind, TableWithJoins,
};

use super::arena::{Kind, Slot};
use super::children::{Children, Raw};
use super::expressions::{arguments, at_name, call_of, of_window};
use crate::guard::judge::names::last_name;

pub(super) fn of_query<'t>(query: &'t Query, children: &mut Children<'t>) {
    for cte in query.with.iter().flat_map(|with| &with.cte_tables) {
        children.push(Slot::With, Raw::Query(&cte.query, Some(cte)));
    }
    children.push(Slot::Body, Raw::Body(&query.body));
    if let Some(OrderBy { kind: OrderByKind::Expressions(exprs), .. }) = &query.order_by {
        children.exprs(Slot::Clause, exprs.iter().map(|order| &order.expr));
    }
    if let Some(LimitClause::LimitOffset { limit, offset, limit_by: _ }) = &query.limit_clause {
        children.exprs(Slot::Limit, limit.iter().chain(offset.iter().map(|offset| &offset.value)));
    }
    children.exprs(Slot::Limit, query.fetch.iter().filter_map(|fetch| fetch.quantity.as_ref()));
}

pub(super) fn of_body<'t>(body: &'t SetExpr, children: &mut Children<'t>) -> Kind<'t> {
    match body {
        SetExpr::Select(select) => return of_select(select, children),
        SetExpr::Query(query) => {
            children.push(Slot::Body, Raw::Query(query, None));
            return Kind::Set { union: true, all: true };
        }
        SetExpr::SetOperation { left, right, op, set_quantifier } => {
            children.push(Slot::Body, Raw::Body(left));
            children.push(Slot::Body, Raw::Body(right));
            let all = matches!(set_quantifier, SetQuantifier::All);
            return Kind::Set { union: matches!(op, SetOperator::Union), all };
        }
        SetExpr::Values(values) => {
            children.exprs(Slot::Output, values.rows.iter().flat_map(|row| &row.content));
        }
        SetExpr::Table(table) => {
            children.push(Slot::From, Raw::Table(table));
            children.push(Slot::Output, Raw::Star);
        }
        SetExpr::Insert(_) | SetExpr::Update(_) | SetExpr::Delete(_) | SetExpr::Merge(_) => {}
    }
    Kind::Rows { grouped: false }
}

fn of_select<'t>(select: &'t Select, children: &mut Children<'t>) -> Kind<'t> {
    for table in &select.from {
        children.push(Slot::From, Raw::Joined(table));
    }
    for item in &select.projection {
        children.push(
            Slot::Output,
            match item {
                SelectItem::UnnamedExpr(expr)
                | SelectItem::ExprWithAlias { expr, .. }
                | SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::Expr(expr), _) => {
                    Raw::Expr(expr)
                }
                _ => Raw::Star,
            },
        );
    }
    if let Some(Distinct::On(exprs)) = &select.distinct {
        children.exprs(Slot::Clause, exprs);
    }
    children.exprs(Slot::Clause, select.selection.iter().chain(&select.having));
    for NamedWindowDefinition(_, window) in &select.named_window {
        if let NamedWindowExpr::WindowSpec(spec) = window {
            of_window(spec, Slot::Clause, children);
        }
    }
    let GroupByExpr::Expressions(grouping, _) = &select.group_by else { return Kind::Rows { grouped: true } };
    children.exprs(Slot::Clause, grouping);
    Kind::Rows { grouped: !grouping.is_empty() }
}

pub(super) fn of_joins<'t>(table: &'t TableWithJoins, children: &mut Children<'t>) {
    children.push(Slot::From, Raw::Factor(&table.relation));
    for join in &table.joins {
        children.push(Slot::From, Raw::Factor(&join.relation));
        if let JoinOperator::Join(constraint)
        | JoinOperator::Inner(constraint)
        | JoinOperator::Left(constraint)
        | JoinOperator::LeftOuter(constraint)
        | JoinOperator::Right(constraint)
        | JoinOperator::RightOuter(constraint)
        | JoinOperator::FullOuter(constraint) = &join.join_operator
            && let JoinConstraint::On(expr) = constraint
        {
            children.push(Slot::Clause, Raw::Expr(expr));
        }
    }
}

pub(super) fn of_factor<'t>(
    factor: &'t TableFactor,
    near: usize,
    children: &mut Children<'t>,
) -> Option<(Kind<'t>, usize)> {
    if let TableFactor::Table { sample: Some(sample), .. }
    | TableFactor::Derived { sample: Some(sample), .. } = factor
    {
        let (TableSampleKind::AfterTableAlias(sample) | TableSampleKind::BeforeTableAlias(sample)) = sample;
        children.exprs(Slot::Clause, sample.quantity.iter().map(|quantity| &quantity.value));
    }
    match factor {
        TableFactor::Table { name, alias, args: Some(TableFunctionArgs { args, .. }), .. }
        | TableFactor::Function { name, alias, args, .. } => {
            arguments(args, children);
            for column in alias.iter().flat_map(|alias| &alias.columns) {
                column.data_type.iter().for_each(|it| children.push(Slot::Clause, Raw::Type(it)));
            }
            return Some((call_of(name), at_name(name, near)));
        }
        TableFactor::Table { name, alias, .. } => {
            let single = (name.0.len() == 1).then(|| last_name(name));
            let alias = alias.as_ref().map_or(last_name(name), |alias| &alias.name.value);
            return Some((Kind::Table { name: single, alias }, at_name(name, near)));
        }
        TableFactor::Derived { subquery, lateral, .. } => {
            children.push(if *lateral { Slot::Lateral } else { Slot::From }, Raw::Query(subquery, None));
        }
        TableFactor::NestedJoin { table_with_joins, .. } => {
            children.push(Slot::From, Raw::Joined(table_with_joins));
        }
        _ => {}
    }
    None
}
