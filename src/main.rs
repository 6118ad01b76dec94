//! A page: command, settings, run, one exit code.

use std::env;
use std::process::ExitCode;

use clap::Parser;
use mcp_server_suite::commands::{self, Cli};

fn main() -> ExitCode {
    match Cli::try_parse() {
        Ok(cli) => commands::run(cli, env::vars_os()).into(),
        Err(answer) => commands::answer_usage(&answer).into(),
    }
}
