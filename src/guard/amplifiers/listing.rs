//! A listed query, and the questions that several rules ask of it.

use sqlparser::ast::{Query, Value};

use super::amounts::{self, Amount};
use super::arena::{self, Item, Kind, Slot};
use super::nodes;
use crate::guard::functions::{Function, Rows, Time, operators};
use crate::guard::judge::names::type_name;

/// A query as a list, with what is known of each node as a number.
pub(super) struct Listing<'t> {
    pub(super) items: Vec<Item<'t>>,
    amounts: Vec<Amount>,
    levels: Vec<usize>,
}

impl<'t> Listing<'t> {
    pub(super) fn of(query: &'t Query) -> Self {
        let items = nodes::list(query);
        let amounts = amounts::of(&items);
        let mut levels = vec![0; items.len()];
        for (index, item) in items.iter().enumerate().skip(1) {
            let parent_is_level = items.get(item.parent).is_some_and(|parent| parent.kind.is_level());
            let outer = if parent_is_level { Some(item.parent) } else { levels.get(item.parent).copied() };
            if let (Some(place), Some(outer)) = (levels.get_mut(index), outer) {
                *place = outer;
            }
        }
        Self { items, amounts, levels }
    }

    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = (usize, &Item<'t>)> {
        self.items.iter().enumerate()
    }

    pub(super) fn within(&self, index: usize) -> impl Iterator<Item = (usize, &Item<'t>)> {
        arena::within(&self.items, index)
    }

    pub(super) fn children(&self, index: usize) -> impl Iterator<Item = (usize, &Item<'t>)> {
        arena::children(&self.items, index)
    }

    pub(super) fn around(&self, index: usize) -> impl Iterator<Item = (usize, &Item<'t>)> {
        arena::around(&self.items, index)
    }

    pub(super) fn kind(&self, index: usize) -> Kind<'t> {
        self.items.get(index).map_or(Kind::Star, |item| item.kind)
    }

    pub(super) fn amount(&self, index: usize) -> Option<Amount> {
        self.amounts.get(index).copied()
    }

    /// The token where a node stands.
    pub(super) fn at(&self, index: usize) -> usize {
        self.items.get(index).map_or(0, |item| item.at)
    }

    /// An argument of a call or an operand, by its place.
    pub(super) fn argument(&self, index: usize, wanted: usize) -> Option<usize> {
        self.children(index).find(|(_, item)| item.slot == Slot::Argument(wanted)).map(|(child, _)| child)
    }

    /// An argument by its name.
    pub(super) fn named(&self, index: usize, wanted: &str) -> Option<usize> {
        self.children(index).find(|(_, item)| item.slot == Slot::Named(wanted)).map(|(child, _)| child)
    }

    /// Returns the number of arguments of a call, and true where one is given by name.
    pub(super) fn arity(&self, index: usize) -> (usize, bool) {
        let arguments = self.children(index).filter(|(_, item)| item.slot.is_argument());
        let named = |item: &Item<'_>| matches!(item.slot, Slot::Named(_));
        arguments.fold((0, false), |(count, any), (_, item)| (count + 1, any || named(item)))
    }

    /// The node within parentheses, casts and signs.
    pub(super) fn bare(&self, mut index: usize) -> usize {
        while matches!(self.kind(index), Kind::Same | Kind::Minus | Kind::Cast(_)) {
            match self.argument(index, 0) {
                Some(inner) => index = inner,
                None => break,
            }
        }
        index
    }

    /// The literal that stands there, perhaps cast.
    pub(super) fn literal(&self, index: usize) -> Option<&'t Value> {
        match self.kind(self.bare(index)) {
            Kind::Literal(Value::Placeholder(_)) => None,
            Kind::Literal(value) => Some(value),
            _ => None,
        }
    }

    /// The name of a node in a refusal.
    pub(super) fn name(&self, index: usize) -> String {
        match self.kind(index) {
            Kind::Call(name, _) => name.to_owned(),
            Kind::Operator(operator) => operator.to_uppercase(),
            Kind::Cast(data_type) => data_type.to_string(),
            _ => "this".to_owned(),
        }
    }

    /// The function that is called there, if the table has it.
    pub(super) fn function(&self, index: usize) -> Option<&'static Function> {
        match self.kind(index) {
            Kind::Call(_, function) => function,
            _ => None,
        }
    }

    /// The nodes of a level, without those of its subqueries.
    pub(super) fn own(&self, level: usize) -> impl Iterator<Item = (usize, &Item<'t>)> {
        self.within(level).filter(move |(index, item)| !item.kind.is_level() && self.level(*index) == level)
    }

    /// The WITH queries that read themselves.
    pub(super) fn recursive(&self) -> impl Iterator<Item = (usize, &'t str)> {
        self.iter().filter_map(|(index, item)| {
            let Kind::Query(Some(cte)) = item.kind else { return None };
            let name = cte.alias.name.value.as_str();
            let reads = |kind| matches!(kind, Kind::Table { name: Some(read), .. } if read == name);
            self.within(index).any(|(_, item)| reads(item.kind)).then_some((index, name))
        })
    }

    /// Returns true where an aggregate or a subquery anywhere holds all its rows in one value.
    pub(super) fn collects(&self) -> bool {
        self.iter().any(|(index, item)| matches!(item.kind, Kind::Kept) || self.is_collecting(index))
    }

    /// Returns true for a call that holds all rows it sees in one value.
    pub(super) fn is_collecting(&self, index: usize) -> bool {
        self.function(index).is_some_and(|function| function.rows == Rows::Collects)
    }

    /// Returns true for a call or an operator that nothing cancels while it compares two values.
    pub(super) fn is_quadratic(&self, index: usize) -> bool {
        match self.kind(index) {
            Kind::Operator(operator) => operators::time_of(operator) == Time::Quadratic,
            Kind::Cast(data_type) => type_name(data_type) == "tsquery",
            // Blanks are trimmed in one step each.
            Kind::Call("btrim" | "ltrim" | "rtrim" | "trim", _) if self.arity(index).0 < 2 => false,
            Kind::Call(_, Some(function)) => function.time == Time::Quadratic,
            _ => false,
        }
    }

    /// The nearest part of a query around a node.
    pub(super) fn level(&self, index: usize) -> usize {
        self.levels.get(index).copied().unwrap_or_default()
    }
}
