//! Judgements that only the server can close: a name behind a dot that is a column where the relation has one, and a
//! function otherwise; and a type that is harmless if it is an enum, or a domain of a built-in type.
//!
//! A derived table's columns are read in the text. The name before the dot is not resolved: every source of that name, in
//! the whole statement, must have the column.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::ops::ControlFlow;

use sqlparser::ast::{
    AccessExpr, Expr, Ident, Join, JoinConstraint, Query, Select, TableAlias, TableFactor, Visit as _,
    Visitor,
};

use super::from;
use crate::guard::output_columns;

/// A name, and its schema if one is written.
pub(crate) type Path = (Option<String>, String);

/// A relation that must have a column.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Relation {
    pub(crate) path: Path,
    /// A `WITH` query has this name and the column, and which of the two is meant is not resolved: if there is no such
    /// relation, it is the query.
    pub(crate) may_be_query: bool,
}

/// Names behind a dot, each with the relations that must have a column of this name. `None`: it need not be a column.
pub(crate) type Fields = BTreeMap<String, Option<BTreeSet<Relation>>>;

/// Returns the fields of a statement.
pub(crate) fn fields(query: &Query) -> Fields {
    let mut sources = Sources::default();
    let ControlFlow::Continue(()) = query.visit(&mut sources);
    let mut fields = Fields::new();
    for (qualifier, field) in &sources.fields {
        let relations = sources.relations(qualifier, field);
        let known = fields.entry(field.clone()).or_insert_with(|| Some(BTreeSet::new()));
        *known = known.take().zip(relations).map(|(mut known, relations)| {
            known.extend(relations);
            known
        });
    }
    fields
}

/// The columns of a source.
#[derive(Clone)]
enum Columns {
    /// Those of a relation, or of a `WITH` query of this name.
    Of(Path),
    /// These, by their names in the text.
    Named(Vec<String>),
    Unknown,
}

/// The sources of rows and the fields of a statement.
#[derive(Default)]
struct Sources {
    /// By the name that stands before a dot.
    sources: Vec<(Path, Columns)>,
    with: BTreeMap<String, Vec<Columns>>,
    /// A source may have a name that is not in the text, as a function has without an alias.
    has_unnamed: bool,
    /// Names behind a dot, with the names before it.
    fields: Vec<(Vec<String>, String)>,
}

impl Sources {
    /// Returns the relations that must have the column, or `None` where that cannot be said.
    fn relations(&self, qualifier: &[String], field: &str) -> Option<BTreeSet<Relation>> {
        let path = match qualifier {
            [name] => (None, name.clone()),
            [schema, name] => (Some(schema.clone()), name.clone()),
            _ => return None,
        };
        if self.has_unnamed {
            return None;
        }
        let mut relations = BTreeSet::new();
        let mut of_this_name = self.sources.iter().filter(|(known, _)| *known == path).peekable();
        of_this_name.peek()?;
        for (_, columns) in of_this_name {
            match columns {
                Columns::Named(names) if names.iter().any(|name| name == field) => {}
                Columns::Named(_) | Columns::Unknown => return None,
                Columns::Of(path) => {
                    let has = |columns: &Columns| matches!(columns, Columns::Named(names) if names.iter().any(|name| name == field));
                    let queries =
                        Some(&path.1).filter(|_| path.0.is_none()).and_then(|name| self.with.get(name));
                    queries.is_none_or(|queries| queries.iter().all(has)).then_some(())?;
                    relations.insert(Relation { path: path.clone(), may_be_query: queries.is_some() });
                }
            }
        }
        Some(relations)
    }

    /// The names of joins, `USING (…) AS name`: rows of a type without a name.
    fn joins(&mut self, joins: &[Join]) {
        for join in joins {
            if let Some(JoinConstraint::UsingAlias(_, alias)) = from::constraint_of(&join.join_operator) {
                self.sources.push(((None, alias.value.clone()), Columns::Unknown));
            }
        }
    }
}

/// The columns of a query, under the names of an alias.
fn columns_of(query: &Query, alias: Option<&TableAlias>) -> Columns {
    let Some(columns) = output_columns::columns(query) else { return Columns::Unknown };
    let mut names: Vec<String> = columns.into_iter().map(|(name, _)| name.unwrap_or_default()).collect();
    for (name, given) in names.iter_mut().zip(alias.iter().flat_map(|alias| &alias.columns)) {
        name.clone_from(&given.name.value);
    }
    Columns::Named(names)
}

