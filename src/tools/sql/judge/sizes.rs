//! How large constants can get. PostgreSQL computes constants while it plans, before any limit of a run holds:
//! `repeat('x', 1000000000)` takes a gigabyte in `EXPLAIN` already, and so does
//! `SELECT repeat('x', n) FROM (SELECT 1000000000 AS n) q`, for it replaces `n` by what it stands for.
//!
//! So a column is looked up by its name among everything that the statement itself names; one that is named nowhere
//! comes from a table, and what reads it is not computed while planning. The bounds are coarse and from above.

use std::collections::{HashMap, HashSet};

use sqlparser::ast::{
    Array, BinaryOperator, CaseWhen, DataType, Expr, Function, FunctionArg, FunctionArgumentList,
    FunctionArguments, ObjectName, ObjectNamePart, Query, SelectItem, SetExpr, TypedString, UnaryOperator,
};

use super::bounds::{
    AMPLIFYING, Bound, GROWING, NUMERIC_BYTES, SMALL, argument, literal, literal_text, of_constants,
    operation, whole, widths,
};

/// The most rows that series of constants may have together when an aggregate keeps them in memory.
pub(super) const MAX_SERIES_ROWS: u64 = 10_000_000;

/// The function that makes rows out of two constants.
const SERIES: &str = "generate_series";

/// The most that all constants of a statement may grow to, in bytes.
pub(super) const MAX_CONSTANT_BYTES: u64 = 1_048_576;

/// Deeper than this an expression counts as unbounded: this code recurses.
const MAX_RECURSION: usize = 200;

/// Aggregates that keep every row they see.
const KEEPING_ROWS: &[&str] = &[
    "array_agg",
    "json_agg",
    "json_object_agg",
    "jsonb_agg",
    "jsonb_object_agg",
    "mode",
    "percentile_cont",
    "percentile_disc",
    "range_agg",
    "string_agg",
];

/// A call that may amplify.
pub(super) struct Call<'t> {
    /// The function's name, without its schema.
    pub(super) name: &'t str,
    pub(super) args: &'t [FunctionArg],
    /// The index of its token.
    pub(super) at: usize,
}

/// Whether calls of this function are to be looked at.
pub(super) fn grows(name: &str) -> bool {
    AMPLIFYING.contains(&name) || GROWING.contains(&name) || KEEPING_ROWS.contains(&name) || name == SERIES
}

/// What a name may stand for.
#[derive(Clone, Copy)]
pub(super) enum Meaning<'t> {
    Expr(&'t Expr),
    /// The result of a function in `FROM`.
    Call(&'t str, &'t [FunctionArg]),
    /// A column of a query, whichever.
    Output(&'t Query),
    /// Whatever else is named: the columns of `(SELECT * FROM …) AS q (a, b)`.
    Anything,
}

/// What the walk of the tree collects for this check.
#[derive(Default)]
pub(super) struct Constants<'t> {
    pub(super) calls: Vec<Call<'t>>,
    meanings: HashMap<&'t str, Vec<Meaning<'t>>>,
}

impl<'t> Constants<'t> {
    /// `name` may stand for this.
    pub(super) fn define(&mut self, name: &'t str, meaning: Meaning<'t>) {
        self.meanings.entry(name).or_default().push(meaning);
    }

    /// A column of a `SELECT` without a name gets one from PostgreSQL.
    pub(super) fn define_unnamed(&mut self, expr: &'t Expr) {
        self.define(implicit_name(expr), Meaning::Expr(expr));
    }

