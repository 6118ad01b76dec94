//! Picks the call that runs next: the calls that wait, oldest first, and the workers that are taken. Pure state.

use std::collections::{HashMap, VecDeque};

use crate::call::Serial;
use crate::tools::{Lane, LaneId};

/// The workers of a session, divided among lanes: each lane takes at most its capacity.
#[derive(Debug)]
pub(crate) struct Slots {
    workers: usize,
    lanes: Vec<Queue>,
    /// Runs of workers, stuck ones included.
    pub(super) runs: HashMap<Serial, Run>,
    total: Counts,
    /// Stuck workers that were replaced.
    replaced: usize,
    /// Workers that take calls; those that hang and were replaced not counted.
    alive: usize,
    /// Numbers the next worker.
    spawned: usize,
}

/// The calls of one lane.
#[derive(Debug)]
struct Queue {
    id: LaneId,
    capacity: usize,
    /// Waiting calls, oldest first; may name calls that are gone.
    waiting: VecDeque<Serial>,
    count: Counts,
}

/// Counts of one lane, or of all. Kept as sums, so that nothing is walked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// Calls that wait and are still wanted.
    pub(super) waiting: usize,
    /// Workers with a run. Those that hang count in the total only, until they are replaced.
    pub(super) busy: usize,
    /// Of those, the ones whose call was answered.
    pub(super) finishing: usize,
}

#[derive(Debug)]
pub(super) struct Run {
    lane: LaneId,
    tool: usize,
    state: RunState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RunState {
    Working,
    /// The call was answered; the work behind the answer, such as a ROLLBACK, still takes the worker.
    Finishing,
    /// The worker hangs; another one may have taken its place.
    Stuck {
        replaced: bool,
    },
}

/// The prospects of a new call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Admission {
    /// A slot.
    Free,
    /// A slot that is about to be free: its last call was answered already.
    Soon,
    /// Not a slot: with this call, so many wait.
    Wait(usize),
}

/// A worker that hangs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hung {
    /// The tool it hangs in.
    pub(crate) tool: usize,
    /// Another worker may take its place.
    pub(crate) replaced: bool,
}

