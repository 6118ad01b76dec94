//! How large constants can get, and how much the planner is given to do. PostgreSQL computes constants while it plans,
//! before any limit of a run holds: `repeat('x', 1000000000)` takes a gigabyte in `EXPLAIN` already. It also replaces
//! a column of a subquery by what it stands for, so that `n + n` over `n + n` over … doubles with every level.
//!
//! One walk, in the order in which queries use each other: subqueries and `WITH` first, so that every expression is
//! looked at once and a column's numbers are known when it is read. All bounds are coarse and from above; numbers from
//! tables count as [`TABLE_NUMBER`], texts from tables as short: what tables hold is not bounded here.

use std::{
    collections::{HashMap, HashSet},
    rc::Rc,
};

use sqlparser::{
    ast::{Expr, ObjectName, ObjectNamePart, Query},
    tokenizer::Span,
};

use super::{
    super::parser::token_of,
    bounds::{Bound, MAX_CONSTANT_BYTES, SMALL},
    relations::{Column, Cost, Frame, Relation},
    steps::MAX_PAIRS,
};

/// The most rows that series may have together when an aggregate keeps them.
pub(super) const MAX_SERIES_ROWS: u64 = 100_000;
/// The most that all constants of a statement may grow to together, in bytes.
const MAX_STATEMENT_BYTES: u64 = 16 * MAX_CONSTANT_BYTES;
/// The most nodes that the planner may be given once columns are replaced by what they stand for.
const MAX_PLANNER_NODES: u64 = 100_000;
/// What a query or a table counts as, in nodes.
pub(super) const RELATION_NODES: u64 = 4;
/// The most steps of this walk: nodes, and columns that pass from one query to another.
pub(crate) const MAX_WORK: u64 = 250_000;
/// How deep this code recurses.
pub(super) const MAX_RECURSION: usize = 200;

/// What is too large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Excess {
    Bytes,
    Together,
    Rows,
    Nodes,
    Pairs,
    Work,
    Depth,
    Order,
}

impl Excess {
    fn sentence(self) -> String {
        match self {
            Self::Bytes => format!(
                "This can grow beyond {MAX_CONSTANT_BYTES} bytes whatever the tables hold; use smaller literals, or limit \
                 a count: least(n, 1000)."
            ),
            Self::Together => format!(
                "The constants of this query can grow beyond {MAX_STATEMENT_BYTES} bytes together; use smaller literals."
            ),
            Self::Rows => format!(
                "A series that an aggregate keeps in memory may have {MAX_SERIES_ROWS} rows; use a shorter one, with literals for \
                 its bounds and its step."
            ),
            Self::Nodes => format!(
                "Written out, this query has more than {MAX_PLANNER_NODES} parts, for columns and WITH queries that are \
                 used several times build on each other; use WITH ... AS MATERIALIZED."
            ),
            Self::Pairs => format!(
                "Values this long would be compared in more than {MAX_PAIRS} steps, which nothing can cancel; use shorter \
                 ones."
            ),
            Self::Work | Self::Depth => {
                "This query is too large to be judged; use fewer columns, levels and WITH queries.".to_owned()
            }
            Self::Order => {
                "A WITH RECURSIVE query may use itself and those before it; write them in that order."
                    .to_owned()
            }
        }
    }
}

/// What a check found.
#[derive(Debug)]
pub(crate) struct Checked {
    /// Steps that were taken.
    #[cfg_attr(not(any(test, fuzzing)), expect(dead_code, reason = "tests count the work"))]
    pub(crate) work: u64,
    /// The index of the token and the sentence.
    pub(crate) excess: Option<(usize, String)>,
}

/// Checks a query that the judge of the tree let pass.
pub(crate) fn check(query: &Query) -> Checked {
    let mut first = Sizes::default();
    first.query(query);
    let mut work = first.work;
    let mut excess = first.verdict();
    if matches!(excess, Some((_, Excess::Nodes | Excess::Together))) {
        // A WITH query that is used more than once is computed once, unless it says otherwise.
        let once =
            first.references.into_iter().filter(|(_, uses)| *uses > 1).map(|(query, _)| query).collect();
        let mut second = Sizes { materialized: once, ..Sizes::default() };
        second.query(query);
        work += second.work;
        excess = second.verdict();
    }
    Checked { work, excess: excess.map(|(at, excess)| (at, excess.sentence())) }
}

