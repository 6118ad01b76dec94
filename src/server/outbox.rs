//! The queue of lines to stdout, bounded by bytes, and the wait for memory before a call runs.
//!
//! A thread that answers never waits here. The reader waits before it reads more, and a worker before it runs a call: a
//! client that stops reading is not served any more, and nothing grows.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::reservations::{Reservation, Reservations};
use crate::call::{Interrupt, Serial};
use crate::wire::line::Line;

/// Bytes of lines waiting for the client at which the reader stops reading.
const READER_BOUND: usize = 8 << 20;

/// The queue between the threads that answer and the writer.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    state: Mutex<State>,
    /// The writer waits here for lines.
    filled: Condvar,
    /// The reader and workers wait here for memory.
    drained: Condvar,
    /// Bytes the kernel has taken: they tell a client that still reads from one that does not.
    accepted: AtomicU64,
}

#[derive(Debug, Default)]
struct State {
    lines: VecDeque<Line>,
    queued_bytes: usize,
    reservations: Reservations,
    waits: Waits,
    /// The reader is not to wait any more.
    reading_ended: bool,
    /// Nothing more will be pushed.
    closed: bool,
}

/// The threads that have to be woken.
#[derive(Debug, Default)]
struct Waits {
    reader: bool,
    writer: bool,
}

impl Outbox {
    fn state(&self) -> MutexGuard<'_, State> {
        // Every update below is complete before its guard is dropped, so a poisoned state is still a valid one.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues a line. Never waits.
    pub(super) fn push(&self, line: Line) {
        self.push_all([line]);
    }

    /// Queues a line that may be missing, unless the client is behind with reading.
    pub(super) fn push_if_read(&self, line: Line) {
        if self.state().queued_bytes < READER_BOUND {
            self.push(line);
        }
    }

    /// Queues lines that must not be parted.
    pub(super) fn push_all(&self, lines: impl IntoIterator<Item = Line>) {
        let mut state = self.state();
        for line in lines {
            state.queued_bytes = state.queued_bytes.saturating_add(line.held_bytes());
            state.lines.push_back(line);
        }
        let wakes_writer = std::mem::take(&mut state.waits.writer);
        // First unlocked: a writer that wakes to a locked outbox goes back to sleep.
        drop(state);
        if wakes_writer {
            self.filled.notify_one();
        }
    }

    /// Waits while the client is behind with reading. `false`: main has ended the reading.
    pub(super) fn wait_for_client(&self) -> bool {
        let mut state = self.state();
        while state.queued_bytes >= READER_BOUND && !state.reading_ended {
            state.waits.reader = true;
            state = self.drained.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.waits.reader = false;
        !state.reading_ended
    }

    /// Ends the reader's wait for good.
    pub(super) fn end_reading(&self) {
        self.state().reading_ended = true;
        self.drained.notify_all();
    }

    /// Returns whether main has ended the reading.
    pub(super) fn has_reading_ended(&self) -> bool {
        self.state().reading_ended
    }

    /// Waits until `bytes` can be reserved for an answer, first come first served. See [`Reservations`].
    pub(super) fn reserve(
        &self,
        serial: Serial,
        bytes: usize,
        interrupt: &Interrupt,
        until: Instant,
    ) -> Reservation {
        let mut state = self.state();
        let ticket = state.reservations.enter(bytes);
        let outcome = loop {
            // Asked under the outbox's lock: the thread that sets it releases the reservation afterwards.
            if interrupt.is_set() {
                break Reservation::Unwanted;
            }
            let queued = state.queued_bytes;
            if state.reservations.grant(ticket, serial, queued) {
                break Reservation::Granted;
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break Reservation::Late;
            }
            state = self.drained.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        };
        state.reservations.leave(ticket);
        self.wake_waiters(&state);
        outcome
    }

    /// Ends the reservation of a call, if it has one.
    pub(super) fn release(&self, serial: Serial) {
        let mut state = self.state();
        state.reservations.release(serial);
        self.wake_waiters(&state);
    }

    /// The wait of the writer: takes everything queued, or `None` once the outbox is closed and empty.
    pub(super) fn take(&self) -> Option<VecDeque<Line>> {
        let mut state = self.state();
        loop {
            if !state.lines.is_empty() {
                return Some(std::mem::take(&mut state.lines));
            }
            if state.closed {
                return None;
            }
            state.waits.writer = true;
            state = self.filled.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Returns whether the writer has nothing left to take: time to flush its buffer.
    pub(super) fn is_empty(&self) -> bool {
        self.state().lines.is_empty()
    }

    /// Records that `bytes` of lines are with the kernel, or about to be.
    pub(super) fn written(&self, bytes: usize) {
        let mut state = self.state();
        state.queued_bytes = state.queued_bytes.saturating_sub(bytes);
        self.wake_waiters(&state);
    }

    /// Counts bytes that the kernel has taken.
    pub(super) fn count_accepted(&self, bytes: usize) {
        self.accepted.fetch_add(bytes.try_into().unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Returns a number that changes whenever the client has taken something.
    pub(super) fn accepted(&self) -> u64 {
        self.accepted.load(Ordering::Relaxed)
    }

    /// Ends the queue: nothing more will be pushed.
    pub(super) fn close(&self) {
        self.state().closed = true;
        self.filled.notify_all();
    }

    fn wake_waiters(&self, state: &State) {
        if state.waits.reader || state.reservations.has_waiting() {
            self.drained.notify_all();
        }
    }
}
