//! The rule of amplifiers on a real server: no statement that the guard accepts takes much of a backend's memory or outlives
//! its timeout by much.
//!
//! Each function, operator and cast that the guard allows is called again and again, above and below what makes much of
//! little. A short run is part of the suite. For a long one, which must cover every call, set `MCP_AMPLIFIERS_STATEMENTS` to
//! 100000 or more, and `MCP_AMPLIFIERS_SEED` to a number that was not used before.
//!
//! - `expression`: a statement as a tree. `samples`, `literals`: values of every type. `polymorphic`, `catalog`: what may be
//!   called with which types, read from the server. `templates`, `generator`: statements around one call.
//! - `server`: a cluster whose backends are capped, and how a statement ends there.
//! - `search`: the search itself. A find is run again twice, made smaller and shown.

mod expression;
mod samples;
mod polymorphic;
mod catalog;
mod literals;
mod templates;
mod generator;
mod server;
mod search;
