//! Which values text is made of, and which are compared with what a caller says: none of them may have members of its own, for
//! a secret's among them would not be seen. What is gathered here on the walk is followed in `trace`.

use sqlparser::ast::{
    AccessExpr, ArrayElemTypeDef, BinaryOperator, CaseWhen, DataType, Expr, Function, FunctionArguments,
    InTarget, Query, SetExpr, Subscript,
};

use super::{
    super::members::Kinds,
    calls::{never, never_beside},
    keys::{BY_KEY, element_name, operator},
    output,
    parts::{Call, argument, bare, placeholder, placeholders, subscripts, within},
    walk::{Walk, value_of as expr_of},
};

/// A value, where it stands, and what it must not be.
#[derive(Clone, Copy)]
pub(super) struct Demand<'t> {
    pub(super) value: Value<'t>,
    pub(super) scope: Option<usize>,
    pub(super) never: Kinds,
}

#[derive(Clone, Copy)]
pub(super) enum Value<'t> {
    Expr(&'t Expr),
    /// A query's column of this index.
    Column(&'t Query, usize),
    /// Whatever is called so.
    Named(&'t str),
}

/// A column of a query.
pub(super) struct Made<'t> {
    pub(super) query: &'t Query,
    pub(super) index: usize,
    /// None when PostgreSQL's own name for it is not known.
    pub(super) name: Option<String>,
    pub(super) expr: &'t Expr,
    pub(super) scope: Option<usize>,
}

/// What is gathered on the walk.
#[derive(Default)]
pub(super) struct Flow<'t> {
    pub(super) demands: Vec<Demand<'t>>,
    /// What counts only when a parameter can come by way of a column.
    pub(super) by_column: Vec<Demand<'t>>,
    pub(super) columns: Vec<Made<'t>>,
    /// Queries that are a part of another's set operation, behind that one.
    pub(super) arms: Vec<(&'t Query, &'t Query)>,
    /// Queries whose columns can be read by their own names.
    pub(super) read: Vec<&'t Query>,
    /// Other names of columns.
    pub(super) renamed: Vec<(&'t str, &'t Query, usize)>,
    /// Names of what a function in FROM gives.
    pub(super) given: Vec<(&'t str, Call<'t>, usize)>,
    /// Names in the list of a function's columns that have a type.
    pub(super) typed: Vec<(&'t str, &'t DataType)>,
    /// Types that something is cast to, whose fields can be read.
    pub(super) types: Vec<&'t str>,
    /// Functions that are not PostgreSQL's own, in FROM.
    pub(super) functions: Vec<&'t str>,
    /// What rows made of JSON are called, whose fields are members.
    pub(super) rows_of_json: Vec<&'t str>,
}

/// What a cast makes.
pub(super) enum Target<'t> {
    /// A number, a date or the like, which is nothing but itself.
    Plain,
    Json,
    Text,
    /// A type that is not known here.
    Other(&'t str),
}

const PLAIN: &[&str] = &[
    "bigint",
    "bool",
    "boolean",
    "cidr",
    "date",
    "dec",
    "decimal",
    "float",
    "float4",
    "float8",
    "inet",
    "int",
    "int2",
    "int4",
    "int8",
    "integer",
    "interval",
    "macaddr",
    "macaddr8",
    "money",
    "numeric",
    "oid",
    "real",
    "smallint",
    "time",
    "timestamp",
    "timestamptz",
    "timetz",
    "uuid",
];
const TEXTS: &[&str] = &["bpchar", "bytea", "char", "character", "citext", "name", "text", "varchar"];

#[expect(clippy::wildcard_enum_match_arm, reason = "whatever else there is is taken for text")]
pub(super) fn target(mut data_type: &DataType) -> Target<'_> {
    while let DataType::Array(
        ArrayElemTypeDef::SquareBracket(element, _) | ArrayElemTypeDef::Qualified(element, _),
    ) = data_type
    {
        data_type = element;
    }
    match data_type {
        DataType::BitVarying(_)
        | DataType::Time(..)
        | DataType::Timestamp(..)
        | DataType::DoublePrecision
        | DataType::Double(_)
        | DataType::Interval { .. } => Target::Plain,
        _ => match element_name(data_type) {
            Some("json" | "jsonb") => Target::Json,
            Some(name) if PLAIN.contains(&name) => Target::Plain,
            Some(name) if !TEXTS.contains(&name) => Target::Other(name),
            Some(_) | None => Target::Text,
        },
    }
}

impl<'t> Walk<'_, 't, '_> {
    fn demand(&mut self, value: Value<'t>, scope: Option<usize>, never: Kinds) {
        if never != Kinds::NONE {
            self.flow.demands.push(Demand { value, scope, never });
        }
    }

