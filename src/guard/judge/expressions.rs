//! Judges expressions.

use sqlparser::ast::{
    AccessExpr, Array, CaseWhen, CastKind, CeilFloorKind, DateTimeField, Expr, ExtractSyntax, Ident,
    InTarget, ObjectName, Subscript, TypedString,
};

use super::roles::NameRole;
use super::walk::{Node, Walk};
use super::{calls, collations, constants, identifiers, operators, types};
use crate::guard::functions_denied;
use crate::guard::refusal::Refusal;
use crate::problem::echo;

/// Judges one expression. The expressions in it are left for later.
#[expect(
    clippy::too_many_lines,
    reason = "one match over every expression, so that a new one stops the build"
)]
pub(super) fn judge_expr<'t>(walk: &mut Walk<'t, '_>, expr: &'t Expr) -> Result<(), Refusal> {
    match expr {
        Expr::Identifier(ident) => judge_bare(walk, ident)?,
        Expr::CompoundIdentifier(parts) => {
            parts.iter().try_for_each(|part| identifiers::judge_identifier(walk, part))?;
            if let Some(first) = parts.first() {
                identifiers::judge_column(walk, first)?;
            }
            // Only the last can be a function: the names before it are a relation.
            if let [_, .., last] = parts.as_slice() {
                judge_behind_a_dot(walk, last)?;
            }
        }
        Expr::CompoundFieldAccess { root, access_chain } => {
            walk.left.push(Node::Expr(root));
            access_chain.iter().try_for_each(|access| judge_access(walk, access))?;
        }
        Expr::QualifiedWildcard(name, _) => drop(identifiers::judge_object(walk, name)?),
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
        | Expr::Extract { field: _, syntax: ExtractSyntax::From, expr: inner } => walk.exprs([&**inner]),
        Expr::IsDistinctFrom(left, right)
        | Expr::IsNotDistinctFrom(left, right)
        | Expr::AtTimeZone { timestamp: left, time_zone: right }
        | Expr::Position { expr: left, r#in: right } => walk.exprs([&**left, right]),
        Expr::In { expr, target, negated: _, global } => {
            walk.forbid_foreign(*global)?;
            walk.left.push(Node::Expr(expr));
            judge_target(walk, target)?;
        }
        Expr::Between { expr, negated: _, low, high } => walk.exprs([&**expr, low, high]),
        Expr::BinaryOp { left, op, right }
        | Expr::AnyOp { left, compare_op: op, right, is_some: _ }
        | Expr::AllOp { left, compare_op: op, right } => {
            operators::judge_infix(walk, op)?;
            walk.exprs([&**left, right]);
        }
        Expr::Like { negated: _, any: _, expr, pattern, escape_char }
        | Expr::ILike { negated: _, any: _, expr, pattern, escape_char }
        | Expr::SimilarTo { negated: _, expr, pattern, escape_char } => {
            walk.exprs(escape_char.as_deref());
            walk.exprs([&**expr, pattern]);
        }
        Expr::UnaryOp { op, expr } => {
            operators::judge_prefix(walk, *op)?;
            walk.left.push(Node::Expr(expr));
        }
        Expr::Cast { kind: CastKind::Cast | CastKind::DoubleColon, expr, data_type, format: None } => {
            walk.left.push(Node::Expr(expr));
            types::judge_type(walk, data_type)?;
        }
        Expr::Cast {
            kind: CastKind::Cast | CastKind::DoubleColon | CastKind::TryCast | CastKind::SafeCast,
            expr: _,
            data_type: _,
            format: _,
        } => return walk.refuse("Casts are written CAST(x AS type) or x::type."),
        Expr::Ceil { expr, field } | Expr::Floor { expr, field } => match field {
            CeilFloorKind::DateTimeField(DateTimeField::NoDateTime) => walk.left.push(Node::Expr(expr)),
            CeilFloorKind::DateTimeField(_) | CeilFloorKind::Scale(_) => return walk.refuse_foreign(),
        },
        Expr::Substring { expr, substring_from, substring_for, special: _, shorthand: _ } => {
            walk.exprs([substring_from, substring_for].into_iter().flatten().map(|it| &**it));
            walk.left.push(Node::Expr(expr));
        }
        Expr::Trim { trim_where: _, trim_what, expr, trim_characters } => {
            walk.exprs(trim_what.as_deref());
            walk.exprs(trim_characters.iter().flatten());
            walk.left.push(Node::Expr(expr));
        }
        Expr::Overlay { expr, overlay_what, overlay_from, overlay_for } => {
            walk.exprs(overlay_for.as_deref());
            walk.exprs([&**expr, overlay_what, overlay_from]);
        }
        Expr::Collate { expr, collation } => {
            walk.left.push(Node::Expr(expr));
            judge_collation(walk, collation)?;
        }
        Expr::Value(value) => constants::judge_value(walk, value)?,
        Expr::TypedString(TypedString { data_type, value, uses_odbc_syntax: false }) => {
            constants::judge_string(walk, value)?;
            types::judge_type(walk, data_type)?;
        }
        Expr::Interval(interval) => constants::judge_interval(walk, interval)?,
        Expr::Function(function) => calls::judge_call(walk, function)?,
        Expr::Case { case_token: _, end_token: _, operand, conditions, else_result } => {
            walk.exprs([operand, else_result].into_iter().flatten().map(|it| &**it));
            walk.exprs(conditions.iter().flat_map(|CaseWhen { condition, result }| [condition, result]));
        }
        Expr::Exists { subquery, negated: _ } | Expr::Subquery(subquery) => walk.query(subquery),
        Expr::GroupingSets(sets) | Expr::Cube(sets) | Expr::Rollup(sets) => {
            walk.exprs(sets.iter().flatten());
        }
        Expr::Tuple(exprs) => walk.exprs(exprs),
        Expr::Array(Array { elem, named: true }) => walk.elements(elem),
        Expr::Array(Array { elem: _, named: false }) => return walk.refuse("Arrays are written ARRAY[...]."),
        Expr::Wildcard(_) => return walk.refuse("`*` stands only in a SELECT list or in count(*)."),
        Expr::JsonAccess { value: _, path: _ }
        | Expr::IsJson { expr: _, kind: _, unique_keys: _, negated: _ }
        | Expr::RLike { negated: _, expr: _, pattern: _, regexp: _ }
        | Expr::Convert { .. }
        | Expr::Extract { field: _, syntax: ExtractSyntax::Comma, expr: _ }
        | Expr::Prefixed { prefix: _, value: _ }
        | Expr::TypedString(TypedString { data_type: _, value: _, uses_odbc_syntax: true })
        | Expr::Struct { values: _, fields: _ }
        | Expr::Named { expr: _, name: _ }
        | Expr::Dictionary(_)
        | Expr::Map(_)
        | Expr::MatchAgainst { .. }
        | Expr::OuterJoin(_)
        | Expr::Prior(_)
        | Expr::Lambda(_)
        | Expr::MemberOf(_) => {
            return walk.refuse("This expression is not PostgreSQL's SQL, or not supported here.");
        }
    }
    Ok(())
}

/// Judges a name that stands alone. It may be a call without parentheses, which sqlparser takes for a column.
fn judge_bare(walk: &mut Walk<'_, '_>, ident: &Ident) -> Result<(), Refusal> {
    identifiers::judge_column(walk, ident)?;
    if ident.value != "system_user" || ident.quote_style.is_some() {
        return Ok(());
    }
    walk.refuse_function("SYSTEM_USER is not allowed; use CURRENT_USER.")
}

fn judge_target<'t>(walk: &mut Walk<'t, '_>, target: &'t InTarget) -> Result<(), Refusal> {
    match target {
        InTarget::List(exprs) => walk.exprs(exprs),
        InTarget::Subquery(query) => walk.query(query),
        InTarget::Unnest(_) | InTarget::Table { name: _, args: _ } => {
            return walk
                .refuse("IN takes a list or a subquery in parentheses; for an array write = ANY (...).");
        }
    }
    Ok(())
}

