//! References: how often one value is written out when columns of subqueries stand for what they are made of.
//!
//! `a || a` over a subquery whose `a` is `b || b` holds four times b, and the planner plans it four times. A level is a
//! SELECT; its weight is the most that one of its columns refers to a column of the level below, times the weight of
//! that one. Names are not resolved: a level is built on the heaviest in its FROM, on all there that may use what
//! stands before them, and on the subqueries of its expressions.

use std::cmp::Reverse;
use std::collections::HashMap;

use sqlparser::ast::{Cte, CteAsMaterialized};

use super::arena::{Kind, Slot};
use super::excess::{Excess, MAX_REFERENCES, MAX_RELATIONS};
use super::listing::Listing;
use crate::guard::functions::Size;

/// The most passes over all weights before they must have settled: WITH RECURSIVE may use later queries.
const MAX_PASSES: usize = 32;
/// The weight that a subquery in an expression has for the planner.
const SUBQUERY: f64 = 16.0;

/// The most times that a column of a statement is written out.
#[derive(Clone, Copy, Debug)]
pub(super) struct References {
    /// By one column of a result.
    pub(super) of_one: f64,
    /// By all expressions of each level together.
    pub(super) of_all: f64,
}

/// Counts of columns in expressions, by the names they are written with.
#[derive(Default)]
struct Uses<'t> {
    names: HashMap<(Option<&'t str>, &'t str), f64>,
    stars: f64,
}

impl<'t> Uses<'t> {
    fn add(&mut self, listing: &Listing<'t>, index: usize) {
        for (_, item) in listing.within(index) {
            match item.kind {
                Kind::Column { of, name } => *self.names.entry((of, name)).or_default() += 1.0,
                Kind::Star => self.stars += 1.0,
                _ => {}
            }
        }
    }

    /// Returns the most uses that one column may have: a bare name may be that of any table.
    fn most(&self) -> f64 {
        let bare = |name| self.names.get(&(None, name)).copied().unwrap_or_default();
        let uses = self.names.iter().map(|((of, name), uses)| uses + of.map_or(0.0, |_| bare(*name)));
        uses.fold(0.0, f64::max) + self.stars
    }
}

/// An expression of a level: how often it uses one column, and the subqueries in it.
struct Root {
    slot_is_output: bool,
    growth: f64,
    uses: f64,
    queries: Vec<usize>,
}

/// A SELECT or VALUES, a set operation, or a query around them.
struct Level<'t> {
    index: usize,
    roots: Vec<Root>,
    /// The most uses of one column in all its expressions together.
    together: f64,
    sources: Vec<Source<'t>>,
}

/// A source that a level reads.
enum Source<'t> {
    Query { index: usize, lateral: bool },
    With(&'t str),
    Call(Root),
}

/// The factor by which a level multiplies the columns it is built on.
#[derive(Clone, Copy, PartialEq)]
struct Weight {
    one: f64,
    all: f64,
    /// Relations that are read once what is not computed once is written out.
    relations: f64,
}

const TABLE: Weight = Weight { one: 1.0, all: 1.0, relations: 1.0 };

/// The references of a statement; refused are too many by one value, and too many relations.
pub(super) fn check(listing: &Listing<'_>, growth: &[f64]) -> Result<References, (usize, Excess)> {
    let growth = nested(listing, growth);
    let levels = listing.iter().filter(|(_, item)| item.kind.is_level());
    let mut levels: Vec<Level<'_>> = levels.map(|(index, _)| level(listing, index, &growth)).collect();
    // What is used comes before what uses it.
    levels.sort_by_key(|level| (listing.items.get(level.index).map(|item| item.end), Reverse(level.index)));
    let mut weights = Weights { listing, ctes: HashMap::new(), known: HashMap::new(), peak: (0, 1.0) };
    for (index, item) in listing.iter() {
        if let Kind::Query(Some(cte)) = item.kind {
            weights.ctes.entry(&cte.alias.name.value).or_default().push((index, cte));
        }
    }
    let settled = (0..MAX_PASSES).any(|_| levels.iter().filter(|level| weights.weigh(level)).count() == 0);
    let (at, peak) = weights.peak;
    if peak > MAX_REFERENCES || !settled {
        return Err((listing.at(at), Excess::References));
    }
    if let Some((at, _)) = weights.known.iter().find(|(_, weight)| weight.relations > MAX_RELATIONS) {
        return Err((listing.at(*at), Excess::Relations));
    }
    let most = |of: fn(&Weight) -> f64| weights.known.values().map(of).fold(1.0, f64::max);
    Ok(References { of_one: most(|weight| weight.one), of_all: most(|weight| weight.all) })
}

/// Returns the growth of each node with all that it holds; subqueries are counted apart.
fn nested(listing: &Listing<'_>, growth: &[f64]) -> Vec<f64> {
    let mut nested = growth.to_vec();
    for (index, item) in listing.iter().rev().filter(|(_, item)| !item.kind.is_level()) {
        let within = listing.children(index).filter(|(_, child)| !child.kind.is_level());
        let within = within.map(|(child, _)| nested.get(child).copied().unwrap_or(1.0));
        // A replacement multiplies with what it is put into.
        let within: f64 = match item.kind {
            Kind::Call(_, Some(function))
                if matches!(function.size, Size::Product(..) | Size::Template(_)) =>
            {
                within.product()
            }
            _ => within.fold(1.0, f64::max),
        };
        if let Some(place) = nested.get_mut(index) {
            *place *= within;
        }
    }
    nested
}

