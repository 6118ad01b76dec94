//! A query as a list: every node once, each before those that it holds, with what the rules need of it and no more.
//!
//! What a node holds stands right behind it, up to [`Item::end`]: a rule looks at a subtree with a loop, and nothing here
//! recurses.

use sqlparser::ast::{
    AccessExpr, Array, BinaryOperator, CaseWhen, Cte, DataType, Distinct, Expr, Function as Call,
    FunctionArg, FunctionArgExpr, FunctionArgumentClause, FunctionArguments, GroupByExpr, Ident, InTarget,
    Interval, JoinConstraint, JoinOperator, LimitClause, NamedWindowDefinition, NamedWindowExpr, ObjectName,
    ObjectNamePart, OrderBy, OrderByKind, Query, Select, SelectItem, SelectItemQualifiedWildcardKind,
    SetExpr, SetOperator, SetQuantifier, Subscript, Table, TableFactor, TableFunctionArgs, TableSampleKind,
    TableWithJoins, TypedString, UnaryOperator, Value, ValueWithSpan, WindowFrameBound, WindowSpec,
    WindowType,
};

use super::super::functions::{Function, find};
use super::super::judge::names::last_name;
use super::super::parser::token_of;

/// Parts of a date that are small numbers.
const SMALL_PARTS: &[&str] = &[
    "day", "dow", "doy", "hour", "isodow", "isoyear", "minute", "month", "quarter", "second", "week", "year",
];
/// The type of an `INTERVAL '…'`.
const INTERVAL: DataType = DataType::Interval { fields: None, precision: None };

/// A node.
#[derive(Debug)]
pub(super) struct Item<'t> {
    pub(super) kind: Kind<'t>,
    /// How it stands in its parent.
    pub(super) slot: Slot<'t>,
    /// The index of what holds it; its own for the whole query.
    pub(super) parent: usize,
    /// The index behind everything that it holds.
    pub(super) end: usize,
    /// The token where it stands.
    pub(super) at: usize,
}

/// What a node is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind<'t> {
    /// A query, perhaps of a WITH.
    Query(Option<&'t Cte>),
    /// A SELECT, VALUES or TABLE.
    Rows {
        grouped: bool,
    },
    /// A set operation, or a query in parentheses.
    Set {
        union: bool,
        all: bool,
    },
    /// A table in FROM, and what it is called there.
    Table {
        name: Option<&'t str>,
        alias: &'t str,
    },
    /// A column, or a whole row.
    Column {
        of: Option<&'t str>,
        name: &'t str,
    },
    /// All columns.
    Star,
    Literal(&'t Value),
    Call(&'t str, Option<&'static Function>),
    /// A part of a date, small or not.
    Part {
        small: bool,
    },
    Operator(&'t str),
    Cast(&'t DataType),
    /// `ARRAY[…]` and `ROW(…)`.
    Build,
    /// What has the value of what it holds.
    Same,
    Minus,
    /// One of several values.
    Choice,
    /// A field or an element.
    Access,
    /// True or false.
    Truth,
    /// `ARRAY(SELECT …)` and `NOT IN (SELECT …)`: what keeps the rows of its subquery.
    Kept,
}

impl Kind<'_> {
    /// Whether it is a query or a part of one.
    pub(super) const fn is_level(self) -> bool {
        matches!(self, Kind::Query(_) | Kind::Rows { .. } | Kind::Set { .. })
    }
}

/// How a node stands in its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slot<'t> {
    Argument(usize),
    /// An argument by name.
    Named(&'t str),
    /// What decides, and is no part of the value.
    Condition,
    /// A column of a query's result.
    Output,
    /// WHERE, ON, GROUP BY, ORDER BY, WINDOW and so on.
    Clause,
    Limit,
    From,
    /// In FROM, and may use what stands before it.
    Lateral,
    With,
    /// The body of a query, or the second part of one.
    Body,
}

/// What is left to be listed.
enum Raw<'t> {
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

type Children<'t> = Vec<(Slot<'t>, Raw<'t>)>;

/// Lists a query that the judge of the tree let pass.
pub(super) fn list(query: &Query) -> Vec<Item<'_>> {
    let mut items: Vec<Item<'_>> = Vec::new();
    let mut left = vec![(0, Slot::Body, Raw::Query(query, None))];
    while let Some((parent, slot, raw)) = left.pop() {
        let mut children = Vec::new();
        let near = items.get(parent).map_or(0, |parent| parent.at);
        let index = match open(raw, near, &mut children) {
            Some((kind, at)) => {
                items.push(Item { kind, slot, parent, end: items.len() + 1, at });
                items.len() - 1
            }
            None => parent,
        };
        left.extend(children.into_iter().rev().map(|(slot, raw)| (index, slot, raw)));
    }
    for index in (1..items.len()).rev() {
        let Some((parent, end)) = items.get(index).map(|item| (item.parent, item.end)) else { continue };
        if let Some(parent) = items.get_mut(parent) {
            parent.end = parent.end.max(end);
        }
    }
    items
}

/// A node and all that it holds, by index.
pub(super) fn within<'i, 't>(
    items: &'i [Item<'t>],
    index: usize,
) -> impl Iterator<Item = (usize, &'i Item<'t>)> {
    let end = items.get(index).map_or(index, |item| item.end);
    items
        .get(index..end)
        .unwrap_or_default()
        .iter()
        .enumerate()
        .map(move |(offset, item)| (index + offset, item))
}

