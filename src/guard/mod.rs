//! SQL text to [`ReadOnlyStatement`](statement::ReadOnlyStatement): a query that is safe to send. Pure: it knows no database
//! and waits for nothing.
//!
//! # The pipeline
//!
//! | step | where | refuses |
//! |---|---|---|
//! | 1. lex, as PostgreSQL does | `lexer` | unknown characters, operators that are not listed, text that is too long |
//! | 2. look at the tokens alone | `judge::kind`, `judge::limits` | other statements than queries; nesting too deep for recursive code |
//! | 3. parse with sqlparser, which sees tokens and never text | `parser` | anything but one whole query |
//! | 4. judge the tree | `judge::tree` | clauses, functions, types and operators that are not listed |
//! | 5. judge the tokens, independently of the tree | `judge::tokens` | names before `(` that the tree does not account for; dangerous names anywhere |
//! | 6. judge amplifiers | `amplifiers` | single calls that make much of little before anything can stop them |
//! | 7. join the tokens with single spaces | `canonical` | |
//!
//! The result of step 7 is the canonical text, the only text that is ever sent. [`postgres`](crate::postgres) runs it inside a
//! wrapper, in a read-only transaction that is rolled back. The database role is the boundary; the guard keeps a careless
//! query from hurting and a hostile one from reaching the role's other rights.
//!
//! Every list is closed: a name, a node or a kind that is not listed is refused. Both judges must accept; each alone stops
//! the attacks in `corpus/attacks.tsv`, or PostgreSQL does; those marked `sizes` only step 6 stops.
//!
//! # Which file holds what
//!
//! | file | holds |
//! |---|---|
//! | `statement` | the pipeline: `Parsed` to [`ReadOnlyStatement`](statement::ReadOnlyStatement) |
//! | `config` | [`GuardConfig`]: functions that the operator allows |
//! | [`functions`] | the one table of functions, a line each; the named sets; dangerous names |
//! | `amplifiers` | step 6 |
//! | `relations` | relations that show other sessions, roles and the server |
//! | `lexer`, `parser`, `judge` | steps 1, 3, and 2, 4 and 5 |
//! | `canonical`, `position`, `refusal` | the canonical text; line and column; a refusal |
//! | `output_columns` | the columns of a query, as PostgreSQL names them |
//! | `sensitive` | [`SensitiveWords`]: names that announce a secret |
//! | `corpus`, `tests`, `fuzz` | statements with their verdicts; properties; the fuzz target |

pub mod statement;
pub mod config;
pub(crate) mod refusal;
pub mod position;
mod canonical;
pub(crate) mod output_columns;
pub(crate) mod lexer;
pub(crate) mod parser;
pub(crate) mod judge;
pub mod functions;
mod amplifiers;
mod relations;
pub mod sensitive;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod corpus;
#[cfg(any(test, fuzzing))]
pub mod fuzz;

pub(crate) use functions::{denied as functions_denied, sets as functions_sets};

pub use config::GuardConfig;
pub use sensitive::SensitiveWords;
