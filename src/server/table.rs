//! Who still owes an answer, as pure state: no clock, no lock, no thread.
//!
//! Two lives are kept apart. A *call* lives from its request to its answer; whoever removes it owns the answer. A *run*
//! lives from being handed to the pool until its worker is free again, which may be long after the answer.

use std::{
    collections::{HashMap, VecDeque},
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
    server::timers::{Alarm, Timers},
    tools::Lane,
    wire::jsonrpc::{Line, RequestId},
};

/// How long after it was told to stop a worker counts as stuck.
const STUCK_AFTER: Duration = Duration::from_secs(1);

/// How often a client hears that its call still runs.
const PROGRESS_EVERY: Duration = Duration::from_secs(1);

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
    /// Hand it to the pool now.
    Ready(Serial),
    /// It waits for its lane; [`Table::release`] will name it.
    Parked,
    /// The queue is full: answer it.
    Full(Taken),
}

/// A call that was removed: the answer is owed by whoever holds this.
#[must_use]
pub(super) struct Taken {
    pub(super) reply: Reply,
    pub(super) record: Record,
    pub(super) decision: Decision,
    pub(super) stop: Option<StopAction>,
    /// Held until the answer is queued: [`Table::is_idle`] waits for it.
    pub(super) debt: Arc<()>,
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
    /// A worker hangs. `next` may run in its place.
    Stuck { tool: usize, replaced: bool, next: Option<Serial> },
}

/// What a worker learns when it is free again.
#[derive(Debug, Default)]
#[must_use]
pub(super) struct Released {
    /// A parked call whose turn it is: hand it to the pool.
    pub(super) next: Option<Serial>,
    /// Another worker has taken this one's place: end.
    pub(super) replaced: bool,
}

#[derive(Debug)]
pub(super) struct Table {
    limits: Limits,
    last_serial: u64,
    ids: HashMap<RequestId, Holder>,
    calls: HashMap<Serial, Entry>,
    runs: HashMap<Serial, Run>,
    timers: Timers,
    /// SQL calls whose lane was full, oldest first; may name calls that are gone.
    parked: VecDeque<Serial>,
    count: Counts,
    /// One clone for each answer that was taken and is not yet queued.
    debts: Arc<()>,
    closed: bool,
}

/// Sums over `calls` and `runs`, kept so that nobody has to walk them.
#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    /// Calls in the pool's queue.
    ready: usize,
    /// Calls in `parked`.
    parked: usize,
    /// Workers with a run, stuck ones that were replaced not counted.
    busy: usize,
    /// SQL runs, stuck ones not counted.
    sql: usize,
    /// Stuck workers that were replaced.
    replaced: usize,
    /// Bytes of arguments of `ready` and `parked` calls.
    bytes: usize,
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
    phase: Phase,
    progress: Option<ProgressToken>,
    interrupt: Interrupt,
    record: Record,
    bytes: usize,
}

#[derive(Debug)]
enum Phase {
    Ready(Job),
    Parked(Job),
    /// At a worker, not yet permitted to run.
    Picked,
    Running {
        since: Instant,
    },
}

#[derive(Debug)]
struct Run {
    lane: Lane,
    tool: usize,
    place: Place,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Queue,
    Worker,
    /// At a worker that hangs; another one may have taken its place.
    Stuck {
        replaced: bool,
    },
}

