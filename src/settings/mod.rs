//! The environment as written, turned into checked settings: read once, all errors at once, secrets never shown.
//!
//! A setting that cannot be honoured is an error, never a silent default: its author relies on it.
//!
//! To add a setting: a line in `table`, the read where it belongs (`process` or `database`), and the field
//! that it fills. `--help` and `client-config` follow from the table; a test compares the manual's with it.
//!
//! | file | holds |
//! |---|---|
//! | `table` | every setting, a line each |
//! | `setting` | a setting: its name, its kind, its value as written |
//! | `error` | a setting that is wrong |
//! | `suggest` | warnings about names that are close to a setting's |
//! | `reader` | the reader of single settings by their kind |
//! | `process`, `database`, `dsn_file` | settings that belong together |
//! | `checked` | all settings, checked together |

mod setting;
pub mod table;
mod error;
mod suggest;
mod reader;
mod dsn_file;
mod process;
mod database;
mod checked;

pub use self::{
    checked::{Misconfigured, Settings},
    error::{Quoted, SettingError, Wrong},
    process::Files,
    setting::{Given, Kind, Setting},
};

#[cfg(test)]
mod tests;
