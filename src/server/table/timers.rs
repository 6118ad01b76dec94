//! The instants at which the watchdog looks at a call again.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Instant;

use crate::call::Serial;

/// The question to ask about a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Alarm {
    /// Has the call got a slot?
    QueueWait,
    /// Has the call been answered?
    Deadline,
    /// Is the client to learn that the call still runs?
    Progress,
    /// Is the worker back, long after the call was interrupted?
    Stuck,
}

/// Stale entries below this number are not worth sweeping.
const SWEEP_FROM: usize = 256;

/// Alarms in the order they are due. An alarm whose call is gone stays until it is due or swept, which costs less than
/// finding it.
#[derive(Debug, Default)]
pub(crate) struct Timers {
    heap: BinaryHeap<Reverse<(Instant, Serial, Alarm)>>,
}

impl Timers {
    /// Adds an alarm. `true` when it is now the earliest.
    pub(super) fn set(&mut self, at: Instant, serial: Serial, alarm: Alarm) -> bool {
        let earliest = self.next().is_none_or(|next| at < next);
        self.heap.push(Reverse((at, serial, alarm)));
        earliest
    }

    /// Returns the time of the next alarm.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.heap.peek().map(|Reverse((at, _, _))| *at)
    }

    /// Takes an alarm that is due.
    pub(super) fn pop_due(&mut self, now: Instant) -> Option<(Serial, Alarm)> {
        if self.next()? > now {
            return None;
        }
        self.heap.pop().map(|Reverse((_, serial, alarm))| (serial, alarm))
    }

    /// Forgets alarms of calls that are gone once they outnumber those of the `live` ones by far.
    pub(super) fn sweep(&mut self, live: usize, is_live: impl Fn(Serial) -> bool) {
        if self.heap.len() > SWEEP_FROM.max(live.saturating_mul(8)) {
            self.heap.retain(|Reverse((_, serial, _))| is_live(*serial));
        }
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.heap.len()
    }
}
