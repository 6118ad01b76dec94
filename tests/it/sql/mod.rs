//! SQL against real PostgreSQL servers: the guard, the session, the rows.

mod session;
mod describe;
mod settings;
pub(crate) mod run;
mod shadowing;
mod functions;
mod dba;
mod cells;
mod intervals;
mod faithful;
pub(crate) mod faults;
mod attacks;
mod open_names;
pub(crate) mod psql;
mod random;
mod grammar;
mod amplifiers;
mod frozen;
mod reach;
mod limits;
mod peers;
mod standby;
mod clean;
mod memory;
mod survival;
mod encodings;
mod dsn;
#[cfg(feature = "tls")]
pub(crate) mod tls;
mod role;
