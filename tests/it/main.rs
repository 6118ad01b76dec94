//! Drives the real binary over real pipes. One module a subject.

mod cluster;
mod sql_run;
