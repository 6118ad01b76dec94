//! The judge of the tree: what queries read from.

use sqlparser::ast::{
    Join, JoinConstraint, JoinOperator, ObjectName, ObjectNamePart, TableAlias, TableAliasColumnDef,
    TableFactor, TableFunctionArgs, TableInheritance, TableSample, TableSampleKind, TableSampleMethod,
    TableSampleModifier, TableSampleQuantity, TableWithJoins,
};

use super::{
    names::last_name,
    tree::{Judge, NOT_POSTGRES, Node, Role},
    types,
};
use crate::{
    guard::{lexer::Refusal, relations},
    problem::echo,
};

impl<'t> Judge<'t, '_> {
    pub(super) fn joined(&mut self, table: &'t TableWithJoins) -> Result<(), Refusal> {
        let TableWithJoins { relation, joins } = table;
        self.left.push(Node::Factor(relation));
        for Join { relation, global, join_operator } in joins {
            self.left.push(Node::Factor(relation));
            if *global {
                return Err(self.refuse(NOT_POSTGRES));
            }
            self.join(join_operator)?;
        }
        Ok(())
    }

    fn join(&mut self, operator: &'t JoinOperator) -> Result<(), Refusal> {
        let constraint = match operator {
            JoinOperator::Join(constraint)
            | JoinOperator::Inner(constraint)
            | JoinOperator::Left(constraint)
            | JoinOperator::LeftOuter(constraint)
            | JoinOperator::Right(constraint)
            | JoinOperator::RightOuter(constraint)
            | JoinOperator::FullOuter(constraint)
            | JoinOperator::CrossJoin(constraint) => constraint,
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
            | JoinOperator::InnerArrayJoin => {
                return Err(self.refuse(
                    "Joins are INNER, LEFT, RIGHT, FULL, CROSS and NATURAL; use EXISTS or LATERAL.",
                ));
            }
        };
        match constraint {
            JoinConstraint::On(expr) => self.left.push(Node::Expr(expr)),
            JoinConstraint::Using(columns) | JoinConstraint::UsingAlias(columns, _) => {
                for column in columns {
                    self.relation(column)?;
                }
            }
            JoinConstraint::Natural | JoinConstraint::None => {}
        }
        Ok(())
    }

    #[expect(
        clippy::too_many_lines,
        reason = "one match over every table factor, so that a new one stops the build"
    )]
    pub(super) fn factor(&mut self, factor: &'t TableFactor) -> Result<(), Refusal> {
        match factor {
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
                if foreign {
                    return Err(self.refuse(NOT_POSTGRES));
                }
                match inheritance {
                    Some(
                        TableInheritance::Only { parenthesized: _ } | TableInheritance::IncludeDescendants,
                    )
                    | None => {}
                }
                match args {
                    Some(TableFunctionArgs { args, settings: None }) => {
                        self.table_call(name, args)?;
                    }
                    Some(TableFunctionArgs { args: _, settings: Some(_) }) => {
                        return Err(self.refuse(NOT_POSTGRES));
                    }
                    None => self.source(name)?,
                }
                self.optional_alias(alias.as_ref())?;
                self.sample(sample.as_ref())
            }
            TableFactor::Derived { lateral: _, subquery, alias, sample } => {
                self.left.push(Node::Query(subquery));
                self.optional_alias(alias.as_ref())?;
                self.sample(sample.as_ref())
            }
            TableFactor::Function { lateral: _, name, args, with_ordinality: _, alias } => {
                self.table_call(name, args)?;
                self.optional_alias(alias.as_ref())
            }
            TableFactor::NestedJoin { table_with_joins, alias } => {
                self.left.push(Node::Joined(table_with_joins));
                self.optional_alias(alias.as_ref())
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
                Err(self.refuse("FROM takes tables, subqueries, allowed functions and joins of them."))
            }
        }
    }

    /// A relation that is read.
    fn source(&mut self, name: &'t ObjectName) -> Result<(), Refusal> {
        self.relation(name)?;
        if let Some(ObjectNamePart::Identifier(last)) = name.0.last() {
            self.account(last, Role::Relation);
        }
        let schema = match name.0.as_slice() {
            [.., ObjectNamePart::Identifier(schema), _] => Some(schema.value.as_str()),
            [..] => None,
        };
        self.readable(schema, last_name(name))
    }

    /// Whether a relation of this name may be read.
    pub(super) fn readable(&self, schema: Option<&str>, name: &str) -> Result<(), Refusal> {
        match relations::tells(schema, name).filter(|_| !self.config.allows_telling_relations()) {
            None => Ok(()),
            Some(tells) => Err(self.refuse(telling_relation(name, tells))),
        }
    }

    fn optional_alias(&mut self, alias: Option<&'t TableAlias>) -> Result<(), Refusal> {
        alias.map_or(Ok(()), |alias| self.alias(alias))
    }

    /// A name for a table, a function's rows or a `WITH` query, with names or definitions of columns.
    pub(super) fn alias(&mut self, alias: &'t TableAlias) -> Result<(), Refusal> {
        let TableAlias { explicit: _, name, columns, at } = alias;
        self.stand_at(name);
        if !columns.is_empty() {
            self.account(name, Role::Columns);
        }
        if at.is_some() {
            return Err(self.refuse(NOT_POSTGRES));
        }
        for TableAliasColumnDef { name, data_type } in columns {
            self.stand_at(name);
            if let Some(data_type) = data_type {
                types::judge(self, data_type)?;
            }
        }
        Ok(())
    }

    fn sample(&mut self, sample: Option<&'t TableSampleKind>) -> Result<(), Refusal> {
        let sample = match sample {
            Some(TableSampleKind::AfterTableAlias(sample)) => sample,
            Some(TableSampleKind::BeforeTableAlias(_)) => return Err(self.refuse(NOT_POSTGRES)),
            None => return Ok(()),
        };
        let TableSample { modifier, name, quantity, seed: _, bucket, offset } = sample.as_ref();
        let known = match (modifier, name) {
            (
                TableSampleModifier::TableSample,
                Some(TableSampleMethod::Bernoulli | TableSampleMethod::System),
            ) => true,
            (TableSampleModifier::Sample, _)
            | (_, Some(TableSampleMethod::Row | TableSampleMethod::Block) | None) => false,
        };
        match quantity {
            Some(TableSampleQuantity { parenthesized: true, value, unit: None })
                if known && bucket.is_none() && offset.is_none() =>
            {
                self.left.push(Node::Expr(value));
                Ok(())
            }
            Some(_) | None => Err(self.refuse("TABLESAMPLE takes BERNOULLI (percent) or SYSTEM (percent).")),
        }
    }
}

/// The sentence for a relation that tells of others.
pub(super) fn telling_relation(name: &str, tells: &str) -> String {
    format!(
        "The relation {} tells of {tells}; ask the operator to allow it with @catalog in MCP_SQL_ALLOW_FUNCTIONS.",
        echo(name)
    )
}
