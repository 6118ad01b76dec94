//! Connections that outlive a call, and what becomes of one that is not fit to.
//!
//! r2d2 pools **slots**: handing one out never waits for a server. Idle connections are kept beside them, so that one is
//! used before another is opened; without one, the worker that holds the slot connects, with the exact error in hand. A slot
//! is lent as a [`Lease`]; a lease that ends without having proven its connection clean closes it, whatever ended it: an
//! error, a panic, an answer that nobody wanted.

use std::{
    convert::Infallible,
    sync::{
        Arc, Condvar, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use crossbeam_channel::{Sender, TrySendError};
use r2d2::{ManageConnection, Pool, PooledConnection};
use scheduled_thread_pool::ScheduledThreadPool;

use super::session::{Canceller, Session};
use crate::call::WaitGuard;

/// Connections that wait to be closed. More than that, and the worker that has the next one closes it itself.
pub(crate) const CLOSER_QUEUE: usize = 64;

/// CancelRequests under way at once, each on a thread. Beyond that the statement timeout has to do.
pub(crate) const MAX_CANCELS: usize = 32;

/// Slots for connections.
#[derive(Debug)]
pub(crate) struct Slots;

impl ManageConnection for Slots {
    type Connection = Slot;
    type Error = Infallible;

    fn connect(&self) -> Result<Slot, Infallible> {
        Ok(Slot)
    }

    fn is_valid(&self, _: &mut Slot) -> Result<(), Infallible> {
        Ok(())
    }

    fn has_broken(&self, _: &mut Slot) -> bool {
        false
    }
}

/// The right to have one connection.
#[derive(Debug)]
pub(crate) struct Slot;

/// The slots, the connections that wait for one, and the threads that do what may block.
pub(crate) struct SlotPool {
    slots: Pool<Slots>,
    idle: Idle,
    closer: Closer,
}

impl SlotPool {
    /// Starts the pool's two threads: r2d2's helper and the closer.
    pub(crate) fn start(size: u32) -> Self {
        let helper = ScheduledThreadPool::builder().num_threads(1).thread_name_pattern("sql-slots").build();
        let slots = Pool::builder()
            .max_size(size)
            .min_idle(Some(0))
            .test_on_check_out(false)
            .max_lifetime(None)
            .idle_timeout(None)
            .thread_pool(Arc::new(helper))
            .build_unchecked(Slots);
        Self { slots, idle: Idle::default(), closer: Closer::start() }
    }

    /// Lends a slot. `None`: all are taken, by workers that are stuck.
    pub(crate) fn lend(&self, wait: Duration) -> Option<Lease> {
        let slot = self.slots.get_timeout(wait).ok()?;
        let session = self.idle.take();
        Some(Lease { _slot: slot, session, idle: self.idle.clone(), closer: self.closer.clone() })
    }
}

/// Clean connections that nobody uses: the last one comes first, so that the others grow old and end.
#[derive(Clone, Default)]
struct Idle(Arc<(Mutex<Vec<Session>>, Condvar)>);

impl Idle {
    fn take(&self) -> Option<Session> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    fn wait(&self, patience: Duration) -> Option<Session> {
        let (sessions, has_come) = &*self.0;
        let sessions = sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = has_come.wait_timeout_while(sessions, patience, |sessions| sessions.is_empty());
        waited.unwrap_or_else(PoisonError::into_inner).0.pop()
    }

    fn put(&self, session: Session) {
        let (sessions, has_come) = &*self.0;
        sessions.lock().unwrap_or_else(PoisonError::into_inner).push(session);
        has_come.notify_one();
    }
}

/// A slot in somebody's hands, with or without a connection.
pub(crate) struct Lease {
    session: Option<Session>,
    idle: Idle,
    closer: Closer,
    // INVARIANT: given back last, so that whoever gets it finds the connection among the idle ones.
    _slot: PooledConnection<Slots>,
}

impl Lease {
    /// The connection, if there is one.
    pub(crate) fn session(&mut self) -> Option<&mut Session> {
        self.session.as_mut()
    }

    /// A connection that somebody gives back meanwhile.
    pub(crate) fn wait_for_idle(&self, patience: Duration) -> Option<Session> {
        self.idle.wait(patience)
    }

    /// Puts a connection in place of the one there was, which is closed.
    pub(crate) fn replace(&mut self, session: Option<Session>) {
        if let Some(old) = std::mem::replace(&mut self.session, session) {
            self.closer.close(old);
        }
    }

    /// Gives the slot back with its connection. The caller has proven it clean.
    pub(crate) fn give_back(mut self) {
        if let Some(session) = self.session.take() {
            self.idle.put(session);
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.replace(None);
    }
}

/// Closes connections, which blocks for as long as the server is silent. The thread ends with the last sender.
#[derive(Clone)]
struct Closer {
    sender: Option<Sender<Session>>,
}

impl Closer {
    fn start() -> Self {
        let (sender, receiver) = crossbeam_channel::bounded::<Session>(CLOSER_QUEUE);
        let started = thread::Builder::new().name("sql-closer".to_owned()).spawn(move || {
            receiver.into_iter().for_each(Session::close);
        });
        match started {
            Ok(_) => Self { sender: Some(sender) },
            Err(error) => {
                log::warn!("the thread that closes connections could not be started: {error}");
                Self { sender: None }
            }
        }
    }

    fn close(&self, session: Session) {
        let Some(sender) = &self.sender else { return session.close() };
        match sender.try_send(session) {
            Ok(()) => {}
            // The worker closes it. If that blocks, the worker is stuck and counted, which bounds the damage.
            Err(TrySendError::Full(session) | TrySendError::Disconnected(session)) => session.close(),
        }
    }
}

/// Sends a CancelRequest from a thread of its own, because a silent server would hold up whoever sends it. The thread holds
/// `wait_guard` until it is sent.
pub(crate) fn send_cancel(canceller: Canceller, wait_guard: WaitGuard) {
    static UNDER_WAY: AtomicUsize = AtomicUsize::new(0);
    if UNDER_WAY.fetch_add(1, Ordering::Relaxed) >= MAX_CANCELS {
        UNDER_WAY.fetch_sub(1, Ordering::Relaxed);
        log::warn!("too many cancel requests under way: this statement runs into its timeout");
        return;
    }
    let sent = thread::Builder::new().name("sql-cancel".to_owned()).spawn(move || {
        if let Err(error) = canceller.cancel() {
            log::warn!("a statement could not be cancelled: {}", super::sqlstate::chain(&error));
        }
        UNDER_WAY.fetch_sub(1, Ordering::Relaxed);
        drop(wait_guard);
    });
    if let Err(error) = sent {
        UNDER_WAY.fetch_sub(1, Ordering::Relaxed);
        log::warn!("a statement could not be cancelled: {error}");
    }
}
