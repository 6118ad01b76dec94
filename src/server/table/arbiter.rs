//! The table of calls: the one arbiter of answers.
//!
//! An *entry* lives from a request to its answer: the thread that removes it owns the answer. A *run* lives from when a
//! worker picks the call until that worker is free again, which may be long after the answer.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::handover::{Due, Picked, Request, Taken};
use super::slots::{Admission, Slots};
use super::timers::{Alarm, Timers};
use crate::call::{Call, Interrupt, Serial};
use crate::governance::audit::Decision;
use crate::protocol::reply::Reply;
use crate::protocol::session;
use crate::server::config::Config;
use crate::server::refusal::{no_slot, timed_out};
use crate::tools::{Lane, LaneId};
use crate::wire::line::Line;
use crate::wire::request_id::RequestId;

/// The time after an interrupt at which a worker counts as stuck.
const STUCK_AFTER: Duration = Duration::from_secs(1);

/// The interval of progress notifications.
const PROGRESS_EVERY: Duration = Duration::from_secs(1);

/// The least wait of a call, whatever `MCP_QUEUE_WAIT_MS` is, for a slot whose last call was answered already, and for the
/// memory of its answer.
const SOON: Duration = Duration::from_secs(1);

/// The most bytes of arguments that wait in the queue.
pub(super) const MAX_QUEUED_BYTES: usize = 16 << 20;

/// The most subscriptions held open.
pub(crate) const MAX_SUBSCRIPTIONS: usize = 16;

#[derive(Debug)]
pub(crate) struct Table {
    config: Config,
    last_serial: u64,
    /// The call of each id in flight; none for a subscription.
    ids: HashMap<RequestId, Option<Serial>>,
    pub(super) calls: HashMap<Serial, Entry>,
    pub(crate) slots: Slots,
    pub(crate) timers: Timers,
    /// Bytes of arguments of waiting calls.
    pub(super) queued_bytes: usize,
    /// One clone for each answer that was taken and is not yet queued.
    debts: Arc<()>,
    /// No call comes any more: watchdog and workers end.
    pub(crate) is_closed: bool,
}

#[derive(Debug)]
pub(super) struct Entry {
    call: Request,
    registered: Instant,
    phase: Phase,
    interrupt: Interrupt,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Not yet at a worker.
    Waiting,
    /// At a worker, not yet permitted to run.
    Picked,
    /// Since this instant.
    Running(Instant),
}