/// What a node holds directly, in order.
pub(super) fn children<'i, 't>(
    items: &'i [Item<'t>],
    index: usize,
) -> impl Iterator<Item = (usize, &'i Item<'t>)> {
    let end = items.get(index).map_or(index, |item| item.end);
    let mut next = index + 1;
    std::iter::from_fn(move || {
        let child = next;
        let item = items.get(child).filter(|_| child < end)?;
        next = item.end;
        Some((child, item))
    })
}

/// The nodes around one, from the inside.
pub(super) fn around<'i, 't>(
    items: &'i [Item<'t>],
    index: usize,
) -> impl Iterator<Item = (usize, &'i Item<'t>)> {
    let parent = |index: usize| items.get(index).map(|item| item.parent).filter(|parent| *parent != index);
    std::iter::successors(parent(index), move |index| parent(*index))
        .filter_map(|index| Some((index, items.get(index)?)))
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

fn of_query<'t>(query: &'t Query, children: &mut Children<'t>) {
    let ctes = query.with.iter().flat_map(|with| &with.cte_tables);
    children.extend(ctes.map(|cte| (Slot::With, Raw::Query(&cte.query, Some(cte)))));
    children.push((Slot::Body, Raw::Body(&query.body)));
    push(children, Slot::Clause, query.order_by.iter().flat_map(ordering));
    if let Some(LimitClause::LimitOffset { limit, offset, limit_by: _ }) = &query.limit_clause {
        push(children, Slot::Limit, limit.iter().chain(offset.iter().map(|offset| &offset.value)));
    }
    push(children, Slot::Limit, query.fetch.iter().filter_map(|fetch| fetch.quantity.as_ref()));
}

fn of_body<'t>(body: &'t SetExpr, children: &mut Children<'t>) -> Kind<'t> {
    match body {
        SetExpr::Select(select) => return of_select(select, children),
        SetExpr::Query(query) => children.push((Slot::Body, Raw::Query(query, None))),
        SetExpr::SetOperation { left, right, op, set_quantifier } => {
            children.extend([(Slot::Body, Raw::Body(left)), (Slot::Body, Raw::Body(right))]);
            let union = matches!(op, SetOperator::Union);
            return Kind::Set { union, all: matches!(set_quantifier, SetQuantifier::All) };
        }
        SetExpr::Values(values) => {
            push(children, Slot::Output, values.rows.iter().flat_map(|row| &row.content));
        }
        SetExpr::Table(table) => {
            children.extend([(Slot::From, Raw::Table(table)), (Slot::Output, Raw::Star)]);
        }
        SetExpr::Insert(_) | SetExpr::Update(_) | SetExpr::Delete(_) | SetExpr::Merge(_) => {}
    }
    match body {
        SetExpr::Query(_) => Kind::Set { union: true, all: true },
        _ => Kind::Rows { grouped: false },
    }
}

