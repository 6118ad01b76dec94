//! `FROM`: tables, and whatever else has columns that can be verified.

use sqlparser::ast::{
    Expr, Ident, Join, JoinConstraint, JoinOperator, ObjectName, ObjectNamePart, Spanned as _, TableAlias,
    TableFactor, TableFunctionArgs, TableSampleKind, TableWithJoins,
};

use super::super::diagnoses;
use super::faults::Faults;
use super::found::Found;
use super::parts::{Call, Part, argument};
use super::scope::{Columns, Relation};
use crate::guard::functions;
use crate::guard::judge::from::constraint_of;
use crate::guard::output_columns::last_ident;
use crate::guard::parser::token_of;
use crate::problem::echo;

/// The column of a set-returning function, where the function names it.
pub(super) const FUNCTION_COLUMN: &str = "value";

/// The reader of one `FROM`.
pub(super) struct FromClause<'w, 't, 'f> {
    pub(super) found: &'w mut Found<'t>,
    pub(super) faults: &'w mut Faults<'f>,
    /// The level that its relations are added to.
    pub(super) level: usize,
}

impl<'t> FromClause<'_, 't, '_> {
    pub(super) fn joined(&mut self, table: &'t TableWithJoins) {
        let TableWithJoins { relation, joins } = table;
        self.factor(relation);
        for Join { relation, global: _, join_operator } in joins {
            self.factor(relation);
            self.join(join_operator, relation);
        }
    }

    fn join(&mut self, operator: &'t JoinOperator, joined: &'t TableFactor) {
        match constraint_of(operator) {
            Some(JoinConstraint::On(expr)) => self.leave([expr]),
            Some(JoinConstraint::Using(columns)) => {
                self.found.using.extend(columns.iter().filter_map(last_ident))
            }
            Some(JoinConstraint::UsingAlias(columns, alias)) => {
                self.found.using.extend(columns.iter().filter_map(last_ident));
                self.read(&alias.value, Columns::Unknown);
            }
            Some(JoinConstraint::Natural) => {
                let at = token_of(joined.span()).and_then(|token| self.found.byte(token));
                self.faults.add(&diagnoses::JOIN_NATURAL, at, &[]);
            }
            Some(JoinConstraint::None) | None => {}
        }
    }

    fn factor(&mut self, factor: &'t TableFactor) {
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
                    self.function(&call, alias.as_ref(), 1 + usize::from(*with_ordinality));
                }
            }
            TableFactor::Table { name, alias, args: None, sample, .. } => {
                self.table(name, alias.as_ref());
                self.sample(sample.as_ref());
            }
            TableFactor::Derived { lateral: _, subquery, alias, sample } => {
                self.found.left.push((Part::Query(subquery), Some(self.level)));
                if let Some(TableAlias { name, columns, .. }) = alias {
                    self.found.renamed.push((subquery, columns));
                    self.read(&name.value, Columns::OfQuery(subquery, &[], columns));
                }
                self.sample(sample.as_ref());
            }
            TableFactor::NestedJoin { table_with_joins, alias } => {
                if let Some(alias) = alias {
                    self.faults.add(&diagnoses::JOIN_NAMED, self.found.place(&alias.name), &[]);
                }
                self.joined(table_with_joins);
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
    fn table(&mut self, name: &'t ObjectName, alias: Option<&'t TableAlias>) {
        let ObjectName(parts) = name;
        let idents: Vec<&Ident> = parts.iter().filter_map(ObjectNamePart::as_ident).collect();
        let Some(last) = idents.last() else { return };
        let at = self.found.place(last);
        let renamed = alias.map_or(&[] as &[_], |alias| alias.columns.as_slice());
        let called = alias.map_or(last.value.as_str(), |alias| &alias.name.value);
        if let ([name], Some(cte)) =
            (idents.as_slice(), self.found.scopes.with(Some(self.level), &last.value))
            && name.value == cte.alias.name.value
        {
            self.found.renamed.push((&cte.query, renamed));
            return self.read(called, Columns::OfQuery(&cte.query, &cte.alias.columns, renamed));
        }
        if idents.len() > 2
            || idents.len() != parts.len()
            || idents.iter().any(|ident| ident.value.contains('.'))
        {
            self.faults.add(&diagnoses::TABLE_OF_OTHERS, at, &[]);
        }
        if !renamed.is_empty() {
            self.faults.add(&diagnoses::TABLE_RENAMED, at, &[]);
        }
        let table = idents.iter().map(|ident| ident.value.as_str()).collect::<Vec<_>>().join(".");
        self.found.tables.push((table, at));
        self.read(called, Columns::Unknown);
    }

    /// The rows of a function. Columns that are single values, or have a type in the list, can have any name; those of a row
    /// keep their own names, which say what they hold.
    fn function(&mut self, call: &Call<'t>, alias: Option<&'t TableAlias>, width: usize) {
        self.found.calls.push(*call);
        self.found.functions.push((*call, alias));
        for expr in call.args.iter().filter_map(argument) {
            self.found.carry(expr);
            self.found.left.push((Part::Expr(expr), Some(self.level)));
        }
        let function = call.name.value.as_str();
        let list = alias.map_or(&[] as &[_], |alias| alias.columns.as_slice());
        let called = alias.map_or(function, |alias| &alias.name.value);
        let mut names: Vec<&str> = list.iter().map(|column| column.name.value.as_str()).collect();
        if functions::find(function).is_some_and(|it| it.is_column) && list.len() <= width {
            // A single value is no row: the alias is the value's name. Without a list these are the columns' own names.
            names.extend([called, FUNCTION_COLUMN, "ordinality"]);
        } else if list.is_empty() {
            return self.read(called, Columns::Unknown);
        } else if list.iter().any(|column| column.data_type.is_none()) {
            self.faults.add(&diagnoses::FUNCTION_RENAMED, self.found.place(call.name), &[&echo(function)]);
        }
        self.read(called, Columns::Named(names));
    }

    fn sample(&mut self, sample: Option<&'t TableSampleKind>) {
        if let Some(TableSampleKind::AfterTableAlias(sample) | TableSampleKind::BeforeTableAlias(sample)) =
            sample
        {
            self.leave(sample.quantity.as_ref().map(|quantity| &quantity.value));
        }
    }

    fn leave(&mut self, exprs: impl IntoIterator<Item = &'t Expr>) {
        self.found.leave(exprs, Some(self.level));
    }

    fn read(&mut self, name: &'t str, columns: Columns<'t>) {
        self.found.scopes.add(self.level, Relation { name, columns });
    }
}

