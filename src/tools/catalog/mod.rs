//! The catalog: reviewed, parameterised SQL, one tool an entry. Arguments are only ever bind values, and an entry that
//! cannot be proven safe keeps the server from starting.
//!
//! ```text
//! MCP_CATALOG ─ file ─▶ Source ─ document, params ─▶ Draft ─ prove ─▶ Entry ─ query ─▶ a Tool
//!               bounded          key by key                  proven           bound, run, redacted
//! ```
//!
//! Three defences, each for something else. The *proof* (`prove`) holds a statement to the tables, columns and parameters
//! that the entry declares; it is pure and runs at start-up. The *marks* (`members`) keep values that hold members in a form
//! in which their names are seen; the database names these columns, at `check` and when a connection first
//! prepares the statement. *Redaction* (`redact`) drops members whose names say that they hold a secret from every cell, at
//! run time.
//!
//! | file | holds |
//! |---|---|
//! | `load` | [`Catalog`]: files to entries to tools; names that are taken, the size of the listing |
//! | `config` | the settings of the catalog |
//! | `rule` | [`Rule`]: every rule that a catalog has to keep to. A new rule begins here |
//! | `diagnoses` | every fault: its rule, its sentence and its cure |
//! | `document`, `params`, `kinds`, `names`, `output` | a file key by key: entries, parameters and their types, names, columns |
//! | `claim` | what an entry declares, for the proof |
//! | `prove/` | the proof; its `mod.rs` lists the files |
//! | `members` | the rule `members-exposed` |
//! | `entry` | a proven entry, ready to be a tool |
//! | `bind`, `query`, `rows`, `redact` | a call: arguments to bind values, the run, rows to JSON, secrets out of it |
//! | `examine` | every entry on a real database, for `check` |
//!
//! Everything that is wrong is a [`Finding`], and all findings are reported at once.

mod rule;
mod diagnoses;
mod config;
mod names;
mod kinds;
mod params;
mod claim;
mod output;
mod document;
mod members;
mod prove;
mod entry;
mod bind;
mod redact;
mod rows;
mod query;
mod examine;
mod load;
#[cfg(any(test, fuzzing))]
pub mod fuzz;

pub use config::CatalogConfig;
pub use examine::{Examination, ExamineError, Ran, Refusal, Sound};
pub use load::{Catalog, MAX_ENTRIES};
pub use rule::{Finding, Rule};

#[cfg(test)]
mod tests;
