//! JSON-RPC envelopes to the closed set of MCP messages and back. No threads, no I/O.

pub mod revision;
pub mod request;
pub mod tool;
pub mod reply;
#[cfg(any(test, fuzzing))]
pub mod fuzz;
