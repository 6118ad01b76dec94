//! Documents that an operator writes: strict TOML, the line of every key and value, and all faults at once.
//!
//! The catalog is one kind; a kind names its rules by implementing [`finding::DocumentRule`].
//!
//! | file | holds |
//! |---|---|
//! | `finding` | a fault with its rule, its place and its cure |
//! | `file` | the files of a document, bounded before they are read |
//! | `report` | the findings of one file, collected while it is read |
//! | `value` | values of TOML as numbers and as JSON |
//! | `section` | a table whose keys are taken one by one |
//! | `parse` | the frame of every kind: syntax, version, unknown keys |

pub mod finding;
pub mod file;
mod report;
mod value;
pub mod section;
pub(crate) mod parse;
#[cfg(test)]
mod sample;
