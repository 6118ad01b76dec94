//! The server process behind a connection, until its connection is known to be gone.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};

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
