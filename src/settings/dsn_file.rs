//! The reader of `MCP_SQL_DSN_FILE`: one line of a file, or of a pipe such as a shell's `<(…)`. Its wait is limited.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::time::{Duration, Instant};

use nix::fcntl::OFlag;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::diagnostics;

/// The longest file in bytes: many times the length of a connection string.
const MAX_BYTES: usize = 65_536;
/// The longest time until a pipe ends: its writer may ask a vault first.
const LIMIT: Duration = Duration::from_secs(10);

/// Returns the file's one line, and true when every user of this host can read it.
pub(super) fn read(path: &Path) -> io::Result<(String, bool)> {
    let flags = OFlag::O_NONBLOCK | OFlag::O_NOCTTY;
    let file = OpenOptions::new().read(true).custom_flags(flags.bits()).open(path)?;
    if diagnostics::is_stdin(&file) {
        return Err(io::Error::other("it is stdin, on which the client speaks"));
    }
    let is_public = file.metadata()?.permissions().mode() & 0o004 != 0;
    let text = String::from_utf8(read_all(&file, LIMIT)?).map_err(|_| io::Error::other("it is not UTF-8"))?;
    let line = text.trim();
    if line.contains(['\n', '\r']) {
        return Err(io::Error::other("it holds more than one line"));
    }
    Ok((line.to_owned(), is_public))
}

fn read_all(mut file: &File, limit: Duration) -> io::Result<Vec<u8>> {
    let start = Instant::now();
    let mut bytes = Vec::new();
    let mut piece = [0; 4_096];
    loop {
        // A FIFO without a writer so far looks ended to a read alone.
        let left = PollTimeout::try_from(limit.saturating_sub(start.elapsed())).unwrap_or(PollTimeout::MAX);
        if poll(&mut [PollFd::new(file.as_fd(), PollFlags::POLLIN)], left)? == 0 {
            let why = format!("it did not end within {} s", limit.as_secs());
            return Err(io::Error::new(io::ErrorKind::TimedOut, why));
        }
        match file.read(&mut piece) {
            Ok(0) => return Ok(bytes),
            Ok(count) => bytes.extend(piece.iter().take(count)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => (),
            Err(error) => return Err(error),
        }
        if bytes.len() > MAX_BYTES {
            let why = format!("it is longer than {MAX_BYTES} bytes");
            return Err(io::Error::other(why));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{fs, io::Write, thread};

    use nix::{sys::stat::Mode, unistd::mkfifo};

    #[track_caller]
    fn check(content: &[u8], expected: Result<&str, &str>) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("dsn");
        fs::write(&path, content).unwrap();
        let read = read(&path).map(|(line, _)| line).map_err(|error| error.to_string());
        assert_eq!(read, expected.map(str::to_owned).map_err(str::to_owned));
    }

    #[test]
    fn a_file_is_one_line_and_read_whole_or_refused() {
        check(b" postgres://r@h/d \r\n\n", Ok("postgres://r@h/d"));
        check(b"\n", Ok(""));
        check(b"postgres://r@h/d\npostgres://r@other/d\n", Err("it holds more than one line"));
        check(b"host=h\rdbname=d", Err("it holds more than one line"));
        check(&[b'x'; MAX_BYTES + 1], Err("it is longer than 65536 bytes"));
        check(&[b'x'; MAX_BYTES], Ok("x".repeat(MAX_BYTES).as_str()));
        check(b"\xff", Err("it is not UTF-8"));
    }

    #[test]
    fn a_pipe_is_read_to_its_end_however_late_its_writer_comes() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("fifo");
        mkfifo(&path, Mode::S_IRWXU).unwrap();
        thread::scope(|scope| {
            let reader = thread::Builder::new().spawn_scoped(scope, || read(&path)).unwrap();
            let mut writer = OpenOptions::new().write(true).open(&path).unwrap();
            writer.write_all(b"postgres://r").unwrap();
            writer.write_all(b"@h/d\n").unwrap();
            drop(writer);
            assert_eq!(reader.join().unwrap().unwrap().0, "postgres://r@h/d");
        });
    }

    #[test]
    fn a_pipe_without_a_writer_is_an_error() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("fifo");
        mkfifo(&path, Mode::S_IRWXU).unwrap();
        let nonblocking = OFlag::O_NONBLOCK.bits();
        let file = OpenOptions::new().read(true).custom_flags(nonblocking).open(&path).unwrap();
        let error = read_all(&file, Duration::from_millis(1)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }
}
