//! Judges expressions.

use sqlparser::ast::{
    AccessExpr, Array, CaseWhen, CastKind, CeilFloorKind, DateTimeField, Expr, ExtractSyntax, Ident,
    InTarget, ObjectName, Subscript, TypedString,
};

use super::roles::NameRole;
use super::walk::{Node, Walk};
use super::{calls, collations, constants, identifiers, operators, types};
use crate::guard::functions_denied;
use crate::guard::refusal::{Reason, Refusal};
use crate::problem::echo;

/// Judges one expression. The expressions in it are left for later.
#[expect(
    clippy::too_many_lines,
    reason = "one match over every expression, so that a new one stops the build"
)]
pub(super) fn judge_expr<'t>(walk: &mut Walk<'t, '_>, expr: &'t Expr) -> Result<(), Refusal> {
    match expr {
        Expr::Identifier(ident) => judge_bare(walk, ident),
        Expr::CompoundIdentifier(parts) => {
            parts.iter().try_for_each(|part| identifiers::judge_identifier(walk, part))?;
            parts.first().map_or(Ok(()), |first| identifiers::judge_column(walk, first))?;
            // Only the last can be a function: the names before it are a relation.
            match parts.as_slice() {
                [_, .., last] => judge_behind_a_dot(walk, last),
                [_] | [] => Ok(()),
            }
        }
        Expr::CompoundFieldAccess { root, access_chain } => {
            walk.left.push(Node::Expr(root));
            access_chain.iter().try_for_each(|access| judge_access(walk, access))
        }
        Expr::QualifiedWildcard(name, _) => identifiers::judge_object(walk, name).map(drop),
        Expr::IsFalse(inner)
        | Expr::IsNotFalse(inner)
        | Expr::IsTrue(inner)
        | Expr::IsNotTrue(inner)
        | Expr::IsNull(inner)
        | Expr::IsNotNull(inner)
        | Expr::IsUnknown(inner)
        | Expr::IsNotUnknown(inner)
        | Expr::IsNormalized { expr: inner, form: _, negated: _ }
        | Expr::Nested(inner) => leave(walk, [inner]),
        Expr::IsDistinctFrom(left, right) | Expr::IsNotDistinctFrom(left, right) => {
            leave(walk, [left, right])
        }
        Expr::In { expr, target, negated: _, global } => {
            if *global {
                return Err(walk.refuse_foreign());
            }
            walk.left.push(Node::Expr(expr));
            judge_target(walk, target)
        }
        Expr::Between { expr, negated: _, low, high } => leave(walk, [expr, low, high]),
        Expr::BinaryOp { left, op, right } => {
            operators::judge_infix(walk, op)?;
            leave(walk, [left, right])
        }
        Expr::AnyOp { left, compare_op, right, is_some: _ } | Expr::AllOp { left, compare_op, right } => {
            operators::judge_infix(walk, compare_op)?;
            leave(walk, [left, right])
        }
        Expr::Like { negated: _, any: _, expr, pattern, escape_char }
        | Expr::ILike { negated: _, any: _, expr, pattern, escape_char }
        | Expr::SimilarTo { negated: _, expr, pattern, escape_char } => {
            walk.exprs(escape_char.as_deref());
            leave(walk, [expr, pattern])
        }
        Expr::UnaryOp { op, expr } => {
            operators::judge_prefix(walk, *op)?;
            leave(walk, [expr])
        }
        Expr::Cast { kind, expr: inner, data_type, format } => {
            walk.left.push(Node::Expr(inner));
            match kind {
                CastKind::Cast | CastKind::DoubleColon if format.is_none() => {
                    types::judge_type(walk, data_type)
                }
                CastKind::Cast | CastKind::DoubleColon | CastKind::TryCast | CastKind::SafeCast => {
                    Err(walk.refuse("Casts are written CAST(x AS type) or x::type."))
                }
            }
        }
        Expr::AtTimeZone { timestamp, time_zone } => leave(walk, [timestamp, time_zone]),
        Expr::Extract { field: _, syntax: ExtractSyntax::From, expr } => leave(walk, [expr]),
        Expr::Ceil { expr, field } | Expr::Floor { expr, field } => match field {
            CeilFloorKind::DateTimeField(DateTimeField::NoDateTime) => leave(walk, [expr]),
            CeilFloorKind::DateTimeField(_) | CeilFloorKind::Scale(_) => Err(walk.refuse_foreign()),
        },
        Expr::Position { expr, r#in } => leave(walk, [expr, r#in]),
        Expr::Substring { expr, substring_from, substring_for, special: _, shorthand: _ } => {
            walk.exprs(substring_from.as_deref());
            walk.exprs(substring_for.as_deref());
            leave(walk, [expr])
        }
        Expr::Trim { trim_where: _, trim_what, expr, trim_characters } => {
            walk.exprs(trim_what.as_deref());
            walk.exprs(trim_characters.iter().flatten());
            leave(walk, [expr])
        }
        Expr::Overlay { expr, overlay_what, overlay_from, overlay_for } => {
            walk.exprs(overlay_for.as_deref());
            leave(walk, [expr, overlay_what, overlay_from])
        }
        Expr::Collate { expr, collation } => {
            walk.left.push(Node::Expr(expr));
            judge_collation(walk, collation)
        }
        Expr::Value(value) => constants::judge_value(walk, value),
        Expr::TypedString(TypedString { data_type, value, uses_odbc_syntax: false }) => {
            constants::judge_string(walk, value)?;
            types::judge_type(walk, data_type)
        }
        Expr::Interval(interval) => constants::judge_interval(walk, interval),
        Expr::Function(function) => calls::judge_call(walk, function),
        Expr::Case { case_token: _, end_token: _, operand, conditions, else_result } => {
            walk.exprs(operand.as_deref());
            walk.exprs(else_result.as_deref());
            walk.exprs(conditions.iter().flat_map(|CaseWhen { condition, result }| [condition, result]));
            Ok(())
        }
        Expr::Exists { subquery, negated: _ } | Expr::Subquery(subquery) => {
            walk.query(subquery);
            Ok(())
        }
        Expr::GroupingSets(sets) | Expr::Cube(sets) | Expr::Rollup(sets) => {
            walk.exprs(sets.iter().flatten());
            Ok(())
        }
        Expr::Tuple(exprs) => {
            walk.exprs(exprs);
            Ok(())
        }
        Expr::Array(array) if array.named => {
            leave_elements(walk, array);
            Ok(())
        }
        Expr::Array(_) => Err(walk.refuse("Arrays are written ARRAY[...].")),
        Expr::Wildcard(_) => Err(walk.refuse("`*` stands only in a SELECT list or in count(*).")),
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
            Err(walk.refuse("This expression is not PostgreSQL's SQL, or not supported here."))
        }
    }
}

