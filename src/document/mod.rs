//! Strict TOML with the place of every key and value, and all faults at once.

pub mod finding;
pub mod file;
pub mod section;
