//! A query as a list: every node once, each before those that it holds, with what the rules need of it and no more.
//!
//! The nodes within a node stand right behind it, up to [`Item::end`]: a rule looks at a subtree with a loop, and nothing here
//! recurses.

use sqlparser::ast::{Cte, DataType, Value};

use crate::guard::functions::Function;

/// A node.
#[derive(Debug)]
pub(super) struct Item<'t> {
    pub(super) kind: Kind<'t>,
    /// Its place in its parent.
    pub(super) slot: Slot<'t>,
    /// The index of what holds it; its own for the whole query.
    pub(super) parent: usize,
    /// The index behind everything that it holds.
    pub(super) end: usize,
    /// The token where it stands.
    pub(super) at: usize,
}

/// The kind of a node.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind<'t> {
    /// A query, perhaps of a WITH.
    Query(Option<&'t Cte>),
    /// A SELECT, VALUES or TABLE.
    Rows {
        grouped: bool,
    },
    /// A set operation, or a query in parentheses.
    Set {
        union: bool,
        all: bool,
    },
    /// A table in FROM, and what it is called there.
    Table {
        name: Option<&'t str>,
        alias: &'t str,
    },
    /// A column, or a whole row.
    Column {
        of: Option<&'t str>,
        name: &'t str,
    },
    /// All columns.
    Star,
    Literal(&'t Value),
    Call(&'t str, Option<&'static Function>),
    /// A part of a date, small or not.
    Part {
        small: bool,
    },
    Operator(&'t str),
    Cast(&'t DataType),
    /// `ARRAY[…]` and `ROW(…)`.
    Build,
    /// Parentheses and the like: the value of the node within.
    Same,
    Minus,
    /// One of several values.
    Choice,
    /// A field or an element.
    Access,
    /// True or false.
    Truth,
    /// `ARRAY(SELECT …)` and `NOT IN (SELECT …)`: what keeps the rows of its subquery.
    Kept,
}

impl Kind<'_> {
    /// Returns true for a query or a part of one.
    pub(super) const fn is_level(self) -> bool {
        matches!(self, Kind::Query(_) | Kind::Rows { .. } | Kind::Set { .. })
    }
}

/// The place of a node in its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slot<'t> {
    Argument(usize),
    /// An argument by name.
    Named(&'t str),
    /// A part that decides, and is not part of the value.
    Condition,
    /// A column of a query's result.
    Output,
    /// WHERE, ON, GROUP BY, ORDER BY, WINDOW and so on.
    Clause,
    Limit,
    From,
    /// In FROM, and may use what stands before it.
    Lateral,
    With,
    /// The body of a query, or the second part of one.
    Body,
}

impl Slot<'_> {
    /// Returns true for an operand, or an argument of a call.
    pub(super) const fn is_argument(self) -> bool {
        matches!(self, Slot::Argument(_) | Slot::Named(_))
    }
}

/// A node and all that it holds, by index.
pub(super) fn within<'i, 't>(
    items: &'i [Item<'t>],
    index: usize,
) -> impl Iterator<Item = (usize, &'i Item<'t>)> {
    let end = items.get(index).map_or(index, |item| item.end);
    (index..).zip(items.get(index..end).unwrap_or_default())
}

/// The nodes directly within a node, in order.
pub(super) fn children<'i, 't>(
    items: &'i [Item<'t>],
    index: usize,
) -> impl Iterator<Item = (usize, &'i Item<'t>)> {
    let end = items.get(index).map_or(index, |item| item.end);
    let at = move |child: usize| items.get(child).filter(|_| child < end).map(|item| (child, item));
    std::iter::successors(at(index + 1), move |(_, item)| at(item.end))
}

/// The nodes around one, from the inside.
pub(super) fn around<'i, 't>(
    items: &'i [Item<'t>],
    index: usize,
) -> impl Iterator<Item = (usize, &'i Item<'t>)> {
    let outer = move |index: usize| {
        let parent = items.get(index).map(|item| item.parent).filter(|parent| *parent != index)?;
        Some((parent, items.get(parent)?))
    };
    std::iter::successors(outer(index), move |(index, _)| outer(*index))
}
