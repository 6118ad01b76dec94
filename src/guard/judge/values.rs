//! The walk of [`super::sizes`] over expressions: how large their values can get.

use sqlparser::ast::{
    AccessExpr, Array, CaseWhen, DataType, Expr, Function, FunctionArg, FunctionArgumentClause,
    FunctionArguments, InTarget, Interval, Query, Subscript, TypedString, UnaryOperator, ValueWithSpan,
    WindowType,
};

use super::{
    bounds::{Bound, MAX_CONSTANT_BYTES, SMALL, TABLE_NUMBER, argument, of_call, operation},
    conversions::{converted, hidden_digits, may_be_text},
    growth::{grows, keeps_rows},
    literals::{literal, literal_of, literal_text},
    moments,
    names::{last_name, type_name},
    relations::Cost,
    series::{is_aggregate, rows_of},
    sizes::{Excess, MAX_SERIES_ROWS, Sizes},
    steps::{pairs_of_call, pairs_of_marks, pairs_of_operation, pairs_of_query},
};

/// Fields of a date whose numbers are small.
const SMALL_FIELDS: &[&str] = &[
    "day", "dow", "doy", "hour", "isodow", "isoyear", "minute", "month", "quarter", "second", "week", "year",
];

/// Functions that give a subscript of an array.
const SUBSCRIPTS: &[&str] = &["array_lower", "array_position", "array_upper", "generate_subscripts"];
const INTERVAL: DataType = DataType::Interval { fields: None, precision: None };

impl<'t> Sizes<'t> {
    #[expect(clippy::too_many_lines, reason = "one match over the expressions")]
    #[expect(clippy::wildcard_enum_match_arm, reason = "the judge of the tree refuses all others")]
    pub(super) fn expression(&mut self, expr: &'t Expr) -> Bound {
        match expr {
            Expr::Identifier(name) => {
                self.stand_at(name.span);
                self.read(&name.value)
            }
            Expr::CompoundIdentifier(parts) => parts.last().map_or(Bound::TABLE, |name| {
                self.stand_at(name.span);
                self.read(&name.value)
            }),
            Expr::CompoundFieldAccess { root, access_chain } => {
                for access in access_chain {
                    self.all(subscripts(access));
                }
                self.of(root)
            }
            Expr::Value(value) => self.literal(value),
            Expr::TypedString(TypedString { value, data_type, .. }) => {
                let bound = self.literal(value);
                converted(bound, expr, data_type)
            }
            Expr::Interval(Interval { value, .. }) => {
                self.all([value.as_ref()]);
                let text = literal_of(value).map_or("", literal_text);
                Bound { bytes: SMALL, number: moments::largest_field(text, &INTERVAL) }
            }
            Expr::Nested(inner)
            | Expr::UnaryOp { op: UnaryOperator::Minus | UnaryOperator::Plus, expr: inner }
            | Expr::Ceil { expr: inner, .. }
            | Expr::Floor { expr: inner, .. }
            | Expr::Collate { expr: inner, .. } => self.of(inner),
            Expr::UnaryOp { op: UnaryOperator::Not, expr: inner } => self.test([inner.as_ref()]),
            Expr::UnaryOp { op: UnaryOperator::BitwiseNot, expr: inner } => {
                Bound::of_bytes(self.of(inner).bytes)
            }
            Expr::UnaryOp { expr: inner, .. } => self.of(inner),
            Expr::Substring { expr: inner, substring_from, substring_for, .. } => {
                self.all(substring_from.as_deref().into_iter().chain(substring_for.as_deref()));
                self.of(inner)
            }
            Expr::Trim { expr: inner, trim_what, trim_characters, .. } => {
                let what =
                    self.largest(trim_what.as_deref().into_iter().chain(trim_characters.iter().flatten()));
                let text = self.of(inner);
                self.compare(text.bytes.saturating_mul(what.bytes));
                text
            }
            Expr::Cast { expr: inner, data_type, .. } => self.cast(inner, data_type),
            Expr::BinaryOp { .. } => self.chain(expr),
            Expr::Array(Array { elem: items, named: _ }) | Expr::Tuple(items) => {
                let (mut bytes, mut number) = (SMALL, 0);
                for item in items {
                    let bound = self.of(item);
                    bytes = bound.bytes.saturating_add(bytes);
                    number = bound.number.max(number);
                }
                let bytes = bytes.saturating_mul(2);
                self.charge(Cost { nodes: 0, bytes });
                Bound { bytes, number }
            }
            Expr::Case { operand, conditions, else_result, .. } => {
                self.all(operand.as_deref());
                self.all(conditions.iter().map(|CaseWhen { condition, result: _ }| condition));
                self.largest(
                    conditions
                        .iter()
                        .map(|CaseWhen { condition: _, result }| result)
                        .chain(else_result.as_deref()),
                )
            }
            Expr::Overlay { expr: inner, overlay_what, overlay_from, overlay_for } => {
                self.all([overlay_from.as_ref()].into_iter().chain(overlay_for.as_deref()));
                let (text, what) = (self.of(inner), self.of(overlay_what));
                Bound::of_bytes(text.bytes.saturating_add(what.bytes))
            }
            Expr::Extract { field, expr: inner, .. } => {
                let number = self.of(inner).number.max(TABLE_NUMBER);
                let small = SMALL_FIELDS.contains(&field.to_string().to_ascii_lowercase().as_str());
                if small { Bound { bytes: SMALL, number } } else { Bound::of_bytes(SMALL) }
            }
            Expr::Position { expr: what, r#in: text } => {
                let (what, text) = (self.of(what), self.of(text));
                self.compare(text.bytes.saturating_mul(what.bytes));
                Bound { bytes: SMALL, number: text.bytes.max(TABLE_NUMBER) }
            }
            Expr::Function(function) => self.function(function),
            Expr::Subquery(query) => self.subquery(query),
            Expr::Exists { subquery, .. } => {
                self.subquery(subquery);
                Bound { bytes: SMALL, number: 1 }
            }
            Expr::In { expr: inner, target, .. } => {
                self.of(inner);
                match target {
                    InTarget::List(exprs) => self.test(exprs),
                    InTarget::Subquery(query) => {
                        self.subquery(query);
                        Bound { bytes: SMALL, number: 1 }
                    }
                    InTarget::Unnest(_) | InTarget::Table { .. } => Bound::TABLE,
                }
            }
            Expr::Between { expr: inner, low, high, .. } => self.test([inner.as_ref(), low, high]),
            Expr::AnyOp { left, right, .. } | Expr::AllOp { left, right, .. } => self.comparison(left, right),
            Expr::IsDistinctFrom(left, right) | Expr::IsNotDistinctFrom(left, right) => {
                self.test([left.as_ref(), right])
            }
            Expr::Like { expr: inner, pattern, escape_char, .. }
            | Expr::ILike { expr: inner, pattern, escape_char, .. } => {
                self.all(escape_char.as_deref());
                self.comparison(inner, pattern)
            }
            Expr::SimilarTo { expr: inner, pattern, escape_char, .. } => {
                self.test([inner.as_ref(), pattern].into_iter().chain(escape_char.as_deref()))
            }
            Expr::IsNormalized { expr: inner, .. } => {
                let bytes = self.of(inner).bytes;
                self.compare(pairs_of_marks(bytes));
                Bound { bytes: SMALL, number: 1 }
            }
            Expr::AtTimeZone { timestamp, time_zone } => {
                self.of(time_zone);
                Bound { bytes: SMALL, number: self.of(timestamp).number }
            }
            Expr::IsFalse(inner)
            | Expr::IsNotFalse(inner)
            | Expr::IsTrue(inner)
            | Expr::IsNotTrue(inner)
            | Expr::IsNull(inner)
            | Expr::IsNotNull(inner)
            | Expr::IsUnknown(inner)
            | Expr::IsNotUnknown(inner) => self.test([inner.as_ref()]),
            Expr::GroupingSets(sets) | Expr::Cube(sets) | Expr::Rollup(sets) => {
                self.test(sets.iter().flatten())
            }
            _ => Bound::of_bytes(SMALL),
        }
    }