impl Table {
    pub(crate) fn new<'l>(config: Config, lanes: impl Iterator<Item = (LaneId, &'l Lane)>) -> Self {
        Self {
            config,
            last_serial: 0,
            ids: HashMap::new(),
            calls: HashMap::new(),
            slots: Slots::new(config.max_concurrency, lanes),
            timers: Timers::default(),
            queued_bytes: 0,
            debts: Arc::default(),
            is_closed: false,
        }
    }

    /// Returns whether a request of this id is still being answered.
    pub(crate) fn holds(&self, id: &RequestId) -> bool {
        self.ids.contains_key(id)
    }

    /// Returns whether every call has been answered and every answer queued.
    pub(crate) fn is_idle(&self) -> bool {
        self.calls.is_empty() && Arc::strong_count(&self.debts) == 1
    }

    /// Registers a call; [`Table::holds`] must not know its id. Returns the answer to give when the queue is full.
    pub(crate) fn register(&mut self, call: Request, now: Instant) -> Option<Taken> {
        let waits = match self.slots.admission(call.lane) {
            Admission::Free => None,
            Admission::Soon => Some(self.config.queue_wait.max(SOON)),
            Admission::Wait(waiting) => {
                let queued = self.queued_bytes.saturating_add(call.bytes);
                let is_full = waiting > self.config.queue_capacity || queued > MAX_QUEUED_BYTES;
                if is_full || self.config.queue_wait.is_zero() {
                    let reply = Reply::new(call.id, call.era);
                    return Some(Taken::refused(reply, call.record, Decision::Undecided));
                }
                Some(self.config.queue_wait)
            }
        };
        self.last_serial = self.last_serial.wrapping_add(1);
        let serial = Serial(self.last_serial);
        if let Some(wait) = waits {
            self.timers.set(now + wait, serial, Alarm::QueueWait);
        }
        self.sweep_timers();
        self.ids.insert(call.id.clone(), Some(serial));
        self.queued_bytes = self.queued_bytes.saturating_add(call.bytes);
        self.slots.enter(serial, call.lane);
        let (phase, interrupt) = (Phase::Waiting, Interrupt::default());
        self.calls.insert(serial, Entry { call, registered: now, phase, interrupt });
        None
    }

    /// Takes the oldest waiting call that has a slot, for a worker that is free.
    pub(crate) fn pick(&mut self, now: Instant) -> Option<Picked> {
        let calls = &self.calls;
        let is_waiting = |serial| calls.get(&serial).is_some_and(|entry| entry.phase == Phase::Waiting);
        let (serial, lane) = self.slots.next(is_waiting)?;
        let entry = self.calls.get_mut(&serial)?;
        entry.phase = Phase::Picked;
        let job = std::mem::take(&mut entry.call.job);
        self.queued_bytes = self.queued_bytes.saturating_sub(entry.call.bytes);
        self.slots.begin(serial, lane, job.tool);
        let interrupt = entry.interrupt.clone();
        let reserve_until = (entry.registered + self.config.queue_wait).max(now + SOON);
        Some(Picked { serial, job, interrupt, reserve_until })
    }

    /// Begins the run of a picked call. `None`: it was answered or cancelled meanwhile.
    pub(crate) fn start(&mut self, serial: Serial, now: Instant) -> Option<Call> {
        let entry = self.calls.get_mut(&serial)?;
        entry.phase = Phase::Running(now);
        let deadline = now + self.config.call_timeout;
        self.timers.set(deadline, serial, Alarm::Deadline);
        if entry.call.progress.is_some() {
            self.timers.set(now + PROGRESS_EVERY, serial, Alarm::Progress);
        }
        let call = Call::new(deadline, entry.interrupt.clone());
        self.sweep_timers();
        Some(call)
    }

    fn sweep_timers(&mut self) {
        let (calls, runs) = (&self.calls, &self.slots.runs);
        let live = calls.len().saturating_add(runs.len());
        self.timers.sweep(live, |serial| calls.contains_key(&serial) || runs.contains_key(&serial));
    }

    /// Removes the call: the caller owns the answer. `None`: it was removed already.
    fn take(&mut self, serial: Serial) -> Option<Taken> {
        let Entry { call, phase, .. } = self.calls.remove(&serial)?;
        self.ids.remove(&call.id);
        if phase == Phase::Waiting {
            self.queued_bytes = self.queued_bytes.saturating_sub(call.bytes);
            let calls = &self.calls;
            self.slots.leave(call.lane, |serial| calls.contains_key(&serial));
        }
        let decision = match phase {
            Phase::Waiting | Phase::Picked => Decision::Undecided,
            Phase::Running(_) => Decision::Allow,
        };
        let taken = Taken::refused(Reply::new(call.id, call.era), call.record, decision);
        Some(Taken { serial: Some(serial), debt: Arc::clone(&self.debts), ..taken })
    }

    /// Removes the call for its worker, which has the answer. `None`: it was answered already.
    pub(crate) fn finish(&mut self, serial: Serial) -> Option<Taken> {
        self.slots.finishing(serial);
        self.take(serial)
    }

    /// Removes the call like [`Table::take`], and interrupts its run.
    fn take_and_stop(&mut self, serial: Serial, now: Instant) -> Option<Taken> {
        let entry = self.calls.get(&serial)?;
        let stop = entry.interrupt.set();
        if matches!(entry.phase, Phase::Running(_)) {
            self.timers.set(now + STUCK_AFTER, serial, Alarm::Stuck);
        }
        let taken = self.take(serial)?;
        Some(Taken { stop, ..taken })
    }

    /// Removes the call of this id and interrupts it; it is not answered. Also ends a subscription.
    pub(crate) fn cancel(&mut self, id: &RequestId, now: Instant) -> Option<Taken> {
        let Some(serial) = *self.ids.get(id)? else {
            self.ids.remove(id);
            return None;
        };
        self.take_and_stop(serial, now)
    }

    /// Removes every call, at the end.
    pub(crate) fn take_all(&mut self, now: Instant) -> Vec<Taken> {
        self.take_those(now, |_| true)
    }

    /// Discounts a worker that could not be started. When there is no other, removes every call that waits for one.
    pub(crate) fn lose_worker(&mut self, now: Instant) -> Vec<Taken> {
        if !self.slots.lose_worker() {
            return Vec::new();
        }
        self.take_those(now, |phase| phase == Phase::Waiting)
    }

    fn take_those(&mut self, now: Instant, wanted: fn(Phase) -> bool) -> Vec<Taken> {
        let chosen = self.calls.iter().filter(|(_, entry)| wanted(entry.phase));
        let mut serials: Vec<Serial> = chosen.map(|(serial, _)| *serial).collect();
        serials.sort_unstable();
        serials.into_iter().filter_map(|serial| self.take_and_stop(serial, now)).collect()
    }

    /// Opens a subscription; [`Table::holds`] must not know its id. `false`: as many as allowed are open.
    pub(crate) fn subscribe(&mut self, id: RequestId) -> bool {
        let open = self.ids.values().filter(|serial| serial.is_none()).count();
        if open >= MAX_SUBSCRIPTIONS {
            return false;
        }
        self.ids.insert(id, None);
        true
    }

    /// Ends every subscription, at the end.
    pub(crate) fn take_subscriptions(&mut self) -> Vec<RequestId> {
        let open = self.ids.extract_if(|_, serial| serial.is_none());
        open.map(|(id, _)| id).collect()
    }

    /// Returns the next task that is due at `now`.
    pub(crate) fn due(&mut self, now: Instant) -> Option<Due> {
        while let Some((serial, alarm)) = self.timers.pop_due(now) {
            let due = match alarm {
                Alarm::QueueWait => self.no_slot(serial),
                Alarm::Deadline => self.time_out(serial, now),
                Alarm::Progress => self.progress(serial, now).map(Due::Progress),
                Alarm::Stuck => self.slots.hang(serial).map(Due::Hung),
            };
            if due.is_some() {
                return due;
            }
        }
        None
    }

    fn no_slot(&mut self, serial: Serial) -> Option<Due> {
        let is_waiting = self.calls.get(&serial)?.phase == Phase::Waiting;
        is_waiting.then(|| self.take(serial)).flatten().map(|taken| Due::Answer(taken, no_slot()))
    }

    fn time_out(&mut self, serial: Serial, now: Instant) -> Option<Due> {
        let Some(taken) = self.take_and_stop(serial, now) else {
            // Answered in time, but the worker may still be busy with the work behind the answer.
            self.timers.set(now + STUCK_AFTER, serial, Alarm::Stuck);
            return None;
        };
        Some(Due::Answer(taken, timed_out()))
    }

    fn progress(&mut self, serial: Serial, now: Instant) -> Option<Line> {
        let entry = self.calls.get(&serial)?;
        let Phase::Running(since) = entry.phase else { return None };
        let seconds = now.saturating_duration_since(since).as_secs();
        let line = session::progress(entry.call.progress.as_ref()?, seconds);
        self.timers.set(now + PROGRESS_EVERY, serial, Alarm::Progress);
        Some(line)
    }
}
