//! `demo`: a scripted client against a child copy of this program, on a throw-away PostgreSQL cluster and a throw-away
//! directory of files. What newcomers see first.
//!
//! Everything it makes lives in one temporary directory and in child processes; both are gone when it ends, also after
//! Ctrl-C and SIGKILL. No wait is without a limit.

mod cluster;
mod sandbox;
mod script;
mod player;
mod transcript;

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs,
    io::{self, IsTerminal},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use clap::Args;
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use signal_hook::consts::{SIGHUP, TERM_SIGNALS};

use crate::{
    NAME,
    commands::{Exit, demo::player::Player, demo::sandbox::Sandbox, demo::transcript::Transcript, print},
    diagnostics::{self, complain},
};

/// The asset inventory's catalog: what `deploy catalog` prints, too.
pub(super) const CATALOG: &str = include_str!("catalog.toml");
/// How long a server may take to end after it was told to, beyond its own grace.
const END_LIMIT: Duration = Duration::from_secs(10);
/// How often a wait looks whether it is over.
const TICK: Duration = Duration::from_millis(20);

/// What `demo` can be told.
#[derive(Debug, Args)]
pub(super) struct Options {
    /// Compare with the transcript stored in FILE, a Markdown or text file, and exit with 1 when they differ
    #[arg(long, value_name = "FILE", conflicts_with = "serve")]
    check: Option<PathBuf>,
    /// Serve the sandbox on stdin and stdout instead, for any MCP client
    #[arg(long)]
    serve: bool,
}

/// Why the demo ended early.
#[derive(Debug, thiserror::Error)]
enum Failed {
    /// A signal came.
    #[error("interrupted")]
    Interrupted,
    /// The system refused something.
    #[error("cannot {doing}: {source}")]
    Io {
        /// What was tried.
        doing: &'static str,
        /// Why it failed.
        source: io::Error,
    },
    /// A program did not do its part.
    #[error("{program} {what}\n{log}")]
    Program {
        /// Which.
        program: &'static str,
        /// What it did instead.
        what: String,
        /// The end of what it logged.
        log: String,
    },
    /// PostgreSQL refused the demo's schema.
    #[error("PostgreSQL: {0}")]
    Sql(#[from] postgres::Error),
    /// Something took longer than it ever should.
    #[error("gave up waiting for {0}")]
    TooSlow(&'static str),
}

impl Failed {
    /// For `map_err`.
    fn io(doing: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { doing, source }
    }
}

/// Set by SIGINT, SIGTERM and the like; looked at in every wait.
#[derive(Clone, Debug, Default)]
struct Stop(Arc<AtomicBool>);

impl Stop {
    fn on_signals() -> Result<Self, Failed> {
        let stop = Self::default();
        for signal in TERM_SIGNALS.iter().chain(&[SIGHUP]) {
            signal_hook::flag::register(*signal, Arc::clone(&stop.0)).map_err(Failed::io("watch signals"))?;
        }
        Ok(stop)
    }

    fn check(&self) -> Result<(), Failed> {
        if self.0.load(Ordering::Relaxed) { Err(Failed::Interrupted) } else { Ok(()) }
    }
}

pub(super) fn run(
    options: &Options,
    vars: impl IntoIterator<Item = (OsString, OsString)>,
) -> io::Result<Exit> {
    let vars: BTreeMap<OsString, OsString> = vars.into_iter().collect();
    let var = |name: &str| vars.get(&OsString::from(name)).filter(|value| !value.is_empty());
    let path = var("PATH").cloned().unwrap_or_default();
    let colour = io::stdout().is_terminal() && var("NO_COLOR").is_none();
    if options.serve {
        diagnostics::keep_stdout_for_mcp();
    }
    let ended = Stop::on_signals().and_then(|stop| {
        let stored = options.check.as_deref().map(fs::read_to_string).transpose();
        let stored = stored.map_err(Failed::io("read the stored transcript"))?;
        let sandbox = Sandbox::build(&path, &stop)?;
        if options.serve { serve(&sandbox, &stop) } else { play(stored, &sandbox, colour, &stop) }
    });
    match ended {
        Ok(exit) => Ok(exit),
        Err(Failed::Interrupted) => {
            complain("interrupted; everything is removed");
            Ok(Exit::Failure)
        }
        Err(failed) => Err(io::Error::other(failed)),
    }
}

/// Plays the script and shows or compares the transcript.
fn play(stored: Option<String>, sandbox: &Sandbox, colour: bool, stop: &Stop) -> Result<Exit, Failed> {
    let mut transcript = Transcript::new(colour);
    let show = |text: String| match &stored {
        None => print(&text).map_err(Failed::io("write to stdout")),
        Some(_) => Ok(()),
    };
    let mut player = Player::start(sandbox)?;
    for step in script::steps().into_iter().filter(|step| sandbox.has_database() || !step.needs_database) {
        let answer = player.play(&step, stop)?;
        show(transcript.tell(&step, &answer))?;
    }
    let status = player.leave(stop)?;
    show(transcript.end(status))?;
    let Some(stored) = stored else { return Ok(Exit::Clean) };
    let Some(drift) = transcript.drift(&stored) else {
        print("the transcript is as stored\n").map_err(Failed::io("write to stdout"))?;
        return Ok(Exit::Clean);
    };
    print(&drift).map_err(Failed::io("write to stdout"))?;
    Ok(Exit::Failure)
}

/// Lets a child serve the sandbox on our own stdin and stdout.
fn serve(sandbox: &Sandbox, stop: &Stop) -> Result<Exit, Failed> {
    let mut server = sandbox.server()?.spawn().map_err(Failed::io("start the server"))?;
    complain(&format!("{NAME} serves the demo's sandbox until the end of the input"));
    let ended = wait(&mut server, Duration::MAX, "the server", stop);
    if ended.is_err() {
        end(&mut server, Signal::SIGTERM).map_err(Failed::io("end the server"))?;
    }
    match ended {
        Ok(status) if status.success() => Ok(Exit::Clean),
        Ok(_) => Ok(Exit::Failure),
        // A signal is how one ends a server.
        Err(Failed::Interrupted) => Ok(Exit::Clean),
        Err(failed) => Err(failed),
    }
}

/// Waits for a child, at most for `limit`.
fn wait(child: &mut Child, limit: Duration, what: &'static str, stop: &Stop) -> Result<ExitStatus, Failed> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().map_err(Failed::io("wait for a child"))? {
            return Ok(status);
        }
        stop.check()?;
        if start.elapsed() > limit {
            return Err(Failed::TooSlow(what));
        }
        thread::sleep(TICK);
    }
}

/// Tells a child to end, and kills it when it does not.
fn end(child: &mut Child, how: Signal) -> io::Result<ExitStatus> {
    if let (None, Ok(id)) = (child.try_wait()?, i32::try_from(child.id())) {
        kill(Pid::from_raw(id), how)?;
    }
    if let Ok(status) = wait(child, END_LIMIT, "the end of a child", &Stop::default()) {
        return Ok(status);
    }
    child.kill()?;
    child.wait()
}

/// A program in a clean environment.
fn clean_command(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.env_clear().env("LC_ALL", "C").env("TZ", "UTC");
    command
}

/// The last lines of a log.
fn log_tail(log: &Path) -> String {
    const LINES: usize = 10;
    let log = fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<&str> = log.lines().collect();
    lines.get(lines.len().saturating_sub(LINES)..).unwrap_or_default().join("\n")
}
