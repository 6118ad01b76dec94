//! Drives the real binary over real pipes. One module a subject.
#![cfg(test)]

mod support;
mod schema;
mod cluster;

mod protocol;
mod tools;
mod session;
mod load;
mod sql;
mod catalog;
mod cli;
mod confine;
mod deploy;
mod schemas;
mod files;
mod readme;
mod layers;
