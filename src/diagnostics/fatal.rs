//! Reports to the operator who starts the program: configuration errors and hints.

use std::io::Write;

use log::Level;
use nix::poll::PollTimeout;

use super::escape::escape;
use super::line::{cut, fits, priority};
use super::stderr::{Stderr, stderr};

/// The longest wait for a reader of stderr, in milliseconds: no call is served meanwhile.
const WAIT_MS: u16 = 1_000;

/// Reports an error or a hint to the operator, on stderr. One call is one line. It goes to the log when stderr is the
/// client's.
pub fn report_fatal(line: &str) {
    let Some(stderr @ Stderr { file, .. }) = stderr() else {
        log::error!(target: "session", "{line}");
        return;
    };
    let mut line = escape(line);
    if stderr.is_journal() {
        line.insert_str(0, &format!("<{}>", priority(Level::Error)));
    }
    let line = cut(line);
    let mut rest = line.as_slice();
    while !rest.is_empty() && fits(file, PollTimeout::from(WAIT_MS)) {
        let mut file = file;
        // There is no other stream to report a failure to.
        let Ok(written) = file.write(rest) else { return };
        rest = rest.get(written..).unwrap_or_default();
    }
}