fn of_select<'t>(select: &'t Select, children: &mut Children<'t>) -> Kind<'t> {
    children.extend(select.from.iter().map(|table| (Slot::From, Raw::Joined(table))));
    for item in &select.projection {
        children.push((
            Slot::Output,
            match item {
                SelectItem::UnnamedExpr(expr)
                | SelectItem::ExprWithAlias { expr, .. }
                | SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::Expr(expr), _) => {
                    Raw::Expr(expr)
                }
                SelectItem::QualifiedWildcard(..)
                | SelectItem::Wildcard(_)
                | SelectItem::ExprWithAliases { .. } => Raw::Star,
            },
        ));
    }
    let grouping = match &select.group_by {
        GroupByExpr::Expressions(exprs, _) => exprs.as_slice(),
        GroupByExpr::All(_) => &[],
    };
    if let Some(Distinct::On(exprs)) = &select.distinct {
        push(children, Slot::Clause, exprs);
    }
    push(children, Slot::Clause, select.selection.iter().chain(&select.having).chain(grouping));
    for NamedWindowDefinition(_, window) in &select.named_window {
        if let NamedWindowExpr::WindowSpec(spec) = window {
            of_window(spec, Slot::Clause, children);
        }
    }
    Kind::Rows { grouped: !grouping.is_empty() }
}

