//! Drives the real binary over real pipes. One module a subject.

mod cli;
mod schemas;
