//! Connections that outlive a call, and the end of one that is not fit to.
//!
//! r2d2 pools **slots**: handing one out never waits for a server. Idle connections are kept beside them, so that one is
//! used before another is opened; without one, the worker that holds the slot connects, with the exact error in hand. A slot
//! is lent as a [`Lease`]; a lease that ends without having proven its connection clean closes it, whatever ended it: an
//! error, a panic, an answer that came too late.
//!
//! INVARIANT: a slot is given back after its connection is among the idle ones, or known to be gone. So there are never more
//! connections than slots, though a backend may ignore cancels for hours. A thread waits for each of these.

use std::convert::Infallible;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use r2d2::{ManageConnection, Pool, PooledConnection};
use scheduled_thread_pool::ScheduledThreadPool;

use super::session::Session;
use crate::call::{Call, Interrupt, WaitGuard};

/// The time between two looks at who holds the slots.
pub(super) const SLOT_WAIT: Duration = Duration::from_secs(1);

/// Slots for connections: each is the right to have one.
#[derive(Debug)]
pub(super) struct Slots;

impl ManageConnection for Slots {
    type Connection = ();
    type Error = Infallible;

    fn connect(&self) -> Result<(), Infallible> {
        Ok(())
    }

    fn is_valid(&self, (): &mut ()) -> Result<(), Infallible> {
        Ok(())
    }

    fn has_broken(&self, (): &mut ()) -> bool {
        false
    }
}

/// The slots, and the connections that wait for one.
pub(super) struct SlotPool {
    slots: Pool<Slots>,
    idle: Idle,
    users: Users,
    /// The number of slots lent so far, which names a lease.
    lent: AtomicU64,
}

/// The interrupts of the calls that hold a slot; nothing where only the end of a connection is waited for.
type Users = Arc<Mutex<Vec<(u64, Option<Interrupt>)>>>;

impl SlotPool {
    /// Makes `size` slots, and starts r2d2's helper thread.
    pub(super) fn start(size: u32) -> Self {
        let helper = ScheduledThreadPool::builder().num_threads(1).thread_name_pattern("sql-slots").build();
        let slots = Pool::builder()
            .max_size(size)
            .min_idle(Some(0))
            .test_on_check_out(false)
            .max_lifetime(None)
            .idle_timeout(None)
            .thread_pool(Arc::new(helper))
            .build_unchecked(Slots);
        Self { slots, idle: Idle::default(), users: Users::default(), lent: AtomicU64::new(0) }
    }

    /// Lends a slot. `None`: all are taken, by statements that do not stop, or the call ends first. There are as many slots
    /// as SQL calls that run at once, so a wait means that some are held by such statements; one that a call uses comes back.
    pub(super) fn lend(&self, call: &Call) -> Option<Lease> {
        loop {
            if let Ok(slot) = self.slots.get_timeout(SLOT_WAIT.min(call.remaining())) {
                let (session, idle, users) = (self.idle.take(), self.idle.clone(), Arc::clone(&self.users));
                let (serial, wait_guard) = (self.lent.fetch_add(1, Ordering::Relaxed), WaitGuard::default());
                locked(&users).push((serial, Some(call.interrupt().clone())));
                return Some(Lease { slot: Some(slot), session, idle, users, serial, wait_guard });
            }
            if self.all_hang() || call.remaining().is_zero() || call.interrupt().is_set() {
                return None;
            }
        }
    }

    /// Returns whether a slot cannot come back soon. A slot that is on its way, in or out, has no user and counts as one that can.
    fn all_hang(&self) -> bool {
        let users = locked(&self.users);
        let hangs = |user: &Option<Interrupt>| user.as_ref().is_none_or(Interrupt::is_set);
        let lent = u32::try_from(users.len()).unwrap_or(u32::MAX);
        lent >= self.slots.max_size() && users.iter().all(|(_, user)| hangs(user))
    }
}

fn locked(users: &Users) -> MutexGuard<'_, Vec<(u64, Option<Interrupt>)>> {
    users.lock().unwrap_or_else(PoisonError::into_inner)
}

fn leave(users: &Users, serial: u64) {
    locked(users).retain(|(user, _)| *user != serial);
}

/// A slot that is lent, with or without a connection.
pub(super) struct Lease {
    pub(super) session: Option<Session>,
    /// Taken by the thread that waits for the end of the connection.
    slot: Option<PooledConnection<Slots>>,
    pub(super) idle: Idle,
    users: Users,
    serial: u64,
    /// Held until a statement that still runs at the end was told to stop.
    pub(super) wait_guard: WaitGuard,
}

impl Lease {
    /// Takes a connection; closes the one there was, which is dead.
    pub(super) fn replace(&mut self, session: Option<Session>) {
        if let Some(old) = std::mem::replace(&mut self.session, session) {
            old.close();
        }
    }

    /// Gives the slot back with its connection. The caller has proven it clean.
    pub(super) fn give_back(mut self) {
        if let Some(session) = self.session.take() {
            self.idle.put(session);
        }
    }
}

impl Drop for Lease {
    /// Closes the connection. One whose statement may still run is told to stop, and keeps its slot until the server
    /// confirms that or the connection is known to be gone. The thread that waits owns both, and ends with that.
    fn drop(&mut self) {
        let Some(session) = self.session.take() else { return leave(&self.users, self.serial) };
        if session.is_settled() {
            session.close();
            return leave(&self.users, self.serial);
        }
        let (slot, wait_guard) = (self.slot.take(), std::mem::take(&mut self.wait_guard));
        let (users, serial) = (Arc::clone(&self.users), self.serial);
        leave(&users, serial);
        locked(&users).push((serial, None));
        let waiting = thread::Builder::new().name("sql-close".to_owned()).spawn(move || {
            if let Some(canceller) = session.canceller() {
                canceller.send(wait_guard);
            }
            session.close();
            leave(&users, serial);
            drop(slot);
        });
        if let Err(error) = waiting {
            leave(&self.users, self.serial);
            log::warn!("the thread that waits for a statement's end could not be started: {error}");
        }
    }
}

/// Clean connections that no call uses: the last one comes first, so that the others grow old and end.
#[derive(Clone, Default)]
pub(super) struct Idle(Arc<(Mutex<Vec<Session>>, Condvar)>);

impl Idle {
    /// Takes one that is not due for retirement, and closes those that are.
    pub(super) fn take(&self) -> Option<Session> {
        loop {
            // The lock is not held while a connection is closed.
            let session = self.0.0.lock().unwrap_or_else(PoisonError::into_inner).pop()?;
            if !session.retirement.is_due() {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_slots_that_are_all_lent_to_what_hangs_are_not_waited_for() {
        let pool = SlotPool::start(2);
        let stopped = Interrupt::default();
        assert!(stopped.set().is_none());
        for (users, expected) in [
            (vec![], false),
            (vec![None], false),
            (vec![None, Some(Interrupt::default())], false),
            (vec![None, Some(stopped.clone())], true),
            (vec![None, None], true),
        ] {
            *locked(&pool.users) = (0..).zip(users.clone()).collect();
            assert_eq!(pool.all_hang(), expected, "{users:?}");
        }
    }
}
