//! Judges queries and their clauses.

use sqlparser::ast::{
    Cte, CteAsMaterialized, Distinct, Fetch, GroupByExpr, LimitClause, NamedWindowDefinition,
    NamedWindowExpr, Offset, OrderBy, OrderByKind, Parens, Query, Select, SelectFlavor, SelectItem,
    SelectItemQualifiedWildcardKind, SetExpr, SetOperator, SetQuantifier, Values, With,
};

use super::walk::{Node, Walk};
use super::{clauses, from, identifiers};
use crate::guard::parser::constructs::LOCKS;
use crate::guard::refusal::Refusal;

/// Judges the clauses around a query's body.
pub(super) fn judge_query<'t>(walk: &mut Walk<'t, '_>, query: &'t Query) -> Result<(), Refusal> {
    let Query {
        with,
        body,
        order_by,
        limit_clause,
        fetch,
        locks,
        for_clause,
        settings,
        format_clause,
        pipe_operators,
    } = query;
    if let Some(With { with_token: _, recursive: _, cte_tables }) = with {
        cte_tables.iter().try_for_each(|cte| judge_cte(walk, cte))?;
    }
    walk.left.push(Node::Body(body));
    order_by.iter().try_for_each(|order_by| judge_order_by(walk, order_by))?;
    limit_clause.iter().try_for_each(|limit| judge_limit(walk, limit))?;
    if let Some(Fetch { with_ties: _, percent, quantity }) = fetch {
        if *percent {
            return walk.refuse("FETCH ... PERCENT is not PostgreSQL's; use LIMIT.");
        }
        walk.exprs(quantity);
    }
    if !locks.is_empty() || for_clause.is_some() {
        return walk.refuse(LOCKS);
    }
    walk.forbid_foreign(settings.is_some() || format_clause.is_some() || !pipe_operators.is_empty())?;
    Ok(())
}

fn judge_cte<'t>(walk: &mut Walk<'t, '_>, cte: &'t Cte) -> Result<(), Refusal> {
    let Cte { alias, query, from, materialized, closing_paren_token: _ } = cte;
    from::judge_alias(walk, alias)?;
    let (Some(CteAsMaterialized::Materialized | CteAsMaterialized::NotMaterialized) | None) = materialized;
    walk.forbid_foreign(from.is_some())?;
    walk.query(query);
    Ok(())
}

/// Judges a SELECT, a set operation, VALUES or TABLE.
pub(super) fn judge_body<'t>(walk: &mut Walk<'t, '_>, body: &'t SetExpr) -> Result<(), Refusal> {
    match body {
        SetExpr::Select(select) => return judge_select(walk, select),
        SetExpr::Query(query) => walk.query(query),
        SetExpr::SetOperation { left, op, set_quantifier, right } => {
            let standard = match (op, set_quantifier) {
                (SetOperator::Minus, _)
                | (_, SetQuantifier::ByName | SetQuantifier::AllByName | SetQuantifier::DistinctByName) => {
                    false
                }
                (
                    SetOperator::Union | SetOperator::Except | SetOperator::Intersect,
                    SetQuantifier::All | SetQuantifier::Distinct | SetQuantifier::None,
                ) => true,
            };
            if !standard {
                return walk.refuse("Set operations are UNION, INTERSECT and EXCEPT, with or without ALL.");
            }
            walk.left.extend([left, right].map(|body| Node::Body(body)));
        }
        SetExpr::Values(Values { explicit_row, value_keyword, rows }) => {
            walk.forbid_foreign(*explicit_row || *value_keyword)?;
            walk.exprs(
                rows.iter().flat_map(|Parens { opening_token: _, content, closing_token: _ }| content),
            );
        }
        // TABLE is shown to the parser as SELECT * FROM.
        SetExpr::Table(_) => return walk.refuse_foreign(),
        SetExpr::Insert(_) | SetExpr::Update(_) | SetExpr::Delete(_) | SetExpr::Merge(_) => {
            return walk.refuse("Changing data is not allowed here; write a SELECT.");
        }
    }
    Ok(())
}

