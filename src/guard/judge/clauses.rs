//! Clauses that stand in queries and in calls: ORDER BY, windows, `*`.

use sqlparser::ast::{
    OrderByExpr, OrderByOptions, OrderBySort, WildcardAdditionalOptions, WindowFrame, WindowFrameBound,
    WindowSpec,
};

use super::walk::{Node, Walk};
use crate::guard::refusal::Refusal;

/// Judges the expressions of any `ORDER BY`.
pub(super) fn judge_ordering<'t>(walk: &mut Walk<'t, '_>, exprs: &'t [OrderByExpr]) -> Result<(), Refusal> {
    for OrderByExpr { expr, options: OrderByOptions { sort, nulls_first: _ }, with_fill } in exprs {
        walk.left.push(Node::Expr(expr));
        match sort {
            Some(OrderBySort::Asc | OrderBySort::Desc) | None => {}
            Some(OrderBySort::Using(_)) => return walk.refuse("ORDER BY ... USING needs a plain operator."),
        }
        walk.forbid_foreign(with_fill.is_some())?;
    }
    Ok(())
}

/// Judges a window, behind `OVER` or in a `WINDOW` clause.
pub(super) fn judge_window<'t>(walk: &mut Walk<'t, '_>, spec: &'t WindowSpec) -> Result<(), Refusal> {
    let WindowSpec { window_name, partition_by, order_by, window_frame } = spec;
    if let Some(name) = window_name {
        walk.stand_at(name);
    }
    walk.exprs(partition_by);
    judge_ordering(walk, order_by)?;
    if let Some(WindowFrame { units: _, start_bound, end_bound }) = window_frame {
        for bound in [Some(start_bound), end_bound.as_ref()].into_iter().flatten() {
            walk.exprs(match bound {
                WindowFrameBound::CurrentRow => None,
                WindowFrameBound::Preceding(expr) | WindowFrameBound::Following(expr) => expr.as_deref(),
            });
        }
    }
    Ok(())
}

/// Judges the options behind `*`: PostgreSQL has none.
pub(super) fn judge_wildcard(
    walk: &Walk<'_, '_>,
    options: &WildcardAdditionalOptions,
) -> Result<(), Refusal> {
    let WildcardAdditionalOptions {
        wildcard_token: _,
        opt_ilike: None,
        opt_exclude: None,
        opt_except: None,
        opt_replace: None,
        opt_rename: None,
        opt_alias: None,
    } = options
    else {
        return walk.refuse("`*` stands alone in PostgreSQL; list the columns instead.");
    };
    Ok(())
}
