//! The worker threads: they begin when calls need them, and those that hang are replaced.

use std::sync::Arc;
use std::{io, thread};

use super::execute::execute;
use super::shared::Shared;
use super::table::Picked;
use crate::call::Outcome;

/// The stack of a worker in bytes: judging a statement recurses over its tree, which the SQL lexer bounds.
const WORKER_STACK_BYTES: usize = 8 << 20;

/// Wakes a worker for the next call that has a slot, and starts one when all others are busy. Never waits.
pub(super) fn wake(shared: &Arc<Shared>) {
    if let Err(error) = ensure_workers(shared) {
        log::error!(target: "session", "no worker thread could be started: {error}");
        if !shared.pool.has_workers() {
            for taken in shared.in_flight.with_now(|table, now| table.take_waiting(now)) {
                shared.settle(taken, Some(&Outcome::Internal));
            }
        }
    }
    shared.pool.wake();
}

/// Starts workers until there are as many as the calls at hand can use.
fn ensure_workers(shared: &Arc<Shared>) -> io::Result<()> {
    let wanted = shared.in_flight.with(|table| table.workers_wanted());
    while let Some(number) = shared.pool.add_worker(wanted) {
        start_worker(Arc::clone(shared), number).inspect_err(|_| shared.pool.lose_worker())?;
    }
    Ok(())
}

/// A worker owns nothing but the call it runs. It ends when the pool closes, or when it was replaced while it hung.
fn start_worker(shared: Arc<Shared>, number: usize) -> io::Result<()> {
    let work = move || {
        while shared.pool.wait() {
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

/// The place of a worker in the pool.
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

/// Takes the next call, and wakes another worker for the one behind it.
fn pick(shared: &Arc<Shared>) -> Option<Picked> {
    let (picked, has_more) = shared.in_flight.with_now(|table, now| (table.pick(now), table.has_startable()));
    if has_more {
        wake(shared);
    }
    picked
}
