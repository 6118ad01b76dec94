//! Documents that an operator writes: strict TOML, the line of every key and value, and all faults at once.
//!
//! The catalog is one kind; a kind names its rules by implementing [`finding::DocumentRule`].
//!
//! | file | holds |
//! |---|---|
//! | `finding` | a fault with its rule, its place and its cure |
//! | `file` | the files of a document, bounded before they are read |
//! | `report` | the findings of one file, collected while it is read |
//! | `section` | a table whose keys are taken one by one, and its values as JSON |
//! | `parse` | the frame of every kind: syntax, version, unknown keys |

pub mod finding;
pub mod file;
mod report;
pub mod section;
pub(crate) mod parse;
#[cfg(test)]
mod sample;
