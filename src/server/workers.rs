//! The worker threads: they begin when calls need them, and those that hang are replaced.

use std::sync::Arc;
use std::{io, thread};

use super::execute::execute;
use super::shared::Shared;
use crate::call::Outcome;

/// The stack of a worker in bytes: judging a statement recurses over its tree, which the SQL lexer bounds.
const WORKER_STACK_BYTES: usize = 8 << 20;

/// Wakes a worker for the next call that has a slot, and starts as many as the calls at hand can use. Never waits.
pub(super) fn wake(shared: &Arc<Shared>) {
    while let Some(number) = shared.in_flight.with(|table| table.slots.add_worker()) {
        if let Err(error) = start_worker(Arc::clone(shared), number) {
            log::error!(target: "session", "no worker thread could be started: {error}");
            for taken in shared.in_flight.with_now(|table, now| table.lose_worker(now)) {
                shared.settle(taken, Some(&Outcome::Internal));
            }
            break;
        }
    }
    shared.in_flight.wake_worker();
}

/// A worker owns nothing but the call it runs. It ends when the table closes, or when it was replaced while it hung.
fn start_worker(shared: Arc<Shared>, number: usize) -> io::Result<()> {
    let work = move || {
        while let Some((picked, has_more)) = shared.in_flight.wait_call() {
            if has_more {
                wake(&shared);
            }
            let serial = picked.serial;
            execute(&shared, picked);
            if shared.in_flight.with(|table| table.slots.release(serial)) {
                log::warn!(target: "session", "a worker that hung is back and ends; another took its place");
                break;
            }
        }
    };
    let builder = thread::Builder::new().name(format!("worker-{number}")).stack_size(WORKER_STACK_BYTES);
    builder.spawn(work).map(drop)
}