#[expect(clippy::too_many_lines, reason = "every clause is named, so that a new one stops the build")]
fn judge_select<'t>(walk: &mut Walk<'t, '_>, select: &'t Select) -> Result<(), Refusal> {
    let Select {
        select_token: _,
        optimizer_hints,
        distinct,
        select_modifiers,
        top,
        top_before_distinct,
        projection,
        exclude,
        into,
        from,
        lateral_views,
        prewhere,
        selection,
        connect_by,
        group_by,
        cluster_by,
        distribute_by,
        sort_by,
        having,
        named_window,
        qualify,
        window_before_qualify: _,
        value_table_mode,
        flavor,
    } = select;
    if into.is_some() {
        return walk.refuse("SELECT INTO makes a table, which is not allowed; leave INTO out.");
    }
    let foreign = !optimizer_hints.is_empty()
        || select_modifiers.is_some()
        || top.is_some()
        || *top_before_distinct
        || exclude.is_some()
        || !lateral_views.is_empty()
        || prewhere.is_some()
        || !connect_by.is_empty()
        || !cluster_by.is_empty()
        || !distribute_by.is_empty()
        || !sort_by.is_empty()
        || qualify.is_some()
        || value_table_mode.is_some()
        || match flavor {
            SelectFlavor::Standard => false,
            SelectFlavor::FromFirst | SelectFlavor::FromFirstNoSelect => true,
        };
    walk.forbid_foreign(foreign)?;
    match distinct {
        Some(Distinct::All | Distinct::Distinct) | None => {}
        Some(Distinct::On(exprs)) => walk.exprs(exprs),
    }
    projection.iter().try_for_each(|item| judge_item(walk, item))?;
    walk.left.extend(from.iter().map(Node::Joined));
    walk.exprs(selection);
    walk.exprs(having);
    judge_group_by(walk, group_by)?;
    for NamedWindowDefinition(_, window) in named_window {
        match window {
            NamedWindowExpr::NamedWindow(name) => walk.stand_at(name),
            NamedWindowExpr::WindowSpec(spec) => clauses::judge_window(walk, spec)?,
        }
    }
    Ok(())
}

fn judge_item<'t>(walk: &mut Walk<'t, '_>, item: &'t SelectItem) -> Result<(), Refusal> {
    match item {
        SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, alias: _ } => {
            walk.left.push(Node::Expr(expr));
            Ok(())
        }
        SelectItem::ExprWithAliases { expr: _, aliases: _ } => walk.refuse_foreign(),
        SelectItem::QualifiedWildcard(kind, options) => {
            match kind {
                SelectItemQualifiedWildcardKind::ObjectName(name) => {
                    drop(identifiers::judge_object(walk, name)?)
                }
                SelectItemQualifiedWildcardKind::Expr(expr) => walk.left.push(Node::Expr(expr)),
            }
            clauses::judge_wildcard(walk, options)
        }
        SelectItem::Wildcard(options) => clauses::judge_wildcard(walk, options),
    }
}

fn judge_group_by<'t>(walk: &mut Walk<'t, '_>, group_by: &'t GroupByExpr) -> Result<(), Refusal> {
    match group_by {
        GroupByExpr::Expressions(exprs, modifiers) if modifiers.is_empty() => {
            walk.exprs(exprs);
            Ok(())
        }
        GroupByExpr::Expressions(_, _) | GroupByExpr::All(_) => {
            walk.refuse("GROUP BY takes expressions, ROLLUP (...), CUBE (...) and GROUPING SETS (...).")
        }
    }
}

fn judge_limit<'t>(walk: &mut Walk<'t, '_>, limit: &'t LimitClause) -> Result<(), Refusal> {
    match limit {
        LimitClause::LimitOffset { limit, offset, limit_by } => {
            walk.forbid_foreign(!limit_by.is_empty())?;
            walk.exprs(limit);
            if let Some(Offset { value, rows: _ }) = offset {
                walk.left.push(Node::Expr(value));
            }
            Ok(())
        }
        LimitClause::OffsetCommaLimit { offset: _, limit: _ } => {
            walk.refuse("LIMIT a, b is not PostgreSQL's; write LIMIT b OFFSET a.")
        }
    }
}

fn judge_order_by<'t>(walk: &mut Walk<'t, '_>, order_by: &'t OrderBy) -> Result<(), Refusal> {
    let OrderBy { kind, interpolate } = order_by;
    match kind {
        OrderByKind::Expressions(exprs) if interpolate.is_none() => clauses::judge_ordering(walk, exprs),
        OrderByKind::Expressions(_) | OrderByKind::All(_) => walk.refuse_foreign(),
    }
}
