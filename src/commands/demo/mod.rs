//! `demo`: a scripted client against a child copy of this program, on a throw-away PostgreSQL cluster and a throw-away
//! directory of files. A newcomer sees it first.
//!
//! Everything it makes lives in one temporary directory and in child processes; both are gone when it ends, also after
//! Ctrl-C and SIGKILL. Every wait has a limit.
//!
//! | file | holds |
//! |---|---|
//! | `script` | the client's questions, a table |
//! | `run` | the choice between playing the script and serving the sandbox |
//! | `sandbox`, `directory` | the files that are served, and the temporary directory around them |
//! | `cluster`, `programs` | the database, and PostgreSQL's programs |
//! | `player` | the client |
//! | `transcript`, `render`, `drift` | the transcript, its answers as text, its comparison with a stored one |
//! | `child`, `stop`, `error` | child processes and their waits; the request and the reasons to end early |

mod error;
mod stop;
mod child;
mod programs;
mod directory;
mod cluster;
mod sandbox;
mod script;
mod player;
mod render;
mod drift;
mod transcript;
mod run;

pub(super) use self::{
    run::{Options, run},
    sandbox::CATALOG,
};
