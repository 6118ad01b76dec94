//! The demo's two ways: play the script, or serve the sandbox.

use std::path::PathBuf;
use std::time::Duration;
use std::{fs, io};

use clap::Args;

use super::child::{DemoError, Running, Stop, failed};
use super::player::Player;
use super::sandbox::Sandbox;
use super::script::STEPS;
use super::transcript;
use crate::NAME;
use crate::commands::console::{Exit, Vars, print};
use crate::diagnostics::{self, report_fatal};

/// The options of `demo`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Compare with the transcript stored in FILE, a Markdown or text file, and exit with 1 when they differ
    #[arg(long, value_name = "FILE", conflicts_with = "serve")]
    check: Option<PathBuf>,
    /// Serve the sandbox on stdin and stdout instead, for any MCP client
    #[arg(long)]
    serve: bool,
}

pub(crate) fn run(options: &Options, vars: &Vars) -> io::Result<Exit> {
    let path = vars.iter().find(|(name, _)| name == "PATH").map(|(_, path)| path.clone()).unwrap_or_default();
    if options.serve {
        diagnostics::keep_stdout_for_mcp();
    }
    let stop = Stop::on_signals()?;
    let play_or_serve = || {
        let stored = options.check.as_deref().map(fs::read_to_string).transpose();
        let stored = stored.map_err(failed("cannot read the stored transcript"))?;
        let sandbox = Sandbox::build(&path, &stop)?;
        if options.serve { serve(&sandbox, &stop) } else { play(stored, &sandbox, &stop) }
    };
    play_or_serve().map_err(io::Error::other)
}

/// Plays the script and shows or compares the transcript.
fn play(stored: Option<String>, sandbox: &Sandbox, stop: &Stop) -> Result<Exit, DemoError> {
    let mut transcript = String::new();
    let mut show = |block: String| {
        transcript += &block;
        if stored.is_none() { print(&block).map_err(failed("stdout")) } else { Ok(()) }
    };
    let mut player = Player::start(sandbox, stop)?;
    let mut number = 0;
    for step in STEPS.iter().filter(|step| sandbox.has_database() || !step.needs_database()) {
        number += 1;
        show(transcript::block(number, step.1, &transcript::question(step), player.play(step)?))?;
    }
    let end = vec![player.leave()?.to_string()];
    show(transcript::block(number + 1, "The client closes its end: the server ends", "", end))?;
    let Some(stored) = stored else { return Ok(Exit::Clean) };
    let (report, exit) = match transcript::drift(&transcript, &stored) {
        None => ("the transcript is as stored\n".to_owned(), Exit::Clean),
        Some(drift) => (drift, Exit::Failure),
    };
    print(&report).map_err(failed("stdout"))?;
    Ok(exit)
}

/// Lets a child serve the sandbox on our own stdin and stdout.
fn serve(sandbox: &Sandbox, stop: &Stop) -> Result<Exit, DemoError> {
    let mut server = sandbox.server().map_err(failed("the server"))?;
    let mut server = Running::start(&mut server, "the server")?;
    report_fatal(&format!("{NAME} serves the demo's sandbox until the end of the input"));
    match server.wait(Duration::MAX, stop) {
        Ok(status) if !status.success() => Ok(Exit::Failure),
        // A signal is the usual way to end a server.
        Ok(_) | Err(DemoError::Interrupted) => Ok(Exit::Clean),
        Err(error) => Err(error),
    }
}
