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
    serial: Serial,
    deadline: Instant,
    interrupt: Interrupt,
    wait_guard: WaitGuard,
}

impl Call {
    /// Makes a call that must be answered by `deadline`.
    pub fn new(serial: Serial, deadline: Instant, interrupt: Interrupt) -> Self {
        Self { serial, deadline, interrupt, wait_guard: WaitGuard::default() }
    }

    /// Makes the end of the session wait for the work that the call leaves behind.
    #[must_use]
    pub fn with_wait_guard(self, wait_guard: WaitGuard) -> Self {
        Self { wait_guard, ..self }
    }

    /// Returns the call's own number.
    pub fn serial(&self) -> Serial {
        self.serial
    }

    /// Returns the time at which the watchdog answers in the tool's place.
    pub fn deadline(&self) -> Instant {
        self.deadline
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
