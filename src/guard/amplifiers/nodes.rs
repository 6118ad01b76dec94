//! A query as a list of nodes, made by sqlparser's own walk.
//!
//! Nodes stand in pre-order: those within a node right behind it, up to [`Node::end`]. Only what a rule asks for has a
//! kind. Parentheses, casts to a collation and the like have no node: a literal in parentheses is a literal.

use std::collections::HashSet;
use std::convert::Infallible;
use std::ops::{ControlFlow, Range};

use sqlparser::ast::{Query, Visit};

use super::literals;
use crate::guard::functions::Function;

/// A node.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) kind: Kind,
    /// The index of what holds it.
    pub(super) parent: usize,
    /// Its place among what its parent holds.
    pub(super) nth: usize,
    /// The number of nodes directly within it.
    pub(super) children: usize,
    /// The index behind everything that it holds.
    pub(super) end: usize,
    /// The token of its name, if it has one.
    pub(super) at: Option<usize>,
}

/// The kind of a node.
#[derive(Debug)]
pub(super) enum Kind {
    /// A query or VALUES, the names of its WITH queries, which it holds first, whether its rows stay in memory, and how
    /// many numbers of LIMIT, OFFSET and FETCH it holds last.
    Query {
        with: Vec<String>,
        keeps: bool,
        limits: usize,
    },
    /// A SELECT, and the places of its columns among its children.
    Select(Range<usize>),
    /// An item of FROM, with its name if it is a table or a WITH query.
    From {
        name: Option<String>,
        alias: String,
        lateral: bool,
    },
    /// A call with so many arguments.
    Call {
        name: String,
        function: Option<&'static Function>,
        arguments: usize,
        named: bool,
    },
    /// A part of a date, small or not.
    Part(bool),
    Operator(String),
    /// A cast, and the length to which it pads.
    Cast {
        name: String,
        length: f64,
    },
    Literal {
        text: String,
        number: Option<f64>,
        quoted: bool,
    },
    Column {
        of: Option<String>,
        name: String,
    },
    /// All columns.
    Star,
    /// `ARRAY[…]` and `ROW(…)`.
    Build,
    /// CASE, with an operand or not.
    Case(bool),
    /// A field or an element.
    Access,
    /// A query that gives one value.
    Subquery,
    /// True or false.
    Truth,
    /// `ARRAY(SELECT …)` and `NOT IN (SELECT …)`, which hold all rows of their query.
    Keeps,
    Minus,
    Other,
}

impl Kind {
    pub(super) const fn is_query(&self) -> bool {
        matches!(self, Self::Query { .. } | Self::Select(_))
    }
}

/// A query as a list.
#[derive(Debug, Default)]
pub(super) struct Nodes {
    pub(super) list: Vec<Node>,
    /// The nodes that are open while the list is made.
    pub(super) open: Vec<usize>,
    /// All nodes, those within a node before it.
    pub(super) inner_first: Vec<usize>,
    /// The names of all WITH queries.
    pub(super) with: HashSet<String>,
    /// It holds WITH RECURSIVE.
    pub(super) recursive: bool,
    /// It holds NOT MATERIALIZED.
    pub(super) not_materialized: bool,
}

impl Nodes {
    pub(super) fn of(query: &Query) -> Self {
        let mut nodes = Self::default();
        let ControlFlow::Continue(()) = query.visit(&mut nodes);
        nodes
    }

    pub(super) fn enter(&mut self, kind: Kind) {
        let index = self.list.len();
        let parent = self.open.last().copied().unwrap_or_default();
        let nth = self.list.get_mut(parent).map_or(0, |parent| {
            parent.children += 1;
            parent.children - 1
        });
        self.list.push(Node { kind, parent, nth, children: 0, end: index + 1, at: None });
        self.open.push(index);
    }

