//! The table of calls: the one arbiter of answers.
//!
//! An *entry* lives from a request to its answer: the thread that removes it owns the answer. A *run* lives from when a
//! worker picks the call until that worker is free again, which may be long after the answer.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::handover::{Due, Job, Picked, Registered, Request, Taken};
use super::slots::{Admission, Slots};
use super::timers::{Alarm, Timers};
use crate::call::{Call, Interrupt, Serial};
use crate::governance::audit::{Decision, Record};
use crate::protocol::reply::Reply;
use crate::protocol::request::ProgressToken;
use crate::protocol::revision::Era;
use crate::protocol::session;
use crate::server::config::Config;
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
    ids: HashMap<RequestId, Holder>,
    pub(super) calls: HashMap<Serial, Entry>,
    pub(super) slots: Slots,
    pub(super) timers: Timers,
    /// Bytes of arguments of waiting calls.
    pub(super) queued_bytes: usize,
    /// One clone for each answer that was taken and is not yet queued.
    debts: Arc<()>,
    closed: bool,
}

#[derive(Debug)]
enum Holder {
    Call(Serial),
    Subscription,
}

#[derive(Debug)]
pub(super) struct Entry {
    id: RequestId,
    era: Era,
    lane: LaneId,
    registered: Instant,
    phase: Phase,
    progress: Option<ProgressToken>,
    interrupt: Interrupt,
    record: Record,
    bytes: usize,
}

#[derive(Debug)]
enum Phase {
    /// Not yet at a worker.
    Waiting(Job),
    /// At a worker, not yet permitted to run.
    Picked,
    Running {
        since: Instant,
    },
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
            closed: false,
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

    /// Ends the watchdog's interest in the table.
    pub(crate) fn close(&mut self) {
        self.closed = true;
    }

