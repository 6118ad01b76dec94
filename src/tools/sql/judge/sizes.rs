//! How large constants can get. PostgreSQL computes constants while it plans, before any limit of a run holds:
//! `repeat('x', 1000000000)` takes a gigabyte in `EXPLAIN` already, and so does
//! `SELECT repeat('x', n) FROM (SELECT 1000000000 AS n) q`, for it replaces `n` by what it stands for.
//!
//! So a column is looked up by its name among everything that the statement itself names; one that is named nowhere
//! comes from a table, and what reads it is not computed while planning. The bounds are coarse and from above.

use std::collections::{HashMap, HashSet};

use sqlparser::ast::{
    Array, BinaryOperator, CaseWhen, DataType, Expr, Function, FunctionArg, FunctionArgExpr,
    FunctionArgumentList, FunctionArguments, ObjectName, ObjectNamePart, Query, SelectItem, SetExpr,
    TypedString, UnaryOperator, Value, ValueWithSpan,
};

/// The most rows that series of constants may have together when an aggregate keeps them in memory.
pub(super) const MAX_SERIES_ROWS: u64 = 10_000_000;

/// The function that makes rows out of two constants.
const SERIES: &str = "generate_series";

/// The most that all constants of a statement may grow to, in bytes.
pub(super) const MAX_CONSTANT_BYTES: u64 = 1_048_576;

/// Digits of the largest `numeric`, before and behind the point.
const NUMERIC_BYTES: u64 = 147_456;
/// What any value takes at least.
const SMALL: u64 = 16;
/// Deeper than this an expression counts as unbounded: this code recurses.
const MAX_RECURSION: usize = 200;

/// Functions that pad to a length or repeat, and those that multiply in other ways.
const AMPLIFYING: &[&str] = &[
    "array_fill",
    "array_to_string",
    "concat_ws",
    "exp",
    "factorial",
    "format",
    "jsonb_pretty",
    "lpad",
    "pow",
    "power",
    "regexp_replace",
    "repeat",
    "replace",
    "rpad",
    "ts_headline",
];

/// Functions whose result can be some times as long as their arguments: escapes, encodings, markup. Each may be six
/// bytes where one was.
const GROWING: &[&str] = &[
    "array_to_json",
    "casefold",
    "concat",
    "convert",
    "convert_from",
    "convert_to",
    "encode",
    "initcap",
    "json_build_array",
    "json_build_object",
    "json_object",
    "json_strip_nulls",
    "jsonb_build_array",
    "jsonb_build_object",
    "jsonb_insert",
    "jsonb_object",
    "jsonb_set",
    "jsonb_set_lax",
    "jsonb_strip_nulls",
    "lower",
    "normalize",
    "parse_ident",
    "quote_ident",
    "quote_literal",
    "quote_nullable",
    "regexp_match",
    "regexp_matches",
    "regexp_split_to_array",
    "row_to_json",
    "string_to_array",
    "to_ascii",
    "to_char",
    "to_json",
    "to_jsonb",
    "to_tsvector",
    "translate",
    "tsvector_to_array",
    "unistr",
    "upper",
];

/// Functions of one number, or of which one argument is the result.
const KEEPING_NUMBERS: &[&str] = &[
    "abs", "ceil", "ceiling", "coalesce", "floor", "greatest", "int4", "int8", "least", "nullif", "round",
    "trunc",
];

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

/// Upper bounds of a constant.
#[derive(Clone, Copy)]
struct Bound {
    /// Of its text or binary form.
    bytes: u64,
    /// Of its value, without the sign, when it is a number.
    number: u64,
}

impl Bound {
    const UNBOUNDED: Self = Self { bytes: u64::MAX, number: u64::MAX };

    const fn of_bytes(bytes: u64) -> Self {
        Self { bytes, number: u64::MAX }
    }

