//! Fixed workers that wait to be woken; they begin when calls need them, and stuck ones are replaced.

use std::{
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
};

use crossbeam_channel::{Receiver, Sender, bounded};

use crate::{
    call::Outcome,
    server::{Shared, execute::execute, table::Picked},
};

/// The stack of a worker in bytes: judging a statement recurses over its tree, which the SQL lexer bounds.
const WORKER_STACK_BYTES: usize = 8 << 20;

/// The workers and what wakes them. The calls, and whose turn it is, are the table's.
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
    /// Names the next worker.
    spawned: usize,
}

impl Pool {
    /// A pool without workers yet. More wakes than workers are of no use to anybody.
    pub(super) fn new(workers: usize) -> Self {
        let (waker, wakes) = bounded(workers);
        Self { wakes, state: Mutex::new(State { waker: Some(waker), alive: 0, spawned: 0 }) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets no worker wait any longer: each ends when it is free.
    pub(super) fn close(&self) {
        self.state().waker = None;
    }

    /// A worker that hangs no longer counts.
    pub(super) fn lost_one(&self) {
        let mut state = self.state();
        state.alive = state.alive.saturating_sub(1);
    }
}

/// Has a worker look for a call that has a slot, and starts one when all that live have work. Never waits.
pub(super) fn wake(shared: &Arc<Shared>) {
    if let Err(error) = ensure_workers(shared) {
        log::error!(target: "session", "no worker thread could be started: {error}");
        if shared.pool.state().alive == 0 {
            for taken in shared.in_flight.with_now(|table, now| table.take_waiting(now)) {
                shared.settle(taken, Some(&Outcome::Internal));
            }
        }
    }
    if let Some(waker) = &shared.pool.state().waker {
        // Full: as many wakes as there are workers wait to be heeded, and each looks for all there is.
        waker.try_send(()).ok();
    }
}

/// Starts workers until there are as many as the calls at hand can use.
fn ensure_workers(shared: &Arc<Shared>) -> io::Result<()> {
    let wanted = shared.in_flight.with(|table| table.workers_wanted());
    loop {
        let number = {
            let mut state = shared.pool.state();
            if state.alive >= wanted {
                return Ok(());
            }
            state.alive += 1;
            state.spawned += 1;
            state.spawned
        };
        if let Err(error) = start_worker(Arc::clone(shared), number) {
            shared.pool.lost_one();
            return Err(error);
        }
    }
}

/// Whether a worker still has its place.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Standing {
    Kept,
    Replaced,
}

/// Runs calls until none is left that has a slot.
fn work_off(shared: &Arc<Shared>) -> Standing {
    while let Some(picked) = pick(shared) {
        let serial = picked.serial;
        execute(shared, picked);
        if shared.in_flight.with(|table| table.release(serial)) {
            return Standing::Replaced;
        }
    }
    Standing::Kept
}

/// The next call, and another worker for the one behind it.
fn pick(shared: &Arc<Shared>) -> Option<Picked> {
    let (picked, has_more) = shared.in_flight.with_now(|table, now| (table.pick(now), table.has_startable()));
    if has_more {
        wake(shared);
    }
    picked
}

/// A worker owns nothing but the call it runs. It ends when the pool closes, or when it was replaced while it hung.
fn start_worker(shared: Arc<Shared>, number: usize) -> io::Result<()> {
    let work = move || {
        while shared.pool.wakes.recv().is_ok() {
            if work_off(&shared) == Standing::Replaced {
                log::warn!(target: "session", "a worker that hung is back and ends; another took its place");
                break;
            }
        }
    };
    thread::Builder::new()
        .name(format!("worker-{number}"))
        .stack_size(WORKER_STACK_BYTES)
        .spawn(work)
        .map(drop)
}
