//! The threads that carry a call through the layers, and the order in which they begin and end.
//!
//! | thread | file | owns | ends |
//! |---|---|---|---|
//! | *reader* | `dispatch` | stdin, the handshake | at EOF, or woken by main |
//! | *worker-N* | `workers`, `execute` | nothing | when the table closes, or replaced after it hung |
//! | *watchdog* | `watchdog` | nothing | when the table closes |
//! | *writer* | `writer` | stdout | when the outbox is closed and empty, or the client is gone |
//! | *main* | `session`, `ending` | signals, the order of the end | last |
//!
//! They share [`in_flight`] (the table of calls and workers, behind one lock), `outbox` (lines to write, memory reserved
//! for answers) and `notices` (events for main).
//!
//! Workers and watchdog begin with the first call. At the end no thread is joined that may block: work that calls
//! have left behind, such as CancelRequests, has a moment ([`crate::call::WaitGroup`]); then returning from `main` ends the
//! process, and PostgreSQL sees its connections close.

mod execute;
mod dispatch;
mod table;
pub mod in_flight;
mod reservations;
mod outbox;
mod notices;
mod shared;
mod refusal;
mod workers;
mod watchdog;
mod writer;
mod ending;
mod config;
mod session;
#[cfg(test)]
mod tests;

pub use config::Config;
pub use session::run;
