//! Who still owes an answer, as pure state: no clock, no lock, no thread.
//!
//! Two lives are kept apart. A *call* lives from its request to its answer; whoever removes it owns the answer. A *run*
//! lives from when a worker picks the call until that worker is free again, which may be long after the answer.

use std::{
    collections::HashMap,
    fmt,
    sync::Arc,
    time::{Duration, Instant},
};

use serde_json::{Map, Value};

use crate::{
    call::{Call, Interrupt, Serial, StopAction},
    governance::audit::{Decision, Record},
    protocol::{
        reply::{self, Reply},
        request::ProgressToken,
        revision::Era,
    },
    server::{
        slots::{Admission, Hung, Slots},
        timers::{Alarm, Timers},
    },
    tools::Lane,
    wire::jsonrpc::{Line, RequestId},
};

/// How long after it was told to stop a worker counts as stuck.
const STUCK_AFTER: Duration = Duration::from_secs(1);

/// How often a client hears that its call still runs.
const PROGRESS_EVERY: Duration = Duration::from_secs(1);

/// How long a call may wait, whatever `MCP_QUEUE_WAIT_MS` says, for a slot whose last call was answered already, and for
/// room for its answer.
const SOON: Duration = Duration::from_secs(1);

/// The most bytes of arguments that wait in the queue.
const MAX_QUEUED_BYTES: usize = 16 << 20;

/// The most subscriptions held open.
pub(super) const MAX_SUBSCRIPTIONS: usize = 16;

/// The numbers that bound the table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Workers, and also how many stuck ones are replaced.
    pub(super) workers: usize,
    /// Workers that SQL calls may take at a time.
    pub(super) sql_lane: usize,
    /// Calls that may wait for a slot.
    pub(super) queue_capacity: usize,
    /// How long they may wait.
    pub(super) queue_wait: Duration,
    /// How long a run may take.
    pub(super) call_timeout: Duration,
}

/// A call as the reader understood it.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) id: RequestId,
    pub(super) era: Era,
    pub(super) lane: Lane,
    pub(super) job: Job,
    pub(super) progress: Option<ProgressToken>,
    pub(super) record: Record,
    /// What the arguments weigh in the queue.
    pub(super) bytes: usize,
}

/// What a worker needs to begin.
#[derive(Debug)]
pub(super) struct Job {
    /// The tool's place in the toolbox.
    pub(super) tool: usize,
    /// Sanitized arguments.
    pub(super) arguments: Map<String, Value>,
}

/// What became of a registered call.
#[derive(Debug)]
#[must_use]
pub(super) enum Registered {
    /// It waits for a worker to ask for it.
    Waiting,
    /// The queue is full: answer it.
    Full(Taken),
}

/// A call that a worker has taken from the queue.
#[derive(Debug)]
pub(super) struct Picked {
    pub(super) serial: Serial,
    pub(super) job: Job,
    pub(super) interrupt: Interrupt,
    /// How long it may wait for room for its answer.
    pub(super) room_until: Instant,
}

/// A call that was removed: the answer is owed by whoever holds this.
#[must_use]
pub(super) struct Taken {
    /// None for a call that was refused before it had one.
    pub(super) serial: Option<Serial>,
    pub(super) reply: Reply,
    pub(super) record: Record,
    pub(super) decision: Decision,
    pub(super) stop: Option<StopAction>,
    /// Held until the answer is queued: [`Table::is_idle`] waits for it.
    pub(super) debt: Arc<()>,
}

impl Taken {
    /// A call that was never taken in.
    pub(super) fn refused(reply: Reply, record: Record, decision: Decision) -> Self {
        Self { serial: None, reply, record, decision, stop: None, debt: Arc::default() }
    }
}

impl fmt::Debug for Taken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Taken").field("reply", &self.reply).finish_non_exhaustive()
    }
}

