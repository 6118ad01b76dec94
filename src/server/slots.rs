//! Who may run next: the calls that wait, in the order they came, and what the workers are doing. Pure state.

use std::collections::{HashMap, VecDeque};

use crate::{call::Serial, tools::Lane};

/// Slots and lanes. Every worker takes general calls; SQL calls take at most `sql_lane` workers at a time.
#[derive(Debug)]
pub(super) struct Slots {
    workers: usize,
    sql_lane: usize,
    /// Waiting calls, oldest first; may name calls that are gone.
    general: VecDeque<Serial>,
    sql: VecDeque<Serial>,
    runs: HashMap<Serial, Run>,
    count: Counts,
}

/// Sums, kept so that nobody has to walk anything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// Calls that wait and are still wanted.
    pub(super) general: usize,
    pub(super) sql: usize,
    /// Workers with a run, stuck ones that were replaced not counted.
    pub(super) busy: usize,
    /// Runs in the SQL lane, stuck ones not counted.
    pub(super) busy_sql: usize,
    /// Of those, the ones whose answer is on its way.
    pub(super) finishing: usize,
    pub(super) finishing_sql: usize,
    /// Stuck workers that were replaced.
    pub(super) replaced: usize,
}

#[derive(Debug)]
struct Run {
    lane: Lane,
    tool: usize,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Working,
    /// The call was answered; what comes afterwards, such as a ROLLBACK, still takes the worker.
    Finishing,
    /// The worker hangs; another one may have taken its place.
    Stuck {
        replaced: bool,
    },
}

/// What a new call finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Admission {
    /// A slot.
    Free,
    /// A slot that is about to be free: its last call was answered already.
    Soon,
    /// No slot; with this call, so many wait.
    Wait(usize),
}

/// A worker that hangs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hung {
    /// The tool it hangs in.
    pub(super) tool: usize,
    /// Whether another worker may take its place.
    pub(super) replaced: bool,
}

impl Slots {
    pub(super) fn new(workers: usize, sql_lane: usize) -> Self {
        let (general, sql) = (VecDeque::new(), VecDeque::new());
        Self { workers, sql_lane, general, sql, runs: HashMap::new(), count: Counts::default() }
    }

    /// What a call of this lane would find now.
    pub(super) fn admission(&self, lane: Lane) -> Admission {
        let Counts { busy, busy_sql, finishing, finishing_sql, .. } = self.count;
        if self.waiting_with(lane, busy, busy_sql) == 0 {
            return Admission::Free;
        }
        match self.waiting_with(lane, busy.saturating_sub(finishing), busy_sql.saturating_sub(finishing_sql))
        {
            0 => Admission::Soon,
            waiting => Admission::Wait(waiting),
        }
    }

    /// How many calls, one more of this lane included, would find no slot with so many workers taken.
    fn waiting_with(&self, lane: Lane, busy: usize, busy_sql: usize) -> usize {
        let general = self.count.general.saturating_add(usize::from(lane == Lane::General));
        let sql = self.count.sql.saturating_add(usize::from(lane == Lane::Sql));
        let fitting_sql = sql.min(self.sql_lane.saturating_sub(busy_sql));
        let fitting = general.saturating_add(fitting_sql).min(self.workers.saturating_sub(busy));
        general.saturating_add(sql).saturating_sub(fitting)
    }

    /// A call begins to wait, if only for a moment.
    pub(super) fn enter(&mut self, serial: Serial, lane: Lane) {
        let (queue, count) = self.queue(lane);
        queue.push_back(serial);
        *count += 1;
    }

    /// A call that waited is gone. `is_waiting` tells which still wait, for a sweep now and then.
    pub(super) fn leave(&mut self, lane: Lane, is_waiting: impl Fn(Serial) -> bool) {
        let (queue, count) = self.queue(lane);
        *count -= 1;
        if queue.len() > count.saturating_mul(2).saturating_add(64) {
            queue.retain(|serial| is_waiting(*serial));
        }
    }

    fn queue(&mut self, lane: Lane) -> (&mut VecDeque<Serial>, &mut usize) {
        match lane {
            Lane::General => (&mut self.general, &mut self.count.general),
            Lane::Sql => (&mut self.sql, &mut self.count.sql),
        }
    }

    /// The oldest waiting call that has a slot, for a worker that is free.
    pub(super) fn next(&mut self, is_waiting: impl Fn(Serial) -> bool) -> Option<(Serial, Lane)> {
        if self.count.busy >= self.workers {
            return None;
        }
        for queue in [&mut self.general, &mut self.sql] {
            while queue.front().is_some_and(|serial| !is_waiting(*serial)) {
                queue.pop_front();
            }
        }
        let sql = self.sql.front().filter(|_| self.count.busy_sql < self.sql_lane);
        let lane = match (self.general.front(), sql) {
            (None, None) => return None,
            (Some(general), Some(sql)) if sql < general => Lane::Sql,
            (None, Some(_)) => Lane::Sql,
            (Some(_), _) => Lane::General,
        };
        let (queue, count) = self.queue(lane);
        let serial = queue.pop_front()?;
        *count -= 1;
        Some((serial, lane))
    }