    fn max(self, other: Self) -> Self {
        Self { bytes: self.bytes.max(other.bytes), number: self.number.max(other.number) }
    }
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
        let mut bounds = args.iter().map(|arg| argument(arg).and_then(|expr| self.of(expr)));
        let known = |bound: Option<Option<Bound>>| bound.flatten().filter(|bound| bound.number != u64::MAX);
        let (Some(from), Some(to)) = (known(bounds.next()), known(bounds.next())) else { return 1 };
        // A literal's bound is one more than itself; a step below one counts as a thousandth.
        let step = known(bounds.next()).map_or(1, |step| step.number.saturating_sub(1));
        let distance = from.number.saturating_add(to.number);
        if step == 0 { distance.saturating_mul(1_000) } else { distance / step }
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

/// The bound of a call whose arguments are all constants.
fn of_constants(name: &str, args: &[FunctionArg], bounds: &[Bound]) -> Bound {
    let sum = bounds.iter().fold(SMALL, |sum, bound| sum.saturating_add(bound.bytes));
    let most = bounds.iter().fold(0, |most, bound| most.max(bound.number));
    let first = bounds.first().map_or(0, |bound| bound.bytes);
    match name {
        "format" => {
            let numbers =
                bounds.iter().skip(1).map(|bound| bound.number).filter(|number| *number != u64::MAX);
            let star = numbers.max().unwrap_or(u64::MAX);
            let widths = args.first().and_then(argument).map_or(u64::MAX, |template| widths(template, star));
            Bound::of_bytes(first.saturating_mul(sum).saturating_add(widths))
        }
        "jsonb_pretty" => Bound::of_bytes(first.saturating_mul(first)),
        "exp" | "factorial" | "pow" | "power" => Bound::of_bytes(NUMERIC_BYTES),
        "array_to_string" | "concat_ws" | "regexp_replace" | "replace" | "ts_headline" => {
            let product =
                bounds.iter().fold(1_u64, |product, bound| product.saturating_mul(bound.bytes.max(1)));
            Bound::of_bytes(product.saturating_add(sum))
        }
        "char_length" | "character_length" | "length" | "octet_length" => {
            Bound { bytes: SMALL, number: first }
        }
        _ if KEEPING_NUMBERS.contains(&name) => Bound { bytes: sum, number: most },
        _ if GROWING.contains(&name) => Bound::of_bytes(sum.saturating_mul(6)),
        _ => Bound::of_bytes(sum),
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

#[expect(clippy::wildcard_enum_match_arm, reason = "any other operator's number counts as unbounded")]
fn operation(op: &BinaryOperator, left: Bound, right: Bound) -> Bound {
    let bytes = left.bytes.saturating_add(right.bytes);
    match op {
        BinaryOperator::Plus | BinaryOperator::Minus => {
            Bound { bytes, number: left.number.saturating_add(right.number) }
        }
        BinaryOperator::Multiply => Bound { bytes, number: left.number.saturating_mul(right.number) },
        BinaryOperator::Modulo => Bound { bytes, number: right.number },
        BinaryOperator::PGExp => Bound::of_bytes(bytes.saturating_add(NUMERIC_BYTES)),
        _ => Bound::of_bytes(bytes),
    }
}

fn argument(argument: &FunctionArg) -> Option<&Expr> {
    let value = match argument {
        FunctionArg::Unnamed(value)
        | FunctionArg::Named { name: _, arg: value, operator: _ }
        | FunctionArg::ExprNamed { name: _, arg: value, operator: _ } => value,
    };
    match value {
        FunctionArgExpr::Expr(expr) => Some(expr),
        FunctionArgExpr::QualifiedWildcard(_)
        | FunctionArgExpr::Wildcard
        | FunctionArgExpr::WildcardWithOptions(_) => None,
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "other literals have no text")]
fn literal_text(ValueWithSpan { value, span: _ }: &ValueWithSpan) -> &str {
    match value {
        Value::Number(text, _)
        | Value::SingleQuotedString(text)
        | Value::EscapedStringLiteral(text)
        | Value::SingleQuotedByteStringLiteral(text)
        | Value::HexStringLiteral(text) => text,
        Value::DollarQuotedString(text) => &text.value,
        _ => "",
    }
}

fn literal(value: &ValueWithSpan) -> Bound {
    let text = literal_text(value);
    let written = u64::try_from(text.len()).unwrap_or(u64::MAX).max(1);
    let exponent = matches!(value.value, Value::Number(_, _)) && text.contains(['e', 'E']);
    let bytes = if exponent { written.saturating_add(NUMERIC_BYTES) } else { written };
    // Digits before the point, rounded up; what is no number has no bound as one.
    let whole = text.trim().trim_start_matches(['-', '+']).split('.').next().unwrap_or_default();
    let number = match whole.parse::<u64>() {
        Ok(number) if !exponent => number.saturating_add(1),
        Err(_) if whole.is_empty() => 1,
        Ok(_) | Err(_) => u64::MAX,
    };
    Bound { bytes, number }
}

/// How wide the fields of a `format` are together; `star` is the largest number among its arguments, which `*` reads.
fn widths(template: &Expr, star: u64) -> u64 {
    let Expr::Value(value) = template else { return u64::MAX };
    literal_text(value).split('%').skip(1).fold(0, |sum: u64, field| {
        let (spec, _) = field.split_once(|c: char| c.is_ascii_alphabetic()).unwrap_or((field, ""));
        let star = if spec.contains('*') { star } else { 0 };
        let digits = spec.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty());
        let width = digits.fold(0, |sum: u64, digits| sum.saturating_add(digits.parse().unwrap_or(u64::MAX)));
        sum.saturating_add(star).saturating_add(width)
    })
}
