//! The commands: each takes the environment, reports to a human or a launcher, and ends with one exit code.
//!
//! | file | holds |
//! |---|---|
//! | `cli` | the command line, and the command that it selects |
//! | `console` | settings or a report of their faults; writing to stdout; the exit codes |
//! | `serve` | the server |
//! | `check` | a report on settings, database and confinement |
//! | `demo` | a scripted client against a throw-away sandbox |
//! | `client_config` | the block to paste into a client |
//! | `deploy` | units, lines and SQL that an operator installs |

mod console;
mod serve;
mod check;
mod demo;
mod client_config;
mod deploy;
mod manual;
mod cli;

pub use self::{
    cli::{Cli, answer_usage, run},
    console::Exit,
};
