//! What a human or a launcher can ask of the program, and the one exit code that each command ends with.

mod serve;
mod check;
mod demo;
mod client_config;
mod deploy;

use std::{
    ffi::OsString,
    io::{self, Write},
    process::ExitCode,
};

use clap::{Parser, Subcommand};
use log::LevelFilter;

use crate::{
    confine::Inherited,
    diagnostics::{self, Target},
    settings::{Misconfigured, Settings, table},
};

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
}

/// How the process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Exit {
    /// The end of the input, a drained signal, a client that left; a report without faults.
    Clean,
    /// Something failed at run time.
    Failure,
    /// The command line makes no sense.
    Usage,
    /// A setting is wrong (`EX_CONFIG` of sysexits.h, which systemd prints as CONFIG).
    Configuration,
}

impl Exit {
    /// The number the parent process sees.
    pub const fn code(self) -> u8 {
        match self {
            Self::Clean => 0,
            Self::Failure => 1,
            Self::Usage => 2,
            Self::Configuration => 78,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        exit.code().into()
    }
}

/// Runs a command in the environment `vars`.
pub fn run(cli: Cli, vars: impl IntoIterator<Item = (OsString, OsString)>) -> Exit {
    let vars: Vec<(OsString, OsString)> = vars.into_iter().collect();
    if let Some((_, stream)) = vars.iter().find(|(name, _)| name == "JOURNAL_STREAM") {
        diagnostics::expect_journal(stream);
    }
    let ended = match cli.command.unwrap_or(Command::Serve) {
        Command::Check(options) => {
            let inherited = Inherited::list();
            check::run(&options, Settings::read(vars), inherited)
        }
        Command::Demo(options) => demo::run(&options, vars),
        Command::Serve => {
            let inherited = Inherited::list();
            diagnostics::keep_stdout_for_mcp();
            with_settings(vars, |settings| serve::run(settings, inherited))
        }
        Command::ClientConfig(options) => {
            with_settings(vars, |settings| client_config::run(&options, &settings))
        }
        Command::Deploy(options) => deploy::run(&options, vars),
    };
    ended.unwrap_or_else(|error| {
        error.to_string().lines().for_each(diagnostics::complain);
        Exit::Failure
    })
}

/// Answers a command line that is no command: help and version on stdout, what is wrong on stderr.
pub fn answer_usage(answer: &clap::Error) -> Exit {
    let text = answer.to_string();
    if !answer.use_stderr() {
        return print(&text).map_or(Exit::Failure, |()| Exit::Clean);
    }
    text.lines().for_each(diagnostics::complain);
    Exit::Usage
}

fn with_settings(
    vars: impl IntoIterator<Item = (OsString, OsString)>,
    command: impl FnOnce(Settings) -> io::Result<Exit>,
) -> io::Result<Exit> {
    match Settings::read(vars) {
        Ok(settings) => command(settings),
        Err(Misconfigured { complaints, catalog, warnings, log_target }) => {
            if let Target::File(_) = log_target {
                diagnostics::init(LevelFilter::Error, log_target);
            }
            let findings = catalog.iter().map(ToString::to_string);
            let lines = complaints.iter().map(ToString::to_string).chain(findings).chain(warnings);
            lines.for_each(|line| diagnostics::complain(&line));
            Ok(Exit::Configuration)
        }
    }
}

/// Writes to stdout, for the commands that speak to a human there.
fn print(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn exit_codes_are_what_launchers_rely_on() {
        let all = [Exit::Clean, Exit::Failure, Exit::Usage, Exit::Configuration];
        assert_eq!(all.map(Exit::code), [0, 1, 2, 78]);
    }

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
        assert!(Cli::try_parse_from(["mcp-server-suite"]).unwrap().command.is_none());
    }
}
