//! The exit code that each command ends with.

use std::process::ExitCode;

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
