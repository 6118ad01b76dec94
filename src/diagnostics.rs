//! The log, and the only writer to stderr.
//!
//! Whoever reads the log must never make a caller wait: stderr may be a pipe that nobody drains. So a line is written
//! only when the kernel says that it fits now; otherwise it is dropped, and the next line that fits is preceded by the
//! number of those that did not. A log record is one line, whatever text from outside is in it. And no line goes to a
//! stream on which a client speaks: it would break the protocol.

use std::{
    ffi::{OsStr, OsString},
    fs::{File, OpenOptions},
    io::{self, IsTerminal, Write},
    os::{
        fd::{AsFd, BorrowedFd},
        unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt},
    },
    panic,
    path::Path,
    sync::OnceLock,
};

use jiff::Timestamp;
use log::{Level, LevelFilter, Record};
use nix::{
    fcntl::OFlag,
    poll::{PollFd, PollFlags, PollTimeout, poll},
};

/// The longest line in bytes, line end included: what a pipe takes whole or not at all (`PIPE_BUF`, pipe(7)).
const MAX_LINE_BYTES: usize = 4_096;
/// How long [`complain`] waits for a reader of stderr, in milliseconds: nobody is served meanwhile.
const COMPLAINT_WAIT_MS: u16 = 1_000;

/// Standard error, found once; none when it is the client's.
static STDERR: OnceLock<Option<Stderr>> = OnceLock::new();
/// `dev:ino` of the stream that leads to systemd's journal (systemd.exec(5)), if there is one.
static JOURNAL: OnceLock<OsString> = OnceLock::new();

/// Where log lines go.
#[derive(Debug)]
pub enum Target {
    /// Standard error, unless it is the client's own stream.
    Stderr,
    /// A file opened by [`open_file`].
    File(File),
}

/// Opens `MCP_LOG_FILE` for appending; a new file can be read by its owner only. Never waits: a FIFO without a reader is
/// an error.
pub fn open_file(path: &Path) -> io::Result<File> {
    let flags = OFlag::O_NONBLOCK | OFlag::O_NOCTTY;
    OpenOptions::new().append(true).create(true).mode(0o600).custom_flags(flags.bits()).open(path)
}

/// Stdout carries MCP from here on, so nothing is told on what is the same pipe or file. Comes before the first word.
pub fn keep_stdout_for_mcp() {
    STDERR.get_or_init(|| Stderr::find(Stdout::Client));
}

/// What `JOURNAL_STREAM` says: where that is standard error, each line there has a priority. Comes before the first word.
pub fn expect_journal(stream: &OsStr) {
    JOURNAL.get_or_init(|| stream.to_owned());
}

/// Whether `file` is a stream on which the client speaks when stdout carries MCP. A terminal never is: a human is there.
pub fn is_clients(file: &File) -> bool {
    is_on_stdio(file, Stdout::Client)
}

/// Starts the log, once: further calls change nothing. Other crates are heard from `warn` on. A panic's message goes to
/// the log and nowhere else.
pub fn init(level: LevelFilter, target: Target) {
    let (out, style) = match target {
        Target::File(file) => (Some(file), Style::Dated),
        Target::Stderr => {
            let stderr = stderr().and_then(Stderr::for_log);
            let journal = stderr.as_ref().is_some_and(|file| is_journal(file, JOURNAL.get()));
            (stderr, if journal { Style::Journal } else { Style::Dated })
        }
    };
    let started = env_logger::Builder::new()
        .filter_level(level)
        .format(
            move |line, record| if is_noise(record) { Ok(()) } else { line.write_all(&style.line(record)) },
        )
        .target(env_logger::Target::Pipe(Box::new(LineWriter { out, dropped: 0 })))
        .try_init();
    if started.is_ok() {
        panic::set_hook(Box::new(|info| log::error!("panic: {info}")));
    }
}

/// Tells whoever started the program, on stderr: configuration errors, hints. One call is one line. It goes to the log
/// when stderr is the client's.
pub fn complain(line: &str) {
    let Some(Stderr { file, .. }) = stderr() else {
        log::error!(target: "session", "{line}");
        return;
    };
    let mut line = escape(line);
    if is_journal(file, JOURNAL.get()) {
        line.insert_str(0, &format!("<{}>", priority(Level::Error)));
    }
    let line = cut(line);
    let mut rest = line.as_slice();
    while !rest.is_empty() && fits(file, PollTimeout::from(COMPLAINT_WAIT_MS)) {
        let mut file = file;
        // There is nobody left to tell that this failed.
        let Ok(written) = file.write(rest) else { return };
        rest = rest.get(written..).unwrap_or_default();
    }
}

