//! Bytes on a stream to JSON-RPC envelopes and back. Knows nothing of MCP, starts no threads.

pub mod stream;
mod wake;
pub mod frame;
mod scanner;
pub mod json;
pub mod jsonrpc;
mod line;
mod blocks;
pub mod ascii;
#[cfg(any(test, fuzzing))]
pub mod fuzz;
