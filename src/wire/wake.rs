//! Pipes that end a wait: one thread waits in `poll(2)`, others write a byte.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::unistd::{pipe2, read, write};

/// The writing end of a wake pipe: its holder can end a wait. Cheap to clone; waking twice is waking once.
#[derive(Clone, Debug)]
pub struct Waker(Arc<OwnedFd>);

impl Waker {
    /// Ends the wait on the other end, now or when it next begins. Never blocks.
    pub fn wake(&self) {
        // A write fails on a pipe that is full, so awake already, and on one that is not waited at any more.
        write(&self.0, b"w").ok();
    }

    /// Returns the descriptor once more, for a writer of bytes of its own, such as a signal handler.
    pub fn try_clone_fd(&self) -> io::Result<OwnedFd> {
        self.0.try_clone()
    }
}

/// The waiting end of a wake pipe. Once woken it stays woken until [`Wake::reset`].
///
/// When the last [`Waker`] is gone it is woken for good: the wait could never end otherwise. So a thread that holds one
/// wakes its waiter even by panicking.
#[derive(Debug)]
pub struct Wake(OwnedFd);

impl Wake {
    /// Makes a connected pair, both ends non-blocking and close-on-exec.
    pub fn pair() -> io::Result<(Waker, Wake)> {
        let (reading, writing) = pipe2(OFlag::O_NONBLOCK | OFlag::O_CLOEXEC)?;
        Ok((Waker(Arc::new(writing)), Wake(reading)))
    }

    /// Returns whether it was woken.
    pub fn is_woken(&self) -> bool {
        wait_any(&[self], Some(Duration::ZERO)).is_ok_and(|woken| woken == [true])
    }

    /// Takes back the wakes and returns their number: one for each [`Waker::wake`], or for each signal
    /// where a handler writes to it. A pipe that is full (64 KiB) loses count.
    pub fn reset(&self) -> usize {
        let mut taken = 0;
        let mut bytes = [0; 64];
        // Asked before each read: the descriptor may be one that blocks.
        while self.is_woken() {
            match read(&self.0, &mut bytes) {
                Ok(0) => break,
                Ok(count) => taken += count,
                Err(Errno::EINTR) => {}
                Err(_) => break,
            }
        }
        taken
    }
}

impl AsFd for Wake {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Waits until one of `wakes` is woken, or `timeout` has passed (`None`: for ever). Returns which are woken, in their
/// order; all `false` means that the time is over.
pub fn wait_any(wakes: &[&Wake], timeout: Option<Duration>) -> io::Result<Vec<bool>> {
    let mut fds: Vec<_> = wakes.iter().map(|wake| PollFd::new(wake.as_fd(), PollFlags::POLLIN)).collect();
    poll_all(&mut fds, timeout)?;
    Ok(fds.iter().map(is_ready).collect())
}

/// `poll(2)` that no signal cuts short.
pub(super) fn poll_all(fds: &mut [PollFd<'_>], timeout: Option<Duration>) -> io::Result<()> {
    let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
    loop {
        match poll(fds, time_left(deadline)) {
            // poll's own maximum is some 24 days.
            Ok(0) if deadline.is_none_or(|deadline| Instant::now() < deadline) => {}
            Ok(_) => return Ok(()),
            Err(Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Returns whether `poll` reported anything: readable, writable, hung up, or no descriptor at all.
pub(super) fn is_ready(fd: &PollFd<'_>) -> bool {
    fd.any().unwrap_or(true)
}

/// Returns the timeout for `poll`: whole milliseconds, rounded up so that it does not wake too early, at most its own
/// maximum.
fn time_left(deadline: Option<Instant>) -> PollTimeout {
    let Some(deadline) = deadline else { return PollTimeout::NONE };
    let left = deadline.saturating_duration_since(Instant::now());
    PollTimeout::try_from(left.as_nanos().div_ceil(1_000_000)).unwrap_or(PollTimeout::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Option<Duration> = Some(Duration::ZERO);

    #[test]
    fn once_woken_it_stays_woken_until_it_is_reset() {
        let (waker, wake) = Wake::pair().unwrap();
        assert!(!wake.is_woken());
        waker.wake();
        waker.clone().wake();
        assert!(wake.is_woken() && wake.is_woken());
        assert_eq!(wake.reset(), 2);
        assert!(!wake.is_woken());
        assert_eq!(wake.reset(), 0);
    }

    #[test]
    fn waking_never_blocks() {
        let (waker, wake) = Wake::pair().unwrap();
        for _ in 0..100_000 {
            waker.wake();
        }
        assert!(wake.reset() > 1000);
        assert!(!wake.is_woken());
    }

    #[test]
    fn a_wait_returns_which_were_woken_or_that_the_time_is_over() {
        let (first_waker, first) = Wake::pair().unwrap();
        let (second_waker, second) = Wake::pair().unwrap();
        let both = [&first, &second];
        assert_eq!(wait_any(&both, NOW).unwrap(), [false, false]);
        let begin = Instant::now();
        assert_eq!(wait_any(&both, Some(Duration::from_micros(1500))).unwrap(), [false, false]);
        assert!(begin.elapsed() >= Duration::from_micros(1500));
        second_waker.wake();
        assert_eq!(wait_any(&both, None).unwrap(), [false, true]);
        first_waker.wake();
        assert_eq!(wait_any(&both, Some(Duration::MAX)).unwrap(), [true, true]);
    }

    #[test]
    fn a_wake_whose_wakers_are_gone_is_woken_for_good() {
        let (waker, wake) = Wake::pair().unwrap();
        let thread = std::thread::Builder::new().spawn(move || drop(waker)).unwrap();
        assert_eq!(wait_any(&[&wake], None).unwrap(), [true]);
        thread.join().unwrap();
        assert_eq!(wake.reset(), 0);
        assert!(wake.is_woken());
    }

    #[test]
    fn a_signal_handler_wakes_through_a_descriptor_of_its_own() {
        let (waker, wake) = Wake::pair().unwrap();
        let signal = nix::libc::SIGUSR2;
        signal_hook::low_level::pipe::register(signal, waker.try_clone_fd().unwrap()).unwrap();
        for count in 1..=3 {
            signal_hook::low_level::raise(signal).unwrap();
            assert_eq!(wait_any(&[&wake], None).unwrap(), [true]);
            assert_eq!(wake.reset(), 1, "signal {count}");
        }
    }
}
