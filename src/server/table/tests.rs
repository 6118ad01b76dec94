//! Random interleavings of everything that can happen to calls, against a model that only knows who is owed what.

use std::collections::{BTreeMap, VecDeque};

use proptest::prelude::*;

use super::*;
use crate::{protocol::reply::Outcome, protocol::tool::ToolName};

const TOOL: ToolName = ToolName::new("tool");

#[derive(Clone, Debug)]
enum Step {
    /// A request with one of a few ids, so that ids are reused all the time.
    Request {
        id: u64,
        sql: bool,
    },
    /// A free worker takes the next run and asks to start it.
    Begin,
    /// One of the busy workers comes back with a result, and is free again.
    Finish {
        which: usize,
    },
    Cancel {
        id: u64,
    },
    /// Time passes; the watchdog does what is due.
    Wait {
        ms: u64,
    },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..6_u64, any::<bool>()).prop_map(|(id, sql)| Step::Request { id, sql }),
        4 => Just(Step::Begin),
        3 => (0..8_usize).prop_map(|which| Step::Finish { which }),
        2 => (0..6_u64).prop_map(|id| Step::Cancel { id }),
        2 => (1..4_000_u64).prop_map(|ms| Step::Wait { ms }),
    ]
}

/// The pool's queue and workers, and what the client is owed.
struct World {
    table: Table,
    now: Instant,
    queue: VecDeque<Serial>,
    /// Serial, and whether the run was started.
    workers: Vec<(Serial, bool)>,
    /// Requests that must be answered: id, and the serial once it is known (a parked call's is not).
    owed: BTreeMap<u64, Option<Serial>>,
    parked: VecDeque<u64>,
    ids: BTreeMap<Serial, u64>,
}

impl World {
    fn new() -> Self {
        let limits = Limits {
            workers: 3,
            sql_lane: 2,
            queue_capacity: 3,
            queue_wait: Duration::from_millis(2_000),
            call_timeout: Duration::from_millis(3_000),
        };
        Self {
            table: Table::new(limits),
            now: Instant::now(),
            queue: VecDeque::new(),
            workers: Vec::new(),
            owed: BTreeMap::new(),
            parked: VecDeque::new(),
            ids: BTreeMap::new(),
        }
    }

    fn request(&mut self, id: u64, sql: bool) {
        let holder = RequestId::Unsigned(id);
        assert_eq!(self.table.holds(&holder), self.owed.contains_key(&id), "the table forgot or kept an id");
        if self.owed.contains_key(&id) {
            return;
        }
        let request = Request {
            id: holder,
            era: Era::Legacy,
            lane: if sql { Lane::Sql } else { Lane::General },
            job: Job { tool: 0, arguments: Map::new() },
            progress: None,
            record: Record::open(&TOOL, std::iter::empty(), self.now),
            bytes: 10,
        };
        match self.table.register(request, self.now) {
            Registered::Ready(serial) => {
                self.ids.insert(serial, id);
                self.owed.insert(id, Some(serial));
                self.queue.push_back(serial);
            }
            Registered::Parked => {
                self.owed.insert(id, None);
                self.parked.push_back(id);
            }
            Registered::Full(taken) => assert_eq!(answered(taken), id),
        }
    }

    fn begin(&mut self) {
        let occupied = self.workers.iter().filter(|(serial, _)| !self.is_replaced(*serial)).count();
        if occupied >= 3 {
            return;
        }
        let Some(serial) = self.queue.pop_front() else { return };
        let id = self.ids[&serial];
        let wanted = self.owed.get(&id) == Some(&Some(serial));
        assert_eq!(
            self.table.pick(serial).is_some(),
            wanted,
            "a worker got a call that is gone, or lost one"
        );
        if wanted {
            let call = self.table.start(serial, self.now).expect("picked and not taken");
            assert!(!call.interrupt().is_set());
            self.workers.push((serial, true));
        } else {
            self.release(serial);
        }
    }

    fn finish(&mut self, which: usize) {
        if self.workers.is_empty() {
            return;
        }
        let (serial, _) = self.workers.remove(which % self.workers.len());
        let id = self.ids[&serial];
        let taken = self.table.take(serial);
        let mine = self.owed.get(&id) == Some(&Some(serial));
        assert_eq!(taken.is_some(), mine, "an answer was lost, or old work answered a new call");
        if let Some(taken) = taken {
            self.settle(taken);
        }
        self.release(serial);
    }

    fn release(&mut self, serial: Serial) {
        let next = self.table.release(serial).next;
        self.hand_over(next);
    }

    /// The oldest parked call that is still wanted enters the queue.
    fn hand_over(&mut self, next: Option<Serial>) {
        let Some(serial) = next else { return };
        while let Some(id) = self.parked.pop_front() {
            if self.owed.get(&id) == Some(&None) {
                self.ids.insert(serial, id);
                self.owed.insert(id, Some(serial));
                self.queue.push_back(serial);
                return;
            }
        }
        panic!("a parked call appeared from nowhere");
    }