fn of_window<'t>(spec: &'t WindowSpec, slot: Slot<'t>, children: &mut Children<'t>) {
    push(children, slot, &spec.partition_by);
    push(children, slot, spec.order_by.iter().map(|order| &order.expr));
    let bounds =
        spec.window_frame.iter().flat_map(|frame| [Some(&frame.start_bound), frame.end_bound.as_ref()]);
    push(
        children,
        slot,
        bounds.flatten().filter_map(|bound| match bound {
            WindowFrameBound::CurrentRow => None,
            WindowFrameBound::Preceding(expr) | WindowFrameBound::Following(expr) => expr.as_deref(),
        }),
    );
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the judge of the tree refuses all others")]
fn of_joins<'t>(table: &'t TableWithJoins, children: &mut Children<'t>) {
    children.push((Slot::From, Raw::Factor(&table.relation)));
    for join in &table.joins {
        children.push((Slot::From, Raw::Factor(&join.relation)));
        match &join.join_operator {
            JoinOperator::Join(JoinConstraint::On(expr))
            | JoinOperator::Inner(JoinConstraint::On(expr))
            | JoinOperator::Left(JoinConstraint::On(expr))
            | JoinOperator::LeftOuter(JoinConstraint::On(expr))
            | JoinOperator::Right(JoinConstraint::On(expr))
            | JoinOperator::RightOuter(JoinConstraint::On(expr))
            | JoinOperator::FullOuter(JoinConstraint::On(expr)) => {
                children.push((Slot::Clause, Raw::Expr(expr)))
            }
            _ => {}
        }
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the judge of the tree refuses all others")]
fn of_factor<'t>(
    factor: &'t TableFactor,
    near: usize,
    children: &mut Children<'t>,
) -> Option<(Kind<'t>, usize)> {
    if let TableFactor::Table { sample: Some(sample), .. }
    | TableFactor::Derived { sample: Some(sample), .. } = factor
    {
        let (TableSampleKind::AfterTableAlias(sample) | TableSampleKind::BeforeTableAlias(sample)) = sample;
        push(children, Slot::Clause, sample.quantity.iter().map(|quantity| &quantity.value));
    }
    match factor {
        TableFactor::Table { name: called, alias, args: Some(TableFunctionArgs { args, .. }), .. }
        | TableFactor::Function { name: called, alias, args, .. } => {
            arguments(args, children);
            let types =
                alias.iter().flat_map(|alias| &alias.columns).filter_map(|column| column.data_type.as_ref());
            children.extend(types.map(|data_type| (Slot::Clause, Raw::Type(data_type))));
            Some((call_of(called), at_name(called, near)))
        }
        TableFactor::Table { name, alias, .. } => {
            let ObjectName(parts) = name;
            let single = (parts.len() == 1).then(|| last_name(name));
            let alias = alias.as_ref().map_or(last_name(name), |alias| &alias.name.value);
            Some((Kind::Table { name: single, alias }, at_name(name, near)))
        }
        TableFactor::Derived { subquery, lateral, .. } => {
            children.push((if *lateral { Slot::Lateral } else { Slot::From }, Raw::Query(subquery, None)));
            None
        }
        TableFactor::NestedJoin { table_with_joins, .. } => {
            children.push((Slot::From, Raw::Joined(table_with_joins)));
            None
        }
        _ => None,
    }
}

#[expect(clippy::too_many_lines, reason = "one match over the expressions")]
#[expect(clippy::wildcard_enum_match_arm, reason = "the judge of the tree refuses all others")]
fn of_expr<'t>(expr: &'t Expr, near: usize, children: &mut Children<'t>) -> Option<(Kind<'t>, usize)> {
    let mut operands = |exprs: &mut dyn Iterator<Item = &'t Expr>| {
        let numbered = exprs.enumerate().map(|(index, expr)| (Slot::Argument(index), Raw::Expr(expr)));
        children.extend(numbered);
    };
    let kind = match expr {
        Expr::Identifier(name) => return Some(column(std::slice::from_ref(name), near)),
        Expr::CompoundIdentifier(parts) => return Some(column(parts, near)),
        Expr::Value(value) => return open(Raw::Value(value), near, children),
        Expr::QualifiedWildcard(..) => Kind::Star,
        Expr::CompoundFieldAccess { root, access_chain } => {
            operands(&mut std::iter::once(root.as_ref()).chain(access_chain.iter().flat_map(subscripts)));
            Kind::Access
        }
        Expr::TypedString(TypedString { value, data_type, .. }) => {
            children.push((Slot::Argument(0), Raw::Value(value)));
            Kind::Cast(data_type)
        }
        Expr::Interval(Interval { value, .. }) => {
            operands(&mut std::iter::once(value.as_ref()));
            Kind::Cast(&INTERVAL)
        }
        Expr::Cast { expr: inner, data_type, .. } => {
            operands(&mut std::iter::once(inner.as_ref()));
            Kind::Cast(data_type)
        }
        Expr::UnaryOp { op: UnaryOperator::Minus, expr: inner } => {
            operands(&mut std::iter::once(inner.as_ref()));
            Kind::Minus
        }
        Expr::Nested(inner)
        | Expr::UnaryOp { op: UnaryOperator::Plus, expr: inner }
        | Expr::Ceil { expr: inner, .. }
        | Expr::Floor { expr: inner, .. }
        | Expr::Collate { expr: inner, .. }
        | Expr::AtTimeZone { timestamp: inner, .. } => {
            operands(&mut std::iter::once(inner.as_ref()));
            Kind::Same
        }
        Expr::UnaryOp { op: UnaryOperator::Not, expr: inner }
        | Expr::IsFalse(inner)
        | Expr::IsNotFalse(inner)
        | Expr::IsTrue(inner)
        | Expr::IsNotTrue(inner)
        | Expr::IsNull(inner)
        | Expr::IsNotNull(inner)
        | Expr::IsUnknown(inner)
        | Expr::IsNotUnknown(inner) => {
            operands(&mut std::iter::once(inner.as_ref()));
            Kind::Truth
        }
        Expr::IsDistinctFrom(left, right) | Expr::IsNotDistinctFrom(left, right) => {
            operands(&mut [left.as_ref(), right].into_iter());
            Kind::Truth
        }
        Expr::Between { expr: inner, low, high, .. } => {
            operands(&mut [inner.as_ref(), low, high].into_iter());
            Kind::Truth
        }
        Expr::UnaryOp { expr: inner, .. } => {
            operands(&mut std::iter::once(inner.as_ref()));
            Kind::Operator("")
        }
        Expr::BinaryOp { left, op, right } => {
            operands(&mut [left.as_ref(), right].into_iter());
            Kind::Operator(symbol(op))
        }
        Expr::AnyOp { left, compare_op: op, right, .. } | Expr::AllOp { left, compare_op: op, right } => {
            operands(&mut [left.as_ref(), right].into_iter());
            Kind::Operator(symbol(op))
        }
        Expr::Like { expr: inner, pattern, .. } | Expr::ILike { expr: inner, pattern, .. } => {
            operands(&mut [inner.as_ref(), pattern].into_iter());
            Kind::Operator("~~")
        }
        Expr::SimilarTo { expr: inner, pattern, .. } => {
            operands(&mut [inner.as_ref(), pattern].into_iter());
            Kind::Operator("~")
        }
        Expr::Array(Array { elem: items, .. }) | Expr::Tuple(items) => {
            operands(&mut items.iter());
            Kind::Build
        }
        Expr::Case { operand, conditions, else_result, .. } => {
            operands(
                &mut conditions.iter().map(|CaseWhen { result, .. }| result).chain(else_result.as_deref()),
            );
            let tests = conditions.iter().map(|CaseWhen { condition, .. }| condition);
            // Behind CASE x each WHEN is compared with x.
            push(children, Slot::Condition, operand.as_deref().into_iter().chain(tests));
            Kind::Choice
        }
        Expr::Substring { expr: inner, substring_from, substring_for, .. } => {
            operands(
                &mut [Some(inner), substring_from.as_ref(), substring_for.as_ref()]
                    .into_iter()
                    .flatten()
                    .map(AsRef::as_ref),
            );
            called("substring")
        }
        Expr::Trim { expr: inner, trim_what, trim_characters, .. } => {
            let what = trim_what.as_deref().into_iter().chain(trim_characters.iter().flatten());
            operands(&mut std::iter::once(inner.as_ref()).chain(what));
            called("btrim")
        }
        Expr::Overlay { expr: inner, overlay_what, overlay_from, overlay_for } => {
            operands(
                &mut [inner.as_ref(), overlay_what, overlay_from].into_iter().chain(overlay_for.as_deref()),
            );
            called("overlay")
        }
        Expr::Position { expr: what, r#in: text } => {
            operands(&mut [what.as_ref(), text].into_iter());
            called("position")
        }
        Expr::IsNormalized { expr: inner, .. } => {
            operands(&mut std::iter::once(inner.as_ref()));
            called("is_normalized")
        }
        Expr::Extract { field, expr: inner, .. } => {
            operands(&mut std::iter::once(inner.as_ref()));
            Kind::Part { small: is_small_part(&field.to_string()) }
        }
        Expr::Subquery(query) => {
            children.push((Slot::Argument(0), Raw::Query(query, None)));
            Kind::Same
        }
        Expr::Exists { subquery, .. } => {
            children.push((Slot::Condition, Raw::Query(subquery, None)));
            Kind::Truth
        }
        Expr::In { expr: inner, target, negated, .. } => match target {
            InTarget::Subquery(query) => {
                operands(&mut std::iter::once(inner.as_ref()));
                children.push((Slot::Condition, Raw::Query(query, None)));
                if *negated { Kind::Kept } else { Kind::Truth }
            }
            InTarget::List(exprs) => {
                operands(&mut std::iter::once(inner.as_ref()).chain(exprs));
                Kind::Truth
            }
            InTarget::Unnest(_) | InTarget::Table { .. } => return None,
        },
        Expr::GroupingSets(sets) | Expr::Cube(sets) | Expr::Rollup(sets) => {
            operands(&mut sets.iter().flatten());
            Kind::Build
        }
        Expr::Function(function) => return Some(of_call(function, near, children)),
        _ => return None,
    };
    Some((kind, near))
}

