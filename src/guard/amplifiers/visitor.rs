//! The walk: each node of the tree that a rule asks for, by its kind.

use std::convert::Infallible;
use std::ops::ControlFlow;

use sqlparser::ast::{
    ArrayElemTypeDef, Cte, CteAsMaterialized, DataType, Distinct, Expr, Function, FunctionArg,
    FunctionArgExpr, FunctionArguments, Ident, InTarget, LimitClause, ObjectName, Query, Select, SelectItem,
    SelectItemQualifiedWildcardKind, SetExpr, SetOperator, SetQuantifier, TableFactor, TypeModifier,
    UnaryOperator, Value, ValueWithSpan, Visitor,
};
use sqlparser::tokenizer::Span;

use super::literals;
use super::nodes::{Kind, Nodes};
use crate::guard::functions::{find, operators};
use crate::guard::judge::names::last_name;
use crate::guard::parser::token_of;

impl Nodes {
    fn enter_call(&mut self, name: &ObjectName, args: &[FunctionArg]) -> ControlFlow<Infallible> {
        self.enter(call(name, args));
        for arg in args {
            // The walk has no step for `*`.
            if let FunctionArg::Unnamed(FunctionArgExpr::Wildcard | FunctionArgExpr::QualifiedWildcard(_)) =
                arg
            {
                self.enter(Kind::Star);
                self.leave()?;
            }
        }
        ControlFlow::Continue(())
    }

    /// Notes where the innermost open node stands.
    fn mark(&mut self, span: Span) {
        let open = self.open.last().copied().unwrap_or_default();
        if let Some(node) = self.list.get_mut(open) {
            node.at = node.at.or(token_of(span));
        }
    }
}

impl Visitor for Nodes {
    type Break = Infallible;

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<Infallible> {
        let ctes = query.with.iter().flat_map(|with| &with.cte_tables);
        let again = |cte: &Cte| matches!(cte.materialized, Some(CteAsMaterialized::NotMaterialized));
        self.not_materialized |= ctes.clone().any(again);
        self.recursive |= query.with.as_ref().is_some_and(|with| with.recursive);
        let with: Vec<_> = ctes.map(|cte| cte.alias.name.value.clone()).collect();
        self.with.extend(with.iter().cloned());
        let limits = match &query.limit_clause {
            Some(LimitClause::LimitOffset { limit, offset, .. }) => limit.iter().len() + offset.iter().len(),
            _ => 0,
        };
        let fetched = query.fetch.iter().filter(|fetch| fetch.quantity.is_some()).count();
        let keeps = keeps_rows(&query.body, self.recursive);
        self.enter(Kind::Query { with, keeps, limits: limits + fetched });
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, query: &Query) -> ControlFlow<Infallible> {
        let mut tables = Vec::new();
        tables_of(&query.body, &mut tables);
        for alias in tables {
            // `TABLE t`, for which the walk has no step either.
            self.enter(Kind::From { name: Some(alias.clone()), alias, lateral: false });
            self.leave()?;
        }
        self.leave()
    }

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<Infallible> {
        let before = if let Some(Distinct::On(exprs)) = &select.distinct { exprs.len() } else { 0 };
        let is_expr = |item: &&SelectItem| match item {
            SelectItem::UnnamedExpr(_) | SelectItem::ExprWithAlias { .. } => true,
            SelectItem::QualifiedWildcard(of, _) => matches!(of, SelectItemQualifiedWildcardKind::Expr(_)),
            _ => false,
        };
        self.enter(Kind::Select(before..before + select.projection.iter().filter(is_expr).count()));
        ControlFlow::Continue(())
    }

