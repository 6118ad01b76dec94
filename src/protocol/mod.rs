//! JSON-RPC envelopes to the closed set of MCP messages and back. No threads, no I/O.
//!
//! | file | holds |
//! |---|---|
//! | [`revision`] | the revisions of MCP and the two eras that they form |
//! | [`rejection`] | the JSON-RPC errors that refuse a request |
//! | [`request`] | the closed set of messages from a client |
//! | [`tool`] | the entry of `tools/list` |
//! | [`reply`], [`listing`], [`session`], `modern` | the messages to a client |
//!
//! To add a method: a variant of [`request::Request`], its parameters in `request`, its answer in one of the last, and
//! its arm in `server/dispatch.rs`.

pub mod revision;
pub mod rejection;
pub mod request;
pub mod tool;
mod modern;
pub mod reply;
pub mod listing;
pub mod session;
#[cfg(any(test, fuzzing))]
pub mod fuzz;
