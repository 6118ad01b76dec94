//! Fixed workers behind a bounded queue; workers begin when calls need them, and stuck ones are replaced.

use std::{
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
};

use crossbeam_channel::{Receiver, Sender, bounded};

use crate::{
    call::Serial,
    protocol::reply::Outcome,
    server::{Shared, execute::execute, no_slot},
};

/// The stack of a worker in bytes: judging a statement recurses over its tree, which the SQL lexer bounds.
const WORKER_STACK_BYTES: usize = 8 << 20;

/// The workers and their queue. What is queued are serials; the table has the calls.
#[derive(Debug)]
pub(super) struct Pool {
    queue: Receiver<Serial>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// None once the pool is closed.
    sender: Option<Sender<Serial>>,
    /// Workers that take calls; those that hang and were replaced not counted.
    alive: usize,
    /// Names the next worker.
    spawned: usize,
}

impl Pool {
    /// A pool without workers yet. The queue also holds serials of calls that were answered while they waited, so it
    /// has room for as many again before it refuses.
    pub(super) fn new(workers: usize, queue_capacity: usize) -> Self {
        let room = workers.saturating_add(queue_capacity).saturating_mul(2).saturating_add(64);
        let (sender, queue) = bounded(room);
        Self { queue, state: Mutex::new(State { sender: Some(sender), alive: 0, spawned: 0 }) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets no worker wait any longer: each ends when it is free.
    pub(super) fn close(&self) {
        self.state().sender = None;
    }

    /// A worker that hangs no longer counts.
    pub(super) fn lost_one(&self) {
        let mut state = self.state();
        state.alive = state.alive.saturating_sub(1);
    }
}

/// Hands a call to the pool, and starts a worker when all that live have work. Never waits.
pub(super) fn submit(shared: &Arc<Shared>, serial: Serial) {
    let sender = shared.pool.state().sender.clone();
    let Some(sender) = sender else { return };
    if sender.try_send(serial).is_err() {
        return withdraw(shared, serial, &no_slot());
    }
    if let Err(error) = ensure_workers(shared) {
        log::error!(target: "session", "no worker thread could be started: {error}");
        if shared.pool.state().alive == 0 {
            withdraw(shared, serial, &Outcome::Internal);
        }
    }
}

fn withdraw(shared: &Arc<Shared>, serial: Serial, outcome: &Outcome) {
    let (taken, next) = shared.in_flight.with(|table| table.withdraw(serial));
    if let Some(taken) = taken {
        shared.settle(taken, Some(outcome));
    }
    if let Some(next) = next {
        submit(shared, next);
    }
}

/// Starts workers until there are as many as the calls at hand can use.
pub(super) fn ensure_workers(shared: &Arc<Shared>) -> io::Result<()> {
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

/// A worker owns nothing but the call it runs. It ends when the pool closes, or when it was replaced while it hung.
fn start_worker(shared: Arc<Shared>, number: usize) -> io::Result<()> {
    let work = move || {
        for serial in &shared.pool.queue {
            execute(&shared, serial);
            let released = shared.in_flight.with(|table| table.release(serial));
            if let Some(next) = released.next {
                submit(&shared, next);
            }
            if released.replaced {
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
