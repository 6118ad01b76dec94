//! A page: command, settings, run, one exit code.

fn main() {}
