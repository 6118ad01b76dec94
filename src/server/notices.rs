//! Messages from the threads to main.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::wire::stream::Waker;

/// Events that main waits for.
#[derive(Debug)]
pub(super) struct Notices {
    pub(super) reader_ended: AtomicBool,
    pub(super) writer_ended: AtomicBool,
    /// Main waits for the last answer.
    pub(super) draining: AtomicBool,
    /// The error of stdin or stdout, unless the client only left.
    failure: Mutex<Option<io::Error>>,
    pub(super) main: Waker,
}

impl Notices {
    pub(super) fn new(main: Waker) -> Self {
        let [reader_ended, writer_ended, draining] = [false; 3].map(AtomicBool::new);
        Self { reader_ended, writer_ended, draining, failure: Mutex::default(), main }
    }

    /// Records that a thread has ended.
    pub(super) fn ended(&self, thread: &AtomicBool) {
        thread.store(true, Ordering::Release);
        self.main.wake();
    }

    /// Keeps the first failure, for the exit code.
    pub(super) fn fail(&self, error: io::Error) {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }

    pub(super) fn take_failure(&self) -> Option<io::Error> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