/// Text from outside, made safe to look at: controls, line ends, bidirectional controls and invisible tags as escapes.
/// Escaping twice is escaping once.
pub fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                safe.extend(c.escape_unicode());
            }
            '\u{feff}' | '\u{e0000}'..='\u{e007f}' => safe.extend(c.escape_unicode()),
            c if c.is_control() => safe.extend(c.escape_default()),
            c => safe.push(c),
        }
    }
    safe
}

fn stderr() -> Option<&'static Stderr> {
    STDERR.get_or_init(|| Stderr::find(Stdout::Human)).as_ref()
}

/// Who reads stdout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stdout {
    /// Somebody who may well want both streams in one.
    Human,
    /// A client, which takes every line for a message.
    Client,
}

/// A descriptor of our own for standard error.
#[derive(Debug)]
struct Stderr {
    file: File,
    /// It is a terminal that could not be opened anew. POLLOUT there means that some bytes fit, not that a line does, and
    /// O_NONBLOCK would hold for everybody who shares the terminal with us.
    may_wait: bool,
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
        let anew = OpenOptions::new().write(true).custom_flags(flags.bits()).open("/proc/self/fd/2");
        Some(match anew {
            Ok(file) => Self { file, may_wait: false },
            Err(_) => Self { file, may_wait: true },
        })
    }

    /// The same for the log, unless a line could wait there.
    fn for_log(&self) -> Option<File> {
        if self.may_wait {
            complain("nothing is logged: this terminal cannot be opened for us alone; set MCP_LOG_FILE");
            return None;
        }
        self.file.try_clone().ok()
    }
}

fn duplicate(fd: BorrowedFd<'_>) -> io::Result<File> {
    fd.try_clone_to_owned().map(File::from)
}

/// Whether `file` is what stdin or stdout is. A socket counts whoever reads stdout: inetd hands it over as all three.
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

/// What other crates tell beyond warnings: at `debug` they would log a client's SQL.
fn is_noise(record: &Record<'_>) -> bool {
    let ours =
        record.module_path().is_some_and(|path| path.split("::").next() == Some(env!("CARGO_CRATE_NAME")));
    record.level() > Level::Warn && !ours
}

/// How a line begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    /// Time and level.
    Dated,
    /// A syslog priority (sd-daemon(3)); the journal knows the time.
    Journal,
}

impl Style {
    fn line(self, record: &Record<'_>) -> Vec<u8> {
        let target = record.target();
        let target = target.strip_prefix(concat!(env!("CARGO_CRATE_NAME"), "::")).unwrap_or(target);
        let message = escape(&record.args().to_string());
        cut(match self {
            Self::Dated => format!("{:.3} {:5} {target} {message}", Timestamp::now(), record.level()),
            Self::Journal => format!("<{}>{target} {message}", priority(record.level())),
        })
    }
}

/// The syslog priority (RFC 5424 section 6.2.1).
fn priority(level: Level) -> u8 {
    match level {
        Level::Error => 3,
        Level::Warn => 4,
        Level::Info => 6,
        Level::Debug | Level::Trace => 7,
    }
}

/// The line's bytes with their line end, cut to [`MAX_LINE_BYTES`] between characters.
fn cut(mut line: String) -> Vec<u8> {
    const MARK: &str = "…";
    if line.len() >= MAX_LINE_BYTES {
        line.truncate(line.floor_char_boundary(MAX_LINE_BYTES - 1 - MARK.len()));
        line.push_str(MARK);
    }
    line.push('\n');
    line.into_bytes()
}

/// Takes whole lines, one a write, and never waits.
#[derive(Debug)]
struct LineWriter {
    out: Option<File>,
    dropped: u64,
}

impl LineWriter {
    fn put(&mut self, line: &[u8]) -> bool {
        let Some(mut out) = self.out.as_ref() else { return true };
        fits(out, PollTimeout::ZERO) && out.write(line).is_ok_and(|written| written == line.len())
    }

    fn catch_up(&mut self) {
        if self.dropped > 0
            && self.put(format!("{} log lines were dropped: nobody read them\n", self.dropped).as_bytes())
        {
            self.dropped = 0;
        }
    }
}

