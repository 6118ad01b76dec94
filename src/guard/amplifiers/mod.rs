//! Amplifiers: one rule for what a single call can make of little before anything can stop it.
//!
//! Work that goes row by row is stopped by the statement timeout, LIMIT and `temp_file_limit`. This rule is about what
//! one call makes or computes at once: PostgreSQL makes `repeat('x', 1000000000)` while it plans, and looks at no cancel
//! while it compares two long values. The rule keeps a careless query from hurting; it is no boundary: the database
//! host bounds a backend's memory. It reads the classes of functions, operators and types (`guard::functions`), resolves
//! no names, and counts a number of a table as small.
//!
//! - `nodes`: a query as a list, and the questions that several rules ask of it. `visitor`: how it is made.
//!   `literals`: the numbers in literals.
//! - `amounts`: values as numbers. `counts`: calls that make as much as a number says.
//! - `references`: how often a value is written out. `product`: all of that together, and literals beside a count.
//! - `patterns`: paths and regular expressions. `uncancellable`: what nothing cancels. `excess`: the limits, and the refusals.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "the judge of the tree matches every expression and refuses what the rules here do not name"
)]

mod literals;
mod nodes;
mod visitor;
mod excess;
mod amounts;
mod counts;
mod references;
mod product;
mod uncancellable;
mod patterns;
mod check;
#[cfg(test)]
mod tests;

pub(super) use check::check;
