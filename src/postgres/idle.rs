//! Clean connections between calls.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use super::session::Session;

/// Clean connections that no call uses: the last one comes first, so that the others grow old and end.
#[derive(Clone, Default)]
pub(super) struct Idle(Arc<(Mutex<Vec<Session>>, Condvar)>);

impl Idle {
    /// Takes one that is not due for retirement, and closes those that are.
    pub(super) fn take(&self) -> Option<Session> {
        loop {
            // The lock is not held while a connection is closed.
            let session = self.0.0.lock().unwrap_or_else(PoisonError::into_inner).pop()?;
            if !session.is_due() {
                return Some(session);
            }
            session.close();
        }
    }

    /// A connection that another call gives back within `patience`.
    pub(super) fn wait(&self, patience: Duration) -> Option<Session> {
        let (sessions, has_come) = &*self.0;
        let sessions = sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = has_come.wait_timeout_while(sessions, patience, |sessions| sessions.is_empty());
        waited.unwrap_or_else(PoisonError::into_inner).0.pop()
    }

    /// Gives one back.
    pub(super) fn put(&self, session: Session) {
        let (sessions, has_come) = &*self.0;
        sessions.lock().unwrap_or_else(PoisonError::into_inner).push(session);
        has_come.notify_one();
    }
}
