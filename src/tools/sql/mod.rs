//! Guarded SQL: text to a read-only statement (pure), and its bounded run on PostgreSQL.

pub mod statement;
mod lexer;
mod judge;
mod functions;
mod functions_denied;
mod functions_sets;
#[cfg(test)]
mod guard_tests;