/// What the watchdog has to do.
#[derive(Debug)]
pub(super) enum Due {
    /// No slot was free in time.
    NoSlot(Taken),
    /// The deadline passed.
    TimedOut(Taken),
    /// The client wants to know that its call still runs. Must be queued before the table's lock is released, else it
    /// could come after the answer.
    Progress(Line),
    /// A worker hangs.
    Hung(Hung),
}

#[derive(Debug)]
pub(super) struct Table {
    limits: Limits,
    last_serial: u64,
    ids: HashMap<RequestId, Holder>,
    calls: HashMap<Serial, Entry>,
    slots: Slots,
    timers: Timers,
    /// Bytes of arguments of waiting calls.
    queued_bytes: usize,
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
struct Entry {
    id: RequestId,
    era: Era,
    lane: Lane,
    registered: Instant,
    phase: Phase,
    progress: Option<ProgressToken>,
    interrupt: Interrupt,
    record: Record,
    bytes: usize,
}

#[derive(Debug)]
enum Phase {
    /// No worker has it yet.
    Waiting(Job),
    /// At a worker, not yet permitted to run.
    Picked,
    Running {
        since: Instant,
    },
}

impl Table {
    pub(super) fn new(limits: Limits) -> Self {
        Self {
            limits,
            last_serial: 0,
            ids: HashMap::new(),
            calls: HashMap::new(),
            slots: Slots::new(limits.workers, limits.sql_lane),
            timers: Timers::default(),
            queued_bytes: 0,
            debts: Arc::default(),
            closed: false,
        }
    }

    /// Whether a request of this id is still being answered.
    pub(super) fn holds(&self, id: &RequestId) -> bool {
        self.ids.contains_key(id)
    }

    /// Whether every call has been answered, down to the answers that were taken and are not yet queued.
    pub(super) fn is_idle(&self) -> bool {
        self.calls.is_empty() && Arc::strong_count(&self.debts) == 1
    }

    /// Nothing will be asked of the table any more.
    pub(super) fn close(&mut self) {
        self.closed = true;
    }

    /// Whether [`Table::close`] was called.
    pub(super) fn is_closed(&self) -> bool {
        self.closed
    }

    /// When [`Table::due`] should next be asked.
    pub(super) fn next_alarm(&self) -> Option<Instant> {
        self.timers.next()
    }

    /// How many workers the calls at hand can use.
    pub(super) fn workers_wanted(&self) -> usize {
        self.slots.workers_wanted()
    }

    /// Whether some waiting call has a slot.
    pub(super) fn has_startable(&self) -> bool {
        self.slots.has_startable()
    }

