//! The two things that commands share: checked settings or a report, and writing to stdout.

use std::ffi::OsString;
use std::io::{self, Write};

use log::LevelFilter;

use super::exit::Exit;
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
