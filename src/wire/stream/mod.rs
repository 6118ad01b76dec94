//! File descriptors that are pipes, files, sockets, ptys, and that a parent may have made non-blocking.
//!
//! EAGAIN, EINTR, short reads and short writes are normal here and nowhere else. The descriptors' flags are never
//! changed: they belong to the open file, which other processes may share.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, fcntl};
use nix::poll::{PollFd, PollFlags};
use nix::unistd::{read, write};

use crate::wire::wake::{is_ready, poll_all};

pub use crate::wire::wake::{Wake, Waker, wait_any};

/// Standard input. Reads block, even on a non-blocking descriptor, until bytes come or the stream ends.
///
/// A woken input reads as ended (`Ok(0)`), and so does a pty whose other side is gone (`EIO`) or a peer's reset.
#[derive(Debug)]
pub struct Input {
    fd: OwnedFd,
    wake: Wake,
}

impl Input {
    /// Takes over `fd`.
    pub fn new(fd: OwnedFd, wake: Wake) -> Self {
        Self { fd, wake }
    }

    /// Waits for bytes or an end. `None`: woken.
    fn wait(&self) -> io::Result<Option<PollFlags>> {
        let mut fds = [self.fd.as_fd(), self.wake.as_fd()].map(|fd| PollFd::new(fd, PollFlags::POLLIN));
        poll_all(&mut fds, None)?;
        let [stream, wake] = &fds;
        Ok((!is_ready(wake)).then(|| stream.revents().unwrap_or(PollFlags::empty())))
    }
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let Some(events) = self.wait()? else { return Ok(0) };
            match read(&self.fd, buffer) {
                Ok(count) => return Ok(count),
                // A read that finds nothing after an end was reported would be repeated for ever.
                Err(Errno::EAGAIN) if !events.contains(PollFlags::POLLIN) => return Ok(0),
                Err(Errno::EAGAIN | Errno::EINTR) => {}
                Err(Errno::EIO | Errno::ECONNRESET) => return Ok(0),
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// Standard output. Writes block, even on a non-blocking descriptor, until the peer takes the bytes.
///
/// A peer that is gone is an error of kind `BrokenPipe` or `ConnectionReset`; SIGPIPE must be ignored, as Rust programs do.
#[derive(Debug)]
pub struct Output {
    fd: OwnedFd,
}

impl Output {
    /// Takes over `fd`.
    pub fn new(fd: OwnedFd) -> Self {
        Self { fd }
    }

    /// Asks the kernel for a pipe of `bytes` (`F_SETPIPE_SZ`, fcntl(2)); a stream that is not a pipe, or refuses, stays as it is.
    pub fn enlarge_pipe(&self, bytes: usize) {
        let Ok(bytes) = i32::try_from(bytes) else { return };
        if fcntl(&self.fd, FcntlArg::F_GETPIPE_SZ).is_ok_and(|now| now < bytes) {
            fcntl(&self.fd, FcntlArg::F_SETPIPE_SZ(bytes)).ok();
        }
    }

    /// Waits until bytes can be written, or never again.
    fn wait(&self) -> io::Result<PollFlags> {
        let mut fds = [PollFd::new(self.fd.as_fd(), PollFlags::POLLOUT)];
        poll_all(&mut fds, None)?;
        let [stream] = &fds;
        Ok(stream.revents().unwrap_or(PollFlags::empty()))
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut last_try = false;
        loop {
            match write(&self.fd, bytes) {
                Ok(count) => return Ok(count),
                Err(Errno::EINTR) => {}
                Err(Errno::EAGAIN) if last_try => return Err(Errno::EPIPE.into()),
                // The events of a stream that failed come without POLLOUT; the next write returns its error.
                Err(Errno::EAGAIN) => last_try = !self.wait()?.contains(PollFlags::POLLOUT),
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests;
