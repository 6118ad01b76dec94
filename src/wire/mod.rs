//! Bytes on a stream to JSON-RPC envelopes and back. Knows nothing of MCP, starts no threads.
//!
//! | file | holds |
//! |---|---|
//! | [`stream`], `wake` | stdin and stdout as they come, with waits that another thread can end |
//! | [`frame`] | lines, cut at the limit |
//! | `scanner`, [`json`], [`fault`] | strict JSON: its grammar, its values, the ways in which it is refused |
//! | [`jsonrpc`], [`request_id`] | a frame as a request, a notification or a response |
//! | [`line`](mod@line) | an outgoing message |
//! | [`ascii`], `blocks` | JSON in ASCII, held in blocks |

pub mod stream;
mod wake;
pub mod frame;
pub mod fault;
mod scanner;
pub mod json;
pub mod request_id;
pub mod jsonrpc;
pub mod line;
mod blocks;
pub mod ascii;
#[cfg(any(test, fuzzing))]
pub mod fuzz;