    fn post_visit_select(&mut self, _: &Select) -> ControlFlow<Infallible> {
        self.leave()
    }

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<Infallible> {
        let (called, args, alias) = match factor {
            TableFactor::Table { name, args, alias, .. } => {
                (Some(name), args.as_ref().map(|args| args.args.as_slice()), alias)
            }
            TableFactor::Function { name, args, alias, .. } => (Some(name), Some(args.as_slice()), alias),
            TableFactor::Derived { alias, .. } => (None, None, alias),
            // Tables in parentheses stand beside the others.
            _ => return ControlFlow::Continue(()),
        };
        let name = called.filter(|name| args.is_none() && name.0.len() == 1);
        let known = alias.as_ref().map_or(called.map_or("", last_name), |alias| &alias.name.value);
        let lateral = matches!(factor, TableFactor::Derived { lateral: true, .. }) || args.is_some();
        let name = name.map(|name| last_name(name).to_owned());
        self.enter(Kind::From { name, alias: known.to_owned(), lateral });
        for data_type in alias.iter().flat_map(|alias| &alias.columns).filter_map(|it| it.data_type.as_ref())
        {
            self.enter(cast(data_type));
            self.leave()?;
        }
        if let (Some(name), Some(args)) = (called, args) {
            self.enter_call(name, args)?;
        }
        ControlFlow::Continue(())
    }

