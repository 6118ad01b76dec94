//! Child processes: their environment, their end, and waits that have a limit and stop on a signal.

use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};
use std::{fs, io, thread};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::error::DemoError;
use super::stop::Stop;
use crate::diagnostics::report_fatal;

/// The longest time from a request to end until the end, beyond a server's own grace.
pub(super) const END_LIMIT: Duration = Duration::from_secs(10);
/// The time between two looks of a wait.
pub(super) const TICK: Duration = Duration::from_millis(20);

/// A child process. Dropped, it is asked to end, and killed when it does not.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) child: Child,
    name: &'static str,
}

impl Running {
    pub(super) fn start(command: &mut Command, name: &'static str) -> Result<Self, DemoError> {
        let child = command.spawn().map_err(DemoError::cannot(&format!("start {name}")))?;
        Ok(Self { child, name })
    }

    /// Returns the exit status once the child has ended.
    pub(super) fn status(&mut self) -> Result<Option<ExitStatus>, DemoError> {
        self.child.try_wait().map_err(DemoError::cannot(&format!("wait for {}", self.name)))
    }

    /// Waits for the end, at most for `limit`.
    pub(super) fn wait(&mut self, limit: Duration, stop: &Stop) -> Result<ExitStatus, DemoError> {
        let start = Instant::now();
        loop {
            if let Some(status) = self.status()? {
                return Ok(status);
            }
            stop.check()?;
            if start.elapsed() > limit {
                return Err(DemoError::TooSlow(self.name));
            }
            thread::sleep(TICK);
        }
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

/// Returns the last lines of a log.
pub(super) fn log_tail(log: &Path) -> String {
    const LINES: usize = 10;
    let log = fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<&str> = log.lines().collect();
    lines.get(lines.len().saturating_sub(LINES)..).unwrap_or_default().join("\n")
}
