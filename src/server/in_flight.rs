//! The in-flight table behind one lock, with the watchdog's wait.
//!
//! Lock order: the table, then the outbox. Nothing else is locked under the table's lock, and nothing waits under it.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::server::config::Config;
use crate::server::table::{Due, Picked, Table};
use crate::tools::{Lane, LaneId};

/// The arbiter of answers: the thread that removes a call from it owns the call's one answer.
#[derive(Debug)]
pub struct InFlight {
    table: Mutex<Table>,
    /// The watchdog waits here for an alarm earlier than the one it sleeps on.
    alarmed: Condvar,
    /// Workers wait here for calls.
    registered: Condvar,
}

impl InFlight {
    pub(super) fn new<'l>(config: Config, lanes: impl Iterator<Item = (LaneId, &'l Lane)>) -> Self {
        let table = Mutex::new(Table::new(config, lanes));
        Self { table, alarmed: Condvar::new(), registered: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        // The table's methods are total: a panic inside one is a bug that leaves counts off by one at worst.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes one step of the table. The watchdog is woken only when its next alarm has become earlier.
    pub(super) fn with<T>(&self, step: impl FnOnce(&mut Table) -> T) -> T {
        let mut table = self.lock();
        let before = table.timers.next();
        let result = step(&mut table);
        let after = table.timers.next();
        drop(table);
        if after.is_some_and(|after| before.is_none_or(|before| after < before)) {
            self.alarmed.notify_one();
        }
        result
    }

    /// Makes one step that needs the time, which is read before the lock is taken.
    pub(super) fn with_now<T>(&self, step: impl FnOnce(&mut Table, Instant) -> T) -> T {
        let now = Instant::now();
        self.with(|table| step(table, now))
    }

    /// Ends every wait for good: watchdog and workers end when they are free.
    pub(super) fn close(&self) {
        self.lock().is_closed = true;
        self.alarmed.notify_all();
        self.registered.notify_all();
    }

    /// Wakes a worker. Never waits.
    pub(super) fn wake_worker(&self) {
        self.registered.notify_one();
    }

    /// The wait of a worker: takes the next call that has a slot, `None` once the table is closed. `true`: another call
    /// has a slot as well.
    pub(super) fn wait_call(&self) -> Option<(Picked, bool)> {
        let mut table = self.lock();
        loop {
            if table.is_closed {
                return None;
            }
            if let Some(picked) = table.pick(Instant::now()) {
                return Some((picked, table.slots.has_startable()));
            }
            table = self.registered.wait(table).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The wait of the watchdog: sleeps until something is due, `None` once the table is closed. `under_lock` sees each
    /// task before the lock is released, and returns those it has not dealt with.
    pub(super) fn wait_due(&self, under_lock: impl Fn(Due) -> Option<Due>) -> Option<Vec<Due>> {
        let mut table = self.lock();
        loop {
            if table.is_closed {
                return None;
            }
            let now = Instant::now();
            let due: Vec<Due> = std::iter::from_fn(|| table.due(now)).filter_map(&under_lock).collect();
            if !due.is_empty() {
                return Some(due);
            }
            table = match table.timers.next() {
                None => self.alarmed.wait(table).unwrap_or_else(PoisonError::into_inner),
                Some(at) => {
                    let wait = at.saturating_duration_since(now);
                    self.alarmed.wait_timeout(table, wait).unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }
}
