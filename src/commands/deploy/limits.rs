//! The bounds that a launcher sets around the server.

use std::io;

use crate::settings::Settings;

/// Bounds around the process, as numbers to print.
pub(super) struct Limits {
    pub(super) tasks: String,
    pub(super) descriptors: String,
    /// From the request to end until the kill.
    pub(super) stop_seconds: String,
}

impl Limits {
    pub(super) fn of(settings: &Settings) -> io::Result<Self> {
        /// Each worker, one that replaces it while it is stuck, and for both a thread that looks up a name.
        const THREADS_A_WORKER: usize = 4;
        const OTHER_THREADS: usize = 64;
        /// Beyond the grace.
        const STOP_SECONDS: u64 = 5;
        let workers = settings.server.max_concurrency.saturating_mul(THREADS_A_WORKER);
        let grace = settings.server.shutdown_grace.as_secs();
        Ok(Self {
            tasks: workers.saturating_add(OTHER_THREADS).to_string(),
            descriptors: settings.needs()?.descriptors.to_string(),
            stop_seconds: grace.saturating_add(STOP_SECONDS).to_string(),
        })
    }
}
