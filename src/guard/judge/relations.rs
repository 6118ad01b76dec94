//! What queries give to those that read them: columns, rows and what they cost the planner.

use std::collections::{HashMap, HashSet};

use sqlparser::ast::TableAlias;

use super::{bounds::Bound, sizes::RELATION_NODES};

/// A column of a query: its value, and how many nodes stand for it once it is written out.
#[derive(Clone, Copy)]
pub(super) struct Column {
    pub(super) bound: Bound,
    pub(super) nodes: u64,
}

impl Column {
    pub(super) const TABLE: Self = Self { bound: Bound::TABLE, nodes: 1 };

    pub(super) fn max(self, other: Self) -> Self {
        Self { bound: self.bound.max(other.bound), nodes: self.nodes.max(other.nodes) }
    }
}

/// What is planned: nodes, and bytes of constants.
#[derive(Clone, Copy, Default)]
pub(super) struct Cost {
    pub(super) nodes: u64,
    pub(super) bytes: u64,
}

/// What a query or a function in `FROM` gives.
#[derive(Clone)]
pub(super) struct Relation<'t> {
    /// In order, unless columns of tables are among them.
    pub(super) columns: Vec<(&'t str, Column)>,
    /// Whether these are all, in order.
    pub(super) exact: bool,
    /// Columns that have any other name.
    pub(super) star: Option<Column>,
    pub(super) rows: u64,
    /// What each use of a `WITH` query costs.
    pub(super) cost: Cost,
}

impl<'t> Relation<'t> {
    /// A table.
    pub(super) const fn table() -> Self {
        let cost = Cost { nodes: RELATION_NODES, bytes: 0 };
        Self { columns: Vec::new(), exact: false, star: None, rows: 1, cost }
    }

    pub(super) fn any(&self) -> Column {
        self.columns.iter().map(|(_, column)| *column).chain(self.star).fold(Column::TABLE, Column::max)
    }

    /// Names the columns.
    pub(super) fn rename(&mut self, alias: &'t TableAlias) {
        let any = self.any();
        for (index, name) in alias.columns.iter().map(|column| column.name.value.as_str()).enumerate() {
            match self.columns.get_mut(index).filter(|_| self.exact) {
                Some(column) => column.0 = name,
                None => self.columns.push((name, any)),
            }
        }
    }

    /// The value of a subquery that stands for one.
    pub(super) fn any_of_value(&self) -> Bound {
        let columns =
            self.columns.iter().map(|(_, column)| column.bound).chain(self.star.map(|star| star.bound));
        columns.reduce(Bound::max).unwrap_or(Bound::TABLE)
    }
}

/// What one `FROM` names.
pub(super) struct Frame<'t> {
    pub(super) names: HashMap<&'t str, Column>,
    pub(super) columns: Vec<(&'t str, Column)>,
    pub(super) exact: bool,
    pub(super) star: Option<Column>,
    /// Tables and queries by what they are called here.
    pub(super) aliases: HashSet<&'t str>,
}

impl<'t> Frame<'t> {
    pub(super) fn new() -> Self {
        Self { names: HashMap::new(), columns: Vec::new(), exact: true, star: None, aliases: HashSet::new() }
    }

    pub(super) fn name(&mut self, name: &'t str, column: Column) {
        self.names.entry(name).and_modify(|known| *known = known.max(column)).or_insert(column);
    }

    pub(super) fn add(&mut self, relation: &Relation<'t>) {
        for (name, column) in &relation.columns {
            self.name(name, *column);
        }
        self.columns.extend(&relation.columns);
        self.exact &= relation.exact;
        self.star = max_of(self.star, relation.star);
    }

    pub(super) fn get(&self, name: &str) -> Option<Column> {
        // The columns of VALUES are called column1, column2 and so on.
        let of_values = name.strip_prefix("column").is_some_and(|n| n.chars().all(|c| c.is_ascii_digit()));
        let values = self.names.get("column").filter(|_| of_values).copied();
        max_of(self.names.get(name).copied(), max_of(values, self.star))
    }
}

pub(super) fn max_of(one: Option<Column>, other: Option<Column>) -> Option<Column> {
    one.into_iter().chain(other).reduce(Column::max)
}