fn of_call<'t>(function: &'t Call, near: usize, children: &mut Children<'t>) -> (Kind<'t>, usize) {
    let at = at_name(&function.name, near);
    let mut count = 0;
    match &function.args {
        FunctionArguments::None => {}
        FunctionArguments::Subquery(query) => {
            children.push((Slot::Argument(0), Raw::Query(query, None)));
            return (Kind::Kept, at);
        }
        FunctionArguments::List(list) => {
            count = list.args.len();
            arguments(&list.args, children);
            for clause in &list.clauses {
                if let FunctionArgumentClause::OrderBy(exprs) = clause {
                    push(children, Slot::Condition, exprs.iter().map(|order| &order.expr));
                }
            }
        }
    }
    let within = function.within_group.iter().enumerate();
    children.extend(within.map(|(index, order)| (Slot::Argument(count + index), Raw::Expr(&order.expr))));
    push(children, Slot::Condition, function.filter.as_deref());
    if let Some(WindowType::WindowSpec(spec)) = &function.over {
        of_window(spec, Slot::Condition, children);
    }
    (call_of(&function.name), at)
}

/// A call by its name; what another schema has is not in the table.
fn call_of(name: &ObjectName) -> Kind<'_> {
    let ObjectName(parts) = name;
    let own = match parts.as_slice() {
        [_] => true,
        [ObjectNamePart::Identifier(schema), _] => schema.value == "pg_catalog",
        _ => false,
    };
    Kind::Call(last_name(name), find(last_name(name)).filter(|_| own))
}

