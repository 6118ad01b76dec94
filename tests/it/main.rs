//! Drives the real binary over real pipes. One module a subject.
#![cfg(test)]

mod support;
mod schema;
mod cluster;

mod protocol;
mod tools;
mod session;
mod load;
mod sql_session;
mod sql_run;
mod sql_strangers;
mod sql_cells;
mod sql_intervals;
mod sql_faithful;
mod sql_faults;
mod sql_attacks;
mod sql_psql;
mod sql_grammar;
mod sql_frozen;
mod sql_reach;
mod sql_limits;
mod sql_peers;
mod sql_standby;
mod sql_clean;
mod sql_memory;
mod sql_encodings;
mod sql_dsn;
#[cfg(feature = "tls")]
mod sql_tls;
mod catalog;
mod catalog_double;
mod cli;
mod confine;
mod deploy;
mod role;
mod schemas;
mod files;
mod readme;
mod rooms;
