//! What a running call knows, and what every argument must pass first.

mod loose_end;
mod outcome;
pub mod sanitizer;
#[cfg(any(test, fuzzing))]
pub mod fuzz;

pub use loose_end::{LooseEnd, LooseEnds};
pub use outcome::{Answer, Failure, Outcome};

use std::{
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// Names one call for ever: a client may reuse a request id, a serial is never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Serial(pub u64);

/// A call that has a slot: what its tool may ask while it runs.
#[derive(Clone, Debug)]
pub struct Call {
    serial: Serial,
    deadline: Instant,
    interrupt: Interrupt,
    loose_end: LooseEnd,
}

impl Call {
    /// A call that must be answered by `deadline`.
    pub fn new(serial: Serial, deadline: Instant, interrupt: Interrupt) -> Self {
        Self { serial, deadline, interrupt, loose_end: LooseEnd::default() }
    }

    /// The same call, in a session that waits for what it leaves behind.
    #[must_use]
    pub fn with_loose_end(self, loose_end: LooseEnd) -> Self {
        Self { loose_end, ..self }
    }

    /// The call's own number.
    pub fn serial(&self) -> Serial {
        self.serial
    }

    /// When the watchdog answers in the tool's place.
    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Time left until the deadline; zero when it has passed.
    pub fn remaining(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// What is to be held by whatever goes on behind the call's answer.
    pub fn loose_end(&self) -> LooseEnd {
        self.loose_end.clone()
    }

    /// How the call is told to stop.
    pub fn interrupt(&self) -> &Interrupt {
        &self.interrupt
    }
}

/// The call was told to stop: nobody waits for its result any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the call was told to stop")]
pub struct Interrupted;

/// Something to do when a call is told to stop, such as sending a PostgreSQL CancelRequest. Runs on the stopper thread,
/// so it may block for a moment, but it must end by itself.
pub type StopAction = Box<dyn FnOnce() + Send>;

/// Tells a running call to stop. Clones are the same interrupt.
#[derive(Clone, Default)]
pub struct Interrupt {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    set: bool,
    stop: Option<StopAction>,
}

impl std::fmt::Debug for Interrupt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Interrupt").field("set", &self.is_set()).finish_non_exhaustive()
    }
}

impl Interrupt {
    fn state(&self) -> MutexGuard<'_, State> {
        // No code that can panic runs under this lock, and the state is valid after each statement.
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the call was told to stop.
    pub fn is_set(&self) -> bool {
        self.state().set
    }

    /// `Err` once the call was told to stop: for loops, with `?`.
    pub fn check(&self) -> Result<(), Interrupted> {
        if self.is_set() { Err(Interrupted) } else { Ok(()) }
    }

    /// Sleeps, or returns at once when the call is told to stop.
    pub fn sleep(&self, duration: Duration) -> Result<(), Interrupted> {
        let (state, _) = self
            .shared
            .changed
            .wait_timeout_while(self.state(), duration, |state| !state.set)
            .unwrap_or_else(PoisonError::into_inner);
        if state.set { Err(Interrupted) } else { Ok(()) }
    }

    /// Registers what stops the work that begins now. Taken back by dropping or disarming the guard; one at a time.
    pub fn on_stop(&self, stop: StopAction) -> Result<StopGuard, Interrupted> {
        let mut state = self.state();
        if state.set {
            return Err(Interrupted);
        }
        state.stop = Some(stop);
        Ok(StopGuard { interrupt: self.clone() })
    }

    /// Tells the call to stop. The stop action, if one was registered, is the caller's to run; it is handed out once.
    #[must_use = "the stop action must be run"]
    pub fn set(&self) -> Option<StopAction> {
        let mut state = self.state();
        state.set = true;
        self.shared.changed.notify_all();
        state.stop.take()
    }
}

/// Holds a registered stop action in place.
#[derive(Debug)]
#[must_use]
pub struct StopGuard {
    interrupt: Interrupt,
}

impl StopGuard {
    /// Takes the action back. `false`: it was handed out already, so it has run, runs, or will run.
    #[must_use]
    pub fn disarm(self) -> bool {
        self.interrupt.state().stop.take().is_some()
    }
}

impl Drop for StopGuard {
    fn drop(&mut self) {
        self.interrupt.state().stop = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_action_is_handed_out_once_and_only_while_registered() {
        let interrupt = Interrupt::default();
        let guard = interrupt.on_stop(Box::new(|| ())).unwrap();
        assert!(guard.disarm(), "taken back before it was handed out");
        let guard = interrupt.on_stop(Box::new(|| ())).unwrap();
        assert!(interrupt.set().is_some());
        assert!(interrupt.set().is_none(), "handed out twice");
        assert!(!guard.disarm());
        assert!(interrupt.on_stop(Box::new(|| ())).is_err(), "registered after the stop");
    }

    #[test]
    fn a_sleep_ends_when_the_call_is_told_to_stop() {
        let interrupt = Interrupt::default();
        assert_eq!(interrupt.sleep(Duration::ZERO), Ok(()));
        let sleeper = interrupt.clone();
        let thread = std::thread::Builder::new()
            .name("sleeper".to_owned())
            .spawn(move || sleeper.sleep(Duration::from_secs(600)))
            .unwrap();
        assert!(interrupt.set().is_none());
        assert_eq!(thread.join().unwrap(), Err(Interrupted));
    }
}
