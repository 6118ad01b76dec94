//! Functions: one table, from which the lists of the guard and of the catalog are derived.
//!
//! - `table`: the functions, a line each, and the look-up by name. **To allow a function, add its line.**
//! - `function`: the columns: group, classes of size, time and number, rows, patterns, keys, members.
//! - `operators`: the same classes for operators and types.
//! - `sets`: what `MCP_SQL_ALLOW_FUNCTIONS=@name` allows: a group of the table, prefixes where an extension's functions
//!   are not listed one by one, and types.
//! - `foreign`: functions and types of other databases, with PostgreSQL's own for them.
//! - `denied`: names that nothing allows. They are no lines of the table, for most are prefixes of names that no
//!   release has yet, and a name stands there because it must never be looked up in a list of what is allowed.

mod function;
mod table;
mod patterns;
pub(crate) mod foreign;
pub(crate) mod operators;
pub(crate) mod sets;
pub(crate) mod denied;

pub use foreign::of_other_databases;
pub use function::Function;
pub(crate) use function::{Group, Keys, Members, Number, Rows, Size, Time};
pub(crate) use patterns::matches_any;
#[cfg(test)]
pub(crate) use table::TABLE;
pub use table::listed;
pub(crate) use table::{find, is_built_in};
