//! Guarded SQL: text to a read-only statement (pure), and its bounded run on PostgreSQL.

pub mod statement;