impl Table {
    pub(super) fn new(limits: Limits) -> Self {
        Self {
            limits,
            last_serial: 0,
            ids: HashMap::new(),
            calls: HashMap::new(),
            runs: HashMap::new(),
            timers: Timers::default(),
            parked: VecDeque::new(),
            count: Counts::default(),
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
        self.count.busy.saturating_add(self.count.ready).min(self.limits.workers)
    }

    /// Takes in a call whose id [`Table::holds`] not.
    pub(super) fn register(&mut self, request: Request, now: Instant) -> Registered {
        let Request { id, era, lane, job, progress, record, bytes } = request;
        let parks = lane == Lane::Sql && self.count.sql >= self.limits.sql_lane;
        let overflow = self.count.busy.saturating_add(self.count.ready).saturating_add(usize::from(!parks));
        let waiting = overflow
            .saturating_sub(self.limits.workers)
            .saturating_add(self.count.parked)
            .saturating_add(usize::from(parks));
        let must_wait = parks || overflow > self.limits.workers;
        let full = waiting > self.limits.queue_capacity
            || self.count.bytes.saturating_add(bytes) > MAX_QUEUED_BYTES
            || (must_wait && self.limits.queue_wait.is_zero());
        if full {
            let reply = Reply::new(id, era);
            return Registered::Full(Taken {
                reply,
                record,
                decision: Decision::Undecided,
                stop: None,
                debt: Arc::default(),
            });
        }
        self.last_serial = self.last_serial.wrapping_add(1);
        let serial = Serial(self.last_serial);
        if must_wait {
            self.timers.set(now + self.limits.queue_wait, serial, Alarm::QueueWait);
        }
        self.ids.insert(id.clone(), Holder::Call(serial));
        self.count.bytes = self.count.bytes.saturating_add(bytes);
        let tool = job.tool;
        let phase = if parks { Phase::Parked(job) } else { Phase::Ready(job) };
        let interrupt = Interrupt::default();
        self.calls.insert(serial, Entry { id, era, phase, progress, interrupt, record, bytes });
        if parks {
            self.count.parked += 1;
            self.parked.push_back(serial);
            return Registered::Parked;
        }
        self.enter_queue(serial, lane, tool);
        Registered::Ready(serial)
    }

    fn enter_queue(&mut self, serial: Serial, lane: Lane, tool: usize) {
        self.count.ready += 1;
        self.count.sql += usize::from(lane == Lane::Sql);
        self.runs.insert(serial, Run { lane, tool, place: Place::Queue });
    }

    /// A worker takes the run from the queue. `None`: the call is gone; the worker still has to release the run.
    pub(super) fn pick(&mut self, serial: Serial) -> Option<Job> {
        let run = self.runs.get_mut(&serial)?;
        run.place = Place::Worker;
        self.count.busy += 1;
        let entry = self.calls.get_mut(&serial)?;
        match std::mem::replace(&mut entry.phase, Phase::Picked) {
            Phase::Ready(job) => {
                self.count.ready -= 1;
                self.count.bytes = self.count.bytes.saturating_sub(entry.bytes);
                Some(job)
            }
            other @ (Phase::Parked(_) | Phase::Picked | Phase::Running { .. }) => {
                entry.phase = other;
                None
            }
        }
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
        let (calls, runs) = (&self.calls, &self.runs);
        self.timers.sweep(calls.len().saturating_add(runs.len()), |serial| {
            calls.contains_key(&serial) || runs.contains_key(&serial)
        });
        Some(call)
    }

    /// Removes the call: the answer is the taker's. `None`: somebody else has it.
    pub(super) fn take(&mut self, serial: Serial) -> Option<Taken> {
        let entry = self.calls.remove(&serial)?;
        self.ids.remove(&entry.id);
        let mut decision = Decision::Undecided;
        match entry.phase {
            Phase::Ready(_) => {
                self.count.ready -= 1;
                self.count.bytes = self.count.bytes.saturating_sub(entry.bytes);
            }
            Phase::Parked(_) => {
                self.count.parked -= 1;
                self.count.bytes = self.count.bytes.saturating_sub(entry.bytes);
                self.forget_parked();
            }
            Phase::Picked => {}
            Phase::Running { .. } => decision = Decision::Allow,
        }
        let reply = Reply::new(entry.id, entry.era);
        Some(Taken { reply, record: entry.record, decision, stop: None, debt: Arc::clone(&self.debts) })
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

    /// The worker is free again.
    pub(super) fn release(&mut self, serial: Serial) -> Released {
        let Some(run) = self.runs.remove(&serial) else { return Released::default() };
        match run.place {
            Place::Queue => Released::default(),
            Place::Worker => {
                self.count.busy -= 1;
                Released { next: self.leave_lane(run.lane), replaced: false }
            }
            Place::Stuck { replaced: true } => {
                self.count.replaced -= 1;
                Released { next: None, replaced: true }
            }
            Place::Stuck { replaced: false } => {
                self.count.busy -= 1;
                Released::default()
            }
        }
    }

    /// Takes back a run that did not fit into the pool's queue; its call is removed with it.
    pub(super) fn withdraw(&mut self, serial: Serial) -> (Option<Taken>, Option<Serial>) {
        let taken = self.take(serial);
        let lane = self.runs.remove(&serial).map(|run| run.lane);
        (taken, lane.and_then(|lane| self.leave_lane(lane)))
    }

    /// A run leaves its lane; the oldest parked call that is still wanted enters it.
    fn leave_lane(&mut self, lane: Lane) -> Option<Serial> {
        match lane {
            Lane::General => return None,
            Lane::Sql => self.count.sql -= 1,
        }
        while let Some(serial) = self.parked.pop_front() {
            let Some(entry) = self.calls.get_mut(&serial) else { continue };
            let Phase::Parked(job) = std::mem::replace(&mut entry.phase, Phase::Picked) else { continue };
            let tool = job.tool;
            entry.phase = Phase::Ready(job);
            self.count.parked -= 1;
            self.enter_queue(serial, lane, tool);
            return Some(serial);
        }
        None
    }

    fn forget_parked(&mut self) {
        if self.parked.len() > self.count.parked.saturating_mul(2).saturating_add(64) {
            let calls = &self.calls;
            self.parked.retain(|serial| calls.contains_key(serial));
        }
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
                Alarm::Stuck => self.stuck(serial),
            };
            if due.is_some() {
                return due;
            }
        }
        None
    }

    fn no_slot(&mut self, serial: Serial) -> Option<Due> {
        match self.calls.get(&serial)?.phase {
            Phase::Ready(_) | Phase::Parked(_) => self.take(serial).map(Due::NoSlot),
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

    fn stuck(&mut self, serial: Serial) -> Option<Due> {
        let run = self.runs.get_mut(&serial)?;
        if run.place != Place::Worker {
            return None;
        }
        let replaced = self.count.replaced < self.limits.workers;
        run.place = Place::Stuck { replaced };
        let (lane, tool) = (run.lane, run.tool);
        if replaced {
            self.count.replaced += 1;
            self.count.busy -= 1;
        }
        Some(Due::Stuck { tool, replaced, next: self.leave_lane(lane) })
    }
}

#[cfg(test)]
mod tests;
