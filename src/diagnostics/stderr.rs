//! Standard error, found once, the other streams that it may be the same as, and reports to the operator on it.

use std::ffi::{OsStr, OsString};
use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::sync::OnceLock;

use log::Level;
use nix::fcntl::OFlag;
use nix::poll::PollTimeout;

use super::escape::escape;
use super::line::{cut, fits, priority};

/// Standard error, found once; none when it is the client's.
static STDERR: OnceLock<Option<Stderr>> = OnceLock::new();
/// `dev:ino` of the stream that leads to systemd's journal (systemd.exec(5)), if there is one.
static JOURNAL: OnceLock<OsString> = OnceLock::new();
/// The longest wait for a reader of stderr, in milliseconds: no call is served meanwhile.
const WAIT_MS: u16 = 1_000;

/// Reserves stdout for MCP: nothing is written to stderr when it is the same pipe or file. Comes before the first word.
pub fn keep_stdout_for_mcp() {
    STDERR.get_or_init(|| Stderr::find(Stdout::Client));
}

/// Takes the value of `JOURNAL_STREAM`: where that is standard error, each line gets a priority. Comes before the first
/// word.
pub fn expect_journal(stream: &OsStr) {
    JOURNAL.get_or_init(|| stream.to_owned());
}

/// Reports whether the client speaks on `file` while stdout carries MCP. A terminal never is such a stream: a human reads
/// it.
pub fn is_clients(file: &File) -> bool {
    is_on_stdio(file, Stdout::Client)
}

/// Reports whether `file` is what stdin is, whatever that is: reading there would take the client's messages.
pub fn is_stdin(file: &File) -> bool {
    duplicate(io::stdin().as_fd()).is_ok_and(|stdin| is_same(file, &stdin))
}

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

/// Returns standard error, unless it is the client's own stream.
pub(super) fn stderr() -> Option<&'static Stderr> {
    STDERR.get_or_init(|| Stderr::find(Stdout::Human)).as_ref()
}

/// The reader of stdout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stdout {
    /// A human, who may want both streams in one.
    Human,
    /// A client, which takes every line for a message.
    Client,
}

/// A descriptor of our own for standard error.
#[derive(Debug)]
pub(super) struct Stderr {
    pub(super) file: File,
    /// It is a terminal that could not be opened anew. POLLOUT there means that some bytes fit, not that a line does, and
    /// O_NONBLOCK would hold for every process that shares the terminal with us.
    pub(super) may_wait: bool,
}

impl Stderr {
    fn find(stdout: Stdout) -> Option<Self> {
        let file = duplicate(io::stderr().as_fd()).ok()?;
        if is_on_stdio(&file, stdout) {
            return None;
        }
        if !file.is_terminal() {
            return Some(Self { file, may_wait: false });
        }
        let flags = OFlag::O_NONBLOCK | OFlag::O_NOCTTY;
        let anew = OpenOptions::new().write(true).custom_flags(flags.bits()).open("/proc/self/fd/2").ok();
        Some(Self { may_wait: anew.is_none(), file: anew.unwrap_or(file) })
    }

    pub(super) fn is_journal(&self) -> bool {
        is_journal(&self.file, JOURNAL.get())
    }
}

fn duplicate(fd: BorrowedFd<'_>) -> io::Result<File> {
    fd.try_clone_to_owned().map(File::from)
}

/// Reports whether `file` is the same stream as stdin or stdout. A socket counts for every reader of stdout: inetd hands
/// one over as all three.
fn is_on_stdio(file: &File, stdout: Stdout) -> bool {
    let Ok(kind) = file.metadata().map(|metadata| metadata.file_type()) else { return false };
    let counts = kind.is_socket() || (stdout == Stdout::Client && (kind.is_fifo() || kind.is_file()));
    let stdio = [duplicate(io::stdin().as_fd()), duplicate(io::stdout().as_fd())];
    counts && stdio.iter().flatten().any(|stream| is_same(file, stream))
}

fn is_same(a: &File, b: &File) -> bool {
    let (Ok(a), Ok(b)) = (a.metadata(), b.metadata()) else { return false };
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

fn is_journal(stderr: &File, journal_stream: Option<&OsString>) -> bool {
    let Ok(metadata) = stderr.metadata() else { return false };
    journal_stream.is_some_and(|stream| *stream == *format!("{}:{}", metadata.dev(), metadata.ino()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn the_clients_own_socket_and_the_journal_are_recognised() {
        let (one, other) = UnixStream::pair().unwrap();
        let file = |stream: &UnixStream| File::from(stream.as_fd().try_clone_to_owned().unwrap());
        assert!(is_same(&file(&one), &file(&one)));
        assert!(!is_same(&file(&one), &file(&other)));
        let metadata = file(&one).metadata().unwrap();
        let stream = OsString::from(format!("{}:{}", metadata.dev(), metadata.ino()));
        assert!(is_journal(&file(&one), Some(&stream)));
        assert!(!is_journal(&file(&other), Some(&stream)));
        assert!(!is_journal(&file(&one), None));
    }
}
