//! Judges the sources of queries: tables, subqueries, functions and joins of them.

use sqlparser::ast::{
    Join, JoinConstraint, JoinOperator, ObjectName, TableAlias, TableAliasColumnDef, TableFactor,
    TableFunctionArgs, TableInheritance, TableSample, TableSampleKind, TableSampleMethod,
    TableSampleModifier, TableSampleQuantity, TableWithJoins,
};

use super::roles::NameRole;
use super::walk::{Node, Walk};
use super::{calls, identifiers, types};
use crate::guard::config::GuardConfig;
use crate::guard::refusal::Refusal;
use crate::guard::relations;
use crate::problem::echo;

/// Judges a table and the joins behind it.
pub(super) fn judge_joined<'t>(walk: &mut Walk<'t, '_>, table: &'t TableWithJoins) -> Result<(), Refusal> {
    let TableWithJoins { relation, joins } = table;
    walk.left.push(Node::Factor(relation));
    for Join { relation, global, join_operator } in joins {
        walk.left.push(Node::Factor(relation));
        walk.forbid_foreign(*global)?;
        judge_join(walk, join_operator)?;
    }
    Ok(())
}

fn judge_join<'t>(walk: &mut Walk<'t, '_>, operator: &'t JoinOperator) -> Result<(), Refusal> {
    let Some(constraint) = constraint_of(operator) else {
        return walk.refuse("Joins are INNER, LEFT, RIGHT, FULL, CROSS and NATURAL; use EXISTS or LATERAL.");
    };
    match constraint {
        JoinConstraint::On(expr) => walk.left.push(Node::Expr(expr)),
        JoinConstraint::Using(columns) | JoinConstraint::UsingAlias(columns, _) => {
            columns.iter().try_for_each(|column| identifiers::judge_object(walk, column).map(drop))?;
        }
        JoinConstraint::Natural | JoinConstraint::None => {}
    }
    Ok(())
}

/// Returns the condition of a join; kinds of joins that PostgreSQL does not have are refused, and have none here.
pub(crate) const fn constraint_of(operator: &JoinOperator) -> Option<&JoinConstraint> {
    match operator {
        JoinOperator::Join(constraint)
        | JoinOperator::Inner(constraint)
        | JoinOperator::Left(constraint)
        | JoinOperator::LeftOuter(constraint)
        | JoinOperator::Right(constraint)
        | JoinOperator::RightOuter(constraint)
        | JoinOperator::FullOuter(constraint)
        | JoinOperator::CrossJoin(constraint) => Some(constraint),
        JoinOperator::Semi(_)
        | JoinOperator::LeftSemi(_)
        | JoinOperator::RightSemi(_)
        | JoinOperator::Anti(_)
        | JoinOperator::LeftAnti(_)
        | JoinOperator::RightAnti(_)
        | JoinOperator::CrossApply
        | JoinOperator::OuterApply
        | JoinOperator::AsOf { match_condition: _, constraint: _ }
        | JoinOperator::StraightJoin(_)
        | JoinOperator::ArrayJoin
        | JoinOperator::LeftArrayJoin
        | JoinOperator::InnerArrayJoin => None,
    }
}

