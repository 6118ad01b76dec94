//! Judges calls, in expressions and in `FROM`.

use sqlparser::ast::{
    DuplicateTreatment, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgOperator,
    FunctionArgumentClause, FunctionArgumentList, FunctionArguments, ObjectName, WindowType,
};

use super::roles::NameRole;
use super::walk::{Node, Walk};
use super::{clauses, identifiers};
use crate::guard::functions::foreign;
use crate::guard::parser::constructs;
use crate::guard::refusal::Refusal;
use crate::guard::{functions_denied, functions_sets};
use crate::problem::echo;

/// Words of the grammar that look like calls: they cannot mean a function of another schema.
#[rustfmt::skip]
const GRAMMAR: &[&str] = &[
    "array", "coalesce", "current_catalog", "current_date", "current_time", "current_timestamp",
    "current_user", "greatest", "grouping", "least", "localtime", "localtimestamp", "nullif", "row",
    "session_user", "user",
];

/// Judges a call in an expression.
pub(super) fn judge_call<'t>(walk: &mut Walk<'t, '_>, function: &'t Function) -> Result<(), Refusal> {
    let Function { name, uses_odbc_syntax, parameters, args, filter, null_treatment, over, within_group } =
        function;
    judge_callee(walk, name)?;
    judge_namesake(walk, name, args)?;
    walk.forbid_foreign(*uses_odbc_syntax || null_treatment.is_some())?;
    walk.forbid_foreign(*parameters != FunctionArguments::None)?;
    match args {
        FunctionArguments::None => {}
        FunctionArguments::Subquery(query) => walk.query(query),
        FunctionArguments::List(list) => judge_arguments(walk, list)?,
    }
    walk.exprs(filter.as_deref());
    clauses::judge_ordering(walk, within_group)?;
    match over {
        Some(WindowType::WindowSpec(spec)) => clauses::judge_window(walk, spec),
        Some(WindowType::NamedWindow(_)) | None => Ok(()),
    }
}

/// Judges a call in `FROM`.
pub(super) fn judge_table_call<'t>(
    walk: &mut Walk<'t, '_>,
    name: &'t ObjectName,
    args: &'t [FunctionArg],
) -> Result<(), Refusal> {
    judge_callee(walk, name)?;
    args.iter().try_for_each(|arg| judge_argument(walk, arg))
}

/// Judges the name of the function.
fn judge_callee<'t>(walk: &mut Walk<'t, '_>, name: &'t ObjectName) -> Result<(), Refusal> {
    let (schema, last) = identifiers::qualified(walk, name)?;
    let schema = schema.as_deref();
    let is_grammar = schema.is_none() && last.quote_style.is_none() && GRAMMAR.contains(&last.value.as_str());
    if is_grammar || walk.config.allows_function(schema, &last.value) {
        return walk.account(last, NameRole::Call);
    }
    walk.refuse_function(unknown_function(&identifiers::written(schema, last)))
}

/// Refuses a call that means another database's function of the same name.
fn judge_namesake(walk: &Walk<'_, '_>, name: &ObjectName, args: &FunctionArguments) -> Result<(), Refusal> {
    let (FunctionArguments::List(list), [part]) = (args, name.0.as_slice()) else { return Ok(()) };
    let Some(ident) = part.as_ident().filter(|ident| !walk.config.adds_function(&ident.value)) else {
        return Ok(());
    };
    foreign::namesake(&ident.value, list.args.len()).map_or(Ok(()), |sentence| walk.refuse(sentence))
}

fn judge_arguments<'t>(walk: &mut Walk<'t, '_>, list: &'t FunctionArgumentList) -> Result<(), Refusal> {
    let FunctionArgumentList { duplicate_treatment, args, clauses: within } = list;
    let (Some(DuplicateTreatment::Distinct | DuplicateTreatment::All) | None) = duplicate_treatment;
    for clause in within {
        match clause {
            FunctionArgumentClause::OrderBy(exprs) => clauses::judge_ordering(walk, exprs)?,
            FunctionArgumentClause::IgnoreOrRespectNulls(_)
            | FunctionArgumentClause::Where(_)
            | FunctionArgumentClause::Limit(_)
            | FunctionArgumentClause::OnOverflow(_)
            | FunctionArgumentClause::Having(_)
            | FunctionArgumentClause::Separator(_)
            | FunctionArgumentClause::JsonNullClause(_)
            | FunctionArgumentClause::JsonReturningClause(_) => {
                return walk.refuse("Inside a call only arguments, DISTINCT and ORDER BY are supported.");
            }
        }
    }
    args.iter().try_for_each(|arg| judge_argument(walk, arg))
}

fn judge_argument<'t>(walk: &mut Walk<'t, '_>, arg: &'t FunctionArg) -> Result<(), Refusal> {
    let value = match arg {
        FunctionArg::Unnamed(value) => value,
        FunctionArg::Named { name, arg, operator } => {
            walk.stand_at(name);
            judge_naming(walk, operator)?;
            arg
        }
        FunctionArg::ExprNamed { name, arg, operator } => {
            judge_naming(walk, operator)?;
            let Expr::Identifier(name) = name else {
                return walk.refuse("An argument's name is a plain name: f(name => value).");
            };
            walk.stand_at(name);
            arg
        }
    };
    match value {
        FunctionArgExpr::Expr(expr) => walk.left.push(Node::Expr(expr)),
        FunctionArgExpr::QualifiedWildcard(name) => drop(identifiers::judge_object(walk, name)?),
        FunctionArgExpr::Wildcard => {}
        FunctionArgExpr::WildcardWithOptions(options) => clauses::judge_wildcard(walk, options)?,
    }
    Ok(())
}

fn judge_naming(walk: &Walk<'_, '_>, operator: &FunctionArgOperator) -> Result<(), Refusal> {
    match operator {
        FunctionArgOperator::RightArrow | FunctionArgOperator::Assignment => Ok(()),
        FunctionArgOperator::Colon | FunctionArgOperator::Value => walk.refuse(constructs::JSON_BUILDER),
        FunctionArgOperator::Equals | FunctionArgOperator::Space => {
            walk.refuse("A named argument is written f(name => value).")
        }
    }
}

/// Returns the sentence for a function that is not allowed: its danger, or the setting that allows it.
pub(super) fn unknown_function(name: &str) -> String {
    if let Some(does) = functions_denied::danger(name) {
        return format!("The name {} is never allowed: a function of this name {does}.", echo(name));
    }
    if let Some(sentence) = constructs::named(name) {
        return sentence.to_owned();
    }
    if let Some(rewrite) = foreign::function(name) {
        return format!("PostgreSQL has no function {}; write {rewrite}.", echo(name));
    }
    let plain = name.strip_prefix("pg_catalog.").unwrap_or(name);
    let set = functions_sets::SETS.iter().find(|set| set.has_function(plain));
    let allowed_by = set.map(|set| format!("={}", set.name)).unwrap_or_default();
    format!(
        "The function {} is not on the list of allowed functions; use another, or ask the operator to allow it with \
         MCP_SQL_ALLOW_FUNCTIONS{allowed_by}.",
        echo(name)
    )
}
