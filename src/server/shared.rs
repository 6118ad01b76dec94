//! The state that every thread of a session shares.

use std::sync::atomic::Ordering;
use std::time::Instant;

use super::in_flight::InFlight;
use super::notices::Notices;
use super::outbox::Outbox;
use super::table::Taken;
use crate::call::{Outcome, WaitGroup};
use crate::governance::Governor;
use crate::tools::Toolbox;

/// The state that every thread of a session shares.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) toolbox: Toolbox,
    pub(super) governor: Governor,
    pub(super) in_flight: InFlight,
    pub(super) outbox: Outbox,
    pub(super) wait_group: WaitGroup,
    pub(super) notices: Notices,
}

impl Shared {
    /// Writes the record of a call, then sends the answer that `taken` owes; a cancelled call gets none.
    pub(super) fn settle(&self, taken: Taken, outcome: Option<&Outcome>) {
        let Taken { serial, reply, record, decision, stop, debt } = taken;
        record.close(decision, outcome, Instant::now());
        if let Some(outcome) = outcome {
            self.outbox.push(match outcome {
                Outcome::Answer(body) => reply.result(body),
                Outcome::Problem(problem) => reply.problem(problem),
                Outcome::Internal => reply.internal(),
                Outcome::Unavailable(what) => reply.unavailable(what.message(), what.retry_after()),
                Outcome::ShuttingDown => reply.shutting_down(),
            });
        }
        if let Some(serial) = serial {
            self.outbox.release(serial);
        }
        if let Some(stop) = stop {
            stop();
        }
        // INVARIANT: only now may main find nothing owed and close the outbox.
        drop(debt);
        if self.notices.draining.load(Ordering::Acquire) && self.in_flight.with(|table| table.is_idle()) {
            self.notices.main.wake();
        }
    }
}