fn arguments<'t>(args: &'t [FunctionArg], children: &mut Children<'t>) {
    for (index, arg) in args.iter().enumerate() {
        let (slot, value) = match arg {
            FunctionArg::Unnamed(value) => (Slot::Argument(index), value),
            FunctionArg::Named { name, arg: value, .. } => (Slot::Named(&name.value), value),
            FunctionArg::ExprNamed { name, arg: value, .. } => match name {
                Expr::Identifier(name) => (Slot::Named(&name.value), value),
                _ => (Slot::Named(""), value),
            },
        };
        children.push((
            slot,
            match value {
                FunctionArgExpr::Expr(expr) => Raw::Expr(expr),
                FunctionArgExpr::QualifiedWildcard(_)
                | FunctionArgExpr::Wildcard
                | FunctionArgExpr::WildcardWithOptions(_) => Raw::Star,
            },
        ));
    }
}

fn column(parts: &[Ident], near: usize) -> (Kind<'_>, usize) {
    let Some((name, before)) = parts.split_last() else { return (Kind::Star, near) };
    let of = before.last().map(|of| of.value.as_str());
    (Kind::Column { of, name: &name.value }, token_of(name.span).unwrap_or(near))
}

fn called<'t>(name: &'static str) -> Kind<'t> {
    Kind::Call(name, find(name))
}

fn at_name(ObjectName(parts): &ObjectName, near: usize) -> usize {
    match parts.last() {
        Some(ObjectNamePart::Identifier(ident)) => token_of(ident.span).unwrap_or(near),
        Some(ObjectNamePart::Function(_)) | None => near,
    }
}

fn push<'t>(children: &mut Children<'t>, slot: Slot<'t>, exprs: impl IntoIterator<Item = &'t Expr>) {
    children.extend(exprs.into_iter().map(|expr| (slot, Raw::Expr(expr))));
}

fn ordering(order_by: &OrderBy) -> impl Iterator<Item = &Expr> {
    let exprs = match &order_by.kind {
        OrderByKind::Expressions(exprs) => exprs.as_slice(),
        OrderByKind::All(_) => &[],
    };
    exprs.iter().map(|order| &order.expr)
}

fn subscripts(access: &AccessExpr) -> Vec<&Expr> {
    match access {
        AccessExpr::Subscript(Subscript::Index { index }) => vec![index],
        AccessExpr::Subscript(Subscript::Slice { lower_bound, upper_bound, stride: _ }) => {
            lower_bound.iter().chain(upper_bound).collect()
        }
        AccessExpr::Dot(_) => Vec::new(),
    }
}

/// Whether a part of a date is a small number.
pub(super) fn is_small_part(field: &str) -> bool {
    SMALL_PARTS.contains(&field.trim_matches('\'').to_ascii_lowercase().as_str())
}

/// An operator as it is written.
#[expect(clippy::wildcard_enum_match_arm, reason = "nothing depends on the others")]
fn symbol(operator: &BinaryOperator) -> &str {
    match operator {
        BinaryOperator::Plus => "+",
        BinaryOperator::Minus => "-",
        BinaryOperator::Multiply => "*",
        BinaryOperator::Divide => "/",
        BinaryOperator::Modulo => "%",
        BinaryOperator::PGExp => "^",
        BinaryOperator::StringConcat => "||",
        BinaryOperator::Lt => "<",
        BinaryOperator::LtEq => "<=",
        BinaryOperator::Eq => "=",
        BinaryOperator::NotEq => "<>",
        BinaryOperator::GtEq => ">=",
        BinaryOperator::Gt => ">",
        BinaryOperator::And => "and",
        BinaryOperator::Or => "or",
        BinaryOperator::AtAt => "@@",
        BinaryOperator::QuestionPipe => "?|",
        BinaryOperator::PGRegexMatch => "~",
        BinaryOperator::Custom(symbol) => symbol,
        _ => "",
    }
}
