//! One cell: PostgreSQL's binary form to JSON, for a closed list of types that are known exactly.
//!
//! Bytes from a server are either understood or `Undecodable`; nothing here panics, and no value becomes a silent null.
//!
//! | file | holds |
//! |---|---|
//! | `reader.rs` | `Undecodable`, and values from bytes that may end anywhere |
//! | `numeric.rs`, `time.rs`, `json.rs` | the types that take more than a line |
//! | `scalar.rs` | the closed list of scalars |
//! | `value.rs` | values of any known type: scalars, domains, arrays, composites |

mod reader;
#[cfg(any(test, fuzzing))]
pub mod fuzz;
mod time;
mod numeric;
mod json;
mod scalar;
mod value;

pub(super) use json::write_record;
pub(super) use reader::Undecodable;
pub(super) use scalar::write_text;
pub(super) use time::Intervals;
pub(super) use value::has_fields;
pub(super) use value::{Writer, knows};
