//! The parts of an expression.

use sqlparser::ast::{
    AccessExpr, Array, CaseWhen, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentClause,
    FunctionArguments, Ident, InTarget, Interval, ObjectName, OrderByExpr, Query, Subscript, TypedString,
    Value, ValueWithSpan, WindowFrame, WindowFrameBound, WindowSpec, WindowType,
};

use crate::guard::output_columns::last_ident;
use crate::guard::parser::token_of;

/// A part of an expression.
pub(super) enum Part<'t> {
    Expr(&'t Expr),
    Query(&'t Query),
}

/// A call, in an expression or in `FROM`.
#[derive(Clone, Copy)]
pub(super) struct Call<'t> {
    /// The function's name without its schema.
    pub(super) name: &'t Ident,
    is_of_schema: bool,
    pub(super) args: &'t [FunctionArg],
}

impl<'t> Call<'t> {
    pub(super) fn new(name: &'t ObjectName, args: &'t [FunctionArg]) -> Option<Self> {
        let ObjectName(parts) = name;
        let is_of_schema = match parts.as_slice() {
            [_] => false,
            [schema, _] => schema.as_ident().is_none_or(|schema| schema.value != "pg_catalog"),
            _ => true,
        };
        Some(Self { name: last_ident(name)?, is_of_schema, args })
    }

    /// The function's name, unless it is written with a schema that is not PostgreSQL's own.
    pub(super) fn built_in(&self) -> &'t str {
        if self.is_of_schema { "" } else { &self.name.value }
    }

    /// Returns the call that an expression is.
    pub(super) fn of(expr: &'t Expr) -> Option<Self> {
        let Expr::Function(Function { name, args, .. }) = expr else { return None };
        Self::new(name, args_of(args))
    }
}

/// The arguments of a call, without a subquery.
const fn args_of(args: &FunctionArguments) -> &[FunctionArg] {
    match args {
        FunctionArguments::List(list) => list.args.as_slice(),
        FunctionArguments::None | FunctionArguments::Subquery(_) => &[],
    }
}