    /// What an expression makes of its parts.
    #[expect(clippy::wildcard_enum_match_arm, reason = "other expressions make no text and compare nothing")]
    pub(super) fn made(&mut self, expr: &'t Expr, scope: Option<usize>) {
        match expr {
            Expr::Cast { kind: _, expr: inner, data_type, format: _ } => match target(data_type) {
                Target::Text => self.demand(Value::Expr(inner), scope, Kinds::ALL),
                Target::Other(name) => {
                    self.flow.types.push(name);
                    self.demand(Value::Expr(inner), scope, Kinds::ALL);
                }
                Target::Plain | Target::Json => {}
            },
            Expr::BinaryOp { left, op, right } if operator(op) == Some("||") => {
                for side in [left, right] {
                    self.demand(Value::Expr(side), scope, Kinds::ALL);
                }
            }
            Expr::BinaryOp { left: _, op, right: _ } if !compares(op) => {}
            Expr::BinaryOp { left, op: _, right }
            | Expr::AnyOp { left, compare_op: _, right, is_some: _ }
            | Expr::AllOp { left, compare_op: _, right }
            | Expr::IsDistinctFrom(left, right)
            | Expr::IsNotDistinctFrom(left, right) => self.compare(left, right, scope),
            Expr::Between { expr, negated: _, low, high } => {
                self.compare(expr, low, scope);
                self.compare(expr, high, scope);
            }
            Expr::In { expr, target, negated: _, global: _ } => self.compare_in(expr, target, scope),
            Expr::Case {
                case_token: _,
                end_token: _,
                operand: Some(operand),
                conditions,
                else_result: _,
            } => {
                for CaseWhen { condition, result: _ } in conditions {
                    self.compare(operand, condition, scope);
                }
            }
            Expr::Substring { expr, substring_from, substring_for, special: _, shorthand: _ } => {
                self.chosen(
                    expr,
                    [substring_from, substring_for].into_iter().flatten().map(AsRef::as_ref),
                    scope,
                );
            }
            Expr::Trim { trim_where: _, trim_what, expr, trim_characters } => {
                let rest = trim_what.as_deref().into_iter().chain(trim_characters.iter().flatten());
                self.chosen(expr, rest, scope);
            }
            Expr::Overlay { expr, overlay_what, overlay_from, overlay_for } => {
                let rest = [overlay_what.as_ref(), overlay_from].into_iter().chain(overlay_for.as_deref());
                self.chosen(expr, rest, scope);
            }
            Expr::CompoundFieldAccess { root, access_chain } => self.fields(root, access_chain, scope),
            Expr::Function(function) => {
                let Function { args, .. } = function;
                if let (FunctionArguments::List(_), Some(call)) = (args, Call::of(expr)) {
                    self.made_of_call(&call, scope);
                }
            }
            _ => {}
        }
    }

    /// A part of a text; with a parameter among what says which, the caller chooses it.
    fn chosen(&mut self, text: &'t Expr, by: impl Iterator<Item = &'t Expr>, scope: Option<usize>) {
        let by: Vec<&Expr> = by.collect();
        self.demand(Value::Expr(text), scope, Kinds::ALL);
        self.demand_beside(text, &by, scope, Kinds::PART);
    }

    /// A value beside others, which it must not be when one of these is, or can be, a caller's.
    fn demand_beside(&mut self, expr: &'t Expr, others: &[&Expr], scope: Option<usize>, never: Kinds) {
        let demand = Demand { value: Value::Expr(expr), scope, never };
        if others.iter().any(|other| !placeholders(other).is_empty()) {
            self.flow.demands.push(demand);
        } else if others.iter().any(|other| may_be_carried(other)) {
            self.flow.by_column.push(demand);
        }
    }

    /// `(x).f` is the call `f(x)` unless x is a row that has such a field.
    fn fields(&mut self, root: &'t Expr, chain: &'t [AccessExpr], scope: Option<usize>) {
        let (mut value, mut never) = (Value::Expr(root), Kinds::ALL - Kinds::ROW);
        for access in chain {
            if let AccessExpr::Dot(Expr::Identifier(field)) = access {
                self.demand(value, scope, never);
                (value, never) = (Value::Named(&field.value), Kinds::ALL - Kinds::ROW);
            } else if let AccessExpr::Subscript(Subscript::Index { index: _ }) = access {
                // An element of an array of rows is a row.
                never = never - Kinds::ROWS;
            }
            self.demand_beside(root, &subscripts(access), scope, Kinds::PART);
        }
    }

