//! The stopper thread: runs stop actions, which may block for a moment, such as PostgreSQL's CancelRequest.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use std::{io, thread};

use crossbeam_channel::{Receiver, Sender, bounded};

use crate::call::StopAction;

/// Stop actions that wait at most: one for each run there can be, stuck ones included.
const CAPACITY: usize = 512;

/// The stopper's queue. Its thread begins with the first action.
#[derive(Debug, Default)]
pub(super) struct Stopper {
    thread: Mutex<Option<Running>>,
}

#[derive(Debug)]
struct Running {
    actions: Sender<StopAction>,
    /// Disconnected when the thread ends.
    alive: Receiver<()>,
}

impl Stopper {
    /// Queues `stop` for the thread. Never waits.
    pub(super) fn run(&self, stop: StopAction) {
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if thread.is_none() {
            match start() {
                Ok(running) => *thread = Some(running),
                Err(error) => log::error!(target: "session", "no stopper thread could be started: {error}"),
            }
        }
        if let Some(running) = thread.as_ref()
            && running.actions.try_send(stop).is_err()
        {
            log::error!(target: "session", "too much work is being stopped; a call is left to its own time-out");
        }
    }

    /// Waits, at the end, until everything is stopped, at most `limit`.
    pub(super) fn finish(&self, limit: Duration) {
        let running = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(Running { actions, alive }) = running {
            drop(actions);
            // Nothing is ever sent: this returns when the thread has dropped its end, or after the limit.
            alive.recv_timeout(limit).ok();
        }
    }
}

/// The stopper owns nothing. It ends when its sender is dropped.
fn start() -> io::Result<Running> {
    let (actions, queue) = bounded::<StopAction>(CAPACITY);
    let (ended, alive) = bounded::<()>(0);
    let stop_all = move || {
        for stop in queue {
            stop();
        }
        drop(ended);
    };
    thread::Builder::new().name("stopper".to_owned()).spawn(stop_all)?;
    Ok(Running { actions, alive })
}