    pub(super) fn leave(&mut self) -> ControlFlow<Infallible> {
        if let Some(index) = self.open.pop() {
            let end = self.list.len();
            self.list.iter_mut().skip(index).take(1).for_each(|node| node.end = end);
            self.inner_first.push(index);
        }
        ControlFlow::Continue(())
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    pub(super) fn kind(&self, index: usize) -> &Kind {
        self.list.get(index).map_or(&Kind::Other, |node| &node.kind)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, &Node)> {
        self.list.iter().enumerate()
    }

    /// A node and all that it holds.
    pub(super) fn within(&self, index: usize) -> impl Iterator<Item = (usize, &Node)> {
        let end = self.list.get(index).map_or(index, |node| node.end);
        (index..).zip(self.list.get(index..end).unwrap_or_default())
    }

    /// The nodes directly within a node.
    pub(super) fn children(&self, index: usize) -> impl Iterator<Item = (usize, &Node)> {
        let end = self.list.get(index).map_or(index, |node| node.end);
        let at = move |child: usize| self.list.get(child).filter(|_| child < end).map(|node| (child, node));
        std::iter::successors(at(index + 1), move |(_, node)| at(node.end))
    }

    /// The arguments of a call, or the operands of anything else.
    pub(super) fn arguments(&self, index: usize) -> impl Iterator<Item = (usize, &Node)> {
        let count = match self.kind(index) {
            Kind::Call { arguments, .. } => *arguments,
            _ => usize::MAX,
        };
        self.children(index).take(count)
    }

    pub(super) fn argument(&self, index: usize, nth: usize) -> Option<usize> {
        self.arguments(index).nth(nth).map(|(child, _)| child)
    }

    /// The nodes around one, from the inside.
    pub(super) fn around(&self, index: usize) -> impl Iterator<Item = (usize, &Node)> {
        let parent = |index: usize| self.list.get(index).map(|node| node.parent).filter(|it| *it != index);
        let outer = move |index: usize| parent(index).and_then(|outer| Some((outer, self.list.get(outer)?)));
        std::iter::successors(outer(index), move |(index, _)| outer(*index))
    }

    /// The text of a literal, perhaps cast or negated.
    pub(super) fn literal(&self, index: usize) -> Option<&str> {
        match self.kind(index) {
            Kind::Literal { text, .. } => Some(text),
            Kind::Cast { .. } | Kind::Minus => self.literal(self.argument(index, 0)?),
            _ => None,
        }
    }

    /// Returns true for a node that holds a column.
    pub(super) fn reads(&self, index: usize) -> bool {
        let column = |kind: &Kind| matches!(kind, Kind::Column { .. } | Kind::Star | Kind::Query { .. });
        self.within(index).any(|(_, node)| column(&node.kind))
    }

    /// The largest number that stands in a node's literals, alone or among other text.
    pub(super) fn largest_number(&self, index: usize) -> f64 {
        let numbers = self.within(index).filter_map(|(_, node)| match &node.kind {
            Kind::Literal { text, number, .. } => {
                Some(literals::largest_number(text).max(number.unwrap_or_default()))
            }
            _ => None,
        });
        numbers.fold(0.0, f64::max)
    }

    /// The length of the longest text literal in a node.
    pub(super) fn longest_text(&self, index: usize) -> f64 {
        let lengths = self.within(index).filter_map(|(_, node)| match &node.kind {
            Kind::Literal { text, quoted: true, .. } => Some(literals::as_float(text.len())),
            _ => None,
        });
        lengths.fold(1.0, f64::max)
    }

    /// The token where a node stands.
    pub(super) fn at(&self, index: usize) -> usize {
        self.within(index).find_map(|(_, node)| node.at).unwrap_or_default()
    }

    /// The name of a node in a refusal.
    pub(super) fn name(&self, index: usize) -> String {
        match self.kind(index) {
            Kind::Call { name, .. } | Kind::Cast { name, .. } => name.clone(),
            Kind::Operator(sign) => sign.to_uppercase(),
            _ => "this".to_owned(),
        }
    }

    /// The name of a WITH query.
    pub(super) fn with_name(&self, index: usize) -> Option<&str> {
        let node = self.list.get(index)?;
        match self.kind(node.parent) {
            Kind::Query { with, .. } if index > 0 => with.get(node.nth).map(String::as_str),
            _ => None,
        }
    }

    pub(super) fn is_with(&self, name: &str) -> bool {
        self.with.contains(name)
    }

    pub(super) fn function(&self, index: usize) -> Option<&'static Function> {
        match self.kind(index) {
            Kind::Call { function, .. } => *function,
            _ => None,
        }
    }
}
