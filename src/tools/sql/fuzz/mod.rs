//! What a client sends as SQL, and what a server sends as a value.

pub mod statements;
pub mod cells;
