//! What needs a program that `cargo test` cannot ask for: `.ci/host` installs it and runs `cargo test --test host`.
#![cfg(test)]

#[path = "../it/support.rs"]
#[expect(dead_code, reason = "what the other tests need, too")]
mod support;
#[path = "../it/schema.rs"]
mod schema;
#[path = "../it/cluster.rs"]
#[expect(dead_code, reason = "what the other tests need, too")]
mod cluster;

mod pooler;
