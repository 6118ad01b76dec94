//! What queries read from: tables, and what else has columns that can be verified.

use sqlparser::ast::{
    Ident, Join, JoinConstraint, JoinOperator, ObjectName, ObjectNamePart, Query, TableAlias,
    TableAliasColumnDef, TableFactor, TableFunctionArgs, TableSampleKind, TableWithJoins,
};

use super::{
    Rule,
    calls::{Becomes, OF_ONE_COLUMN, becomes},
    flow::{Target, target},
    parts::{Call, argument},
    scope::{Columns, Relation},
    tables::Read,
    walk::{Left, Walk},
};
use crate::problem::echo;

impl<'t> Walk<'_, 't, '_> {
    pub(super) fn joined(&mut self, table: &'t TableWithJoins, level: usize) {
        let TableWithJoins { relation, joins } = table;
        self.factor(relation, level);
        for Join { relation, global: _, join_operator } in joins {
            self.factor(relation, level);
            self.join(join_operator, relation, level);
        }
    }

    fn join(&mut self, operator: &'t JoinOperator, joined: &'t TableFactor, level: usize) {
        let constraint = match operator {
            JoinOperator::Join(constraint)
            | JoinOperator::Inner(constraint)
            | JoinOperator::Left(constraint)
            | JoinOperator::LeftOuter(constraint)
            | JoinOperator::Right(constraint)
            | JoinOperator::RightOuter(constraint)
            | JoinOperator::FullOuter(constraint)
            | JoinOperator::CrossJoin(constraint) => constraint,
            // The guard refuses these.
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
            | JoinOperator::InnerArrayJoin => return,
        };
        match constraint {
            JoinConstraint::On(expr) => self.leave([expr], Some(level)),
            JoinConstraint::UsingAlias(columns, alias) => {
                self.compare_names(columns);
                self.read(&alias.value, Columns::Unknown, level);
            }
            JoinConstraint::Natural => {
                let at = name_of(joined).and_then(|name| self.place(name));
                self.unsupported(
                    at,
                    "NATURAL JOIN compares every column that both sides have, whatever it is.",
                    "Write USING (...) or ON.",
                );
            }
            JoinConstraint::Using(columns) => self.compare_names(columns),
            JoinConstraint::None => {}
        }
    }

    fn compare_names(&mut self, columns: &'t [ObjectName]) {
        for ObjectName(parts) in columns {
            parts.iter().filter_map(ident_of).for_each(|column| self.compare_named(&column.value));
        }
    }

    fn factor(&mut self, factor: &'t TableFactor, level: usize) {
        match factor {
            TableFactor::Table {
                name,
                alias,
                args: Some(TableFunctionArgs { args, settings: _ }),
                with_ordinality,
                ..
            }
            | TableFactor::Function { lateral: _, name, args, with_ordinality, alias } => {
                if let Some(call) = Call::new(name, args) {
                    // The number of the row is one more column.
                    self.function(&call, alias.as_ref(), 1 + usize::from(*with_ordinality), level);
                }
            }
            TableFactor::Table { name, alias, args: None, sample, .. } => {
                self.table(name, alias.as_ref(), level);
                self.sample(sample.as_ref(), level);
            }
            TableFactor::Derived { lateral: _, subquery, alias, sample } => {
                self.left.push(Left::Query(subquery, Some(level)));
                if let Some(TableAlias { name, columns, .. }) = alias {
                    self.rename(subquery, columns);
                    self.read(&name.value, Columns::OfQuery(subquery, &[], columns), level);
                }
                self.sample(sample.as_ref(), level);
            }
            TableFactor::NestedJoin { table_with_joins, alias } => {
                if let Some(alias) = alias {
                    self.unsupported(
                        self.place(&alias.name),
                        "A name for a join as a whole hides which table a column is of.",
                        "Name the tables within the join instead.",
                    );
                }
                self.joined(table_with_joins, level);
            }
            // The guard refuses these.
            TableFactor::TableFunction { .. }
            | TableFactor::UNNEST { .. }
            | TableFactor::JsonTable { .. }
            | TableFactor::OpenJsonTable { .. }
            | TableFactor::Pivot { .. }
            | TableFactor::Unpivot { .. }
            | TableFactor::UnpivotExpr { .. }
            | TableFactor::MatchRecognize { .. }
            | TableFactor::XmlTable { .. }
            | TableFactor::SemanticView { .. } => {}
        }
    }

