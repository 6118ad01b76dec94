//! How large constants can get. PostgreSQL computes constants while it plans, before any limit of a run holds:
//! `repeat('x', 1000000000)` takes a gigabyte in `EXPLAIN` already, and so does
//! `SELECT repeat('x', n) FROM (SELECT 1000000000 AS n) q`, for it replaces `n` by what it stands for.
//!
//! So a column is looked up by its name among everything that the statement itself names; one that is named nowhere
//! comes from a table, and what reads it is not computed while planning. The bounds are coarse and from above.

use std::collections::{BTreeMap, HashMap, HashSet};

use sqlparser::ast::{
    Array, ArrayElemTypeDef, BinaryOperator, CaseWhen, DataType, Expr, Function, FunctionArg,
    FunctionArgumentList, FunctionArguments, ObjectName, ObjectNamePart, Query, SelectItem, SetExpr,
    TypeModifier, TypedString, UnaryOperator,
};

use super::bounds::{
    AMPLIFYING, Bound, GROWING, NUMERIC_BYTES, SMALL, argument, literal, literal_text, of_constants,
    operation, whole, widths,
};

/// The most rows that series of constants may have together when an aggregate keeps them in memory.
pub(super) const MAX_SERIES_ROWS: u64 = 10_000_000;

/// The function that makes rows out of two constants.
const SERIES: &str = "generate_series";

