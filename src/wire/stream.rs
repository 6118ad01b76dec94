//! File descriptors that are pipes, files, sockets, ptys, and that a parent may have made non-blocking.
//!
//! EAGAIN, EINTR, short reads and short writes are normal here and nowhere else.

use std::{
    io::{self, Read, Write},
    os::fd::OwnedFd,
};

/// The writing end of a wake pipe: whoever holds it can end a wait. Cheap to clone; waking twice is waking once.
#[derive(Clone, Debug)]
pub struct Waker;

impl Waker {
    /// Ends the wait on the other end, now or when it next begins. Never blocks.
    pub fn wake(&self) {
        todo!()
    }
}

/// The waiting end of a wake pipe. Once woken it stays woken until [`Wake::reset`].
#[derive(Debug)]
pub struct Wake;

impl Wake {
    /// A connected pair, both ends non-blocking and close-on-exec.
    pub fn pair() -> io::Result<(Waker, Wake)> {
        todo!()
    }
}

/// Standard input. Reads block, whatever the descriptor's flags, until bytes come or the stream ends.
///
/// A woken input reads as ended (`Ok(0)`), and so does a pty whose other side is gone (`EIO`) or a peer's reset.
#[derive(Debug)]
pub struct Input;

impl Input {
    /// Takes over `fd`.
    pub fn new(fd: OwnedFd, wake: Wake) -> Self {
        let _ = (fd, wake);
        todo!()
    }
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let _ = buffer;
        todo!()
    }
}

/// Standard output. Writes block, whatever the descriptor's flags, until the peer takes the bytes.
#[derive(Debug)]
pub struct Output;

impl Output {
    /// Takes over `fd`.
    pub fn new(fd: OwnedFd) -> Self {
        let _ = fd;
        todo!()
    }

    /// Asks the kernel for a pipe of `bytes` (`F_SETPIPE_SZ`, fcntl(2)); what is not a pipe, or refuses, stays as it is.
    pub fn enlarge_pipe(&self, bytes: usize) {
        let _ = bytes;
        todo!()
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let _ = bytes;
        todo!()
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Wake {
    /// TEMP
    pub fn drain(&mut self) -> io::Result<usize> {
        todo!()
    }
}
impl Waker {
    /// TEMP
    pub fn try_clone_fd(&self) -> io::Result<OwnedFd> {
        todo!()
    }
}
/// TEMP
pub fn wait_any(wakes: &[&Wake], timeout: Option<std::time::Duration>) -> io::Result<()> {
    let _ = (wakes, timeout);
    todo!()
}
