//! Work that goes on behind the answers, and the end of the session that waits for it.

use std::convert::Infallible;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, bounded};

/// Keeps a [`WaitGroup`] waiting until it and its clones are dropped. The default belongs to no group.
#[derive(Clone, Debug, Default)]
pub struct WaitGuard {
    /// Nothing is ever sent: the channel is disconnected when the last guard is dropped.
    _sender: Option<Sender<Infallible>>,
}

/// The work that calls may leave behind their answers, such as CancelRequests on their way.
#[derive(Debug)]
pub struct WaitGroup {
    /// None once the group is waited for.
    sender: Mutex<Option<Sender<Infallible>>>,
    guards: Receiver<Infallible>,
}

impl Default for WaitGroup {
    fn default() -> Self {
        let (sender, guards) = bounded(0);
        Self { sender: Mutex::new(Some(sender)), guards }
    }
}

impl WaitGroup {
    /// Makes one more guard, to be dropped when its work is done.
    pub fn guard(&self) -> WaitGuard {
        WaitGuard { _sender: self.sender.lock().unwrap_or_else(PoisonError::into_inner).clone() }
    }

    /// Waits until all guards are dropped, at most `limit`. Guards made later belong to no group.
    pub fn wait(&self, limit: Duration) {
        drop(self.sender.lock().unwrap_or_else(PoisonError::into_inner).take());
        self.guards.recv_timeout(limit).ok();
    }
}
