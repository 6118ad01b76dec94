//! Drives the real binary over real pipes. One module for each subject; a test of one tool or command stands in its folder.
#![cfg(test)]

// Shared by all: the child process and its client, the judge of each line, a cluster of PostgreSQL.
mod support;
mod schema;
mod cluster;

// The protocol: lines, sessions, load.
mod wire;
// The listing of tools, their schemas, files.
mod tools;
// Ad-hoc SQL, the guard and the database.
mod sql;
// Reviewed queries.
mod catalog;
// Command line, streams, the demo.
mod commands;
// The restrictions of the process.
mod confine;
// The output of `deploy`.
mod deploy;
// Documentation and source against the program.
mod readme;
mod layers;
