//! The meaning of names at a place of the statement.

use crate::guard::output_columns;
use sqlparser::ast::{Cte, Query, TableAliasColumnDef};

/// One level: the name of a `WITH` query, or the relations of a `FROM`.
#[derive(Default)]
pub(super) struct Scope<'t> {
    /// The level around it.
    pub(super) outer: Option<usize>,
    pub(super) with: Option<&'t Cte>,
    pub(super) relations: Vec<Relation<'t>>,
}

/// A relation under the name that it has here.
pub(super) struct Relation<'t> {
    pub(super) name: &'t str,
    pub(super) columns: Columns<'t>,
}

/// The columns of a relation.
pub(super) enum Columns<'t> {
    /// Unknown: those of a table or of a row.
    Unknown,
    /// These, of a function.
    Named(Vec<&'t str>),
    /// Those of a query, the first of them under other names.
    OfQuery(&'t Query, &'t [TableAliasColumnDef], &'t [TableAliasColumnDef]),
}

impl Relation<'_> {
    /// Returns whether it has a column of this name, if that is certain.
    fn has(&self, name: &str) -> Option<bool> {
        match &self.columns {
            Columns::Unknown => None,
            Columns::Named(names) => Some(names.contains(&name)),
            Columns::OfQuery(query, inner, outer) => {
                let own = output_columns::columns(query).unwrap_or_default();
                let known = own.iter().enumerate().any(|(index, (own, _))| {
                    let renamed = outer.get(index).or_else(|| inner.get(index));
                    renamed.map_or(own.as_deref(), |column| Some(&column.name.value)) == Some(name)
                });
                known.then_some(true)
            }
        }
    }
}

/// All levels; each has the number of the one around it.
#[derive(Default)]
pub(super) struct Scopes<'t>(Vec<Scope<'t>>);

impl<'t> Scopes<'t> {
    /// Adds a level; its number.
    pub(super) fn enter(&mut self, scope: Scope<'t>) -> usize {
        self.0.push(scope);
        self.0.len() - 1
    }

    pub(super) fn add(&mut self, scope: usize, relation: Relation<'t>) {
        if let Some(scope) = self.0.get_mut(scope) {
            scope.relations.push(relation);
        }
    }

    /// The levels that are visible, from the innermost.
    fn visible(&self, from: Option<usize>) -> impl Iterator<Item = &Scope<'t>> {
        std::iter::successors(from.and_then(|index| self.0.get(index)), |scope| {
            scope.outer.and_then(|index| self.0.get(index))
        })
    }

    /// The `WITH` query of this name.
    pub(super) fn with(&self, from: Option<usize>, name: &str) -> Option<&'t Cte> {
        self.visible(from).filter_map(|scope| scope.with).find(|cte| cte.alias.name.value == name)
    }

    fn relations(&self, from: Option<usize>) -> impl Iterator<Item = &Relation<'t>> {
        self.visible(from).flat_map(|scope| &scope.relations)
    }

    /// Returns whether a bare `name` may be a whole row: a relation has that name, and not for certain such a column.
    pub(super) fn is_row(&self, from: Option<usize>, name: &str) -> bool {
        self.relations(from).any(|relation| relation.name == name && relation.has(name) != Some(true))
    }

    /// Returns whether `relation.name` is a column, if that is certain.
    pub(super) fn is_column(&self, from: Option<usize>, relation: &str, name: &str) -> Option<bool> {
        self.relations(from).find(|known| known.name == relation)?.has(name)
    }
}
