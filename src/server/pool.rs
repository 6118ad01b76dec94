//! The count of workers, and the channel that wakes them.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crossbeam_channel::{Receiver, Sender, bounded};

/// The workers of a session. The calls, and their order, are the table's.
#[derive(Debug)]
pub(super) struct Pool {
    wakes: Receiver<()>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// None once the pool is closed.
    waker: Option<Sender<()>>,
    /// Workers that take calls; those that hang and were replaced not counted.
    alive: usize,
    /// Numbers the next worker.
    spawned: usize,
}

impl Pool {
    /// Makes a pool without workers. It holds as many wakes as there can be workers; more would be of no use.
    pub(super) fn new(workers: usize) -> Self {
        let (waker, wakes) = bounded(workers);
        Self { wakes, state: Mutex::new(State { waker: Some(waker), alive: 0, spawned: 0 }) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes a worker. Never waits: when the channel is full, as many workers as there are will look for calls.
    pub(super) fn wake(&self) {
        if let Some(waker) = &self.state().waker {
            waker.try_send(()).ok();
        }
    }

    /// The wait of a worker. `false`: the pool is closed.
    pub(super) fn wait(&self) -> bool {
        self.wakes.recv().is_ok()
    }

    /// Ends every wait: each worker ends when it is free.
    pub(super) fn close(&self) {
        self.state().waker = None;
    }

    /// Counts one more worker and returns its number, unless as many as `wanted` are alive.
    pub(super) fn add_worker(&self, wanted: usize) -> Option<usize> {
        let mut state = self.state();
        (state.alive < wanted).then(|| {
            state.alive += 1;
            state.spawned += 1;
            state.spawned
        })
    }

    /// Discounts a worker that hangs or could not be started.
    pub(super) fn lose_worker(&self) {
        let mut state = self.state();
        state.alive = state.alive.saturating_sub(1);
    }

    pub(super) fn has_workers(&self) -> bool {
        self.state().alive > 0
    }
}