    fn post_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<Infallible> {
        if !matches!(
            factor,
            TableFactor::Table { .. } | TableFactor::Function { .. } | TableFactor::Derived { .. }
        ) {
            return ControlFlow::Continue(());
        }
        if self.open.last().is_some_and(|index| matches!(self.kind(*index), Kind::Call { .. })) {
            self.leave()?;
        }
        self.leave()
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<Infallible> {
        match expr {
            Expr::Function(Function { name, args: FunctionArguments::List(list), .. }) => {
                self.enter_call(name, &list.args)?;
            }
            expr if !is_transparent(expr) => self.enter(kind_of(expr)),
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &Expr) -> ControlFlow<Infallible> {
        if is_transparent(expr) { ControlFlow::Continue(()) } else { self.leave() }
    }

    fn pre_visit_value(&mut self, value: &ValueWithSpan) -> ControlFlow<Infallible> {
        self.enter(match &value.value {
            Value::Placeholder(_) => Kind::Other,
            value => Kind::Literal {
                text: literals::text(value).to_owned(),
                number: literals::number(value),
                quoted: !matches!(value, Value::Number(..)),
            },
        });
        self.mark(value.span);
        self.leave()
    }

    fn pre_visit_ident(&mut self, ident: &Ident) -> ControlFlow<Infallible> {
        self.mark(ident.span);
        ControlFlow::Continue(())
    }
}

/// Finds each `TABLE t` of a set operation.
fn tables_of(body: &SetExpr, tables: &mut Vec<String>) {
    match body {
        SetExpr::SetOperation { left, right, .. } => {
            tables_of(left, tables);
            tables_of(right, tables);
        }
        SetExpr::Table(table) => tables.extend(table.table_name.clone().map(|name| name.value)),
        _ => {}
    }
}

/// Returns true for a set operation that holds its rows in memory: UNION does in a recursion.
fn keeps_rows(body: &SetExpr, recursive: bool) -> bool {
    match body {
        SetExpr::SetOperation { op: SetOperator::Union, set_quantifier, left, right } => {
            recursive && !matches!(set_quantifier, SetQuantifier::All)
                || keeps_rows(left, recursive)
                || keeps_rows(right, recursive)
        }
        SetExpr::SetOperation { .. } => true,
        _ => false,
    }
}

/// Returns true for an expression that is the value within it.
const fn is_transparent(expr: &Expr) -> bool {
    matches!(
        expr,
        Expr::Value(_)
            | Expr::Nested(_)
            | Expr::Collate { .. }
            | Expr::Ceil { .. }
            | Expr::Floor { .. }
            | Expr::UnaryOp { op: UnaryOperator::Plus, .. }
    )
}

fn kind_of(expr: &Expr) -> Kind {
    let called = |name| Kind::Call {
        function: find(name),
        name: name.to_owned(),
        arguments: usize::MAX,
        named: false,
    };
    match expr {
        Expr::Identifier(name) => Kind::Column { of: None, name: name.value.clone() },
        Expr::CompoundIdentifier(parts) => {
            let mut parts = parts.iter().rev().map(|part| part.value.clone());
            Kind::Column { name: parts.next().unwrap_or_default(), of: parts.next() }
        }
        Expr::QualifiedWildcard(..) => Kind::Star,
        Expr::Function(Function { args: FunctionArguments::Subquery(_), .. }) => Kind::Keeps,
        Expr::Function(Function { name, .. }) => call(name, &[]),
        Expr::CompoundFieldAccess { .. } => Kind::Access,
        Expr::Subquery(_) => Kind::Subquery,
        Expr::Interval(_) => cast(&DataType::Interval { fields: None, precision: None }),
        Expr::TypedString(typed) => cast(&typed.data_type),
        Expr::Cast { data_type, .. } => cast(data_type),
        Expr::UnaryOp { op: UnaryOperator::Minus, .. } => Kind::Minus,
        Expr::IsDistinctFrom(..) | Expr::IsNotDistinctFrom(..) | Expr::Between { .. } => Kind::Truth,
        Expr::In { target: InTarget::Subquery(_), negated: true, .. } => Kind::Keeps,
        Expr::In { .. } => Kind::Truth,
        Expr::BinaryOp { op, .. }
        | Expr::AnyOp { compare_op: op, .. }
        | Expr::AllOp { compare_op: op, .. } => Kind::Operator(op.to_string().to_lowercase()),
        Expr::Like { .. } | Expr::ILike { .. } => Kind::Operator("~~".to_owned()),
        Expr::SimilarTo { .. } => Kind::Operator("~".to_owned()),
        Expr::Array(_) | Expr::Tuple(_) => Kind::Build,
        Expr::Case { operand, .. } => Kind::Case(operand.is_some()),
        Expr::Substring { .. } => called("substring"),
        Expr::Trim { trim_what: None, trim_characters: None, .. } => Kind::Other,
        Expr::Trim { .. } => called("btrim"),
        Expr::Overlay { .. } => called("overlay"),
        Expr::Position { .. } => called("position"),
        Expr::IsNormalized { .. } => called("is_normalized"),
        Expr::Extract { field, .. } => Kind::Part(operators::is_small_part(&field.to_string())),
        _ => Kind::Other,
    }
}

/// A call by its name; what another schema has is not in the table.
fn call(name: &ObjectName, args: &[FunctionArg]) -> Kind {
    let schema = name.0.first().filter(|_| name.0.len() > 1).map(ToString::to_string);
    let own = name.0.len() < 3 && schema.is_none_or(|schema| schema.trim_matches('"') == "pg_catalog");
    let name = last_name(name).to_owned();
    let named = args.iter().any(|arg| !matches!(arg, FunctionArg::Unnamed(_)));
    Kind::Call { function: find(&name).filter(|_| own), name, arguments: args.len(), named }
}

/// A cast; each element of an array is padded.
fn cast(data_type: &DataType) -> Kind {
    /// The elements that an array is taken to have.
    const ELEMENTS: f64 = 500.0;
    let (name, length) = match data_type {
        DataType::Array(ArrayElemTypeDef::SquareBracket(element, _)) => match cast(element) {
            Kind::Cast { name, length } if length > 1.0 => (name, length * ELEMENTS),
            Kind::Cast { name, length } => (name, length),
            _ => (String::new(), 1.0),
        },
        DataType::Custom(name, modifiers) => {
            let numbers = modifiers.iter().filter_map(|modifier| match modifier {
                TypeModifier::Number(number, _) => number.parse().ok(),
                TypeModifier::Identifier(_) | TypeModifier::String(_) => None,
            });
            let pads = operators::pads(last_name(name));
            (last_name(name).to_owned(), numbers.filter(|_| pads).fold(1.0, f64::max))
        }
        DataType::Interval { .. } | DataType::Time(..) | DataType::Timestamp(..) => {
            ("timestamp".to_owned(), 1.0)
        }
        _ => (String::new(), 1.0),
    };
    Kind::Cast { name, length }
}
