//! The command line, and the command that it selects.

use std::ffi::OsString;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use clap::{Parser, Subcommand};

use super::console::{Exit, Vars, print, with_settings};
use super::{check, client_config, demo, deploy, manual, serve};
use crate::confine::Inherited;
use crate::diagnostics;
use crate::settings::{Settings, table};

/// The command line.
#[derive(Debug, Parser)]
#[command(version, about, after_long_help = table::help(), disable_help_subcommand = true)]
pub struct Cli {
    /// Without a command: serve.
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Speak MCP on stdin and stdout until the input ends or a signal comes
    Serve,
    /// Check every setting, connect, and report like a doctor: what is on, what is off and why, and what to cure
    Check(check::Options),
    /// Watch a scripted client use this program on a throw-away database and directory
    Demo(demo::Options),
    /// Print the block to paste into an MCP client: this binary and the current settings, without secrets
    ClientConfig(client_config::Options),
    /// Print what an operator installs: units, lines, SQL
    Deploy(deploy::Options),
    /// Print a chapter of the manual; without a topic, the list of chapters
    Manual(manual::Options),
}

/// Runs a command in the environment `vars`.
pub fn run(cli: Cli, vars: impl IntoIterator<Item = (OsString, OsString)>) -> Exit {
    let vars: Vars = vars.into_iter().collect();
    if let Some((_, stream)) = vars.iter().find(|(name, _)| name == "JOURNAL_STREAM") {
        diagnostics::expect_journal(stream);
    }
    ignore_limit_of_size();
    let ended = match cli.command.unwrap_or(Command::Serve) {
        Command::Check(options) => {
            let inherited = Inherited::list();
            check::run(&options, Settings::read(vars), inherited)
        }
        Command::Demo(options) => demo::run(&options, &vars),
        Command::Serve => {
            let inherited = Inherited::list();
            diagnostics::keep_stdout_for_mcp();
            with_settings(vars, |settings| serve::run(settings, inherited))
        }
        Command::ClientConfig(options) => {
            with_settings(vars, |settings| client_config::run(&options, &settings))
        }
        Command::Deploy(options) => deploy::run(&options, vars),
        Command::Manual(options) => manual::run(&options),
    };
    ended.unwrap_or_else(|error| {
        error.to_string().lines().for_each(diagnostics::report_fatal);
        Exit::Failure
    })
}

/// Makes a write beyond `ulimit -f` an error instead of the end of the process. A handler does it, since only that is safe
/// code; its flag is not read.
fn ignore_limit_of_size() {
    let unread = Arc::new(AtomicBool::new(false));
    if let Err(error) = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, unread) {
        log::warn!(target: "session", "SIGXFSZ cannot be ignored: {error}");
    }
}

/// Answers a command line that clap did not accept as a command: help and version on stdout, errors on stderr.
pub fn answer_usage(answer: &clap::Error) -> Exit {
    let text = answer.to_string();
    if !answer.use_stderr() {
        return print(&text).map_or(Exit::Failure, |()| Exit::Clean);
    }
    text.lines().for_each(diagnostics::report_fatal);
    Exit::Usage
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
        assert!(Cli::try_parse_from(["mcp-server-suite"]).unwrap().command.is_none());
    }
}
