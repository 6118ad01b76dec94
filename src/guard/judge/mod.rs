//! The judges of a statement. Each is a pure function that refuses everything it does not know.
//!
//! The judge of the tree walks sqlparser's tree of the statement. The judge of the tokens looks only at the tokens,
//! independently of the tree. A statement runs if both accept it.
//!
//! | file | holds |
//! |---|---|
//! | `kind`, `limits` | before the parser: the kind of a statement; how deep it nests |
//! | `tree` | the judge of the tree: one loop over the nodes that are left |
//! | `select`, `from`, `clauses` | its queries, their sources, clauses that calls have as well |
//! | `expressions`, `operators`, `constants`, `calls` | its expressions |
//! | `types`, `collations`, `identifiers` | its names: types, collations, relations and columns |
//! | `walk`, `roles` | the state of the loop; the role of every name |
//! | `tokens` | the judge of the tokens |
//! | `uses`, `open` | the names that the server has to look up; those whose meaning it decides |

pub(super) mod kind;
pub(super) mod limits;
pub(super) mod tree;
mod select;
pub(crate) mod from;
mod clauses;
mod expressions;
mod operators;
mod constants;
mod calls;
pub(crate) mod types;
mod collations;
mod identifiers;
mod walk;
pub(super) mod roles;
pub(super) mod tokens;
pub(crate) mod uses;
pub(super) mod names;
pub(crate) mod open;
#[cfg(test)]
mod tests;