/// Returns the direct parts of an expression. Forms that the guard refuses have no parts that matter.
#[expect(
    clippy::too_many_lines,
    reason = "one match over every expression, so that a new one stops the build"
)]
pub(super) fn parts_of(expr: &Expr) -> Vec<Part<'_>> {
    match expr {
        Expr::Identifier(_)
        | Expr::CompoundIdentifier(_)
        | Expr::Value(_)
        | Expr::TypedString(TypedString { data_type: _, value: _, uses_odbc_syntax: _ })
        | Expr::Wildcard(_)
        | Expr::QualifiedWildcard(_, _) => Vec::new(),
        Expr::CompoundFieldAccess { root, access_chain } => {
            exprs([root.as_ref()].into_iter().chain(access_chain.iter().flat_map(subscripts)))
        }
        Expr::IsFalse(inner)
        | Expr::IsNotFalse(inner)
        | Expr::IsTrue(inner)
        | Expr::IsNotTrue(inner)
        | Expr::IsNull(inner)
        | Expr::IsNotNull(inner)
        | Expr::IsUnknown(inner)
        | Expr::IsNotUnknown(inner)
        | Expr::IsNormalized { expr: inner, form: _, negated: _ }
        | Expr::Nested(inner)
        | Expr::UnaryOp { op: _, expr: inner }
        | Expr::Cast { kind: _, expr: inner, data_type: _, format: _ }
        | Expr::Extract { field: _, syntax: _, expr: inner }
        | Expr::Ceil { expr: inner, field: _ }
        | Expr::Floor { expr: inner, field: _ }
        | Expr::Collate { expr: inner, collation: _ }
        | Expr::Interval(Interval {
            value: inner,
            leading_field: _,
            leading_precision: _,
            last_field: _,
            fractional_seconds_precision: _,
        }) => exprs([inner.as_ref()]),
        Expr::IsDistinctFrom(left, right)
        | Expr::IsNotDistinctFrom(left, right)
        | Expr::BinaryOp { left, op: _, right }
        | Expr::AnyOp { left, compare_op: _, right, is_some: _ }
        | Expr::AllOp { left, compare_op: _, right }
        | Expr::AtTimeZone { timestamp: left, time_zone: right }
        | Expr::Position { expr: left, r#in: right } => exprs([left.as_ref(), right.as_ref()]),
        Expr::In { expr, target, negated: _, global: _ } => {
            let mut parts = exprs([expr.as_ref()]);
            match target {
                InTarget::List(list) => parts.extend(list.iter().map(Part::Expr)),
                InTarget::Subquery(query) => parts.push(Part::Query(query)),
                InTarget::Unnest(_) | InTarget::Table { name: _, args: _ } => {}
            }
            parts
        }
        Expr::Between { expr, negated: _, low, high } => exprs([expr.as_ref(), low, high]),
        Expr::Like { negated: _, any: _, expr, pattern, escape_char }
        | Expr::ILike { negated: _, any: _, expr, pattern, escape_char }
        | Expr::SimilarTo { negated: _, expr, pattern, escape_char } => {
            exprs([expr.as_ref(), pattern].into_iter().chain(escape_char.as_deref()))
        }
        Expr::Substring { expr, substring_from, substring_for, special: _, shorthand: _ } => {
            let rest = substring_from.as_deref().into_iter().chain(substring_for.as_deref());
            exprs([expr.as_ref()].into_iter().chain(rest))
        }
        Expr::Trim { trim_where: _, trim_what, expr, trim_characters } => {
            let rest = trim_what.as_deref().into_iter().chain(trim_characters.iter().flatten());
            exprs([expr.as_ref()].into_iter().chain(rest))
        }
        Expr::Overlay { expr, overlay_what, overlay_from, overlay_for } => {
            exprs([expr.as_ref(), overlay_what, overlay_from].into_iter().chain(overlay_for.as_deref()))
        }
        Expr::Function(function) => {
            let mut parts = parts_around(function);
            parts.extend(args_of(&function.args).iter().filter_map(argument).map(Part::Expr));
            parts
        }
        Expr::Case { case_token: _, end_token: _, operand, conditions, else_result } => {
            let arms = conditions.iter().flat_map(|CaseWhen { condition, result }| [condition, result]);
            exprs(operand.as_deref().into_iter().chain(arms).chain(else_result.as_deref()))
        }
        Expr::Exists { subquery, negated: _ } | Expr::Subquery(subquery) => vec![Part::Query(subquery)],
        Expr::GroupingSets(sets) | Expr::Cube(sets) | Expr::Rollup(sets) => exprs(sets.iter().flatten()),
        Expr::Tuple(items) | Expr::Array(Array { elem: items, named: _ }) => exprs(items),
        // The guard refuses these.
        Expr::JsonAccess { value: _, path: _ }
        | Expr::IsJson { expr: _, kind: _, unique_keys: _, negated: _ }
        | Expr::RLike { negated: _, expr: _, pattern: _, regexp: _ }
        | Expr::Convert { .. }
        | Expr::Prefixed { prefix: _, value: _ }
        | Expr::Struct { values: _, fields: _ }
        | Expr::Named { expr: _, name: _ }
        | Expr::Dictionary(_)
        | Expr::Map(_)
        | Expr::MatchAgainst { .. }
        | Expr::OuterJoin(_)
        | Expr::Prior(_)
        | Expr::Lambda(_)
        | Expr::MemberOf(_) => Vec::new(),
    }
}

fn exprs<'t>(exprs: impl IntoIterator<Item = &'t Expr>) -> Vec<Part<'t>> {
    exprs.into_iter().map(Part::Expr).collect()
}