impl Slots {
    pub(super) fn new<'l>(workers: usize, lanes: impl Iterator<Item = (LaneId, &'l Lane)>) -> Self {
        let queue = |(id, lane): (LaneId, &Lane)| {
            let (waiting, count) = (VecDeque::new(), Counts::default());
            Queue { id, capacity: lane.capacity, waiting, count }
        };
        let lanes = lanes.map(queue).collect();
        Self {
            workers,
            lanes,
            runs: HashMap::new(),
            total: Counts::default(),
            replaced: 0,
            alive: 0,
            spawned: 0,
        }
    }

    /// Changes the counts of a lane and the total.
    fn count(&mut self, lane: LaneId, change: impl Fn(&mut Counts)) {
        change(&mut self.total);
        if let Some(queue) = self.lanes.get_mut(lane.index()) {
            change(&mut queue.count);
        }
    }

    /// Returns the prospects of one more call of this lane.
    pub(super) fn admission(&self, lane: LaneId) -> Admission {
        if self.waiting_with(lane, |count| count.busy) == 0 {
            return Admission::Free;
        }
        match self.waiting_with(lane, |count| count.busy.saturating_sub(count.finishing)) {
            0 => Admission::Soon,
            waiting => Admission::Wait(waiting),
        }
    }

    /// Counts the calls, one more of `lane` included, that find no slot when so many workers are `taken`.
    fn waiting_with(&self, lane: LaneId, taken: impl Fn(&Counts) -> usize) -> usize {
        let mut fitting: usize = 0;
        for queue in &self.lanes {
            let waiting = queue.count.waiting.saturating_add(usize::from(queue.id == lane));
            fitting = fitting.saturating_add(waiting.min(queue.capacity.saturating_sub(taken(&queue.count))));
        }
        let free = self.workers.saturating_sub(taken(&self.total));
        self.total.waiting.saturating_add(1).saturating_sub(fitting.min(free))
    }

    /// A call begins to wait, if only for a moment.
    pub(super) fn enter(&mut self, serial: Serial, lane: LaneId) {
        if let Some(queue) = self.lanes.get_mut(lane.index()) {
            queue.waiting.push_back(serial);
        }
        self.count(lane, |count| count.waiting += 1);
    }

    /// A call that waited is gone. `is_waiting` knows those that still wait, for a sweep now and then.
    pub(super) fn leave(&mut self, lane: LaneId, is_waiting: impl Fn(Serial) -> bool) {
        self.count(lane, |count| count.waiting -= 1);
        if let Some(queue) = self.lanes.get_mut(lane.index())
            && queue.waiting.len() > queue.count.waiting.saturating_mul(2).saturating_add(64)
        {
            queue.waiting.retain(|serial| is_waiting(*serial));
        }
    }

    /// Takes the oldest waiting call that has a slot, for a worker that is free.
    pub(super) fn next(&mut self, is_waiting: impl Fn(Serial) -> bool) -> Option<(Serial, LaneId)> {
        if self.total.busy >= self.workers {
            return None;
        }
        for queue in &mut self.lanes {
            while queue.waiting.front().is_some_and(|serial| !is_waiting(*serial)) {
                queue.waiting.pop_front();
            }
        }
        let open = self.lanes.iter().filter(|queue| queue.count.busy < queue.capacity);
        let (serial, lane) = open.filter_map(|queue| Some((*queue.waiting.front()?, queue.id))).min()?;
        self.lanes.get_mut(lane.index())?.waiting.pop_front();
        self.count(lane, |count| count.waiting -= 1);
        Some((serial, lane))
    }

    /// A worker begins the run that [`Slots::next`] gave it.
    pub(super) fn begin(&mut self, serial: Serial, lane: LaneId, tool: usize) {
        self.count(lane, |count| count.busy += 1);
        self.runs.insert(serial, Run { lane, tool, state: RunState::Working });
    }

    /// Counts the waiting calls that have a slot.
    fn startable(&self) -> usize {
        let in_lane =
            |queue: &Queue| queue.count.waiting.min(queue.capacity.saturating_sub(queue.count.busy));
        let wanted = self.lanes.iter().map(in_lane).sum::<usize>();
        wanted.min(self.workers.saturating_sub(self.total.busy))
    }

    /// Returns whether some waiting call has a slot.
    pub(crate) fn has_startable(&self) -> bool {
        self.startable() > 0
    }

    /// Counts one more worker and returns its number, unless as many are alive as the calls at hand can use.
    pub(crate) fn add_worker(&mut self) -> Option<usize> {
        (self.alive < self.total.busy.saturating_add(self.startable())).then(|| {
            self.alive += 1;
            self.spawned += 1;
            self.spawned
        })
    }

    /// Discounts a worker that could not be started. `true`: none is left.
    pub(super) fn lose_worker(&mut self) -> bool {
        self.alive = self.alive.saturating_sub(1);
        self.alive == 0
    }

    /// The run's call was answered, by whichever thread.
    pub(super) fn finishing(&mut self, serial: Serial) {
        if let Some(run) = self.runs.get_mut(&serial)
            && run.state == RunState::Working
        {
            run.state = RunState::Finishing;
            let lane = run.lane;
            self.count(lane, |count| count.finishing += 1);
        }
    }

    /// The worker is free again. `true`: another one has taken its place.
    pub(crate) fn release(&mut self, serial: Serial) -> bool {
        let Some(run) = self.runs.remove(&serial) else { return false };
        match run.state {
            RunState::Working | RunState::Finishing => self.leave_slot(&run),
            RunState::Stuck { replaced: false } => self.total.busy -= 1,
            RunState::Stuck { replaced: true } => self.replaced -= 1,
        }
        run.state == RunState::Stuck { replaced: true }
    }

    fn leave_slot(&mut self, run: &Run) {
        let finishing = usize::from(run.state == RunState::Finishing);
        self.count(run.lane, |count| {
            count.busy -= 1;
            count.finishing -= finishing;
        });
    }

    /// The worker has not come back long after the call was interrupted. `None`: it has.
    pub(super) fn hang(&mut self, serial: Serial) -> Option<Hung> {
        let run = self.runs.get(&serial)?;
        if matches!(run.state, RunState::Stuck { .. }) {
            return None;
        }
        let run = self.runs.remove(&serial)?;
        self.leave_slot(&run);
        let replaced = self.replaced < self.workers;
        if replaced {
            self.replaced += 1;
            self.alive = self.alive.saturating_sub(1);
        } else {
            self.total.busy += 1;
        }
        let tool = run.tool;
        self.runs.insert(serial, Run { state: RunState::Stuck { replaced }, ..run });
        Some(Hung { tool, replaced })
    }

    #[cfg(test)]
    pub(super) fn is_replaced(&self, serial: Serial) -> bool {
        self.runs.get(&serial).is_some_and(|run| run.state == RunState::Stuck { replaced: true })
    }

    #[cfg(test)]
    pub(super) fn hangs(&self, serial: Serial) -> bool {
        self.runs.get(&serial).is_some_and(|run| matches!(run.state, RunState::Stuck { .. }))
    }

    #[cfg(test)]
    pub(super) fn total(&self) -> Counts {
        self.total
    }

    #[cfg(test)]
    pub(super) fn lane(&self, lane: LaneId) -> Counts {
        self.lanes[lane.index()].count
    }

    /// Compares every sum with a walk over the runs, and every lane with its bound.
    #[cfg(test)]
    pub(super) fn assert_consistent(&self) {
        let count = |wanted: &dyn Fn(&Run) -> bool| self.runs.values().filter(|run| wanted(run)).count();
        let works = |run: &Run| matches!(run.state, RunState::Working | RunState::Finishing);
        let stuck = |replaced| count(&|run| run.state == RunState::Stuck { replaced });
        for Queue { id, capacity, waiting: _, count: kept } in &self.lanes {
            let here = |run: &Run| run.lane == *id;
            let finishing = count(&|run| here(run) && run.state == RunState::Finishing);
            assert_eq!((kept.busy, kept.finishing), (count(&|run| here(run) && works(run)), finishing));
            assert!(kept.busy <= *capacity, "{kept:?}");
        }
        let sum = |of: fn(&Counts) -> usize| self.lanes.iter().map(|queue| of(&queue.count)).sum::<usize>();
        let (waiting, busy, finishing) =
            (sum(|lane| lane.waiting), sum(|lane| lane.busy) + stuck(false), sum(|lane| lane.finishing));
        assert_eq!(self.total, Counts { waiting, busy, finishing });
        assert_eq!(self.replaced, stuck(true));
        assert!(self.total.busy <= self.workers && self.replaced <= self.workers, "{self:?}");
    }
}