    /// The index of the call whose constants grow beyond [`MAX_CONSTANT_BYTES`], together with those before it, or
    /// whose rows are more than [`MAX_SERIES_ROWS`] while an aggregate keeps them.
    pub(super) fn overgrown(&self) -> Option<usize> {
        let mut sizes = Sizes {
            meanings: &self.meanings,
            known: HashMap::new(),
            known_queries: HashMap::new(),
            open: HashSet::new(),
            depth: 0,
        };
        let mut total = 0_u64;
        let keeps_rows = self.calls.iter().any(|call| KEEPING_ROWS.contains(&call.name));
        let mut rows = 1_u64;
        for Call { name, args, at } in &self.calls {
            total = total.saturating_add(sizes.call(name, args).map_or(0, |bound| bound.bytes));
            if keeps_rows && *name == SERIES {
                rows = rows.saturating_mul(sizes.rows(args));
            }
            if total > MAX_CONSTANT_BYTES || rows > MAX_SERIES_ROWS {
                return Some(*at);
            }
        }
        None
    }
}

/// The name that PostgreSQL gives to a column, as far as a constant can have it.
#[expect(clippy::wildcard_enum_match_arm, reason = "everything else is called ?column?")]
fn implicit_name(expr: &Expr) -> &str {
    match expr {
        Expr::Identifier(name) => &name.value,
        Expr::CompoundIdentifier(parts) => parts.last().map_or("", |name| &name.value),
        Expr::Function(function) => last_name(&function.name),
        Expr::Nested(inner) | Expr::Collate { expr: inner, .. } => implicit_name(inner),
        Expr::Cast { expr: inner, data_type, .. } => match (implicit_name(inner), data_type) {
            ("?column?", DataType::Custom(name, _)) => last_name(name),
            (name, _) => name,
        },
        Expr::Case { .. } => "case",
        Expr::Array(_) => "array",
        Expr::Tuple(_) => "row",
        _ => "?column?",
    }
}

/// The name of a function or a type, without its schema.
pub(super) fn last_name(ObjectName(parts): &ObjectName) -> &str {
    match parts.last() {
        Some(ObjectNamePart::Identifier(ident)) => &ident.value,
        Some(ObjectNamePart::Function(_)) | None => "",
    }
}

/// What the columns of a query may stand for.
fn outputs(query: &Query) -> Vec<Meaning<'_>> {
    let mut left = vec![query.body.as_ref()];
    let mut outputs = Vec::new();
    while let Some(body) = left.pop() {
        match body {
            SetExpr::Select(select) => outputs.extend(select.projection.iter().map(|item| match item {
                SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, alias: _ } => {
                    Meaning::Expr(expr)
                }
                SelectItem::ExprWithAliases { .. }
                | SelectItem::QualifiedWildcard(_, _)
                | SelectItem::Wildcard(_) => Meaning::Anything,
            })),
            SetExpr::SetOperation { left: first, right: second, op: _, set_quantifier: _ } => {
                left.extend([first.as_ref(), second.as_ref()]);
            }
            SetExpr::Values(values) => {
                outputs.extend(values.rows.iter().flat_map(|row| &row.content).map(Meaning::Expr));
            }
            SetExpr::Query(query) => left.push(query.body.as_ref()),
            SetExpr::Insert(_)
            | SetExpr::Update(_)
            | SetExpr::Delete(_)
            | SetExpr::Merge(_)
            | SetExpr::Table(_) => {
                outputs.push(Meaning::Anything);
            }
        }
    }
    outputs
}

/// Bounds of expressions; `None` for what reads tables or rows, which is not computed while planning.
struct Sizes<'c, 't> {
    meanings: &'c HashMap<&'t str, Vec<Meaning<'t>>>,
    known: HashMap<&'t str, Option<Bound>>,
    /// Of queries, by address.
    known_queries: HashMap<*const Query, Option<Bound>>,
    /// Names being looked up: a recursive query names itself.
    open: HashSet<&'t str>,
    depth: usize,
}

