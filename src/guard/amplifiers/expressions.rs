//! Expressions as nodes: calls by the function that the grammar's own forms stand for, operators by their sign.

use sqlparser::ast::{
    AccessExpr, Array, BinaryOperator, DataType, Expr, Function as Call, FunctionArg, FunctionArgExpr,
    FunctionArgumentClause, FunctionArguments, Ident, InTarget, Interval, ObjectName, ObjectNamePart,
    Subscript, TypedString, UnaryOperator, WindowFrameBound, WindowSpec, WindowType,
};

use super::arena::{Kind, Slot};
use super::children::{Children, Raw};
use crate::guard::functions::find;
use crate::guard::judge::names::last_name;
use crate::guard::parser::token_of;

/// Parts of a date that are small numbers.
const SMALL_PARTS: &[&str] = &[
    "day", "dow", "doy", "hour", "isodow", "isoyear", "minute", "month", "quarter", "second", "week", "year",
];
/// The type of an `INTERVAL '…'`.
const INTERVAL: DataType = DataType::Interval { fields: None, precision: None };

#[expect(clippy::too_many_lines, reason = "one match over the expressions")]
pub(super) fn of_expr<'t>(
    expr: &'t Expr,
    near: usize,
    children: &mut Children<'t>,
) -> Option<(Kind<'t>, usize)> {
    let (kind, operands): (Kind<'t>, Vec<&'t Expr>) = match expr {
        Expr::Identifier(name) => return Some(column(std::slice::from_ref(name), near)),
        Expr::CompoundIdentifier(parts) => return Some(column(parts, near)),
        Expr::Value(value) => {
            return Some((Kind::Literal(&value.value), token_of(value.span).unwrap_or(near)));
        }
        Expr::Function(function) => return Some(of_call(function, near, children)),
        Expr::QualifiedWildcard(..) => (Kind::Star, Vec::new()),
        Expr::CompoundFieldAccess { root, access_chain } => {
            let subscripts = access_chain.iter().flat_map(subscripts);
            (Kind::Access, std::iter::once(root.as_ref()).chain(subscripts).collect())
        }
        Expr::TypedString(TypedString { value, data_type, .. }) => {
            children.push(Slot::Argument(0), Raw::Value(value));
            (Kind::Cast(data_type), Vec::new())
        }
        Expr::Interval(Interval { value, .. }) => (Kind::Cast(&INTERVAL), vec![value]),
        Expr::Cast { expr: inner, data_type, .. } => (Kind::Cast(data_type), vec![inner]),
        Expr::UnaryOp { op: UnaryOperator::Minus, expr: inner } => (Kind::Minus, vec![inner]),
        Expr::UnaryOp { op: UnaryOperator::Plus, expr: inner }
        | Expr::Nested(inner)
        | Expr::Ceil { expr: inner, .. }
        | Expr::Floor { expr: inner, .. }
        | Expr::Collate { expr: inner, .. }
        | Expr::AtTimeZone { timestamp: inner, .. } => (Kind::Same, vec![inner]),
        Expr::UnaryOp { op: UnaryOperator::Not, expr: inner }
        | Expr::IsFalse(inner)
        | Expr::IsNotFalse(inner)
        | Expr::IsTrue(inner)
        | Expr::IsNotTrue(inner)
        | Expr::IsNull(inner)
        | Expr::IsNotNull(inner)
        | Expr::IsUnknown(inner)
        | Expr::IsNotUnknown(inner) => (Kind::Truth, vec![inner]),
        Expr::IsDistinctFrom(left, right) | Expr::IsNotDistinctFrom(left, right) => {
            (Kind::Truth, vec![left, right])
        }
        Expr::Between { expr: inner, low, high, .. } => (Kind::Truth, vec![inner, low, high]),
        Expr::UnaryOp { expr: inner, .. } => (Kind::Operator(""), vec![inner]),
        Expr::BinaryOp { left, op, right }
        | Expr::AnyOp { left, compare_op: op, right, .. }
        | Expr::AllOp { left, compare_op: op, right } => (Kind::Operator(symbol(op)), vec![left, right]),
        Expr::Like { expr: inner, pattern, .. } | Expr::ILike { expr: inner, pattern, .. } => {
            (Kind::Operator("~~"), vec![inner, pattern])
        }
        Expr::SimilarTo { expr: inner, pattern, .. } => (Kind::Operator("~"), vec![inner, pattern]),
        Expr::Array(Array { elem: items, .. }) | Expr::Tuple(items) => (Kind::Build, items.iter().collect()),
        Expr::GroupingSets(sets) | Expr::Cube(sets) | Expr::Rollup(sets) => {
            (Kind::Build, sets.iter().flatten().collect())
        }
        Expr::Case { operand, conditions, else_result, .. } => {
            children.exprs(Slot::Condition, operand.as_deref());
            children.exprs(Slot::Condition, conditions.iter().map(|when| &when.condition));
            let results = conditions.iter().map(|when| &when.result);
            (Kind::Choice, results.chain(else_result.as_deref()).collect())
        }
        Expr::Substring { expr: inner, substring_from, substring_for, .. } => {
            let rest = substring_from.as_deref().into_iter().chain(substring_for.as_deref());
            (called("substring"), std::iter::once(inner.as_ref()).chain(rest).collect())
        }
        Expr::Trim { expr: inner, trim_what, trim_characters, .. } => {
            let what = trim_what.as_deref().into_iter().chain(trim_characters.iter().flatten());
            (called("btrim"), std::iter::once(inner.as_ref()).chain(what).collect())
        }
        Expr::Overlay { expr: inner, overlay_what, overlay_from, .. } => {
            (called("overlay"), vec![inner, overlay_what, overlay_from])
        }
        Expr::Position { expr: what, r#in: text } => (called("position"), vec![what, text]),
        Expr::IsNormalized { expr: inner, .. } => (called("is_normalized"), vec![inner]),
        Expr::Extract { field, expr: inner, .. } => {
            (Kind::Part { small: is_small_part(&field.to_string()) }, vec![inner])
        }
        Expr::Subquery(query) => {
            children.push(Slot::Argument(0), Raw::Query(query, None));
            (Kind::Same, Vec::new())
        }
        Expr::Exists { subquery, .. } => {
            children.push(Slot::Condition, Raw::Query(subquery, None));
            (Kind::Truth, Vec::new())
        }
        Expr::In { expr: inner, target: InTarget::Subquery(query), negated, .. } => {
            children.push(Slot::Condition, Raw::Query(query, None));
            (if *negated { Kind::Kept } else { Kind::Truth }, vec![inner])
        }
        Expr::In { expr: inner, target: InTarget::List(exprs), .. } => {
            (Kind::Truth, std::iter::once(inner.as_ref()).chain(exprs).collect())
        }
        _ => return None,
    };
    children.operands(operands);
    Some((kind, near))
}

fn of_call<'t>(function: &'t Call, near: usize, children: &mut Children<'t>) -> (Kind<'t>, usize) {
    let at = at_name(&function.name, near);
    let mut count = 0;
    match &function.args {
        FunctionArguments::None => {}
        FunctionArguments::Subquery(query) => {
            children.push(Slot::Argument(0), Raw::Query(query, None));
            return (Kind::Kept, at);
        }
        FunctionArguments::List(list) => {
            count = list.args.len();
            arguments(&list.args, children);
            for clause in &list.clauses {
                if let FunctionArgumentClause::OrderBy(exprs) = clause {
                    children.exprs(Slot::Condition, exprs.iter().map(|order| &order.expr));
                }
            }
        }
    }
    for (index, order) in (count..).zip(&function.within_group) {
        children.push(Slot::Argument(index), Raw::Expr(&order.expr));
    }
    children.exprs(Slot::Condition, function.filter.as_deref());
    if let Some(WindowType::WindowSpec(spec)) = &function.over {
        of_window(spec, Slot::Condition, children);
    }
    (call_of(&function.name), at)
}