fn level<'t>(listing: &Listing<'t>, index: usize, growth: &[f64]) -> Level<'t> {
    let mut level = Level { index, roots: Vec::new(), together: 0.0, sources: Vec::new() };
    let mut together = Uses::default();
    for (child, item) in listing.children(index) {
        match (item.slot, item.kind) {
            (Slot::With, _) => {}
            (slot, kind) if kind.is_level() => {
                level.sources.push(Source::Query { index: child, lateral: slot == Slot::Lateral });
            }
            (_, Kind::Table { name, .. }) => level.sources.extend(name.map(Source::With)),
            (Slot::From, Kind::Call(..)) => level.sources.push(Source::Call(root(listing, child, growth))),
            _ => {
                together.add(listing, child);
                level.roots.push(root(listing, child, growth));
            }
        }
    }
    level.together = together.most();
    level
}

fn root(listing: &Listing<'_>, index: usize, growth: &[f64]) -> Root {
    let mut uses = Uses::default();
    uses.add(listing, index);
    // Of a subquery in it every column may be one of this level.
    let queries = listing.within(index).filter(|(_, item)| matches!(item.kind, Kind::Query(None)));
    let queries = queries.filter(|(query, _)| listing.level(*query) == listing.level(index));
    Root {
        slot_is_output: listing.items.get(index).is_some_and(|item| item.slot == Slot::Output),
        growth: growth.get(index).copied().unwrap_or(1.0),
        uses: uses.most(),
        queries: queries.map(|(query, _)| query).collect(),
    }
}

struct Weights<'l, 't> {
    listing: &'l Listing<'t>,
    ctes: HashMap<&'t str, Vec<(usize, &'t Cte)>>,
    known: HashMap<usize, Weight>,
    /// The heaviest level, with its conditions.
    peak: (usize, f64),
}

impl Weights<'_, '_> {
    fn of(&self, index: usize) -> Weight {
        self.known.get(&index).copied().unwrap_or(TABLE)
    }

    /// Weighs a level by what is known of others; returns whether that changed anything.
    fn weigh(&mut self, level: &Level<'_>) -> bool {
        let (mut below, mut lateral) = (TABLE, TABLE);
        for source in &level.sources {
            let (weight, is_lateral) = match source {
                Source::Query { index, lateral } => (self.of(*index), *lateral),
                Source::With(name) => (self.of_with(level.index, name), false),
                Source::Call(root) => {
                    let one = self.of_root(root, 1.0);
                    (Weight { one, all: one, relations: 1.0 }, true)
                }
            };
            below.relations += weight.relations;
            let onto = if is_lateral { &mut lateral } else { &mut below };
            let merge = |one: f64, other: f64| if is_lateral { one * other } else { one.max(other) };
            (onto.one, onto.all) = (merge(onto.one, weight.one), merge(onto.all, weight.all));
        }
        (below.one, below.all) = (below.one * lateral.one, below.all * lateral.all);
        let mut weight = below;
        if matches!(self.listing.kind(level.index), Kind::Rows { .. }) {
            let outputs = level.roots.iter().filter(|root| root.slot_is_output);
            weight.one = outputs.map(|root| self.of_root(root, below.one)).fold(1.0, f64::max);
            let growth = level.roots.iter().map(|root| root.growth).fold(1.0, f64::max);
            weight.all = growth * (level.together * below.all).max(1.0);
        }
        let (mut peak, queries) =
            (weight.one.max(below.one), level.roots.iter().flat_map(|root| &root.queries));
        for query in queries {
            weight.all *= self.of(*query).all;
            weight.relations += self.of(*query).relations;
        }
        for root in &level.roots {
            let planned = if root.queries.is_empty() { 1.0 } else { SUBQUERY };
            peak = peak.max(self.of_root(root, below.one) * planned);
        }
        if peak > self.peak.1 {
            self.peak = (level.index, peak);
        }
        self.known.insert(level.index, weight) != Some(weight)
    }

    /// Returns the most uses of one column below, in the expression as it is written out.
    fn of_root(&self, root: &Root, below: f64) -> f64 {
        let queries: f64 = root.queries.iter().map(|query| self.of(*query).one).product();
        root.growth * (root.uses * below).max(1.0) * queries
    }

    /// The weight of the WITH queries of a name. One that reads itself gets its rows one by one, as from a table.
    fn of_with(&self, reader: usize, name: &str) -> Weight {
        let around = |index: usize| {
            index <= reader && self.listing.items.get(index).is_some_and(|item| reader < item.end)
        };
        let others = self.ctes.get(name).into_iter().flatten().filter(|(index, _)| !around(*index));
        others.fold(TABLE, |most, (index, cte)| {
            let Weight { one, all, relations } = self.of(*index);
            // What is read more than once is computed once, unless this says otherwise.
            let again = matches!(cte.materialized, Some(CteAsMaterialized::NotMaterialized));
            let relations = if again { relations.max(most.relations) } else { most.relations };
            Weight { one: one.max(most.one), all: all.max(most.all), relations }
        })
    }
}
