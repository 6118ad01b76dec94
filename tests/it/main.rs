//! Drives the real binary over real pipes. One module a subject.
#![cfg(test)]

mod cluster;
mod cli;
mod schemas;
mod sql_run;
#[cfg(feature = "tls")]
mod sql_tls;
