//! The request to stop early.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGHUP, TERM_SIGNALS};

use super::error::DemoError;

/// A request to stop. SIGINT, SIGTERM and the like set it, and every wait looks at it.
#[derive(Clone, Debug, Default)]
pub(super) struct Stop(pub(super) Arc<AtomicBool>);

impl Stop {
    pub(super) fn on_signals() -> Result<Self, DemoError> {
        let stop = Self::default();
        for signal in TERM_SIGNALS.iter().chain(&[SIGHUP]) {
            signal_hook::flag::register(*signal, Arc::clone(&stop.0))
                .map_err(DemoError::cannot("watch signals"))?;
        }
        Ok(stop)
    }

    pub(super) fn check(&self) -> Result<(), DemoError> {
        if self.0.load(Ordering::Relaxed) { Err(DemoError::Interrupted) } else { Ok(()) }
    }
}
