//! CancelRequests: how a statement is stopped on the server.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use postgres::CancelToken;

use super::backend::Backend;
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
    token: CancelToken,
    transport: Transport,
    backend: Backend,
}

impl Canceller {
    pub(super) fn new(token: CancelToken, transport: Transport, backend: Backend) -> Self {
        Self { token, transport, backend }
    }

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