impl Visitor for Sources {
    type Break = Infallible;

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<Infallible> {
        for cte in query.with.iter().flat_map(|with| &with.cte_tables) {
            let columns = columns_of(&cte.query, Some(&cte.alias));
            self.with.entry(cte.alias.name.value.clone()).or_default().push(columns);
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<Infallible> {
        select.from.iter().for_each(|from| self.joins(&from.joins));
        ControlFlow::Continue(())
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "a source that is not named here has no columns that are known"
    )]
    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<Infallible> {
        let (alias, columns) = match factor {
            TableFactor::Table { name, args: None, alias, .. } => {
                let names: Vec<&Ident> = name.0.iter().filter_map(|part| part.as_ident()).collect();
                let path = match names.as_slice() {
                    [name] => (None, name.value.clone()),
                    [.., schema, name] => (Some(schema.value.clone()), name.value.clone()),
                    [] => return ControlFlow::Continue(()),
                };
                if alias.is_none() {
                    // `s.t` is called `t` as well.
                    let called = (None, path.1.clone());
                    let others = Some(path.clone()).filter(|path| *path != called);
                    let all = others.into_iter().chain([called]);
                    self.sources.extend(all.map(|name| (name, Columns::Of(path.clone()))));
                }
                (alias.as_ref(), Columns::Of(path))
            }
            TableFactor::Derived { subquery, alias, .. } => {
                (alias.as_ref(), columns_of(subquery, alias.as_ref()))
            }
            TableFactor::NestedJoin { table_with_joins, alias } => {
                self.joins(&table_with_joins.joins);
                (alias.as_ref(), Columns::Unknown)
            }
            TableFactor::Table { alias, .. } | TableFactor::Function { alias, .. } => {
                self.has_unnamed |= alias.is_none();
                (alias.as_ref(), Columns::Unknown)
            }
            // The judge of the tree refuses these.
            _ => {
                self.has_unnamed = true;
                (None, Columns::Unknown)
            }
        };
        if let Some(alias) = alias {
            // Other names hide some of a relation's own.
            let is_renamed = !alias.columns.is_empty() && matches!(columns, Columns::Of(_));
            let columns = if is_renamed { Columns::Unknown } else { columns };
            self.sources.push(((None, alias.name.value.clone()), columns));
        }
        ControlFlow::Continue(())
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "other expressions have no names behind a dot")]
    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<Infallible> {
        match expr {
            Expr::CompoundIdentifier(parts) => {
                if let Some((field, qualifier)) = parts.split_last() {
                    let qualifier = qualifier.iter().map(|part| part.value.clone()).collect();
                    self.fields.push((qualifier, field.value.clone()));
                }
            }
            Expr::CompoundFieldAccess { root: _, access_chain } => {
                let field = |access: &AccessExpr| match access {
                    AccessExpr::Dot(Expr::Identifier(field)) => Some((Vec::new(), field.value.clone())),
                    AccessExpr::Dot(_) | AccessExpr::Subscript(_) => None,
                };
                self.fields.extend(access_chain.iter().filter_map(field));
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::GuardConfig;
    use crate::guard::statement::ReadOnlyStatement;

    #[track_caller]
    fn check(sql: &str, expected: Option<&str>) {
        let statement = ReadOnlyStatement::parse(sql, &GuardConfig::default()).unwrap();
        let fields = statement.fields().get("xml").unwrap_or_else(|| panic!("{sql}"));
        let shown = fields.as_ref().map(|relations| {
            let shown = |Relation { path: (schema, name), may_be_query }: &Relation| {
                let path = schema.iter().chain([name]).cloned().collect::<Vec<_>>().join(".");
                path + may_be_query.then_some("?").unwrap_or_default()
            };
            relations.iter().map(shown).collect::<Vec<_>>().join(" ")
        });
        assert_eq!(shown.as_deref(), expected, "{sql}");
    }

    #[test]
    fn a_field_is_a_column_of_every_source_of_its_name() {
        for (sql, expected) in [
            ("SELECT d.xml FROM documents d", Some("documents")),
            ("SELECT d.\"xml\" FROM app.documents AS d", Some("app.documents")),
            ("SELECT documents.xml, app.documents.xml FROM app.documents", Some("app.documents")),
            ("SELECT a.xml FROM t a JOIN u b ON a.xml = b.xml", Some("t u")),
            ("SELECT a.xml FROM t a WHERE EXISTS (SELECT FROM u a WHERE a.xml = 1)", Some("t u")),
            ("SELECT q.xml FROM (SELECT 1 AS xml) q", Some("")),
            ("SELECT q.xml FROM (SELECT xml FROM t) q", Some("")),
            ("SELECT q.xml FROM (VALUES (1)) q(xml)", Some("")),
            ("WITH q AS (SELECT a AS xml FROM t) SELECT q.xml FROM q", Some("q?")),
            ("WITH q(xml) AS (SELECT a FROM t) SELECT r.xml FROM q r", Some("q?")),
            ("WITH t AS (SELECT t.xml FROM t) SELECT xml FROM t", Some("t?")),
            ("WITH t AS (SELECT 1 AS xml) SELECT t.xml FROM app.t", Some("app.t")),
            ("SELECT (SELECT unnest.xml FROM unnest(a)) FROM t unnest", None),
            ("WITH q AS (SELECT a FROM t) SELECT q.xml FROM q", None),
            ("SELECT q.xml FROM (SELECT * FROM t) q", None),
            ("SELECT q.xml FROM (SELECT 1 AS a) q", None),
            ("SELECT q.xml FROM t AS q(xml)", None),
            ("SELECT j.xml FROM t JOIN u USING (a) AS j WHERE EXISTS (SELECT FROM u j)", None),
            ("SELECT j.xml FROM (t JOIN u USING (a) AS j) WHERE EXISTS (SELECT FROM u j)", None),
            ("SELECT q.xml FROM unnest(ARRAY[1]) q", None),
            ("SELECT q.xml FROM t a, u b", None),
            ("SELECT (q).xml, q.xml FROM t q", None),
            ("SELECT (q.a).xml FROM t q", None),
            ("SELECT a.xml FROM t a WHERE EXISTS (SELECT a.xml FROM unnest(b) a)", None),
        ] {
            check(sql, expected);
        }
    }
}