impl Write for LineWriter {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.catch_up();
        if !self.put(line) {
            self.dropped += 1;
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Whether a line can be written within `patience`.
fn fits(out: &File, patience: PollTimeout) -> bool {
    let mut fds = [PollFd::new(out.as_fd(), PollFlags::POLLOUT)];
    let polled = poll(&mut fds, patience);
    polled.is_ok()
        && fds.iter().any(|fd| fd.revents().is_some_and(|events| events.contains(PollFlags::POLLOUT)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        io::Read,
        os::{fd::OwnedFd, unix::net::UnixStream},
    };

    #[track_caller]
    fn check_escape(text: &str, expected: &str) {
        assert_eq!(escape(text), expected);
        assert_eq!(escape(expected), expected, "escaping twice is escaping once");
    }

    #[test]
    fn text_from_outside_cannot_forge_a_line_or_hide() {
        check_escape("plain, ünïcode and \\ stay", "plain, ünïcode and \\ stay");
        check_escape("a\nERROR b\r\t", "a\\nERROR b\\r\\t");
        check_escape("\u{1b}[31m\u{7f}\u{85}", "\\u{1b}[31m\\u{7f}\\u{85}");
        check_escape("\u{202e}txt\u{2066}\u{200f}", "\\u{202e}txt\\u{2066}\\u{200f}");
        check_escape("\u{2028}\u{feff}\u{e0041}", "\\u{2028}\\u{feff}\\u{e0041}");
    }

    #[test]
    fn a_line_is_cut_between_characters_to_what_a_pipe_takes_whole() {
        assert_eq!(cut("short".to_owned()), b"short\n");
        let long = cut("ü".repeat(MAX_LINE_BYTES));
        assert!(long.len() <= MAX_LINE_BYTES && long.len() > MAX_LINE_BYTES - 4, "{}", long.len());
        assert!(String::from_utf8(long).unwrap().ends_with("ü…\n"));
        assert_eq!(cut("x".repeat(MAX_LINE_BYTES - 1)).len(), MAX_LINE_BYTES);
    }

    #[test]
    fn a_line_begins_with_what_its_reader_needs() {
        let args = format_args!("two\nlines");
        let record =
            Record::builder().level(Level::Warn).target("mcp_server_suite::server").args(args).build();
        assert_eq!(Style::Journal.line(&record), b"<4>server two\\nlines\n");
        let dated = String::from_utf8(Style::Dated.line(&record)).unwrap();
        let (time, rest) = dated.split_once(' ').unwrap();
        assert!(time.parse::<Timestamp>().is_ok() && time.len() == 24, "{time}");
        assert_eq!(rest, "WARN  server two\\nlines\n");
    }

    #[test]
    fn other_crates_are_heard_from_warnings_on() {
        let noise = |level, module| is_noise(&Record::builder().level(level).module_path(module).build());
        assert!(noise(Level::Info, Some("tokio_postgres::query")));
        assert!(noise(Level::Debug, None));
        assert!(!noise(Level::Warn, Some("r2d2")));
        assert!(!noise(Level::Trace, Some("mcp_server_suite::server")));
        assert!(!noise(Level::Trace, Some("mcp_server_suite")));
    }

    #[test]
    fn a_pipe_that_nobody_drains_costs_lines_and_no_time() {
        let (mut reader, writer) = io::pipe().unwrap();
        let mut log = LineWriter { out: Some(File::from(OwnedFd::from(writer))), dropped: 0 };
        let line = cut("x".repeat(MAX_LINE_BYTES));
        for _ in 0..100 {
            log.write_all(&line).unwrap();
        }
        let dropped = log.dropped;
        assert!(dropped > 0);
        let mut drained = vec![0; MAX_LINE_BYTES * 2];
        reader.read_exact(&mut drained).unwrap();
        log.write_all(b"fits again\n").unwrap();
        drop(log);
        let mut rest = String::new();
        reader.read_to_string(&mut rest).unwrap();
        let told = format!("\n{dropped} log lines were dropped: nobody read them\nfits again\n");
        assert!(rest.ends_with(&told), "{}", rest.split_off(rest.len() - 100));
    }

    #[test]
    fn a_reader_that_is_gone_costs_no_time_either() {
        let (reader, writer) = io::pipe().unwrap();
        drop(reader);
        let mut log = LineWriter { out: Some(File::from(OwnedFd::from(writer))), dropped: 0 };
        log.write_all(b"lost\n").unwrap();
        assert_eq!(log.dropped, 1);
    }

    #[test]
    fn the_clients_own_socket_is_told_apart() {
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
