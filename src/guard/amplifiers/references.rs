//! References: how often one value is written out when columns of subqueries stand for what they are made of.
//!
//! `a || a` over a subquery whose `a` is `b || b` holds four times b. A level is a SELECT; its weight is the most that one of
//! its columns refers to a column of the level below, times the weight of that one. Names are not resolved: a level
//! counts as built on the heaviest in its FROM, and on all that may use what stands before them.

use std::collections::HashMap;

use sqlparser::ast::{Cte, CteAsMaterialized};

use super::arena::{Kind, Slot};
use super::excess::{Excess, MAX_REFERENCES};
use super::listing::Listing;
use crate::guard::functions::Size;

/// How often weights are computed again before they must have settled: a query in an expression uses what its level shows,
/// and that what was computed before.
const MAX_PASSES: usize = 64;

/// How often the columns of a statement are written out.
#[derive(Clone, Copy, Debug)]
pub(super) struct References {
    /// By one value, conditions included.
    pub(super) of_one: f64,
    /// By one column of a result.
    pub(super) of_column: f64,
    /// By all values of each level together.
    pub(super) of_all: f64,
}

/// How often columns stand in expressions, by the names they go by.
#[derive(Default)]
struct Uses<'t> {
    names: HashMap<(Option<&'t str>, &'t str), f64>,
    stars: f64,
}

impl Uses<'_> {
    /// How often one column may stand there: a bare name may be that of any table.
    fn most(&self) -> f64 {
        let bare = |name| self.names.get(&(None, name)).copied().unwrap_or_default();
        let uses = self.names.iter().map(|((of, name), uses)| uses + of.map_or(0.0, |_| bare(*name)));
        uses.fold(0.0, f64::max) + self.stars
    }
}

/// An expression of a level: how often it uses one column, and the subqueries in it.
struct Root {
    output: bool,
    growth: f64,
    uses: f64,
    queries: Vec<usize>,
}

/// A level: a SELECT or VALUES, a set operation, or a query around them.
struct Level<'t> {
    index: usize,
    is_select: bool,
    roots: Vec<Root>,
    /// How often all its expressions together use one column.
    together: f64,
    /// What it reads, and whether that may use what stands before it.
    sources: Vec<(Source<'t>, bool)>,
    /// The level around it, whose columns it may use.
    outer: Option<usize>,
}

enum Source<'t> {
    Query(usize),
    Named(&'t str),
    /// A function's arguments.
    Call(Root),
}

/// The references of a statement; refused are too many by one value, and too many relations.
pub(super) fn check(listing: &Listing<'_>, growth: &[f64]) -> Result<References, (usize, Excess)> {
    let growth = nested(listing, growth);
    let mut levels: Vec<Level<'_>> = listing
        .iter()
        .filter(|(_, item)| item.kind.is_level())
        .map(|(index, _)| level(listing, index, &growth))
        .collect();
    // What is used comes before what uses it.
    levels.sort_by_key(|level| {
        (listing.items.get(level.index).map(|item| item.end), std::cmp::Reverse(level.index))
    });
    let mut ctes: HashMap<&str, Vec<(usize, &Cte)>> = HashMap::new();
    for (index, item) in listing.iter() {
        if let Kind::Query(Some(cte)) = item.kind {
            ctes.entry(&cte.alias.name.value).or_default().push((index, cte));
        }
    }
    let mut weights = Weights {
        listing,
        ctes,
        one: HashMap::new(),
        all: HashMap::new(),
        shown: HashMap::new(),
        relations: HashMap::new(),
        peak: (0, 1.0),
    };
    let settled =
        (0..MAX_PASSES).any(|_| !levels.iter().fold(false, |changed, level| weights.weigh(level) || changed));
    let (at, of_one) = weights.peak;
    if of_one > MAX_REFERENCES || !settled {
        return Err((listing.at(at), Excess::References));
    }
    if let Some((at, _)) = weights.relations.iter().find(|(_, relations)| **relations > MAX_REFERENCES) {
        return Err((listing.at(*at), Excess::Relations));
    }
    let most = |weights: &HashMap<usize, f64>| weights.values().copied().fold(1.0, f64::max);
    Ok(References { of_one, of_column: most(&weights.one), of_all: most(&weights.all) })
}

