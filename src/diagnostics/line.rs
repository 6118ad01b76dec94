//! A line of bounded length, and the wait until its stream takes it.

use std::fs::File;
use std::os::fd::AsFd;

use log::Level;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

/// The longest line in bytes, line end included: a pipe takes that much whole or not at all (`PIPE_BUF`, pipe(7)).
pub(super) const MAX_LINE_BYTES: usize = 4_096;

/// Returns the syslog priority (RFC 5424 section 6.2.1).
pub(super) fn priority(level: Level) -> u8 {
    match level {
        Level::Error => 3,
        Level::Warn => 4,
        Level::Info => 6,
        Level::Debug | Level::Trace => 7,
    }
}

/// Returns the line's bytes with their line end, cut to [`MAX_LINE_BYTES`] between characters.
pub(super) fn cut(mut line: String) -> Vec<u8> {
    const MARK: &str = "…";
    if line.len() >= MAX_LINE_BYTES {
        line.truncate(line.floor_char_boundary(MAX_LINE_BYTES - 1 - MARK.len()));
        line.push_str(MARK);
    }
    line.push('\n');
    line.into_bytes()
}

/// Waits until a line can be written, at most for `patience`; returns false when it still cannot.
pub(super) fn fits(out: &File, patience: PollTimeout) -> bool {
    let mut fds = [PollFd::new(out.as_fd(), PollFlags::POLLOUT)];
    let polled = poll(&mut fds, patience);
    polled.is_ok()
        && fds.iter().any(|fd| fd.revents().is_some_and(|events| events.contains(PollFlags::POLLOUT)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_cut_between_characters_to_the_size_of_a_whole_pipe_write() {
        assert_eq!(cut("short".to_owned()), b"short\n");
        let long = cut("ü".repeat(MAX_LINE_BYTES));
        assert!(long.len() <= MAX_LINE_BYTES && long.len() > MAX_LINE_BYTES - 4, "{}", long.len());
        assert!(String::from_utf8(long).unwrap().ends_with("ü…\n"));
        assert_eq!(cut("x".repeat(MAX_LINE_BYTES - 1)).len(), MAX_LINE_BYTES);
    }
}
