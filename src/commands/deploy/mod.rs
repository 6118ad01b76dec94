//! `deploy`: files and scripts for an operator to install, printed. It writes no file, installs nothing and prints no secret.
//!
//! | file | holds |
//! |---|---|
//! | `run` | the choice of what to print |
//! | `printed` | a printed text, and the templates that it is made from |
//! | `launch` | the settings and the bounds as a launcher passes them on |
//! | `systemd`, `inetd`, `compose` | one launcher each |
//! | `role` | the SQL that makes a database role |

mod printed;
mod launch;
mod systemd;
mod inetd;
mod compose;
mod role;
mod run;
#[cfg(test)]
mod testing;

pub(super) use self::run::{Options, run};