    fn cancel(&mut self, id: u64) {
        let taken = self.table.cancel(&RequestId::Unsigned(id), self.now);
        assert_eq!(
            taken.is_some(),
            self.owed.remove(&id).is_some(),
            "a cancellation missed, or hit another call"
        );
        if let Some(taken) = taken {
            assert_eq!(answered(taken), id);
            self.parked.retain(|parked| *parked != id);
        }
    }

    fn wait(&mut self, ms: u64) {
        self.now += Duration::from_millis(ms);
        while let Some(due) = self.table.due(self.now) {
            match due {
                Due::NoSlot(taken) | Due::TimedOut(taken) => self.settle(taken),
                Due::Progress(_) => panic!("nobody asked for progress"),
                Due::Stuck { next, .. } => self.hand_over(next),
            }
        }
    }

    fn settle(&mut self, taken: Taken) {
        let id = answered(taken);
        assert!(self.owed.remove(&id).is_some(), "request {id} was answered twice, or never asked");
        self.parked.retain(|parked| *parked != id);
    }

    fn is_replaced(&self, serial: Serial) -> bool {
        self.table.runs.get(&serial).is_some_and(|run| run.place == Place::Stuck { replaced: true })
    }

    /// The counts are what a walk over everything finds, and no bound is exceeded.
    fn check(&self) {
        let phases =
            |wanted: fn(&Phase) -> bool| self.table.calls.values().filter(move |entry| wanted(&entry.phase));
        let places =
            |wanted: fn(Place) -> bool| self.table.runs.values().filter(move |run| wanted(run.place)).count();
        let waiting = |phase: &Phase| matches!(phase, Phase::Ready(_) | Phase::Parked(_));
        let walked = Counts {
            ready: phases(|phase| matches!(phase, Phase::Ready(_))).count(),
            parked: phases(|phase| matches!(phase, Phase::Parked(_))).count(),
            busy: places(|place| matches!(place, Place::Worker | Place::Stuck { replaced: false })),
            sql: self
                .table
                .runs
                .values()
                .filter(|run| run.lane == Lane::Sql && matches!(run.place, Place::Queue | Place::Worker))
                .count(),
            replaced: places(|place| place == Place::Stuck { replaced: true }),
            bytes: self.table.calls.values().filter(|entry| waiting(&entry.phase)).map(|e| e.bytes).sum(),
        };
        assert_eq!(self.table.count, walked);
        assert!(walked.sql <= 2 && walked.busy <= 3 && walked.replaced <= 3, "{walked:?}");
        assert_eq!(self.table.calls.len(), self.owed.len());
    }
}

/// The id that the owed answer names.
fn answered(taken: Taken) -> u64 {
    let mut line = Vec::new();
    taken.reply.line(&Outcome::Internal).write_to(&mut line).unwrap();
    let answer: Value = serde_json::from_slice(&line).unwrap();
    answer["id"].as_u64().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn every_call_is_answered_exactly_once_unless_cancelled(steps in prop::collection::vec(step(), 1..120)) {
        let mut world = World::new();
        for step in steps {
            match step {
                Step::Request { id, sql } => world.request(id, sql),
                Step::Begin => world.begin(),
                Step::Finish { which } => world.finish(which),
                Step::Cancel { id } => world.cancel(id),
                Step::Wait { ms } => world.wait(ms),
            }
            world.check();
        }
        for taken in world.table.take_all(world.now) {
            world.settle(taken);
        }
        assert!(world.owed.is_empty(), "never answered: {:?}", world.owed);
        while let Some((serial, _)) = world.workers.pop() {
            assert!(world.table.take(serial).is_none(), "answered after the end");
            world.release(serial);
        }
    }
}

#[test]
fn calls_that_are_over_leave_no_alarms_behind_for_long() {
    let mut world = World::new();
    for id in 0..10_000 {
        world.request(id, false);
        world.begin();
        world.finish(0);
    }
    assert!(world.table.timers.len() <= 512, "{} alarms", world.table.timers.len());
}

#[test]
fn the_queue_refuses_what_its_capacity_cannot_hold_and_a_cancelled_call_makes_room() {
    let mut world = World::new();
    for id in 0..3 {
        world.request(id, false);
        world.begin();
    }
    for id in 3..6 {
        world.request(id, false);
        assert!(world.owed.contains_key(&id), "{id} should wait");
    }
    world.request(6, false);
    assert!(!world.owed.contains_key(&6), "a fourth waited");
    world.cancel(4);
    world.request(7, false);
    assert!(world.owed.contains_key(&7), "a cancelled call kept its place");
}

#[test]
fn an_answer_that_was_taken_keeps_the_table_busy_until_it_is_queued() {
    let mut world = World::new();
    world.request(0, false);
    world.begin();
    let taken = world.table.take(world.workers[0].0).expect("it runs");
    assert!(!world.table.is_idle(), "the end would not wait for this answer");
    drop(taken);
    assert!(world.table.is_idle());
}