    fn subquery(&mut self, query: &'t Query) -> Bound {
        let relation = self.query(query);
        self.spend(relation.columns.len());
        relation.any_of_value()
    }

    /// Whether one value is in another, or like it.
    fn comparison(&mut self, left: &'t Expr, right: &'t Expr) -> Bound {
        let (left, right) = (self.of(left), self.of(right));
        self.compare(left.bytes.saturating_mul(right.bytes));
        Bound { bytes: SMALL, number: 1 }
    }

    /// A chain of operators, from the left.
    fn chain(&mut self, expr: &'t Expr) -> Bound {
        let mut first = expr;
        let mut rest = Vec::new();
        while let Expr::BinaryOp { left, op, right } = first {
            rest.push((op, right.as_ref()));
            first = left;
        }
        let mut bound = self.of(first);
        for (op, right) in rest.into_iter().rev() {
            self.spend(1);
            let right_bound = self.of(right);
            self.compare(pairs_of_operation(op, bound, right_bound, right));
            bound = operation(op, bound, right_bound, right);
        }
        if bound.bytes > SMALL {
            self.charge(Cost { nodes: 0, bytes: bound.bytes });
        }
        bound
    }

    fn literal(&mut self, value: &ValueWithSpan) -> Bound {
        self.stand_at(value.span);
        let text = literal_text(value);
        self.spend(text.len() / 64);
        // `'[7:8]={1,2}'`
        self.far_subscripts |= text.contains("]=");
        literal(value)
    }

