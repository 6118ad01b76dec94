//! Drives the real binary over real pipes. One module a subject.
#![cfg(test)]

mod support;
mod schema;

mod protocol;
mod tools;
mod session;
mod load;
mod cli;
mod rooms;
mod schemas;