    /// A table, or a `WITH` query of that name. A name with a schema is always a table.
    fn table(&mut self, name: &'t ObjectName, alias: Option<&'t TableAlias>, level: usize) {
        let ObjectName(parts) = name;
        let idents: Vec<&Ident> = parts.iter().filter_map(ident_of).collect();
        let Some(last) = idents.last() else { return };
        let at = self.place(last);
        let renamed = alias.map_or(&[] as &[_], |alias| alias.columns.as_slice());
        let called = alias.map_or(last.value.as_str(), |alias| &alias.name.value);
        if let ([name], Some(cte)) = (idents.as_slice(), self.scopes.with(Some(level), &last.value))
            && name.value == cte.alias.name.value
        {
            self.rename(&cte.query, &cte.alias.columns);
            self.rename(&cte.query, renamed);
            return self.read(called, Columns::OfQuery(&cte.query, &cte.alias.columns, renamed), level);
        }
        if idents.len() > 2
            || idents.len() != parts.len()
            || idents.iter().any(|ident| ident.value.contains('.'))
        {
            self.unsupported(
                at,
                "A table's name is name or schema.name, without dots of its own.",
                "Name a table of the database that the server is connected to.",
            );
        }
        if !renamed.is_empty() {
            self.unsupported(
                at,
                "New names for a table's columns hide which columns are read.",
                "Leave the list behind the alias out, and rename with AS in the SELECT list.",
            );
        }
        let table = idents.iter().map(|ident| ident.value.as_str()).collect::<Vec<_>>().join(".");
        self.gathered.tables.push(Read { table: table.clone(), at });
        self.read(called, Columns::OfTable(table), level);
    }

    /// A function's rows. Columns that are single values, or have a type in the list, can be called anything; those of a row
    /// keep their own names, which say what they hold.
    fn function(&mut self, call: &Call<'t>, alias: Option<&'t TableAlias>, width: usize, level: usize) {
        self.call(call);
        self.made_of_call(call, Some(level));
        for expr in call.args.iter().filter_map(argument) {
            self.carry(expr);
            self.leave([expr], Some(level));
        }
        let function = call.name.value.as_str();
        let list = alias.map_or(&[] as &[_], |alias| alias.columns.as_slice());
        let called = alias.map_or(function, |alias| &alias.name.value);
        let mut names: Vec<&str> = list.iter().map(|column| column.name.value.as_str()).collect();
        if self.claim.guard.adds_function(function) {
            self.flow.functions.push(function);
        }
        if OF_ONE_COLUMN.contains(&function) && list.len() <= width {
            // Elements of JSON arrays are called so.
            self.flow.given.push((names.first().copied().unwrap_or("value"), *call, level));
            if !list.is_empty() {
                self.renamed_value(call, level);
            }
            // A single value is no row: what it is called is the value's name.
            self.flow.given.push((called, *call, level));
            names.push(called);
        } else if !list.is_empty() && list.iter().all(|column| column.data_type.is_some()) {
            let typed = |column: &'t TableAliasColumnDef| {
                Some((column.name.value.as_str(), column.data_type.as_ref()?))
            };
            self.flow.typed.extend(list.iter().filter_map(typed));
            let types = self.flow.typed.iter().filter_map(|(_, data_type)| match target(data_type) {
                Target::Other(name) => Some(name),
                Target::Plain | Target::Json | Target::Text => None,
            });
            self.flow.types.extend(types);
        } else if list.is_empty() {
            if becomes(function) == Becomes::Row {
                self.flow.rows_of_json.push(called);
            }
            return self.read(called, Columns::Unknown, level);
        } else {
            self.unsupported(
                self.place(call.name),
                format!(
                    "New names for the columns of the function {} hide which columns are read.",
                    echo(function)
                ),
                "Name its result only, f(...) AS x, and read its own columns: x.name.",
            );
        }
        self.read(called, Columns::Named(names), level);
    }

    /// The columns of a query are read, the first of them under these names.
    fn rename(&mut self, query: &'t Query, names: &'t [TableAliasColumnDef]) {
        self.flow.read.push(query);
        let renamed =
            names.iter().enumerate().map(|(index, column)| (column.name.value.as_str(), query, index));
        self.flow.renamed.extend(renamed);
    }

    fn sample(&mut self, sample: Option<&'t TableSampleKind>, level: usize) {
        if let Some(TableSampleKind::AfterTableAlias(sample) | TableSampleKind::BeforeTableAlias(sample)) =
            sample
        {
            self.leave(sample.quantity.as_ref().map(|quantity| &quantity.value), Some(level));
        }
    }

    fn read(&mut self, name: &'t str, columns: Columns<'t>, level: usize) {
        self.scopes.add(level, Relation { name, columns });
    }

    fn unsupported(&mut self, at: Option<usize>, text: impl Into<String>, cure: &str) {
        self.faults.add(Rule::UnsupportedTableRef, at, text, cure);
    }
}

const fn ident_of(part: &ObjectNamePart) -> Option<&Ident> {
    match part {
        ObjectNamePart::Identifier(ident) => Some(ident),
        ObjectNamePart::Function(_) => None,
    }
}

/// A name that stands in what is joined.
#[expect(clippy::wildcard_enum_match_arm, reason = "it is only a place to point to")]
fn name_of(factor: &TableFactor) -> Option<&Ident> {
    match factor {
        TableFactor::Table { name, .. } | TableFactor::Function { name, .. } => {
            name.0.iter().filter_map(ident_of).next_back()
        }
        TableFactor::Derived { alias, .. } | TableFactor::NestedJoin { alias, .. } => {
            alias.as_ref().map(|alias| &alias.name)
        }
        _ => None,
    }
}
