//! A call that runs.

use std::time::{Duration, Instant};

use super::interrupt::Interrupt;
use super::wait_group::WaitGuard;

/// The number of one call, never used twice: a client may reuse a request id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Serial(pub u64);

/// A call that has a slot, as its tool sees it.
#[derive(Clone, Debug)]
pub struct Call {
    deadline: Instant,
    interrupt: Interrupt,
    /// Makes the end of the session wait for the work that the call leaves behind.
    pub(crate) wait_guard: WaitGuard,
}

impl Call {
    /// Makes a call that must be answered by `deadline`.
    pub fn new(deadline: Instant, interrupt: Interrupt) -> Self {
        Self { deadline, interrupt, wait_guard: WaitGuard::default() }
    }

    /// Returns the time left until the deadline; zero when it has passed.
    pub fn remaining(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// Returns a guard for work that goes on behind the call's answer, to be dropped when that is done.
    pub fn wait_guard(&self) -> WaitGuard {
        self.wait_guard.clone()
    }

    /// Returns the signal that stops the call.
    pub fn interrupt(&self) -> &Interrupt {
        &self.interrupt
    }
}