    /// A worker begins the run that [`Slots::next`] gave it.
    pub(super) fn begin(&mut self, serial: Serial, lane: Lane, tool: usize) {
        self.count.busy += 1;
        self.count.busy_sql += usize::from(lane == Lane::Sql);
        self.runs.insert(serial, Run { lane, tool, state: State::Working });
    }

    /// How many waiting calls have a slot.
    fn startable(&self) -> usize {
        let sql = self.count.sql.min(self.sql_lane.saturating_sub(self.count.busy_sql));
        self.count.general.saturating_add(sql).min(self.workers.saturating_sub(self.count.busy))
    }

    /// Whether some waiting call has a slot.
    pub(super) fn has_startable(&self) -> bool {
        self.startable() > 0
    }

    /// How many workers the calls at hand can use.
    pub(super) fn workers_wanted(&self) -> usize {
        self.count.busy.saturating_add(self.startable())
    }

    /// The run's call was answered, by whomever.
    pub(super) fn finishing(&mut self, serial: Serial) {
        if let Some(run) = self.runs.get_mut(&serial)
            && run.state == State::Working
        {
            run.state = State::Finishing;
            self.count.finishing += 1;
            self.count.finishing_sql += usize::from(run.lane == Lane::Sql);
        }
    }

    /// The worker is free again. `true`: another one has taken its place.
    pub(super) fn release(&mut self, serial: Serial) -> bool {
        let Some(run) = self.runs.remove(&serial) else { return false };
        match run.state {
            State::Working | State::Finishing => self.leave_slot(&run),
            State::Stuck { replaced: false } => self.count.busy -= 1,
            State::Stuck { replaced: true } => self.count.replaced -= 1,
        }
        run.state == State::Stuck { replaced: true }
    }

    fn leave_slot(&mut self, run: &Run) {
        let sql = usize::from(run.lane == Lane::Sql);
        self.count.busy -= 1;
        self.count.busy_sql -= sql;
        if run.state == State::Finishing {
            self.count.finishing -= 1;
            self.count.finishing_sql -= sql;
        }
    }

    /// The worker has not come back long after it was told to. `None`: it has.
    pub(super) fn hang(&mut self, serial: Serial) -> Option<Hung> {
        let mut run = self.runs.remove(&serial)?;
        let tool = run.tool;
        let replaced = match run.state {
            State::Working | State::Finishing => self.count.replaced < self.workers,
            State::Stuck { .. } => {
                self.runs.insert(serial, run);
                return None;
            }
        };
        self.leave_slot(&run);
        if replaced {
            self.count.replaced += 1;
        } else {
            self.count.busy += 1;
        }
        run.state = State::Stuck { replaced };
        self.runs.insert(serial, run);
        Some(Hung { tool, replaced })
    }

    /// Whether a worker still has this run.
    pub(super) fn has_run(&self, serial: Serial) -> bool {
        self.runs.contains_key(&serial)
    }

    /// How many runs there are, stuck ones included.
    pub(super) fn runs(&self) -> usize {
        self.runs.len()
    }

    #[cfg(test)]
    pub(super) fn is_replaced(&self, serial: Serial) -> bool {
        self.runs.get(&serial).is_some_and(|run| run.state == State::Stuck { replaced: true })
    }

    #[cfg(test)]
    pub(super) fn hangs(&self, serial: Serial) -> bool {
        self.runs.get(&serial).is_some_and(|run| matches!(run.state, State::Stuck { .. }))
    }

    #[cfg(test)]
    pub(super) fn count(&self) -> Counts {
        self.count
    }

    /// The sums over runs, walked.
    #[cfg(test)]
    pub(super) fn walked(&self) -> Counts {
        let count = |wanted: &dyn Fn(&Run) -> bool| self.runs.values().filter(|run| wanted(run)).count();
        let works = |run: &Run| matches!(run.state, State::Working | State::Finishing);
        let sql = |run: &Run| run.lane == Lane::Sql;
        Counts {
            busy: count(&|run| works(run) || run.state == State::Stuck { replaced: false }),
            busy_sql: count(&|run| works(run) && sql(run)),
            finishing: count(&|run| run.state == State::Finishing),
            finishing_sql: count(&|run| run.state == State::Finishing && sql(run)),
            replaced: count(&|run| run.state == State::Stuck { replaced: true }),
            ..self.count
        }
    }
}
