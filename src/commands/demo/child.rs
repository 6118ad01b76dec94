//! Child processes, the request to stop early, and waits that have a limit.

use std::fmt::Display;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use std::{io, thread};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use signal_hook::consts::{SIGHUP, TERM_SIGNALS};

use crate::diagnostics::report_fatal;

/// The longest time from a request to end until the end, beyond a server's own grace.
pub(super) const END_LIMIT: Duration = Duration::from_secs(10);
/// The time between two looks of a wait.
const TICK: Duration = Duration::from_millis(10);

/// The demo ended early.
#[derive(Debug, thiserror::Error)]
pub(super) enum DemoError {
    /// A signal came.
    #[error("interrupted; everything is removed")]
    Interrupted,
    /// An attempt failed, or a program did not do its work.
    #[error("{0}: {1}")]
    Failed(&'static str, String),
}

/// Makes the error of an attempt or of a program from its reason, for `map_err`.
pub(super) fn failed<R: Display>(what: &'static str) -> impl FnOnce(R) -> DemoError {
    move |reason| DemoError::Failed(what, reason.to_string())
}

/// A request to stop. SIGINT, SIGTERM and the like set it, and every wait looks at it.
#[derive(Clone, Debug, Default)]
pub(super) struct Stop(pub(super) Arc<AtomicBool>);

impl Stop {
    pub(super) fn on_signals() -> io::Result<Self> {
        let stop = Self::default();
        for signal in TERM_SIGNALS.iter().chain(&[SIGHUP]) {
            signal_hook::flag::register(*signal, Arc::clone(&stop.0))?;
        }
        Ok(stop)
    }

    /// Looks again and again until there is a result, at most for `limit`.
    pub(super) fn wait<T>(
        &self,
        what: &'static str,
        limit: Duration,
        mut look: impl FnMut() -> Result<Option<T>, DemoError>,
    ) -> Result<T, DemoError> {
        let start = Instant::now();
        loop {
            if let Some(found) = look()? {
                return Ok(found);
            }
            if self.0.load(Ordering::Relaxed) {
                return Err(DemoError::Interrupted);
            }
            if start.elapsed() > limit {
                return Err(failed(what)(format!("took longer than {} s", limit.as_secs())));
            }
            thread::sleep(TICK);
        }
    }
}

/// A child process. Dropped, it is asked to end, and killed when it does not.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) child: Child,
    name: &'static str,
}

impl Running {
    pub(super) fn start(command: &mut Command, name: &'static str) -> Result<Self, DemoError> {
        Ok(Self { child: command.spawn().map_err(failed(name))?, name })
    }

    /// Waits for the end, at most for `limit`.
    pub(super) fn wait(&mut self, limit: Duration, stop: &Stop) -> Result<ExitStatus, DemoError> {
        stop.wait(self.name, limit, || self.child.try_wait().map_err(failed(self.name)))
    }

    fn end(&mut self) -> io::Result<()> {
        if let (None, Ok(id)) = (self.child.try_wait()?, i32::try_from(self.child.id())) {
            drop(self.child.stdin.take());
            kill(Pid::from_raw(id), Signal::SIGTERM)?;
        }
        if self.wait(END_LIMIT, &Stop::default()).is_err() {
            self.child.kill()?;
            self.child.wait()?;
        }
        Ok(())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Err(error) = self.end() {
            report_fatal(&format!("cannot end {}: {error}", self.name));
        }
    }
}

/// Prepares a program with a clean environment.
pub(super) fn clean_command(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.env_clear().env("LC_ALL", "C").env("TZ", "UTC");
    command
}
