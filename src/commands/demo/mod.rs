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
//! | `sandbox` | the temporary directory, and the files that are served |
//! | `cluster` | the database, and PostgreSQL's programs |
//! | `player` | the client |
//! | `transcript` | questions and answers as text, and the comparison with a stored transcript |
//! | `child` | child processes, the request to end early, and waits |

mod child;
mod cluster;
mod sandbox;
mod script;
mod transcript;
mod player;
mod run;

pub(super) use self::{
    run::{Options, run},
    sandbox::CATALOG,
};