pub(super) fn arguments<'t>(args: &'t [FunctionArg], children: &mut Children<'t>) {
    for (index, arg) in args.iter().enumerate() {
        let (slot, value) = match arg {
            FunctionArg::Unnamed(value) => (Slot::Argument(index), value),
            FunctionArg::Named { name, arg: value, .. }
            | FunctionArg::ExprNamed { name: Expr::Identifier(name), arg: value, .. } => {
                (Slot::Named(&name.value), value)
            }
            FunctionArg::ExprNamed { arg: value, .. } => (Slot::Named(""), value),
        };
        children
            .push(slot, if let FunctionArgExpr::Expr(expr) = value { Raw::Expr(expr) } else { Raw::Star });
    }
}

/// A call by its name; what another schema has is not in the table.
pub(super) fn call_of(name: &ObjectName) -> Kind<'_> {
    let ObjectName(parts) = name;
    let own = match parts.as_slice() {
        [_] => true,
        [ObjectNamePart::Identifier(schema), _] => schema.value == "pg_catalog",
        _ => false,
    };
    Kind::Call(last_name(name), find(last_name(name)).filter(|_| own))
}

fn column(parts: &[Ident], near: usize) -> (Kind<'_>, usize) {
    let Some((name, before)) = parts.split_last() else { return (Kind::Star, near) };
    let of = before.last().map(|of| of.value.as_str());
    (Kind::Column { of, name: &name.value }, token_of(name.span).unwrap_or(near))
}

fn called<'t>(name: &'static str) -> Kind<'t> {
    Kind::Call(name, find(name))
}

pub(super) fn at_name(ObjectName(parts): &ObjectName, near: usize) -> usize {
    match parts.last() {
        Some(ObjectNamePart::Identifier(ident)) => token_of(ident.span).unwrap_or(near),
        Some(ObjectNamePart::Function(_)) | None => near,
    }
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

/// Returns true for a part of a date that is a small number.
pub(super) fn is_small_part(field: &str) -> bool {
    SMALL_PARTS.contains(&field.trim_matches('\'').to_ascii_lowercase().as_str())
}

/// An operator as it is written.
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

pub(super) fn of_window<'t>(spec: &'t WindowSpec, slot: Slot<'t>, children: &mut Children<'t>) {
    children.exprs(slot, spec.partition_by.iter().chain(spec.order_by.iter().map(|order| &order.expr)));
    if let Some(frame) = &spec.window_frame {
        for bound in std::iter::once(&frame.start_bound).chain(&frame.end_bound) {
            if let WindowFrameBound::Preceding(Some(expr)) | WindowFrameBound::Following(Some(expr)) = bound {
                children.push(slot, Raw::Expr(expr));
            }
        }
    }
}
