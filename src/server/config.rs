//! The numbers of a session.

use std::time::Duration;

/// The numbers of a session; `settings` bounds each of them.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// The longest line of input in bytes.
    pub max_frame_bytes: usize,
    /// Workers, and also how many stuck ones are replaced.
    pub max_concurrency: usize,
    /// The longest wait of a call for a slot.
    pub queue_wait: Duration,
    /// The most calls that wait for a slot.
    pub queue_capacity: usize,
    /// The longest run before the watchdog answers in its place.
    pub call_timeout: Duration,
    /// The longest wait, at the end, for calls that still run.
    pub shutdown_grace: Duration,
}

impl Config {
    /// Returns the most descriptors that a session holds at once, connections to a database aside: the standard three
    /// and our copies of them, three pipes, and for every worker, also the stuck ones, those of a walk through a directory.
    pub fn descriptors(&self) -> u64 {
        const SESSION: usize = 32;
        const A_WORKER: usize = 4;
        let workers = self.max_concurrency.saturating_mul(2);
        u64::try_from(workers.saturating_mul(A_WORKER).saturating_add(SESSION)).unwrap_or(u64::MAX)
    }
}
