//! The signal that stops a call.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The call was interrupted: its result is not waited for any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the call was told to stop")]
pub struct Interrupted;

/// The work that stops a call, such as sending a PostgreSQL CancelRequest. The reader, the watchdog and main run it, so it
/// must not block: what can take time goes on a thread of its own.
pub type StopAction = Box<dyn FnOnce() + Send>;

/// Interrupts a running call. Clones are the same interrupt.
#[derive(Clone, Default)]
pub struct Interrupt {
    /// The condition variable wakes those that sleep.
    shared: Arc<(Mutex<State>, Condvar)>,
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
        self.shared.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether the call was interrupted.
    pub fn is_set(&self) -> bool {
        self.state().set
    }

    /// Fails once the call was interrupted: for loops, with `?`.
    pub fn check(&self) -> Result<(), Interrupted> {
        if self.is_set() { Err(Interrupted) } else { Ok(()) }
    }

    /// Sleeps, or fails at once when the call is interrupted.
    pub fn sleep(&self, duration: Duration) -> Result<(), Interrupted> {
        let slept = self.shared.1.wait_timeout_while(self.state(), duration, |state| !state.set);
        let (state, _) = slept.unwrap_or_else(PoisonError::into_inner);
        if state.set { Err(Interrupted) } else { Ok(()) }
    }

    /// Registers the action that stops the work beginning now, one at a time. Dropping the guard takes it back.
    pub fn on_stop(&self, stop: StopAction) -> Result<StopGuard, Interrupted> {
        let mut state = self.state();
        if state.set {
            return Err(Interrupted);
        }
        state.stop = Some(stop);
        Ok(StopGuard(self.clone()))
    }

    /// Interrupts the call and hands out its stop action, once, for the caller to run.
    #[must_use = "the stop action must be run"]
    pub fn set(&self) -> Option<StopAction> {
        let mut state = self.state();
        state.set = true;
        self.shared.1.notify_all();
        state.stop.take()
    }
}

/// Holds a registered stop action in place.
#[derive(Debug)]
#[must_use]
pub struct StopGuard(Interrupt);

impl StopGuard {
    /// Takes the action back. `false`: it was handed out already, so it has run, runs, or will run.
    #[must_use]
    pub fn disarm(self) -> bool {
        self.0.state().stop.take().is_some()
    }
}

impl Drop for StopGuard {
    fn drop(&mut self) {
        self.0.state().stop = None;
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
    fn a_sleep_ends_when_the_call_is_interrupted() {
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