    /// Takes in a call whose id [`Table::holds`] not.
    pub(super) fn register(&mut self, request: Request, now: Instant) -> Registered {
        let Request { id, era, lane, job, progress, record, bytes } = request;
        let waits = match self.slots.admission(lane) {
            Admission::Free => None,
            Admission::Soon => Some(self.limits.queue_wait.max(SOON)),
            Admission::Wait(waiting) => {
                let queued = self.queued_bytes.saturating_add(bytes);
                let is_full = waiting > self.limits.queue_capacity || queued > MAX_QUEUED_BYTES;
                if is_full || self.limits.queue_wait.is_zero() {
                    return Registered::Full(Taken::refused(
                        Reply::new(id, era),
                        record,
                        Decision::Undecided,
                    ));
                }
                Some(self.limits.queue_wait)
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

    /// The oldest waiting call that has a slot, for a worker that is free.
    pub(super) fn pick(&mut self, now: Instant) -> Option<Picked> {
        let calls = &self.calls;
        let is_waiting =
            |serial| calls.get(&serial).is_some_and(|entry| matches!(entry.phase, Phase::Waiting(_)));
        let (serial, lane) = self.slots.next(is_waiting)?;
        let entry = self.calls.get_mut(&serial)?;
        let Phase::Waiting(job) = std::mem::replace(&mut entry.phase, Phase::Picked) else { return None };
        self.queued_bytes = self.queued_bytes.saturating_sub(entry.bytes);
        self.slots.begin(serial, lane, job.tool);
        let interrupt = entry.interrupt.clone();
        let room_until = (entry.registered + self.limits.queue_wait).max(now + SOON);
        Some(Picked { serial, job, interrupt, room_until })
    }

    /// The call may run from now on until its deadline. `None`: it was answered or cancelled meanwhile.
    pub(super) fn start(&mut self, serial: Serial, now: Instant) -> Option<Call> {
        let entry = self.calls.get_mut(&serial)?;
        entry.phase = Phase::Running { since: now };
        let deadline = now + self.limits.call_timeout;
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

    /// Removes the call: the answer is the taker's. `None`: somebody else has it.
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

    /// The worker has the answer. `None`: somebody else gave one.
    pub(super) fn finish(&mut self, serial: Serial) -> Option<Taken> {
        self.slots.finishing(serial);
        self.take(serial)
    }

    /// Like [`Table::take`], and tells the run to stop.
    fn take_and_stop(&mut self, serial: Serial, now: Instant) -> Option<Taken> {
        let entry = self.calls.get(&serial)?;
        let stop = entry.interrupt.set();
        if matches!(entry.phase, Phase::Running { .. }) {
            self.timers.set(now + STUCK_AFTER, serial, Alarm::Stuck);
        }
        let taken = self.take(serial)?;
        Some(Taken { stop, ..taken })
    }

    /// Removes the call of this id and tells it to stop; it is not to be answered. Also ends a subscription.
    pub(super) fn cancel(&mut self, id: &RequestId, now: Instant) -> Option<Taken> {
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
    pub(super) fn take_all(&mut self, now: Instant) -> Vec<Taken> {
        let mut serials: Vec<Serial> = self.calls.keys().copied().collect();
        serials.sort_unstable();
        serials.into_iter().filter_map(|serial| self.take_and_stop(serial, now)).collect()
    }

    /// The worker is free again. `true`: another one has taken its place.
    pub(super) fn release(&mut self, serial: Serial) -> bool {
        self.slots.release(serial)
    }

    /// Removes every call that no worker has, because there is no worker.
    pub(super) fn take_waiting(&mut self, now: Instant) -> Vec<Taken> {
        let waiting = self.calls.iter().filter(|(_, entry)| matches!(entry.phase, Phase::Waiting(_)));
        let serials: Vec<Serial> = waiting.map(|(serial, _)| *serial).collect();
        serials.into_iter().filter_map(|serial| self.take_and_stop(serial, now)).collect()
    }

    /// Opens a subscription under an id that [`Table::holds`] not. `false`: enough are open.
    pub(super) fn subscribe(&mut self, id: RequestId) -> bool {
        let open = self.ids.values().filter(|holder| matches!(holder, Holder::Subscription)).count();
        if open >= MAX_SUBSCRIPTIONS {
            return false;
        }
        self.ids.insert(id, Holder::Subscription);
        true
    }

    /// Ends every subscription, at the end.
    pub(super) fn take_subscriptions(&mut self) -> Vec<RequestId> {
        let open = self.ids.extract_if(|_, holder| matches!(holder, Holder::Subscription));
        open.map(|(id, _)| id).collect()
    }

    /// The next thing that is due at `now`.
    pub(super) fn due(&mut self, now: Instant) -> Option<Due> {
        while let Some((serial, alarm)) = self.timers.pop_due(now) {
            let due = match alarm {
                Alarm::QueueWait => self.no_slot(serial),
                Alarm::Deadline => self.take_and_stop(serial, now).map(Due::TimedOut).or_else(|| {
                    // Answered in time, but the worker may still be at what comes afterwards.
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
        let line = reply::progress(entry.progress.as_ref()?, now.saturating_duration_since(since).as_secs());
        self.timers.set(now + PROGRESS_EVERY, serial, Alarm::Progress);
        Some(line)
    }
}

#[cfg(test)]
mod tests;
