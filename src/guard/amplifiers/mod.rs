//! Amplifiers: one rule for what a single call can make of little before anything can stop it.
//!
//! Work that goes row by row is stopped by the statement timeout, LIMIT and `temp_file_limit`. This rule is about what
//! one call makes or computes at once: PostgreSQL makes `repeat('x', 1000000000)` while it plans, and looks at no cancel
//! while it compares two long values. The rule keeps a careless query from hurting; it is no boundary: the database
//! host bounds a backend's memory. It reads the classes of functions, operators and types (`guard::functions`), resolves
//! no names, and counts a number of a table as small.
//!
//! - `arena`: the nodes of a query. `nodes`, `queries`, `expressions`, `children`: how they are listed. `listing`: the
//!   questions that rules ask of the list. `literals`: the numbers in literals.
//! - `amounts`: values as numbers. `counts`: calls that make as much as a number says. `templates`: literals that are
//!   programs.
//! - `references`: how often a value is written out. `product`: all of that together, and literals beside a count.
//! - `recursion`, `patterns`, `uncancellable`: values that grow with every step, paths and regular expressions, and
//!   what nothing cancels.
//! - `check`: the rules in their order. `excess`: the limits, and the refusals.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "the judge of the tree matches every expression and refuses what the rules here do not name"
)]

mod arena;
mod children;
mod expressions;
mod queries;
mod nodes;
mod literals;
mod amounts;
mod listing;
mod excess;
mod templates;
mod counts;
mod references;
mod product;
mod recursion;
mod patterns;
mod uncancellable;
mod check;
#[cfg(test)]
mod tests;

pub(super) use check::check;