fn judge_access<'t>(walk: &mut Walk<'t, '_>, access: &'t AccessExpr) -> Result<(), Refusal> {
    match access {
        AccessExpr::Dot(Expr::Identifier(field)) => {
            identifiers::judge_identifier(walk, field)?;
            judge_behind_a_dot(walk, field)?;
        }
        AccessExpr::Dot(_) => return walk.refuse("Only the name of a field may stand behind this dot."),
        AccessExpr::Subscript(Subscript::Index { index }) => walk.left.push(Node::Expr(index)),
        AccessExpr::Subscript(Subscript::Slice { lower_bound, upper_bound, stride: None }) => {
            walk.exprs([lower_bound, upper_bound].into_iter().flatten());
        }
        AccessExpr::Subscript(Subscript::Slice { lower_bound: _, upper_bound: _, stride: Some(_) }) => {
            return walk.refuse("A slice has two bounds in PostgreSQL: a[1:2].");
        }
    }
    Ok(())
}

/// Judges the name behind a dot: `t.f` and `(x).f` call a function f when there is no such column.
///
/// Functions that show too much are refused here. Those that the server has and the guard does not know are refused when
/// they are about to run.
fn judge_behind_a_dot(walk: &mut Walk<'_, '_>, field: &Ident) -> Result<(), Refusal> {
    let name = &field.value;
    walk.account(field, NameRole::Field)?;
    if !functions_denied::may_call_behind_a_dot(name) || walk.config.allows_function(None, name) {
        return Ok(());
    }
    walk.refuse_function(format!(
        "The name {} behind a dot could call a function that is not allowed; give the column an alias in a subquery.",
        echo(name)
    ))
}

fn judge_collation<'t>(walk: &mut Walk<'t, '_>, name: &'t ObjectName) -> Result<(), Refusal> {
    let names = identifiers::judge_object(walk, name)?;
    match names.as_slice() {
        [name] if collations::is_built_in(&name.value) => Ok(()),
        [schema, name] if schema.value == "pg_catalog" && collations::is_built_in(&name.value) => Ok(()),
        _ => walk.refuse(collations::UNKNOWN_COLLATION),
    }
}