/// By how much each node lengthens what is in it, with all that stands within; subqueries are counted apart.
fn nested(listing: &Listing<'_>, growth: &[f64]) -> Vec<f64> {
    let mut nested = growth.to_vec();
    for (index, item) in listing.iter().rev() {
        let within = listing.children(index).filter(|(_, child)| !child.kind.is_level());
        let within = within.map(|(child, _)| nested.get(child).copied().unwrap_or(1.0));
        // A replacement multiplies with what it is put into.
        let product = listing
            .function(index)
            .is_some_and(|function| matches!(function.size, Size::Product(..) | Size::Template(_)));
        let within = if product { within.product() } else { within.fold(1.0, f64::max) };
        let within: f64 = if item.kind.is_level() { 1.0 } else { within };
        if let Some(place) = nested.get_mut(index) {
            *place *= within.max(1.0);
        }
    }
    nested
}

fn level<'t>(listing: &Listing<'t>, index: usize, growth: &[f64]) -> Level<'t> {
    let is_select = matches!(listing.kind(index), Kind::Rows { .. });
    let mut level = Level {
        index,
        is_select,
        roots: Vec::new(),
        together: 0.0,
        sources: Vec::new(),
        outer: outer(listing, index),
    };
    let mut together = Uses::default();
    for (child, item) in listing.children(index) {
        match (item.slot, item.kind) {
            (Slot::With, _) => {}
            (slot, kind) if kind.is_level() => {
                level.sources.push((Source::Query(child), slot == Slot::Lateral))
            }
            (_, Kind::Table { name: Some(name), .. }) => level.sources.push((Source::Named(name), false)),
            (Slot::From, Kind::Call(..)) => {
                level.sources.push((Source::Call(root(listing, child, growth, &mut Uses::default())), true));
            }
            _ => level.roots.push(root(listing, child, growth, &mut together)),
        }
    }
    level.together = together.most();
    level
}

/// The level whose columns a query in an expression may use. What stands in FROM is what the level is built on.
fn outer(listing: &Listing<'_>, index: usize) -> Option<usize> {
    let mut slot = listing.items.get(index)?.slot;
    for (outer, item) in listing.around(index) {
        match slot {
            Slot::Argument(_)
            | Slot::Named(_)
            | Slot::Condition
            | Slot::Output
            | Slot::Clause
            | Slot::Limit
            | Slot::Body => {}
            Slot::From | Slot::Lateral | Slot::With => return None,
        }
        if matches!(item.kind, Kind::Rows { .. }) {
            return Some(outer);
        }
        slot = item.slot;
    }
    None
}

fn root<'t>(listing: &Listing<'t>, index: usize, growth: &[f64], together: &mut Uses<'t>) -> Root {
    let Some(item) = listing.items.get(index) else {
        return Root { output: false, growth: 1.0, uses: 0.0, queries: Vec::new() };
    };
    let (mut uses, mut queries) = (Uses::default(), Vec::new());
    let mut next = index;
    while let Some(inner) = listing.items.get(next).filter(|_| next < item.end) {
        next += 1;
        match inner.kind {
            Kind::Column { of, name } => {
                *uses.names.entry((of, name)).or_default() += 1.0;
                *together.names.entry((of, name)).or_default() += 1.0;
            }
            Kind::Star => uses.stars += 1.0,
            kind if kind.is_level() => {
                queries.push(next - 1);
                next = inner.end;
            }
            _ => {}
        }
    }
    together.stars += uses.stars;
    let growth = growth.get(index).copied().unwrap_or(1.0);
    Root { output: item.slot == Slot::Output, growth, uses: uses.most(), queries }
}

