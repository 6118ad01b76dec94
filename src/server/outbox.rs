//! What waits for stdout: lines bounded by bytes, and the room that running calls have claimed for their answers.
//!
//! Nobody who answers ever waits here; who waits is the reader (before it reads more) and a worker (before it runs a
//! call), so that a client that stops reading stops being served and nothing grows.

use std::{
    collections::VecDeque,
    io::{self, BufWriter, Write},
    sync::{
        Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use crate::wire::{jsonrpc::Line, stream::Output};

/// Bytes of lines waiting for the client at which the reader stops reading.
const READER_BOUND: usize = 8 << 20;

/// Bytes of waiting lines and of answers being made at which no further call is run.
const RUN_BOUND: usize = 16 << 20;

/// The queue between everybody who answers and the writer.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    state: Mutex<State>,
    /// The writer waits here for lines.
    filled: Condvar,
    /// The reader and workers wait here for room.
    drained: Condvar,
    /// Bytes the kernel has taken; tells a client that still reads from one that does not.
    accepted: AtomicU64,
}

#[derive(Debug, Default)]
struct State {
    lines: VecDeque<Line>,
    queued_bytes: usize,
    claimed_bytes: usize,
    /// Who waits for room, in the order they came, so that a large claim is not overtaken for ever.
    claimants: VecDeque<u64>,
    next_claimant: u64,
    waiting: Waiting,
    /// The reader is not to wait any more.
    reading_ended: bool,
    /// Nothing more will be pushed.
    closed: bool,
}

/// Who has to be woken.
#[derive(Debug, Default)]
struct Waiting {
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

    /// Queues a line that is nice to have, unless the client owes us reading.
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
        let wakes_writer = std::mem::take(&mut state.waiting.writer);
        // First unlocked: a writer that wakes to a locked outbox goes back to sleep.
        drop(state);
        if wakes_writer {
            self.filled.notify_one();
        }
    }

    /// Waits while the client owes us reading. `false`: reading has ended, and there is nothing more to wait for.
    pub(super) fn wait_for_client(&self) -> bool {
        let mut state = self.state();
        while state.queued_bytes >= READER_BOUND && !state.reading_ended {
            state.waiting.reader = true;
            state = self.drained.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.waiting.reader = false;
        !state.reading_ended
    }

    /// Lets the reader go, whatever it waits for.
    pub(super) fn end_reading(&self) {
        self.state().reading_ended = true;
        self.drained.notify_all();
    }

    /// Whether main has ended the reading.
    pub(super) fn has_reading_ended(&self) -> bool {
        self.state().reading_ended
    }

    /// Waits for room for an answer of `bytes`, first come first served. An answer larger than the whole bound waits
    /// until it is alone.
    pub(super) fn claim(&self, bytes: usize) -> Claim<'_> {
        let bytes = bytes.min(RUN_BOUND);
        let mut state = self.state();
        if !state.claimants.is_empty() || !state.has_room(bytes) {
            let me = state.next_claimant;
            state.next_claimant = me.wrapping_add(1);
            state.claimants.push_back(me);
            while state.claimants.front() != Some(&me) || !state.has_room(bytes) {
                state = self.drained.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            state.claimants.pop_front();
            if !state.claimants.is_empty() {
                self.drained.notify_all();
            }
        }
        state.claimed_bytes = state.claimed_bytes.saturating_add(bytes);
        Claim { outbox: self, bytes }
    }

    /// The writer's wait: everything queued, or `None` once the outbox is closed and empty.
    pub(super) fn take(&self) -> Option<VecDeque<Line>> {
        let mut state = self.state();
        loop {
            if !state.lines.is_empty() {
                return Some(std::mem::take(&mut state.lines));
            }
            if state.closed {
                return None;
            }
            state.waiting.writer = true;
            state = self.filled.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Whether the writer has nothing left to take: time to flush what it holds.
    pub(super) fn is_empty(&self) -> bool {
        self.state().lines.is_empty()
    }

    /// The writer's word that `bytes` of lines are with the kernel, or about to be.
    pub(super) fn written(&self, bytes: usize) {
        let mut state = self.state();
        state.queued_bytes = state.queued_bytes.saturating_sub(bytes);
        self.wake_waiters(&state);
    }

    /// A number that changes whenever the client has taken something.
    pub(super) fn accepted(&self) -> u64 {
        self.accepted.load(Ordering::Relaxed)
    }

    /// Nothing more will be pushed.
    pub(super) fn close(&self) {
        self.state().closed = true;
        self.filled.notify_all();
    }

    fn wake_waiters(&self, state: &State) {
        if state.waiting.reader || !state.claimants.is_empty() {
            self.drained.notify_all();
        }
    }
}

/// A stream whose accepted bytes are counted in the outbox.
#[derive(Debug)]
pub(super) struct Counted<'a, W> {
    pub(super) stream: W,
    pub(super) outbox: &'a Outbox,
}

impl<W: Write> Write for Counted<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let accepted = self.stream.write(bytes)?;
        self.outbox.accepted.fetch_add(accepted.try_into().unwrap_or(u64::MAX), Ordering::Relaxed);
        Ok(accepted)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

impl State {
    fn has_room(&self, bytes: usize) -> bool {
        let taken = self.queued_bytes.saturating_add(self.claimed_bytes);
        taken == 0 || taken.saturating_add(bytes) <= RUN_BOUND
    }
}

/// Room for one answer; given back when dropped.
#[derive(Debug)]
#[must_use]
pub(super) struct Claim<'a> {
    outbox: &'a Outbox,
    bytes: usize,
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        let mut state = self.outbox.state();
        state.claimed_bytes = state.claimed_bytes.saturating_sub(self.bytes);
        self.outbox.wake_waiters(&state);
    }
}

/// A pipe of this size spares a large answer most of its wake-ups.
const LARGE_PIPE_BYTES: usize = 1 << 20;

/// A Linux pipe's usual size: what fits goes out in one piece anyway.
const USUAL_PIPE_BYTES: usize = 64 << 10;

/// The writer thread: everything queued goes out in as few writes as it fits, until the outbox is closed and empty.
pub(super) fn write_lines(outbox: &Outbox, output: Output) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(USUAL_PIPE_BYTES, Counted { stream: output, outbox });
    let mut enlarged = false;
    while let Some(lines) = outbox.take() {
        for line in lines {
            let bytes = line.held_bytes();
            if bytes > USUAL_PIPE_BYTES && !enlarged {
                out.get_ref().stream.enlarge_pipe(LARGE_PIPE_BYTES);
                enlarged = true;
            }
            line.write_to(&mut out)?;
            drop(line);
            outbox.written(bytes);
        }
        if outbox.is_empty() {
            out.flush()?;
        }
    }
    out.flush()
}
