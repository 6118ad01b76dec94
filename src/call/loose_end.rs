//! What goes on behind the answers, and the end that waits for it.

use std::{
    convert::Infallible,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use crossbeam_channel::{Receiver, Sender, bounded};

/// Held by whatever a call may leave behind its answer, such as a CancelRequest on its way. Clones are one more each; the
/// default is nobody's.
#[derive(Clone, Debug, Default)]
pub struct LooseEnd {
    /// Nothing is ever sent: the channel is disconnected when nobody holds it any more.
    _held: Option<Sender<Infallible>>,
}

/// All the loose ends of a session.
#[derive(Debug)]
pub struct LooseEnds {
    /// None once the session waits for them.
    first: Mutex<Option<Sender<Infallible>>>,
    tied: Receiver<Infallible>,
}

impl Default for LooseEnds {
    fn default() -> Self {
        let (first, tied) = bounded(0);
        Self { first: Mutex::new(Some(first)), tied }
    }
}

impl LooseEnds {
    /// One more, to be dropped when what it stands for is done.
    pub fn hold(&self) -> LooseEnd {
        LooseEnd { _held: self.first.lock().unwrap_or_else(PoisonError::into_inner).clone() }
    }

    /// Waits until all that were held are dropped, at most `limit`. Those that come later are nobody's.
    pub fn wait(&self, limit: Duration) {
        drop(self.first.lock().unwrap_or_else(PoisonError::into_inner).take());
        self.tied.recv_timeout(limit).ok();
    }
}
