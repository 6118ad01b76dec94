//! Main's part: signals, and the order of the end.
//!
//! Stop reading; let running calls finish, for a grace period; stop and answer the others; end subscriptions; hand every
//! line to the kernel. A second signal cuts the grace short. Nothing here waits without a limit but for the
//! first event, and for a client that still reads.

use std::io;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::call::Outcome;
use crate::protocol::session;
use crate::server::shared::Shared;
use crate::wire::stream::{Wake, Waker, wait_any};

/// The wait, at the end, for a client that reads nothing: after EOF, and after a signal.
const STALLED_AFTER_EOF: Duration = Duration::from_secs(60);
const STALLED_AFTER_SIGNAL: Duration = Duration::from_secs(1);

/// The longest time in which the reader notices that it was woken.
const READER_ENDS: Duration = Duration::from_secs(1);

/// The longest time from an answer's removal from the table to its place in the queue.
const ANSWERS_QUEUED: Duration = Duration::from_secs(1);

/// The longest wait for the work that calls have left behind: a CancelRequest over TLS to a distant server is some round
/// trips.
const WAIT_GROUP_ENDS: Duration = Duration::from_secs(1);

/// The state of main.
#[derive(Debug)]
pub(super) struct Ending<'a> {
    pub(super) shared: &'a Shared,
    /// A byte for each signal.
    pub(super) signals: Wake,
    /// Signals that came and were not acted on yet: two at once are two.
    pub(super) unheeded: usize,
    /// Woken by `Notices`.
    pub(super) notices: Wake,
    /// Ends the reader's wait for stdin.
    pub(super) reader: Waker,
    pub(super) grace: Duration,
}

impl Ending<'_> {
    /// Waits for the end, and brings it about.
    pub(super) fn run(mut self) -> io::Result<()> {
        let mut signalled = self.wait_until(None, |ending| ending.reader_ended() || ending.client_gone())?;
        self.shared.outbox.end_reading();
        self.reader.wake();
        let mut cut_short = self.wait_until(Some(READER_ENDS), Self::reader_ended)?;
        self.shared.notices.draining.store(true, Ordering::Release);
        if !cut_short {
            cut_short = self.wait_until(Some(self.grace), |ending| ending.idle() || ending.client_gone())?;
        }
        signalled |= cut_short;
        self.stop_what_is_left();
        signalled |= self.wait_until(Some(ANSWERS_QUEUED), Self::idle)?;
        self.shared.outbox.close();
        self.flush(signalled)?;
        self.shared.wait_group.wait(WAIT_GROUP_ENDS);
        self.shared.in_flight.close();
        self.shared.notices.take_failure().map_or(Ok(()), Err)
    }

    fn reader_ended(&self) -> bool {
        self.shared.notices.reader_ended.load(Ordering::Acquire)
    }

    /// The writer ends early only when the client is gone.
    fn client_gone(&self) -> bool {
        self.shared.notices.writer_ended.load(Ordering::Acquire)
    }

    fn idle(&self) -> bool {
        self.shared.in_flight.with(|table| table.is_idle())
    }

    /// Waits until `done`, a signal, or the limit. `true`: a signal came.
    fn wait_until(&mut self, limit: Option<Duration>, done: impl Fn(&Self) -> bool) -> io::Result<bool> {
        let deadline = limit.map(|limit| Instant::now() + limit);
        loop {
            self.unheeded = self.unheeded.saturating_add(self.signals.reset());
            if let Some(rest) = self.unheeded.checked_sub(1) {
                self.unheeded = rest;
                return Ok(true);
            }
            self.notices.reset();
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if done(self) || left.is_some_and(|left| left.is_zero()) {
                return Ok(false);
            }
            wait_any(&[&self.signals, &self.notices], left)?;
        }
    }

    fn stop_what_is_left(&self) {
        for taken in self.shared.in_flight.with_now(|table, now| table.take_all(now)) {
            self.shared.settle(taken, Some(&Outcome::ShuttingDown));
        }
        for id in self.shared.in_flight.with(|table| table.take_subscriptions()) {
            self.shared.outbox.push_all(session::subscription_ended(&id));
        }
    }

    /// Waits until the kernel has everything, as long as the client keeps taking it.
    fn flush(&mut self, mut signalled: bool) -> io::Result<()> {
        loop {
            let before = self.shared.outbox.accepted();
            let stalled = if signalled { STALLED_AFTER_SIGNAL } else { STALLED_AFTER_EOF };
            let signal = self.wait_until(Some(stalled), Self::client_gone)?;
            if self.client_gone() {
                return Ok(());
            }
            if !signal && self.shared.outbox.accepted() == before {
                log::warn!(target: "session", "the client does not read what it is owed; ending without it");
                return Ok(());
            }
            signalled |= signal;
        }
    }
}
