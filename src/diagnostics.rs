//! The only writer to stderr. Escapes what came from outside, and never makes a caller wait for a reader of logs.