struct Weights<'l, 't> {
    listing: &'l Listing<'t>,
    ctes: HashMap<&'t str, Vec<(usize, &'t Cte)>>,
    one: HashMap<usize, f64>,
    all: HashMap<usize, f64>,
    /// What the columns weigh that a level shows to queries in its expressions.
    shown: HashMap<usize, f64>,
    /// Relations that are read once what is not computed once is written out.
    relations: HashMap<usize, f64>,
    /// The heaviest level, and its weight with its conditions.
    peak: (usize, f64),
}

impl Weights<'_, '_> {
    /// Weighs a level by what is known of others; returns whether that changed anything.
    fn weigh(&mut self, level: &Level<'_>) -> bool {
        let known = |weights: &HashMap<usize, f64>, index: &usize| weights.get(index).copied().unwrap_or(1.0);
        let inherited = level.outer.map_or(1.0, |outer| known(&self.shown, &outer));
        let (mut below, mut below_all, mut lateral, mut lateral_all, mut relations) =
            (inherited, inherited, 1.0, 1.0, 1.0);
        for (source, may_use) in &level.sources {
            let (one, all, read) = self.source(level.index, source);
            relations += read;
            if *may_use {
                (lateral, lateral_all) = (lateral * one, lateral_all * all);
            } else {
                (below, below_all) = (below.max(one), below_all.max(all));
            }
        }
        (below, below_all) = (below * lateral, below_all * lateral_all);
        let of_root = |root: &Root| {
            let queries: f64 = root.queries.iter().map(|query| known(&self.one, query)).sum();
            root.growth * (root.uses * below + queries).max(1.0)
        };
        let outputs = level.roots.iter().filter(|root| root.output).map(of_root).fold(1.0, f64::max);
        let peak = level.roots.iter().map(of_root).fold(outputs.max(below), f64::max);
        let queries = level.roots.iter().flat_map(|root| &root.queries);
        relations += queries.clone().map(|query| known(&self.relations, query)).sum::<f64>();
        let queries: f64 = queries.map(|query| known(&self.all, query)).sum();
        let growth = level.roots.iter().map(|root| root.growth).fold(1.0, f64::max);
        let all = growth * (level.together * below_all + queries).max(1.0);
        if peak > self.peak.1 {
            self.peak = (level.index, peak);
        }
        let (one, all, shown) =
            if level.is_select { (outputs, all, below) } else { (below, all.max(below_all), inherited) };
        let changed = [
            self.one.insert(level.index, one) != Some(one),
            self.all.insert(level.index, all) != Some(all),
            self.shown.insert(level.index, shown) != Some(shown),
            self.relations.insert(level.index, relations) != Some(relations),
        ];
        changed.contains(&true)
    }

    /// The weight of what a level reads: of one value, of all, and how many relations it is.
    fn source(&self, reader: usize, source: &Source<'_>) -> (f64, f64, f64) {
        let known = |index: usize| {
            let of = |weights: &HashMap<usize, f64>| weights.get(&index).copied().unwrap_or(1.0);
            (of(&self.one), of(&self.all), of(&self.relations))
        };
        match source {
            Source::Query(index) => known(*index),
            Source::Call(root) => {
                let queries: f64 = root.queries.iter().map(|query| known(*query).0).sum();
                let uses = root.growth * (root.uses + queries).max(1.0);
                (uses, uses, 1.0)
            }
            Source::Named(name) => {
                // A query that reads itself gets its rows one by one, as from a table.
                let reads_itself = |index: usize| {
                    index <= reader && self.listing.items.get(index).is_some_and(|item| reader < item.end)
                };
                let others =
                    self.ctes.get(name).into_iter().flatten().filter(|(index, _)| !reads_itself(*index));
                others.fold((1.0, 1.0, 1.0), |(one, all, read), (index, cte)| {
                    let (of_one, of_all, relations) = known(*index);
                    let again = matches!(cte.materialized, Some(CteAsMaterialized::NotMaterialized));
                    (of_one.max(one), of_all.max(all), if again { relations.max(read) } else { read })
                })
            }
        }
    }
}