/// Judges a table, a subquery or a call.
pub(super) fn judge_factor<'t>(walk: &mut Walk<'t, '_>, factor: &'t TableFactor) -> Result<(), Refusal> {
    let (alias, sample) = match factor {
        TableFactor::Table {
            name,
            alias,
            args,
            with_hints,
            version,
            with_ordinality: _,
            partitions,
            json_path,
            sample,
            index_directives,
            inheritance,
        } => {
            let foreign = !with_hints.is_empty()
                || version.is_some()
                || !partitions.is_empty()
                || json_path.is_some()
                || !index_directives.is_empty();
            walk.forbid_foreign(foreign)?;
            let (Some(TableInheritance::Only { parenthesized: _ } | TableInheritance::IncludeDescendants)
            | None) = inheritance;
            match args {
                Some(TableFunctionArgs { args, settings }) => {
                    walk.forbid_foreign(settings.is_some())?;
                    calls::judge_table_call(walk, name, args)?;
                }
                None => judge_source(walk, name)?,
            }
            (alias, sample.as_ref())
        }
        TableFactor::Derived { lateral: _, subquery, alias, sample } => {
            walk.query(subquery);
            (alias, sample.as_ref())
        }
        TableFactor::Function { lateral: _, name, args, with_ordinality: _, alias } => {
            calls::judge_table_call(walk, name, args)?;
            (alias, None)
        }
        TableFactor::NestedJoin { table_with_joins, alias } => {
            walk.left.push(Node::Joined(table_with_joins));
            (alias, None)
        }
        TableFactor::TableFunction { .. }
        | TableFactor::UNNEST { .. }
        | TableFactor::JsonTable { .. }
        | TableFactor::OpenJsonTable { .. }
        | TableFactor::Pivot { .. }
        | TableFactor::Unpivot { .. }
        | TableFactor::UnpivotExpr { .. }
        | TableFactor::MatchRecognize { .. }
        | TableFactor::XmlTable { .. }
        | TableFactor::SemanticView { .. } => {
            return walk.refuse("FROM takes tables, subqueries, allowed functions and joins of them.");
        }
    };
    alias.iter().try_for_each(|alias| judge_alias(walk, alias))?;
    judge_sample(walk, sample)
}

/// Judges a relation that is read.
fn judge_source<'t>(walk: &mut Walk<'t, '_>, name: &'t ObjectName) -> Result<(), Refusal> {
    let (schema, last) = match identifiers::judge_object(walk, name)?.as_slice() {
        [.., schema, last] => (Some(schema.value.as_str()), *last),
        [last] => (None, *last),
        [] => return walk.refuse_foreign(),
    };
    walk.account(last, NameRole::Relation)?;
    unreadable(schema, &last.value, walk.config).map_or(Ok(()), |sentence| walk.refuse(sentence))
}

/// Returns the sentence for a relation that shows more than a query may see.
pub(super) fn unreadable(schema: Option<&str>, name: &str, config: &GuardConfig) -> Option<String> {
    let subject = relations::subject(schema, name).filter(|_| !config.allows_revealing_relations())?;
    let name = echo(name);
    Some(format!(
        "The relation {name} tells of {subject}; ask the operator to allow it with @catalog in MCP_SQL_ALLOW_FUNCTIONS."
    ))
}

/// Judges a name for a table, a function's rows or a `WITH` query, with names or definitions of columns.
pub(super) fn judge_alias<'t>(walk: &mut Walk<'t, '_>, alias: &'t TableAlias) -> Result<(), Refusal> {
    let TableAlias { explicit: _, name, columns, at } = alias;
    walk.stand_at(name);
    if !columns.is_empty() {
        walk.account(name, NameRole::Columns)?;
    }
    walk.forbid_foreign(at.is_some())?;
    for TableAliasColumnDef { name, data_type } in columns {
        walk.stand_at(name);
        if let Some(data_type) = data_type {
            types::judge_type(walk, data_type)?;
        }
    }
    Ok(())
}

fn judge_sample<'t>(walk: &mut Walk<'t, '_>, sample: Option<&'t TableSampleKind>) -> Result<(), Refusal> {
    let sample = match sample {
        Some(TableSampleKind::AfterTableAlias(sample)) => sample,
        Some(TableSampleKind::BeforeTableAlias(_)) => return walk.refuse_foreign(),
        None => return Ok(()),
    };
    let TableSample { modifier, name, quantity, seed: _, bucket, offset } = sample.as_ref();
    let known = match (modifier, name) {
        (TableSampleModifier::Sample, _)
        | (_, Some(TableSampleMethod::Row | TableSampleMethod::Block) | None) => false,
        (
            TableSampleModifier::TableSample,
            Some(TableSampleMethod::Bernoulli | TableSampleMethod::System),
        ) => bucket.is_none() && offset.is_none(),
    };
    match quantity {
        Some(TableSampleQuantity { parenthesized: true, value, unit: None }) if known => {
            walk.left.push(Node::Expr(value));
            Ok(())
        }
        Some(_) | None => walk.refuse("TABLESAMPLE takes BERNOULLI (percent) or SYSTEM (percent)."),
    }
}