/// The most that one constant may grow to, in bytes.
pub(super) const MAX_CONSTANT_BYTES: u64 = 1_048_576;
/// The most that all constants of a statement may grow to together, in bytes.
const MAX_STATEMENT_BYTES: u64 = 16 * MAX_CONSTANT_BYTES;
/// The most nodes that are looked at: names that build on each other are looked at again and again.
const MAX_WORK: usize = 100_000;

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
    /// Concatenations, arrays and rows, and the index of a token near each.
    collections: Vec<(&'t Expr, usize)>,
    /// Left ends of concatenations, by address: they are looked at as parts of the whole.
    parts: HashSet<*const Expr>,
    /// How many queries there are: no name is built from others in more steps.
    pub(super) queries: usize,
    meanings: BTreeMap<&'t str, Vec<Meaning<'t>>>,
    /// How often each name is read.
    uses: BTreeMap<&'t str, u64>,
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

    /// Keeps an expression that can be larger than its parts.
    pub(super) fn collect(&mut self, expr: &'t Expr, at: usize) {
        if let Expr::BinaryOp { left, op: _, right: _ } = expr {
            self.parts.insert(std::ptr::from_ref(left.as_ref()));
        }
        if !self.parts.contains(&std::ptr::from_ref(expr)) {
            self.collections.push((expr, at));
        }
    }

    /// The name is read once more.
    pub(super) fn read(&mut self, name: &'t str) {
        *self.uses.entry(name).or_default() += 1;
    }

    /// The index of the call whose constants grow beyond [`MAX_CONSTANT_BYTES`], or whose rows are more than
    /// [`MAX_SERIES_ROWS`] while an aggregate keeps them; the first token when all together are too large.
    pub(super) fn overgrown(&self) -> Option<usize> {
        let mut sizes = Sizes { names: BTreeMap::new(), queries: HashMap::new(), depth: 0, work: 0 };
        sizes.learn(&self.meanings, self.queries + 1);
        let mut total = 0_u64;
        let keeps_rows = self.calls.iter().any(|call| KEEPING_ROWS.contains(&call.name));
        let mut rows = 1_u64;
        for Call { name, args, at } in &self.calls {
            let bytes = sizes.call(name, args).map_or(0, |bound| bound.bytes);
            if keeps_rows && *name == SERIES {
                rows = rows.saturating_mul(sizes.rows(args));
            }
            if bytes > MAX_CONSTANT_BYTES || rows > MAX_SERIES_ROWS {
                return Some(*at);
            }
            total = total.saturating_add(bytes);
        }
        for (name, uses) in &self.uses {
            let bytes = sizes.names.get(name).map_or(0, |bound| bound.bytes);
            total = total.saturating_add(bytes.saturating_mul(*uses));
        }
        for (expr, at) in &self.collections {
            let bytes = sizes.of(expr).map_or(0, |bound| bound.bytes);
            if bytes > MAX_CONSTANT_BYTES {
                return Some(*at);
            }
            total = total.saturating_add(bytes);
        }
        (total > MAX_STATEMENT_BYTES || sizes.work > MAX_WORK).then_some(0)
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

/// To how many bytes a type pads its values.
#[expect(clippy::wildcard_enum_match_arm, reason = "other types do not pad")]
pub(super) fn padding(data_type: &DataType) -> u64 {
    match data_type {
        DataType::Custom(_, modifiers) => modifiers.iter().fold(0, |most, modifier| match modifier {
            TypeModifier::Number(number, _) => most.max(number.parse().unwrap_or(u64::MAX)),
            TypeModifier::Identifier(_) | TypeModifier::String(_) => most,
        }),
        DataType::Array(ArrayElemTypeDef::SquareBracket(element, _)) => padding(element),
        _ => 0,
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
struct Sizes<'t> {
    /// Of the names that may stand for constants.
    names: BTreeMap<&'t str, Bound>,
    /// Of the columns of queries, by address, in this round.
    queries: HashMap<*const Query, Option<Bound>>,
    depth: usize,
    work: usize,
}

impl<'t> Sizes<'t> {
    /// Finds the bounds of all names. A name may build on others, and on itself in an inner query: every round lets it
    /// take one step, and there are no more steps than queries.
    fn learn(&mut self, meanings: &BTreeMap<&'t str, Vec<Meaning<'t>>>, rounds: usize) {
        let mut changed = true;
        for _ in 0..rounds {
            if !changed || self.work > MAX_WORK {
                return;
            }
            self.queries.clear();
            changed = false;
            for (name, meanings) in meanings {
                changed |= self.learn_one(name, meanings);
            }
        }
    }

    /// Whether the bound of a name grew.
    fn learn_one(&mut self, name: &'t str, meanings: &[Meaning<'t>]) -> bool {
        let Some(bound) = self.largest(meanings) else { return false };
        let bound = self.names.get(name).map_or(bound, |before| before.max(bound));
        self.names.insert(name, bound) != Some(bound)
    }

    fn of(&mut self, expr: &'t Expr) -> Option<Bound> {
        if self.depth >= MAX_RECURSION {
            return Some(Bound::UNBOUNDED);
        }
        self.work += 1;
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
            Expr::Cast { expr: inner, data_type, .. } => self.cast(inner, data_type),
            Expr::BinaryOp { .. } => self.chain(expr),
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

    /// A chain of operators, from the left.
    fn chain(&mut self, expr: &'t Expr) -> Option<Bound> {
        let mut first = expr;
        let mut rest = Vec::new();
        while let Expr::BinaryOp { left, op, right } = first {
            rest.push((op, right));
            first = left;
        }
        let first = self.of(first)?;
        rest.into_iter()
            .rev()
            .try_fold(first, |bound, (op, right)| Some(operation(op, bound, self.of(right)?)))
    }

    /// What a name stands for: nothing that is computed while planning when only tables have it.
    fn column(&self, name: &str) -> Option<Bound> {
        // The columns of VALUES are called column1, column2 and so on.
        let values = name.strip_prefix("column").is_some_and(|n| n.chars().all(|c| c.is_ascii_digit()));
        self.names.get(if values { "column" } else { name }).copied()
    }

    fn largest(&mut self, meanings: &[Meaning<'t>]) -> Option<Bound> {
        let bounds = meanings.iter().filter_map(|meaning| match meaning {
            Meaning::Expr(expr) => self.of(expr),
            Meaning::Call(name, args) => self.call(name, args),
            Meaning::Output(query) => self.query(query),
            Meaning::Anything => self.names.values().copied().reduce(Bound::max),
        });
        bounds.reduce(Bound::max)
    }

    fn query(&mut self, query: &'t Query) -> Option<Bound> {
        let address = std::ptr::from_ref(query);
        if let Some(bound) = self.queries.get(&address) {
            return *bound;
        }
        let bound = self.largest(&outputs(query));
        self.queries.insert(address, bound);
        bound
    }

    /// A cast of text to `numeric` writes out an exponent, one of an array to text escapes what it holds, and one to
    /// `char(n)` or `bit(n)` pads.
    #[expect(clippy::wildcard_enum_match_arm, reason = "other casts do not make longer")]
    fn cast(&mut self, inner: &'t Expr, data_type: &DataType) -> Option<Bound> {
        let bound = self.of(inner)?;
        let more = match inner {
            Expr::Value(value) if literal_text(value).contains(['e', 'E']) => NUMERIC_BYTES,
            Expr::Array(_) | Expr::Tuple(_) => bound.bytes,
            _ => 0,
        };
        let padded = bound.bytes.max(padding(data_type));
        Some(Bound { bytes: padded.saturating_add(more), number: bound.number })
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
        // `polygon(n, circle)` has n points of sixteen bytes.
        if name == "polygon" && args.len() > 1 {
            return Some(Bound::of_bytes(nth(0)?.number.saturating_mul(16)));
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
            // `'{2,3}'`.
            Expr::Value(dimensions) => {
                let numbers =
                    literal_text(dimensions).split(|c: char| !c.is_ascii_digit()).filter(|n| !n.is_empty());
                Some(numbers.fold(1_u64, |product, n| product.saturating_mul(n.parse().unwrap_or(u64::MAX))))
            }
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
