//! The ends of the process that commands share: checked settings or a report, writing to stdout, and the exit code.

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use log::LevelFilter;

use crate::diagnostics::{self, Target};
use crate::settings::{Misconfigured, Settings};

/// The environment as the operating system gives it.
pub(super) type Vars = Vec<(OsString, OsString)>;

/// Runs a command with the settings of `vars`, or reports every setting that is wrong.
pub(super) fn with_settings(
    vars: Vars,
    command: impl FnOnce(Settings) -> io::Result<Exit>,
) -> io::Result<Exit> {
    match Settings::read(vars) {
        Ok(settings) => command(settings),
        Err(Misconfigured { errors, catalog, warnings, log_target }) => {
            if let Target::File(_) = log_target {
                diagnostics::init(LevelFilter::Error, log_target);
            }
            let findings = catalog.iter().map(ToString::to_string);
            let lines = errors.iter().map(ToString::to_string).chain(findings).chain(warnings);
            lines.for_each(|line| diagnostics::report_fatal(&line));
            Ok(Exit::Configuration)
        }
    }
}

/// Writes to stdout, for commands whose reader there is a human.
pub(super) fn print(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}

/// The end of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Exit {
    /// The input ended, a signal was drained, or the client left; a report has no faults.
    Clean,
    /// Something failed at run time.
    Failure,
    /// The command line is wrong.
    Usage,
    /// A setting is wrong (`EX_CONFIG` of sysexits.h, which systemd prints as CONFIG).
    Configuration,
}

impl Exit {
    /// Returns the number that the parent process sees.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_are_those_that_launchers_rely_on() {
        let all = [Exit::Clean, Exit::Failure, Exit::Usage, Exit::Configuration];
        assert_eq!(all.map(Exit::code), [0, 1, 2, 78]);
    }
}
