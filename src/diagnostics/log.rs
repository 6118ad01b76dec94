//! The log: one line a record, dropped instead of waited for.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::panic;
use std::path::Path;

use jiff::Timestamp;
use log::{Level, LevelFilter, Record};
use nix::fcntl::OFlag;
use nix::poll::PollTimeout;

use super::escape::escape;
use super::line::{cut, fits, priority};
use super::stderr::{Stderr, report_fatal, stderr};

/// The destination of log lines.
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

/// Starts the log, once: further calls change nothing. Records of other crates count from `warn` on. A panic's message
/// goes to the log only.
pub fn init(level: LevelFilter, target: Target) {
    let (out, style) = match target {
        Target::File(file) => (Some(file), Style::Dated),
        Target::Stderr => {
            let style = if stderr().is_some_and(Stderr::is_journal) { Style::Journal } else { Style::Dated };
            (stderr().and_then(without_wait), style)
        }
    };
    let started = env_logger::Builder::new()
        .filter_level(level)
        .format(
            move |line, record| if is_noise(record) { Ok(()) } else { line.write_all(&style.line(record)) },
        )
        .target(env_logger::Target::Pipe(Box::new(LineWriter { out, dropped: 0, was_full: false })))
        .try_init();
    if started.is_ok() {
        panic::set_hook(Box::new(|info| log::error!("panic: {info}")));
    }
}

/// Returns the stream, unless a line could wait there.
fn without_wait(stderr: &Stderr) -> Option<File> {
    if stderr.may_wait {
        report_fatal("nothing is logged: this terminal cannot be opened for us alone; set MCP_LOG_FILE");
        return None;
    }
    stderr.file.try_clone().ok()
}

/// Recognises records of other crates below a warning: at `debug` they would log a client's SQL.
fn is_noise(record: &Record<'_>) -> bool {
    let ours =
        record.module_path().is_some_and(|path| path.split("::").next() == Some(env!("CARGO_CRATE_NAME")));
    record.level() > Level::Warn && !ours
}

/// The beginning of a line.
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

/// Takes whole lines, one a write, and never waits.
#[derive(Debug)]
struct LineWriter {
    out: Option<File>,
    dropped: u64,
    /// A line was dropped because the disk, a quota or a limit of size left it no space.
    was_full: bool,
}

impl LineWriter {
    fn put(&mut self, line: &[u8]) -> bool {
        let Some(mut out) = self.out.as_ref() else { return true };
        if !fits(out, PollTimeout::ZERO) {
            return false;
        }
        match out.write(line) {
            // A file takes a part of a line only when no space is left for the rest.
            Ok(written) => {
                self.was_full |= (1..line.len()).contains(&written);
                written == line.len()
            }
            Err(error) => {
                use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
                self.was_full |= matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge);
                false
            }
        }
    }
}

impl Write for LineWriter {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if self.dropped > 0 {
            let why = if self.was_full { "the log's disk or its limit was full" } else { "nobody read them" };
            if self.put(format!("{} log lines were dropped: {why}\n", self.dropped).as_bytes()) {
                (self.dropped, self.was_full) = (0, false);
            }
        }
        self.dropped += u64::from(!self.put(line));
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::{io::Read, os::fd::OwnedFd};

    use super::*;
    use crate::diagnostics::line::MAX_LINE_BYTES;

    #[test]
    fn a_line_begins_with_time_and_level_or_with_a_priority_for_the_journal() {
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
    fn records_of_other_crates_count_from_warnings_on() {
        let noise = |level, module| is_noise(&Record::builder().level(level).module_path(module).build());
        assert!(noise(Level::Info, Some("tokio_postgres::query")));
        assert!(noise(Level::Debug, None));
        assert!(!noise(Level::Warn, Some("r2d2")));
        assert!(!noise(Level::Trace, Some("mcp_server_suite::server")));
        assert!(!noise(Level::Trace, Some("mcp_server_suite")));
    }

    #[test]
    fn a_pipe_that_is_not_drained_drops_lines_and_takes_no_time() {
        let (mut reader, writer) = io::pipe().unwrap();
        let mut log =
            LineWriter { out: Some(File::from(OwnedFd::from(writer))), dropped: 0, was_full: false };
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
        let reported = format!("\n{dropped} log lines were dropped: nobody read them\nfits again\n");
        assert!(rest.ends_with(&reported), "{}", rest.split_off(rest.len() - 100));
    }

    #[test]
    fn a_full_disk_is_called_that() {
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut log = LineWriter { out: Some(full), dropped: 0, was_full: false };
        log.write_all(b"lost\n").unwrap();
        let (mut reader, writer) = io::pipe().unwrap();
        log.out = Some(File::from(OwnedFd::from(writer)));
        log.write_all(b"kept\n").unwrap();
        drop(log);
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        assert_eq!(text, "1 log lines were dropped: the log's disk or its limit was full\nkept\n");
    }

    #[test]
    fn a_reader_that_is_gone_takes_no_time_either() {
        let (reader, writer) = io::pipe().unwrap();
        drop(reader);
        let mut log =
            LineWriter { out: Some(File::from(OwnedFd::from(writer))), dropped: 0, was_full: false };
        log.write_all(b"lost\n").unwrap();
        assert_eq!(log.dropped, 1);
    }
}
