//! A tool's arguments: the schema that clients read, and the checker that enforces it.
//!
//! | file | holds |
//! |---|---|
//! | `schema` | the JSON Schema of a Rust struct, in shapes that every client takes |
//! | `checker` | the check of a call's arguments, compiled from a schema once |
//! | `property` | the rule for one argument's value |
//! | `formats` | dates, timestamps and UUIDs |
//! | `pattern` | the regular expressions that a parameter may have |
//! | `suggest` | the known name that is closest to an unknown one |

pub mod suggest;
mod schema;
pub(crate) mod formats;
pub(crate) mod pattern;
mod property;
mod checker;
#[cfg(test)]
pub(crate) mod sample;

pub use self::{
    checker::Checker,
    schema::{schema_of, with_maximum},
};
