//! Tests that need programs beyond `cargo test`: `.ci/host` installs it and runs `cargo test --test host`.
#![cfg(test)]

#[path = "../it/support.rs"]
#[expect(dead_code, reason = "shared with the other tests")]
mod support;
#[path = "../it/schema.rs"]
mod schema;
#[path = "../it/cluster.rs"]
#[expect(dead_code, reason = "shared with the other tests")]
mod cluster;

mod pooler;
