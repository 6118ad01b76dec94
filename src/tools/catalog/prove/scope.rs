//! What names mean at a place of the statement.

use sqlparser::ast::{Cte, Query, TableAliasColumnDef};

use super::output;

/// What one level adds: the name of a `WITH` query, or what a `FROM` reads.
#[derive(Default)]
pub(super) struct Scope<'t> {
    /// The level around it.
    pub(super) outer: Option<usize>,
    pub(super) with: Option<&'t Cte>,
    pub(super) relations: Vec<Relation<'t>>,
}

/// Something that is read, as it is called here.
pub(super) struct Relation<'t> {
    pub(super) name: &'t str,
    pub(super) columns: Columns<'t>,
}

/// The columns of what is read.
pub(super) enum Columns<'t> {
    /// Those of the table of this name, which only the database knows.
    OfTable(String),
    /// Those of something else, which are not known.
    Unknown,
    /// These.
    Named(Vec<&'t str>),
    /// Those of a query, the first of them under other names.
    OfQuery(&'t Query, &'t [TableAliasColumnDef], &'t [TableAliasColumnDef]),
}

impl Relation<'_> {
    /// Whether it has a column of this name for certain.
    pub(super) fn has(&self, name: &str) -> bool {
        match &self.columns {
            Columns::OfTable(_) | Columns::Unknown => false,
            Columns::Named(names) => names.contains(&name),
            Columns::OfQuery(query, inner, outer) => {
                let own = output::columns(query).unwrap_or_default();
                own.iter().enumerate().any(|(index, column)| {
                    let renamed = outer.get(index).or_else(|| inner.get(index));
                    renamed.map_or(column.name.as_deref(), |column| Some(&column.name.value)) == Some(name)
                })
            }
        }
    }
}

/// All levels; each knows the one around it.
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

    /// Whether a bare `name` may be a whole row: something that is read is called so and need not have such a column.
    pub(super) fn is_row(&self, from: Option<usize>, name: &str) -> bool {
        let mut relations = self.visible(from).flat_map(|scope| &scope.relations);
        relations.any(|relation| relation.name == name && !relation.has(name))
    }

    /// The table that a name stands for, if it is one.
    pub(super) fn table(&self, from: Option<usize>, relation: &str) -> Option<String> {
        let mut relations = self.visible(from).flat_map(|scope| &scope.relations);
        match &relations.find(|known| known.name == relation)?.columns {
            Columns::OfTable(table) => Some(table.clone()),
            Columns::Unknown | Columns::Named(_) | Columns::OfQuery(_, _, _) => None,
        }
    }

    /// Whether `relation.name` is a column for certain.
    pub(super) fn is_column(&self, from: Option<usize>, relation: &str, name: &str) -> bool {
        let mut relations = self.visible(from).flat_map(|scope| &scope.relations);
        relations.find(|known| known.name == relation).is_some_and(|known| known.has(name))
    }
}
