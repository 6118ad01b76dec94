//! Waiting for work that may never end. The driver bounds how long reaching an address takes, and nothing behind it. A
//! server that accepts a connection and is silent would hold the thread that logs in: over TCP until the stream's deadline,
//! over a Unix socket for ever. So each login has a thread of its own.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;
use std::{io, thread};

use super::connect_error::Cause;

/// Logins to one server that were given up and still hang. They end when it answers, or when the kernel finds it gone.
pub(super) const MAX_GIVEN_UP: u32 = 4;

/// The logins to one server.
#[derive(Debug)]
pub(super) struct Logins {
    under_way: Arc<AtomicUsize>,
    most: usize,
}

impl Logins {
    /// For a server that `callers` log in to at a time.
    pub(super) fn new(callers: u32) -> Self {
        let most = usize::try_from(callers.saturating_add(MAX_GIVEN_UP)).unwrap_or(usize::MAX);
        Self { under_way: Arc::default(), most }
    }

    /// Logs in, and waits for it `patience` at most.
    pub(super) fn wait<T: Send + 'static>(
        &self,
        patience: Duration,
        login: impl FnOnce() -> Result<T, Cause> + Send + 'static,
    ) -> Result<T, Cause> {
        let place = Place(Arc::clone(&self.under_way));
        if self.under_way.fetch_add(1, Ordering::Relaxed) >= self.most {
            return Err(Cause::Hanging);
        }
        let login = move || {
            let _place = place;
            login()
        };
        within(patience, login).map_err(Cause::Thread)?.unwrap_or(Err(Cause::Silent(patience)))
    }
}

/// One login under way, until its thread ends, however it does.
struct Place(Arc<AtomicUsize>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Does `work` on a thread of its own. `None`: it is not done in time; its thread is left behind, and drops the result.
pub(crate) fn within<T: Send + 'static>(
    patience: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<Option<T>> {
    // Without a buffer: a result that comes too late is dropped on the thread that may block.
    let (sender, receiver) = mpsc::sync_channel(0);
    let work = move || drop(sender.send(work()));
    thread::Builder::new().name("sql-login".to_owned()).spawn(work)?;
    Ok(receiver.recv_timeout(patience).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn a_login_that_hangs_is_given_up_in_time_and_as_many_as_that_are_refused() {
        let logins = Logins::new(1);
        let (release, hang) = crossbeam_channel::bounded::<()>(0);
        for _ in 0..=MAX_GIVEN_UP {
            let hang = hang.clone();
            let outcome = logins.wait(Duration::from_millis(1), move || Ok(hang.recv().is_ok()));
            assert!(matches!(outcome, Err(Cause::Silent(_))), "{outcome:?}");
        }
        let refused = logins.wait(LONG, || Ok(()));
        assert!(matches!(refused, Err(Cause::Hanging)), "{refused:?}");
        drop(release);
        while logins.under_way.load(Ordering::Relaxed) > 0 {
            thread::yield_now();
        }
        assert!(logins.wait(LONG, || Ok(())).is_ok(), "they have ended");
        let outcome = logins.wait(LONG, || Err::<(), _>(Cause::NotWanted));
        assert!(matches!(outcome, Err(Cause::NotWanted)), "{outcome:?}");
    }
}