/// The parts of a call without its arguments; a subquery is one.
pub(super) fn parts_around(function: &Function) -> Vec<Part<'_>> {
    let Function {
        name: _,
        uses_odbc_syntax: _,
        parameters: _,
        args,
        filter,
        null_treatment: _,
        over,
        within_group,
    } = function;
    let mut parts = exprs(filter.as_deref().into_iter().chain(ordered(within_group)));
    match args {
        FunctionArguments::None => {}
        FunctionArguments::Subquery(query) => parts.push(Part::Query(query)),
        FunctionArguments::List(list) => {
            for clause in &list.clauses {
                // The guard refuses all others that have expressions.
                if let FunctionArgumentClause::OrderBy(exprs) = clause {
                    parts.extend(ordered(exprs).map(Part::Expr));
                }
            }
        }
    }
    match over {
        Some(WindowType::WindowSpec(spec)) => parts.extend(of_window(spec).into_iter().map(Part::Expr)),
        Some(WindowType::NamedWindow(_)) | None => {}
    }
    parts
}

/// The expressions of an `ORDER BY`.
pub(super) fn ordered(exprs: &[OrderByExpr]) -> impl Iterator<Item = &Expr> {
    exprs.iter().map(|order| &order.expr)
}

/// The expressions of a window.
pub(super) fn of_window(spec: &WindowSpec) -> Vec<&Expr> {
    let WindowSpec { window_name: _, partition_by, order_by, window_frame } = spec;
    let mut exprs: Vec<&Expr> = partition_by.iter().chain(ordered(order_by)).collect();
    if let Some(WindowFrame { units: _, start_bound, end_bound }) = window_frame {
        for bound in [Some(start_bound), end_bound.as_ref()].into_iter().flatten() {
            exprs.extend(match bound {
                WindowFrameBound::CurrentRow => None,
                WindowFrameBound::Preceding(expr) | WindowFrameBound::Following(expr) => expr.as_deref(),
            });
        }
    }
    exprs
}

/// The value of an argument, unless it is a `*`.
pub(super) const fn argument(argument: &FunctionArg) -> Option<&Expr> {
    let (FunctionArg::Unnamed(value)
    | FunctionArg::Named { name: _, arg: value, operator: _ }
    | FunctionArg::ExprNamed { name: _, arg: value, operator: _ }) = argument;
    if let FunctionArgExpr::Expr(expr) = value { Some(expr) } else { None }
}

/// The names behind the dots of `(value).name`.
pub(super) fn fields(access_chain: &[AccessExpr]) -> impl Iterator<Item = &Ident> {
    access_chain.iter().filter_map(|access| match access {
        AccessExpr::Dot(Expr::Identifier(field)) => Some(field),
        AccessExpr::Dot(_) | AccessExpr::Subscript(_) => None,
    })
}

/// The expressions in the brackets behind a value.
pub(super) fn subscripts(access: &AccessExpr) -> Vec<&Expr> {
    match access {
        AccessExpr::Subscript(Subscript::Index { index }) => vec![index],
        AccessExpr::Subscript(Subscript::Slice { lower_bound, upper_bound, stride }) => {
            lower_bound.iter().chain(upper_bound).chain(stride).collect()
        }
        AccessExpr::Dot(_) => Vec::new(),
    }
}

/// Returns every part of an expression, itself first, without those of subqueries; and whether it has subqueries.
pub(super) fn within(expr: &Expr) -> (Vec<&Expr>, bool) {
    let (mut found, mut at, mut queries) = (vec![expr], 0, false);
    while let Some(next) = found.get(at).copied() {
        at += 1;
        for part in parts_of(next) {
            match part {
                Part::Expr(expr) => found.push(expr),
                Part::Query(_) => queries = true,
            }
        }
    }
    (found, queries)
}

/// Returns the expression without parentheses around it.
pub(super) fn bare(mut expr: &Expr) -> &Expr {
    while let Expr::Nested(inner) = expr {
        expr = inner;
    }
    expr
}

/// The token of a placeholder.
pub(super) fn placeholder(expr: &Expr) -> Option<usize> {
    let Expr::Value(ValueWithSpan { value: Value::Placeholder(_), span }) = expr else { return None };
    token_of(*span)
}

/// The tokens of the placeholders in an expression, without those in subqueries.
pub(super) fn placeholders(expr: &Expr) -> Vec<usize> {
    within(expr).0.into_iter().filter_map(placeholder).collect()
}