/// Judges a name that stands alone. It may be a call without parentheses, which sqlparser takes for a column.
fn judge_bare(walk: &mut Walk<'_, '_>, ident: &Ident) -> Result<(), Refusal> {
    identifiers::judge_column(walk, ident)?;
    let sentence = match ident.value.as_str() {
        "system_user" => "SYSTEM_USER is not allowed; use CURRENT_USER.",
        "current_schema" if !walk.config.allows_function(None, "current_schema") => {
            "CURRENT_SCHEMA would tell of the search_path that is set here; ask the operator to allow it with \
             @catalog in MCP_SQL_ALLOW_FUNCTIONS."
        }
        _ => return Ok(()),
    };
    if ident.quote_style.is_some() { Ok(()) } else { Err(walk.refuse(sentence).about(Reason::Function)) }
}

fn leave<'t, const N: usize>(walk: &mut Walk<'t, '_>, exprs: [&'t Expr; N]) -> Result<(), Refusal> {
    walk.exprs(exprs);
    Ok(())
}

/// Leaves the elements of an `ARRAY[…]` for later.
pub(super) fn leave_elements<'t>(walk: &mut Walk<'t, '_>, array: &'t Array) {
    let Array { elem, named: _ } = array;
    walk.left.extend(elem.iter().map(Node::Element));
}

fn judge_target<'t>(walk: &mut Walk<'t, '_>, target: &'t InTarget) -> Result<(), Refusal> {
    match target {
        InTarget::List(exprs) => walk.exprs(exprs),
        InTarget::Subquery(query) => walk.query(query),
        InTarget::Unnest(_) | InTarget::Table { name: _, args: _ } => {
            return Err(
                walk.refuse("IN takes a list or a subquery in parentheses; for an array write = ANY (...).")
            );
        }
    }
    Ok(())
}

fn judge_access<'t>(walk: &mut Walk<'t, '_>, access: &'t AccessExpr) -> Result<(), Refusal> {
    match access {
        AccessExpr::Dot(Expr::Identifier(field)) => {
            identifiers::judge_identifier(walk, field)?;
            judge_behind_a_dot(walk, field)
        }
        AccessExpr::Dot(_) => Err(walk.refuse("Only the name of a field may stand behind this dot.")),
        AccessExpr::Subscript(Subscript::Index { index }) => leave(walk, [index]),
        AccessExpr::Subscript(Subscript::Slice { lower_bound, upper_bound, stride: None }) => {
            walk.exprs(lower_bound);
            walk.exprs(upper_bound);
            Ok(())
        }
        AccessExpr::Subscript(Subscript::Slice { lower_bound: _, upper_bound: _, stride: Some(_) }) => {
            Err(walk.refuse("A slice has two bounds in PostgreSQL: a[1:2]."))
        }
    }
}

/// Judges the name behind a dot: `t.f` and `(x).f` call a function f when there is no such column.
///
/// Functions that show too much are refused here. Those that the server has and the guard does not know are refused when
/// they are about to run.
fn judge_behind_a_dot(walk: &mut Walk<'_, '_>, field: &Ident) -> Result<(), Refusal> {
    let name = &field.value;
    if !walk.account(field, NameRole::Field) {
        return Err(walk.refuse_foreign());
    }
    if !functions_denied::may_call_behind_a_dot(name) || walk.config.allows_function(None, name) {
        return Ok(());
    }
    Err(walk.refuse(format!(
        "The name {} behind a dot could call a function that is not allowed; give the column an alias in a subquery.",
        echo(name)
    ))
    .about(Reason::Function))
}

fn judge_collation<'t>(walk: &mut Walk<'t, '_>, name: &'t ObjectName) -> Result<(), Refusal> {
    let names = identifiers::judge_object(walk, name)?;
    let collation = match names.as_slice() {
        [name] => Some(name),
        [schema, name] if schema.value == "pg_catalog" => Some(name),
        _ => None,
    };
    match collation {
        Some(name) if collations::is_built_in(&name.value) => Ok(()),
        Some(_) | None => Err(walk.refuse(collations::UNKNOWN_COLLATION)),
    }
}