#[cfg(test)]
mod tests {
    use super::super::{
        super::rule::Rule,
        testing::{case, proven, refused},
    };

    #[test]
    fn unsupported_table_ref() {
        refused(
            Rule::UnsupportedTableRef,
            &[
                case("SELECT full_name FROM people AS p(full_name)"),
                case("SELECT full_name FROM people AS p(a, full_name)"),
                case("SELECT full_name FROM people NATURAL JOIN sites").tables("people sites"),
                case("SELECT full_name FROM (people p JOIN sites s ON s.id = p.site_id) AS j")
                    .tables("people sites"),
                case("SELECT full_name FROM people, ROWS FROM (generate_series(1, 2)) AS r(n)"),
                // Names for a row's fields.
                case("SELECT full_name FROM people, json_to_recordset('[]') r(a)"),
                case("SELECT z.b AS full_name FROM people, unnest(creds) AS z(a, b)"),
                case("SELECT z.b AS full_name FROM people, unnest(creds) WITH ORDINALITY AS z(a, b, c)"),
                case("SELECT x.b AS full_name FROM people, jsonb_populate_record(cred, data) AS x(a, b)"),
                case("SELECT x.a AS full_name FROM people, json_populate_recordset(cred, data) AS x(a)"),
                case("SELECT x.a AS full_name FROM people, jsonb_to_record(data) AS x(a, b text)"),
                case("SELECT x.a AS full_name FROM people, people_of(id) AS x(a)").guard("people_of"),
                case("SELECT l AS full_name FROM people, lower(full_name) AS l(l)"),
            ],
        );
        proven(&[
            case("SELECT q.full_name FROM people p CROSS JOIN LATERAL (SELECT p.a) AS q(full_name)"),
            case("WITH q(full_name) AS (SELECT a FROM people) SELECT full_name FROM q"),
            case("WITH q AS (SELECT a FROM people) SELECT r.full_name FROM q AS r(full_name)"),
            case("SELECT full_name FROM people JOIN sites USING (id)").tables("people sites"),
            case("SELECT full_name FROM (people p JOIN sites s ON s.id = p.site_id)").tables("people sites"),
            case("SELECT full_name FROM people, generate_series(1, 2) AS n WHERE n > 1"),
            case("SELECT full_name FROM people, plainto_tsquery(:q) AS q WHERE to_tsvector(a) @@ q")
                .params("q"),
            case(
                "SELECT full_name FROM people, plainto_tsquery('simple', :q) AS t(q) WHERE to_tsvector(a) @@ t.q",
            )
            .params("q"),
            case(
                "SELECT full_name FROM people, unnest(tags) WITH ORDINALITY AS t(tag, n) WHERE tag = 'x' AND n = 1",
            ),
            case("SELECT full_name FROM people, jsonb_to_recordset(phones) AS r(kind text, number text)"),
            case("SELECT full_name FROM people, regexp_matches(full_name, 'a') AS m(parts)"),
            case("SELECT x.login AS full_name FROM people, jsonb_populate_record(cred, data) AS x"),
            case("SELECT x.login AS full_name FROM people, people_of(id) AS x").guard("people_of"),
            case("SELECT full_name FROM people, jsonb_to_record(data) AS r(a int, b text)"),
        ]);
    }
}
