//! CancelRequests: how a statement is stopped on the server, and the server process that is to stop it.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use postgres::CancelToken;

use super::sqlstate::chain;
use super::transport::Transport;
use crate::call::WaitGuard;

/// CancelRequests under way at once, each on a thread. Beyond that the statement timeout has to do.
pub(super) const MAX_CANCELS: usize = 32;

/// The time in which a backend confirms a cancel. PostgreSQL looks for one every few milliseconds but in a few functions.
const CONFIRM_TIME: Duration = Duration::from_secs(2);

/// Stops the statements of one connection.
#[derive(Clone)]
pub(super) struct Canceller {
    pub(super) token: CancelToken,
    pub(super) transport: Transport,
    pub(super) backend: Backend,
}

impl Canceller {
    /// Sends a CancelRequest from a thread of its own, because a silent server would hold up the thread that sends it: over a
    /// Unix socket for as long as it is silent. The thread holds `wait_guard` until it is sent; then it waits for the backend
    /// and reports one that does not stop.
    pub(super) fn send(self, wait_guard: WaitGuard) {
        static UNDER_WAY: AtomicUsize = AtomicUsize::new(0);
        if UNDER_WAY.fetch_add(1, Ordering::Relaxed) >= MAX_CANCELS {
            UNDER_WAY.fetch_sub(1, Ordering::Relaxed);
            log::warn!("too many cancel requests under way: this statement runs into its timeout");
            return;
        }
        let sent = thread::Builder::new().name("sql-cancel".to_owned()).spawn(move || {
            if let Err(error) = self.transport.cancel(&self.token) {
                log::warn!("a statement could not be cancelled: {}", chain(&error));
            }
            UNDER_WAY.fetch_sub(1, Ordering::Relaxed);
            drop(wait_guard);
            self.backend.report_unless_gone(CONFIRM_TIME);
        });
        if let Err(error) = sent {
            UNDER_WAY.fetch_sub(1, Ordering::Relaxed);
            log::warn!("a statement could not be cancelled: {error}");
        }
    }
}

/// A server process, as those that stop it see it. Clones are the same process.
#[derive(Clone, Debug)]
pub(super) struct Backend {
    pid: i32,
    /// Nothing is ever sent: the channel is disconnected when the connection is gone.
    presence: Receiver<Infallible>,
    is_reported: Arc<AtomicBool>,
}

/// Held by the connection, and dropped when it is gone.
pub(super) type Presence = Sender<Infallible>;

impl Backend {
    pub(super) fn new(pid: i32) -> (Self, Presence) {
        let (held, presence) = bounded(0);
        (Self { pid, presence, is_reported: Arc::default() }, held)
    }

    /// Waits for the end of a process that was told to stop, and reports it, once, when that takes longer than `patience`.
    pub(super) fn report_unless_gone(&self, patience: Duration) {
        let is_there = self.presence.recv_timeout(patience) == Err(RecvTimeoutError::Timeout);
        if is_there && !self.is_reported.swap(true, Ordering::Relaxed) {
            let (pid, ms) = (self.pid, patience.as_millis());
            log::error!(
                "backend {pid} did not stop within {ms} ms of being told to, and keeps its place in the pool \
                 (MCP_SQL_POOL_MAX_SIZE) until it does: SELECT pg_terminate_backend({pid}) ends it"
            );
        }
    }
}