    /// A cast of an array to text escapes what it holds.
    fn cast(&mut self, inner: &'t Expr, data_type: &'t DataType) -> Bound {
        let bound = self.of(inner);
        let array = matches!(data_type, DataType::Array(_));
        self.far_subscripts |= array && bound.number == u64::MAX && may_be_text(inner);
        if type_name(data_type) == "tsquery" {
            self.compare(pairs_of_query(bound.bytes));
        }
        let escaped = if matches!(inner, Expr::Array(_) | Expr::Tuple(_)) { bound.bytes } else { 0 };
        let hidden = hidden_digits(inner, bound, data_type);
        self.charge(Cost { nodes: 0, bytes: hidden });
        self.spend(literal_of(inner).map_or(0, |value| literal_text(value).len() / 16));
        let converted = converted(bound, inner, data_type);
        let bytes =
            converted.bytes.saturating_add(escaped).saturating_add(hidden.min(MAX_CONSTANT_BYTES / 2));
        if bytes > bound.bytes {
            self.charge(Cost { nodes: 0, bytes });
        }
        Bound { bytes, number: converted.number }
    }

    pub(super) fn arguments(&mut self, args: &'t [FunctionArg]) -> Vec<Bound> {
        args.iter().map(|arg| argument(arg).map_or(Bound::TABLE, |expr| self.of(expr))).collect()
    }

    fn function(&mut self, function: &'t Function) -> Bound {
        let name = last_name(&function.name);
        self.stand_at_name(&function.name);
        let at = self.near;
        self.all(function.filter.as_deref());
        let within = self.largest(function.within_group.iter().map(|order| &order.expr));
        match &function.over {
            Some(WindowType::WindowSpec(spec)) => self.window(spec),
            Some(WindowType::NamedWindow(_)) => {}
            None => self.aggregated |= is_aggregate(name),
        }
        let (args, bounds): (&[FunctionArg], Vec<Bound>) = match &function.args {
            FunctionArguments::None if moments::is_clock(name) => return Bound::TABLE,
            FunctionArguments::None => return Bound::of_bytes(SMALL),
            FunctionArguments::Subquery(query) => {
                // `ARRAY(SELECT …)` keeps rows as `array_agg` does.
                let relation = self.query(query);
                self.near = at;
                return self.kept(relation.any_of_value(), relation.rows);
            }
            FunctionArguments::List(list) => {
                self.all(list.clauses.iter().flat_map(clause_exprs));
                (&list.args, self.arguments(&list.args))
            }
        };
        self.near = at;
        let rows = self.rows;
        if keeps_rows(name) {
            let value = bounds.iter().fold(within, |most, bound| Bound {
                bytes: most.bytes.saturating_add(bound.bytes),
                number: most.number.max(bound.number),
            });
            return self.kept(value, rows);
        }
        match name {
            "count" => Bound { bytes: 8, number: rows.max(TABLE_NUMBER) },
            "sum" => {
                let number = bounds.first().map_or(u64::MAX, |bound| bound.number);
                Bound { bytes: SMALL, number: number.saturating_mul(rows).max(TABLE_NUMBER) }
            }
            _ => {
                self.rows = rows.saturating_mul(rows_of(name, args, &bounds));
                self.call(name, args, &bounds)
            }
        }
    }

    /// Rows that are kept as one value.
    fn kept(&mut self, value: Bound, rows: u64) -> Bound {
        if rows > MAX_SERIES_ROWS {
            self.exceed(self.near, Excess::Rows);
        }
        let bytes = value.bytes.saturating_mul(rows).saturating_add(SMALL);
        self.charge(Cost { nodes: 0, bytes });
        Bound { bytes, number: value.number }
    }

    pub(super) fn call(&mut self, name: &str, args: &'t [FunctionArg], bounds: &[Bound]) -> Bound {
        self.spend(args.iter().filter_map(argument).map(written).sum());
        self.far_subscripts |= name == "array_fill" && args.len() > 2;
        let bound = if self.far_subscripts && SUBSCRIPTS.contains(&name) {
            Bound::of_bytes(SMALL)
        } else {
            of_call(name, args, bounds)
        };
        self.compare(pairs_of_call(name, args, bounds));
        if grows(name) {
            self.charge(Cost { nodes: 0, bytes: bound.bytes });
        }
        if bound.bytes > MAX_CONSTANT_BYTES {
            self.exceed(self.near, Excess::Bytes);
        }
        bound
    }
}

/// How long a literal is, in steps of looking at it.
#[expect(clippy::wildcard_enum_match_arm, reason = "only literals are read again")]
fn written(expr: &Expr) -> usize {
    match expr {
        Expr::Value(value) => literal_text(value).len() / 64,
        _ => 0,
    }
}

/// What `ORDER BY` within a call holds.
#[expect(clippy::wildcard_enum_match_arm, reason = "the judge of the tree refuses all others")]
fn clause_exprs(clause: &FunctionArgumentClause) -> impl Iterator<Item = &Expr> {
    let exprs = match clause {
        FunctionArgumentClause::OrderBy(exprs) => exprs.as_slice(),
        _ => &[],
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