#[derive(Default)]
pub(super) struct Sizes<'t> {
    pub(super) frames: Vec<Frame<'t>>,
    pub(super) ctes: HashMap<&'t str, Vec<(Rc<Relation<'t>>, *const Query)>>,
    /// How often each `WITH` query is used.
    pub(super) references: HashMap<*const Query, u64>,
    pub(super) materialized: HashSet<*const Query>,
    /// Queries of `WITH RECURSIVE` that come later.
    pub(super) later: HashMap<&'t str, usize>,
    /// Rows of the `FROM` that is looked at.
    pub(super) rows: u64,
    pub(super) aggregated: bool,
    pub(super) cost: Cost,
    pub(super) near: usize,
    pub(super) depth: usize,
    pub(super) work: u64,
    /// Whether an array may begin with any subscript.
    pub(super) far_subscripts: bool,
    /// Steps that nothing can cancel once PostgreSQL has begun them.
    pairs: u64,
    pub(super) excess: Option<(usize, Excess)>,
    /// Where the cost first was too much.
    crossed: Option<usize>,
}

impl<'t> Sizes<'t> {
    fn verdict(&self) -> Option<(usize, Excess)> {
        let at = self.crossed.unwrap_or_default();
        let total = match self.cost {
            Cost { nodes, .. } if nodes > MAX_PLANNER_NODES => Some((at, Excess::Nodes)),
            Cost { bytes, .. } if bytes > MAX_STATEMENT_BYTES => Some((at, Excess::Together)),
            Cost { .. } => None,
        };
        self.excess.or(total)
    }

    pub(super) fn exceed(&mut self, at: usize, excess: Excess) {
        self.excess.get_or_insert((at, excess));
    }

    pub(super) fn spend(&mut self, steps: usize) {
        self.work = self.work.saturating_add(u64::try_from(steps).unwrap_or(u64::MAX));
        if self.work > MAX_WORK {
            self.exceed(self.near, Excess::Work);
        }
    }

    pub(super) fn charge(&mut self, Cost { nodes, bytes }: Cost) {
        self.cost.nodes = self.cost.nodes.saturating_add(nodes);
        self.cost.bytes = self.cost.bytes.saturating_add(bytes);
        if self.cost.nodes > MAX_PLANNER_NODES || self.cost.bytes > MAX_STATEMENT_BYTES {
            self.crossed.get_or_insert(self.near);
        }
    }

    /// So many steps in which values are compared are begun, here.
    pub(super) fn compare(&mut self, pairs: u64) {
        self.pairs = self.pairs.saturating_add(pairs);
        if self.pairs > MAX_PAIRS {
            self.exceed(self.near, Excess::Pairs);
        }
    }

    pub(super) fn stand_at(&mut self, span: Span) {
        self.near = token_of(span).unwrap_or(self.near);
    }

    pub(super) fn stand_at_name(&mut self, ObjectName(parts): &ObjectName) {
        if let Some(ObjectNamePart::Identifier(ident)) = parts.last() {
            self.stand_at(ident.span);
        }
    }

    /// An expression as a column of a query.
    pub(super) fn column(&mut self, expr: &'t Expr) -> Column {
        let before = self.cost.nodes;
        let bound = self.of(expr);
        Column { bound, nodes: self.cost.nodes.saturating_sub(before).max(1) }
    }

    pub(super) fn all(&mut self, exprs: impl IntoIterator<Item = &'t Expr>) {
        for expr in exprs {
            self.of(expr);
        }
    }

    pub(super) fn read(&mut self, name: &str) -> Bound {
        self.spend(self.frames.len());
        let known = self.frames.iter().filter_map(|frame| frame.get(name)).reduce(Column::max);
        let Column { bound, nodes } = known.unwrap_or(Column::TABLE);
        let bytes = if bound.bytes > SMALL { bound.bytes } else { 0 };
        self.charge(Cost { nodes, bytes });
        bound
    }

    pub(super) fn of(&mut self, expr: &'t Expr) -> Bound {
        if self.excess.is_some() {
            return Bound::TABLE;
        }
        if self.depth >= MAX_RECURSION {
            self.exceed(self.near, Excess::Depth);
            return Bound::TABLE;
        }
        self.spend(1);
        // A column counts as what it stands for.
        if !matches!(expr, Expr::Identifier(_) | Expr::CompoundIdentifier(_) | Expr::Nested(_)) {
            self.charge(Cost { nodes: 1, bytes: 0 });
        }
        self.depth += 1;
        let bound = self.expression(expr);
        self.depth -= 1;
        if bound.bytes > MAX_CONSTANT_BYTES {
            self.exceed(self.near, Excess::Bytes);
        }
        bound
    }

    /// The largest of some values.
    pub(super) fn largest(&mut self, exprs: impl IntoIterator<Item = &'t Expr>) -> Bound {
        exprs.into_iter().fold(Bound::NONE, |bound, expr| bound.max(self.of(expr)))
    }

    /// Something of these values that is true or false.
    pub(super) fn test(&mut self, exprs: impl IntoIterator<Item = &'t Expr>) -> Bound {
        self.all(exprs);
        Bound { bytes: SMALL, number: 1 }
    }
}
