//! SQL text to a read-only statement. Pure: it knows no database and waits for nothing.

pub mod statement;
pub(crate) mod lexer;
pub(crate) mod judge;
pub(crate) mod functions;
pub(crate) mod functions_denied;
pub(crate) mod functions_sets;
mod relations;
pub mod sensitive;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod corpus;
#[cfg(any(test, fuzzing))]
pub mod fuzz;

pub use sensitive::SensitiveWords;
pub use statement::GuardConfig;