    /// Returns whether [`Table::close`] was called.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed
    }

    /// Returns the time at which [`Table::due`] has something to return.
    pub(crate) fn next_alarm(&self) -> Option<Instant> {
        self.timers.next()
    }

    /// Counts the workers that the calls at hand can use.
    pub(crate) fn workers_wanted(&self) -> usize {
        self.slots.workers_wanted()
    }

    /// Returns whether some waiting call has a slot.
    pub(crate) fn has_startable(&self) -> bool {
        self.slots.has_startable()
    }

    /// Registers a call; [`Table::holds`] must not know its id.
    pub(crate) fn register(&mut self, request: Request, now: Instant) -> Registered {
        let Request { id, era, lane, job, progress, record, bytes } = request;
        let waits = match self.slots.admission(lane) {
            Admission::Free => None,
            Admission::Soon => Some(self.config.queue_wait.max(SOON)),
            Admission::Wait(waiting) => {
                let queued = self.queued_bytes.saturating_add(bytes);
                let is_full = waiting > self.config.queue_capacity || queued > MAX_QUEUED_BYTES;
                if is_full || self.config.queue_wait.is_zero() {
                    return Registered::Full(Taken::refused(
                        Reply::new(id, era),
                        record,
                        Decision::Undecided,
                    ));
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
        self.ids.insert(id.clone(), Holder::Call(serial));
        self.queued_bytes = self.queued_bytes.saturating_add(bytes);
        self.slots.enter(serial, lane);
        let (phase, interrupt) = (Phase::Waiting(job), Interrupt::default());
        let entry = Entry { id, era, lane, registered: now, phase, progress, interrupt, record, bytes };
        self.calls.insert(serial, entry);
        Registered::Waiting
    }

    /// Takes the oldest waiting call that has a slot, for a worker that is free.
    pub(crate) fn pick(&mut self, now: Instant) -> Option<Picked> {
        let calls = &self.calls;
        let is_waiting =
            |serial| calls.get(&serial).is_some_and(|entry| matches!(entry.phase, Phase::Waiting(_)));
        let (serial, lane) = self.slots.next(is_waiting)?;
        let entry = self.calls.get_mut(&serial)?;
        let Phase::Waiting(job) = std::mem::replace(&mut entry.phase, Phase::Picked) else { return None };
        self.queued_bytes = self.queued_bytes.saturating_sub(entry.bytes);
        self.slots.begin(serial, lane, job.tool);
        let interrupt = entry.interrupt.clone();
        let reserve_until = (entry.registered + self.config.queue_wait).max(now + SOON);
        Some(Picked { serial, job, interrupt, reserve_until })
    }

    /// Begins the run of a picked call. `None`: it was answered or cancelled meanwhile.
    pub(crate) fn start(&mut self, serial: Serial, now: Instant) -> Option<Call> {
        let entry = self.calls.get_mut(&serial)?;
        entry.phase = Phase::Running { since: now };
        let deadline = now + self.config.call_timeout;
        self.timers.set(deadline, serial, Alarm::Deadline);
        if entry.progress.is_some() {
            self.timers.set(now + PROGRESS_EVERY, serial, Alarm::Progress);
        }
        let call = Call::new(serial, deadline, entry.interrupt.clone());
        self.sweep_timers();
        Some(call)
    }

    fn sweep_timers(&mut self) {
        let (calls, slots) = (&self.calls, &self.slots);
        let live = calls.len().saturating_add(slots.runs());
        self.timers.sweep(live, |serial| calls.contains_key(&serial) || slots.has_run(serial));
    }

    /// Removes the call: the caller owns the answer. `None`: it was removed already.
    fn take(&mut self, serial: Serial) -> Option<Taken> {
        let entry = self.calls.remove(&serial)?;
        self.ids.remove(&entry.id);
        let mut decision = Decision::Undecided;
        match entry.phase {
            Phase::Waiting(_) => {
                self.queued_bytes = self.queued_bytes.saturating_sub(entry.bytes);
                let calls = &self.calls;
                self.slots.leave(entry.lane, |serial| calls.contains_key(&serial));
            }
            Phase::Picked => {}
            Phase::Running { .. } => decision = Decision::Allow,
        }
        let reply = Reply::new(entry.id, entry.era);
        let debt = Arc::clone(&self.debts);
        Some(Taken { serial: Some(serial), reply, record: entry.record, decision, stop: None, debt })
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
        if matches!(entry.phase, Phase::Running { .. }) {
            self.timers.set(now + STUCK_AFTER, serial, Alarm::Stuck);
        }
        let taken = self.take(serial)?;
        Some(Taken { stop, ..taken })
    }

    /// Removes the call of this id and interrupts it; it is not answered. Also ends a subscription.
    pub(crate) fn cancel(&mut self, id: &RequestId, now: Instant) -> Option<Taken> {
        match self.ids.get(id)? {
            Holder::Call(serial) => {
                let serial = *serial;
                self.take_and_stop(serial, now)
            }
            Holder::Subscription => {
                self.ids.remove(id);
                None
            }
        }
    }

    /// Removes every call, at the end.
    pub(crate) fn take_all(&mut self, now: Instant) -> Vec<Taken> {
        let mut serials: Vec<Serial> = self.calls.keys().copied().collect();
        serials.sort_unstable();
        serials.into_iter().filter_map(|serial| self.take_and_stop(serial, now)).collect()
    }

    /// The worker is free again. `true`: another one has taken its place.
    pub(crate) fn release(&mut self, serial: Serial) -> bool {
        self.slots.release(serial)
    }

    /// Removes every call that no worker has, because there is no worker.
    pub(crate) fn take_waiting(&mut self, now: Instant) -> Vec<Taken> {
        let waiting = self.calls.iter().filter(|(_, entry)| matches!(entry.phase, Phase::Waiting(_)));
        let serials: Vec<Serial> = waiting.map(|(serial, _)| *serial).collect();
        serials.into_iter().filter_map(|serial| self.take_and_stop(serial, now)).collect()
    }

    /// Opens a subscription; [`Table::holds`] must not know its id. `false`: as many as allowed are open.
    pub(crate) fn subscribe(&mut self, id: RequestId) -> bool {
        let open = self.ids.values().filter(|holder| matches!(holder, Holder::Subscription)).count();
        if open >= MAX_SUBSCRIPTIONS {
            return false;
        }
        self.ids.insert(id, Holder::Subscription);
        true
    }

    /// Ends every subscription, at the end.
    pub(crate) fn take_subscriptions(&mut self) -> Vec<RequestId> {
        let open = self.ids.extract_if(|_, holder| matches!(holder, Holder::Subscription));
        open.map(|(id, _)| id).collect()
    }

    /// Returns the next task that is due at `now`.
    pub(crate) fn due(&mut self, now: Instant) -> Option<Due> {
        while let Some((serial, alarm)) = self.timers.pop_due(now) {
            let due = match alarm {
                Alarm::QueueWait => self.no_slot(serial),
                Alarm::Deadline => self.take_and_stop(serial, now).map(Due::TimedOut).or_else(|| {
                    // Answered in time, but the worker may still be busy with the work behind the answer.
                    self.timers.set(now + STUCK_AFTER, serial, Alarm::Stuck);
                    None
                }),
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
        match self.calls.get(&serial)?.phase {
            Phase::Waiting(_) => self.take(serial).map(Due::NoSlot),
            Phase::Picked | Phase::Running { .. } => None,
        }
    }

    fn progress(&mut self, serial: Serial, now: Instant) -> Option<Line> {
        let entry = self.calls.get(&serial)?;
        let Phase::Running { since } = entry.phase else { return None };
        let line =
            session::progress(entry.progress.as_ref()?, now.saturating_duration_since(since).as_secs());
        self.timers.set(now + PROGRESS_EVERY, serial, Alarm::Progress);
        Some(line)
    }
}