impl<'t> Sizes<'_, 't> {
    fn of(&mut self, expr: &'t Expr) -> Option<Bound> {
        if self.depth >= MAX_RECURSION {
            return Some(Bound::UNBOUNDED);
        }
        self.depth += 1;
        let bound = self.expression(expr);
        self.depth -= 1;
        bound
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "what is not listed counts as a small constant of any value"
    )]
    fn expression(&mut self, expr: &'t Expr) -> Option<Bound> {
        match expr {
            Expr::Identifier(name) => self.column(&name.value),
            Expr::CompoundIdentifier(parts) => self.column(parts.last().map_or("", |name| &name.value)),
            Expr::CompoundFieldAccess { root, .. } => self.of(root).map(|_| Bound::UNBOUNDED),
            Expr::Value(value) | Expr::TypedString(TypedString { value, .. }) => Some(literal(value)),
            Expr::Nested(inner)
            | Expr::Collate { expr: inner, .. }
            | Expr::UnaryOp { op: UnaryOperator::Minus | UnaryOperator::Plus, expr: inner }
            | Expr::Substring { expr: inner, .. }
            | Expr::Trim { expr: inner, .. } => self.of(inner),
            Expr::Cast { expr: inner, .. } => self.cast(inner),
            Expr::BinaryOp { left, op, right } => Some(operation(op, self.of(left)?, self.of(right)?)),
            Expr::Array(Array { elem: items, named: _ }) | Expr::Tuple(items) => {
                let bytes = items
                    .iter()
                    .try_fold(SMALL, |sum, item| Some(self.of(item)?.bytes.saturating_add(sum)))?;
                Some(Bound::of_bytes(bytes.saturating_mul(2)))
            }
            Expr::Case { operand: _, conditions, else_result, .. } => {
                let results = conditions.iter().map(|CaseWhen { condition: _, result }| result);
                let smallest = Bound { bytes: 1, number: 0 };
                results
                    .chain(else_result.as_deref())
                    .try_fold(smallest, |bound, result| Some(bound.max(self.of(result)?)))
            }
            Expr::Overlay { expr: inner, overlay_what, .. } => {
                Some(operation(&BinaryOperator::StringConcat, self.of(inner)?, self.of(overlay_what)?))
            }
            Expr::Extract { expr: inner, .. } | Expr::Position { expr: _, r#in: inner } => {
                self.of(inner).map(|_| Bound::of_bytes(SMALL))
            }
            Expr::Function(function) => self.function(function),
            Expr::Subquery(_) | Expr::Exists { .. } => None,
            _ => Some(Bound::of_bytes(SMALL)),
        }
    }

    /// What a name stands for: nothing that is computed while planning when only tables have it.
    fn column(&mut self, name: &'t str) -> Option<Bound> {
        if let Some(bound) = self.known.get(name) {
            return *bound;
        }
        // The columns of VALUES are called column1, column2 and so on.
        let values = name.strip_prefix("column").is_some_and(|n| n.chars().all(|c| c.is_ascii_digit()));
        let meanings = self.meanings.get(if values { "column" } else { name })?;
        if !self.open.insert(name) {
            return None;
        }
        let bound = self.largest(meanings);
        self.open.remove(name);
        self.known.insert(name, bound);
        bound
    }

    fn largest(&mut self, meanings: &[Meaning<'t>]) -> Option<Bound> {
        let bounds = meanings.iter().filter_map(|meaning| match meaning {
            Meaning::Expr(expr) => self.of(expr),
            Meaning::Call(name, args) => self.call(name, args),
            Meaning::Output(query) => self.query(query),
            Meaning::Anything => Some(Bound::UNBOUNDED),
        });
        bounds.reduce(Bound::max)
    }

    fn query(&mut self, query: &'t Query) -> Option<Bound> {
        let address = std::ptr::from_ref(query);
        if let Some(bound) = self.known_queries.get(&address) {
            return *bound;
        }
        let bound = self.largest(&outputs(query));
        self.known_queries.insert(address, bound);
        bound
    }

    /// A cast of text to `numeric` writes out an exponent; one of an array to text escapes what it holds.
    #[expect(clippy::wildcard_enum_match_arm, reason = "other casts do not make longer")]
    fn cast(&mut self, inner: &'t Expr) -> Option<Bound> {
        let bound = self.of(inner)?;
        let more = match inner {
            Expr::Value(value) if literal_text(value).contains(['e', 'E']) => NUMERIC_BYTES,
            Expr::Array(_) | Expr::Tuple(_) => bound.bytes,
            _ => 0,
        };
        Some(Bound { bytes: bound.bytes.saturating_add(more), number: bound.number })
    }

    /// How many rows a series of numbers has; one when its bounds come from tables or are dates.
    fn rows(&mut self, args: &'t [FunctionArg]) -> u64 {
        let mut number = |index: usize| {
            let bound = self.of(argument(args.get(index)?)?)?;
            Some(bound.number).filter(|number| *number != u64::MAX)
        };
        let (Some(from), Some(to)) = (number(0), number(1)) else { return 1 };
        let distance = from.saturating_add(to);
        match args.get(2).and_then(argument) {
            None => distance,
            Some(step) if self.of(step).is_none() => 1,
            // A step that is not a whole number counts as a thousandth.
            Some(step) => distance.checked_div(whole(step)).unwrap_or_else(|| distance.saturating_mul(1_000)),
        }
    }

    fn function(&mut self, function: &'t Function) -> Option<Bound> {
        match &function.args {
            FunctionArguments::None => Some(Bound::of_bytes(SMALL)),
            FunctionArguments::List(FunctionArgumentList { args, .. }) if function.over.is_none() => {
                self.call(last_name(&function.name), args)
            }
            FunctionArguments::List(_) | FunctionArguments::Subquery(_) => None,
        }
    }

    fn call(&mut self, name: &str, args: &'t [FunctionArg]) -> Option<Bound> {
        if is_of_rows(name) {
            return None;
        }
        let bounds: Vec<Option<Bound>> = args.iter().map(|arg| self.of(argument(arg)?)).collect();
        let nth = |index: usize| bounds.get(index).copied().flatten();
        if matches!(name, "repeat" | "lpad" | "rpad") {
            // The count alone decides: a text from a table is repeated as often.
            let unit = if name == "repeat" { nth(0).map_or(1, |text| text.bytes) } else { 4 };
            return Some(Bound::of_bytes(nth(1)?.number.saturating_mul(unit.max(1))));
        }
        if name == "array_fill" {
            let cells = self.product(argument(args.get(1)?)?)?;
            return Some(Bound::of_bytes(
                cells.saturating_mul(nth(0).map_or(SMALL, |cell| cell.bytes.max(SMALL))),
            ));
        }
        if name == "format" && bounds.iter().skip(1).any(Option::is_none) {
            // Only the template's own widths are constant.
            nth(0)?;
            return Some(Bound::of_bytes(widths(argument(args.first()?)?, 0)));
        }
        let bounds = bounds.into_iter().collect::<Option<Vec<Bound>>>()?;
        Some(of_constants(name, args, &bounds))
    }

    /// How many cells dimensions ask for.
    #[expect(clippy::wildcard_enum_match_arm, reason = "what is not listed counts as unbounded")]
    fn product(&mut self, dimensions: &'t Expr) -> Option<u64> {
        match dimensions {
            Expr::Array(Array { elem, named: _ }) => elem.iter().try_fold(1_u64, |product, dimension| {
                Some(self.of(dimension)?.number.saturating_mul(product))
            }),
            Expr::Nested(inner) | Expr::Cast { expr: inner, .. } => self.product(inner),
            other => self.of(other).map(|_| u64::MAX),
        }
    }
}

/// Functions that read rows, so that nothing is computed while planning.
fn is_of_rows(name: &str) -> bool {
    matches!(
        name,
        "array_agg"
            | "avg"
            | "bool_and"
            | "bool_or"
            | "count"
            | "every"
            | "generate_series"
            | "generate_subscripts"
            | "max"
            | "min"
            | "rank"
            | "row_number"
            | "string_agg"
            | "sum"
            | "unnest"
    )
}
