//! The demo's two ways: play the script, or serve the sandbox.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::child::Running;
use super::error::DemoError;
use super::player::Player;
use super::sandbox::Sandbox;
use super::script::STEPS;
use super::stop::Stop;
use super::transcript::Transcript;
use crate::NAME;
use crate::commands::console::{Vars, print};
use crate::commands::exit::Exit;
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

pub(crate) fn run(options: &Options, vars: Vars) -> io::Result<Exit> {
    let vars: BTreeMap<OsString, OsString> = vars.into_iter().collect();
    let var = |name: &str| vars.get(&OsString::from(name)).filter(|value| !value.is_empty());
    let path = var("PATH").cloned().unwrap_or_default();
    let colour = io::stdout().is_terminal() && var("NO_COLOR").is_none();
    if options.serve {
        diagnostics::keep_stdout_for_mcp();
    }
    let ended = Stop::on_signals().and_then(|stop| {
        let stored = options.check.as_deref().map(fs::read_to_string).transpose();
        let stored = stored.map_err(DemoError::cannot("read the stored transcript"))?;
        let sandbox = Sandbox::build(&path, &stop)?;
        if options.serve { serve(&sandbox, &stop) } else { play(stored, &sandbox, colour, &stop) }
    });
    match ended {
        Ok(exit) => Ok(exit),
        Err(DemoError::Interrupted) => {
            report_fatal("interrupted; everything is removed");
            Ok(Exit::Failure)
        }
        Err(failed) => Err(io::Error::other(failed)),
    }
}

/// Plays the script and shows or compares the transcript.
fn play(stored: Option<String>, sandbox: &Sandbox, colour: bool, stop: &Stop) -> Result<Exit, DemoError> {
    let mut transcript = Transcript::new(colour);
    let show = |text: String| match &stored {
        None => print(&text).map_err(DemoError::cannot("write to stdout")),
        Some(_) => Ok(()),
    };
    let mut player = Player::start(sandbox)?;
    for step in STEPS.iter().filter(|step| sandbox.has_database() || !step.needs_database) {
        let answer = player.play(step, stop)?;
        show(transcript.add_step(step, &answer))?;
    }
    let status = player.leave(stop)?;
    show(transcript.end(status))?;
    let Some(stored) = stored else { return Ok(Exit::Clean) };
    let (report, exit) = match transcript.drift(&stored) {
        None => ("the transcript is as stored\n".to_owned(), Exit::Clean),
        Some(drift) => (drift, Exit::Failure),
    };
    print(&report).map_err(DemoError::cannot("write to stdout"))?;
    Ok(exit)
}

/// Lets a child serve the sandbox on our own stdin and stdout.
fn serve(sandbox: &Sandbox, stop: &Stop) -> Result<Exit, DemoError> {
    let mut server = Running::start(&mut sandbox.server()?, "the server")?;
    report_fatal(&format!("{NAME} serves the demo's sandbox until the end of the input"));
    match server.wait(Duration::MAX, stop) {
        Ok(status) if status.success() => Ok(Exit::Clean),
        Ok(_) => Ok(Exit::Failure),
        // A signal is the usual way to end a server.
        Err(DemoError::Interrupted) => Ok(Exit::Clean),
        Err(error) => Err(error),
    }
}