    pub(super) fn made_of_call(&mut self, call: &Call<'t>, scope: Option<usize>) {
        let args: Vec<&'t Expr> = call.args.iter().filter_map(argument).collect();
        let name = call.name.value.as_str();
        for (index, value) in args.iter().enumerate() {
            let (before, after) = args.split_at(index);
            let others: Vec<&Expr> = before.iter().chain(after.iter().skip(1)).copied().collect();
            self.demand(Value::Expr(value), scope, never(name));
            self.demand_beside(value, &others, scope, never_beside(name));
        }
    }

    /// A value under another name, which is its own only if it is no row: a row's fields would be renamed.
    pub(super) fn renamed_value(&mut self, call: &Call<'t>, level: usize) {
        for expr in call.args.iter().filter_map(argument) {
            self.demand(Value::Expr(expr), Some(level), Kinds::ROW | Kinds::ROWS);
        }
    }

    fn compare(&mut self, left: &'t Expr, right: &'t Expr, scope: Option<usize>) {
        for (value, other) in [(left, right), (right, left)] {
            self.compare_value(Value::Expr(value), carries(other), scope);
        }
    }

    fn compare_value(&mut self, value: Value<'t>, with_parameter: bool, scope: Option<usize>) {
        let demand = Demand { value, scope, never: Kinds::ROW | Kinds::ROWS };
        let list = if with_parameter { &mut self.flow.demands } else { &mut self.flow.by_column };
        list.push(demand);
    }

    fn compare_in(&mut self, expr: &'t Expr, target: &'t InTarget, scope: Option<usize>) {
        match target {
            InTarget::List(list) => list.iter().for_each(|item| self.compare(expr, item, scope)),
            InTarget::Subquery(query) => {
                let width = output::columns(query).map_or(0, |columns| columns.len());
                for index in 0..width {
                    self.compare_value(Value::Column(query, index), carries(expr), scope);
                }
                self.compare_value(Value::Expr(expr), false, scope);
            }
            InTarget::Unnest(_) | InTarget::Table { name: _, args: _ } => {}
        }
    }

    /// A column that both sides of a join are compared by.
    pub(super) fn compare_named(&mut self, name: &'t str) {
        self.compare_value(Value::Named(name), false, None);
    }

    /// The columns of a part of a query's set operation.
    pub(super) fn columns_of_arm(&mut self, query: &'t Query, arm: &'t SetExpr, scope: Option<usize>) {
        let mut add = |index, name, expr| self.flow.columns.push(Made { query, index, name, expr, scope });
        match arm {
            SetExpr::Select(select) => {
                for (index, item) in select.projection.iter().enumerate() {
                    let name = output::item(item).and_then(|output| output.name.map(Into::into));
                    expr_of(item).into_iter().for_each(|expr| add(index, name.clone(), expr));
                }
            }
            SetExpr::Values(values) => {
                for (index, expr) in values.rows.iter().flat_map(|row| row.content.iter().enumerate()) {
                    add(index, Some(format!("column{}", index + 1)), expr);
                }
            }
            SetExpr::Query(inner) => self.flow.arms.push((query, inner)),
            SetExpr::SetOperation { op: _, set_quantifier: _, left: _, right: _ }
            | SetExpr::Insert(_)
            | SetExpr::Update(_)
            | SetExpr::Delete(_)
            | SetExpr::Merge(_)
            | SetExpr::Table(_) => {}
        }
    }

    /// The rows of a set operation are compared with each other.
    pub(super) fn compare_arms(&mut self, query: &'t Query) {
        let own = |made: &&Made<'t>| std::ptr::eq(made.query, query);
        let columns: Vec<(&'t Expr, Option<usize>)> =
            self.flow.columns.iter().filter(own).map(|made| (made.expr, made.scope)).collect();
        let any = columns.iter().any(|(expr, _)| carries(expr));
        for (expr, scope) in columns {
            self.compare_value(Value::Expr(expr), any, scope);
        }
    }
}

/// Whether both sides of an operator are values that it may compare.
fn compares(op: &BinaryOperator) -> bool {
    let is_logic = matches!(op, BinaryOperator::And | BinaryOperator::Or);
    !is_logic && operator(op).is_none_or(|op| !BY_KEY.contains(&op))
}

/// Whether a parameter is in it, so that it can be a row. A parameter itself is none.
fn carries(expr: &Expr) -> bool {
    placeholder(bare(expr)).is_none() && !placeholders(expr).is_empty()
}

/// Whether a column is in it, which can be a parameter elsewhere.
pub(super) fn may_be_carried(expr: &Expr) -> bool {
    let (all, queries) = within(expr);
    queries || all.iter().any(|expr| matches!(expr, Expr::Identifier(_) | Expr::CompoundIdentifier(_)))
}
