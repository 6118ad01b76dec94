//! Random interleavings of every event of a call, against a model that only knows which answers are owed.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use proptest::prelude::*;
use serde_json::{Map, Value};

use super::arbiter::MAX_QUEUED_BYTES;
use super::*;
use crate::call::Serial;
use crate::governance::audit::Record;
use crate::protocol::revision::Era;
use crate::protocol::tool::ToolName;
use crate::server::config::Config;
use crate::tools::{Lane, LaneId, Toolbox};
use crate::wire::request_id::RequestId;

const TOOL: ToolName = ToolName::new("tool");

const WORKERS: usize = 3;
const SQL_LANE: usize = 2;

#[derive(Clone, Debug)]
enum Step {
    /// A request with one of a few ids, so that ids are reused all the time.
    Request {
        id: u64,
        sql: bool,
    },
    /// A free worker asks for a call and begins it.
    Begin,
    /// One of the busy workers has its result.
    Answer {
        which: usize,
    },
    /// One of the busy workers is free again, whether it had a result or not.
    Release {
        which: usize,
    },
    Cancel {
        id: u64,
    },
    /// Time passes; the watchdog deals with every task that is due.
    Wait {
        ms: u64,
    },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..6_u64, any::<bool>()).prop_map(|(id, sql)| Step::Request { id, sql }),
        4 => Just(Step::Begin),
        2 => (0..8_usize).prop_map(|which| Step::Answer { which }),
        2 => (0..8_usize).prop_map(|which| Step::Release { which }),
        2 => (0..6_u64).prop_map(|id| Step::Cancel { id }),
        2 => (1..4_000_u64).prop_map(|ms| Step::Wait { ms }),
    ]
}

/// A worker with a run.
#[derive(Clone, Copy, Debug)]
struct Working {
    serial: Serial,
    id: u64,
    sql: bool,
    /// It does not count any more: it was found to hang.
    hangs: bool,
}

/// The requests of the client, the answers it is owed, and the runs of the workers.
struct World {
    table: Table,
    sql: LaneId,
    now: Instant,
    /// Calls that no worker has, in the order they came.
    waiting: VecDeque<(u64, bool)>,
    workers: Vec<Working>,
    /// Requests that must be answered, and the serial once a worker has it.
    owed: BTreeMap<u64, Option<Serial>>,
}

impl World {
    fn new() -> Self {
        Self::with(Duration::from_millis(2_000))
    }

    fn with(queue_wait: Duration) -> Self {
        let config = Config {
            max_frame_bytes: 0,
            max_concurrency: WORKERS,
            queue_capacity: 3,
            queue_wait,
            call_timeout: Duration::from_millis(3_000),
            shutdown_grace: Duration::ZERO,
        };
        let mut toolbox = Toolbox::default();
        let sql = toolbox.add_lane(Lane { name: "sql", capacity: SQL_LANE });
        let table = Table::new(config, toolbox.lanes());
        let (waiting, workers, owed) = (VecDeque::new(), Vec::new(), BTreeMap::new());
        Self { table, sql, now: Instant::now(), waiting, workers, owed }
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
            lane: if sql { self.sql } else { LaneId::GENERAL },
            job: Job { tool: 0, arguments: Map::new() },
            progress: None,
            record: Record::open(&TOOL, std::iter::empty(), self.now),
            bytes: 10,
        };
        match self.table.register(request, self.now) {
            None => {
                self.owed.insert(id, None);
                self.waiting.push_back((id, sql));
            }
            Some(taken) => assert_eq!(answered(taken), id),
        }
    }

    /// The oldest waiting call that has a slot begins, and no other.
    fn begin(&mut self) {
        let at_work = |sql: bool| self.workers.iter().filter(|w| !w.hangs && (w.sql || !sql)).count();
        let is_startable = |sql: bool| !sql || at_work(true) < SQL_LANE;
        let expected = self.waiting.iter().position(|(_, sql)| is_startable(*sql));
        let has_worker = self.table.slots.total().busy < WORKERS;
        let expected = expected.filter(|_| has_worker).and_then(|at| self.waiting.remove(at));
        let picked = self.table.pick(self.now);
        let Some((id, sql)) = expected else {
            return assert!(picked.is_none(), "a call without a slot runs");
        };
        let serial = picked.expect("the oldest call that has a slot").serial;
        let call = self.table.start(serial, self.now).expect("picked and not taken");
        assert!(!call.interrupt().is_set());
        assert_eq!(self.owed.insert(id, Some(serial)), Some(None), "a call begins twice");
        self.workers.push(Working { serial, id, sql, hangs: false });
    }

    fn answer(&mut self, which: usize) {
        let Some(Working { serial, id, .. }) = self.worker(which) else { return };
        let taken = self.table.finish(serial);
        let mine = self.owed.get(&id) == Some(&Some(serial));
        assert_eq!(taken.is_some(), mine, "an answer was lost, or old work answered a new call");
        if let Some(taken) = taken {
            self.settle(taken);
        }
    }

    fn release(&mut self, which: usize) {
        self.answer(which);
        let Some(Working { serial, .. }) = self.worker(which) else { return };
        let is_replaced = self.table.slots.is_replaced(serial);
        assert_eq!(self.table.slots.release(serial), is_replaced);
        self.workers.retain(|working| working.serial != serial);
    }

    fn worker(&self, which: usize) -> Option<Working> {
        self.workers.get(which % self.workers.len().max(1)).copied()
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
            self.waiting.retain(|(waiting, _)| *waiting != id);
        }
    }

    fn wait(&mut self, ms: u64) {
        self.now += Duration::from_millis(ms);
        while let Some(due) = self.table.due(self.now) {
            match due {
                Due::Answer(taken, _) => self.settle(taken),
                Due::Progress(_) => panic!("progress was not asked for"),
                Due::Hung(_) => {}
            }
        }
        for working in &mut self.workers {
            working.hangs = self.table.slots.hangs(working.serial);
        }
    }

    fn settle(&mut self, taken: Taken) {
        let id = answered(taken);
        assert!(self.owed.remove(&id).is_some(), "request {id} was answered twice, or never asked");
        self.waiting.retain(|(waiting, _)| *waiting != id);
    }

    /// Checks every count against a walk, and every bound.
    fn check(&self) {
        let slots = &self.table.slots;
        slots.assert_consistent();
        let waiting = |sql: bool| self.waiting.iter().filter(|(_, is_sql)| *is_sql == sql).count();
        let counted = [LaneId::GENERAL, self.sql].map(|lane| slots.lane(lane).waiting);
        assert_eq!(counted, [waiting(false), waiting(true)]);
        assert_eq!(self.table.queued_bytes, 10 * self.waiting.len());
        assert_eq!(self.table.calls.len(), self.owed.len());
    }
}

/// The id that the owed answer names.
fn answered(taken: Taken) -> u64 {
    let mut line = Vec::new();
    taken.reply.internal().write_to(&mut line).unwrap();
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
                Step::Answer { which } => world.answer(which),
                Step::Release { which } => world.release(which),
                Step::Cancel { id } => world.cancel(id),
                Step::Wait { ms } => world.wait(ms),
            }
            world.check();
        }
        for taken in world.table.take_all(world.now) {
            world.settle(taken);
        }
        assert!(world.owed.is_empty(), "never answered: {:?}", world.owed);
        while let Some(working) = world.workers.pop() {
            assert!(world.table.finish(working.serial).is_none(), "answered after the end");
            world.table.slots.release(working.serial);
        }
    }
}

#[test]
fn alarms_of_ended_calls_are_swept() {
    let mut world = World::with(Duration::from_secs(600));
    for id in 0..10_000 {
        world.request(id, false);
        world.begin();
        world.release(0);
    }
    assert!(world.table.timers.len() <= 512, "{} alarms of calls that ran", world.table.timers.len());
    for id in 0..3 {
        world.request(id, false);
        world.begin();
    }
    for id in 3..10_000 {
        world.request(id, false);
        world.cancel(id);
    }
    assert!(world.table.timers.len() <= 512, "{} alarms of calls that waited", world.table.timers.len());
}

#[test]
fn a_full_queue_refuses_calls_and_a_cancelled_call_frees_its_place() {
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
    for id in 100..300 {
        world.cancel(4);
        world.request(4, false);
        assert!(world.owed.contains_key(&4), "a cancelled call kept its place, {id}");
    }
}

#[test]
fn a_call_may_wait_for_a_slot_whose_call_was_answered_even_when_none_may_wait() {
    let mut world = World::with(Duration::ZERO);
    for id in 0..2 {
        world.request(id, true);
        world.begin();
    }
    world.request(2, true);
    assert!(!world.owed.contains_key(&2), "it may not wait for a lane that is taken");
    world.answer(0);
    world.request(3, true);
    assert!(world.owed.contains_key(&3), "its slot is about to be free");
    world.request(4, true);
    assert!(!world.owed.contains_key(&4), "one slot, one call");
    world.release(0);
    world.begin();
    assert!(world.owed[&3].is_some());
}

#[test]
fn large_arguments_are_refused_only_when_they_would_have_to_wait() {
    let mut world = World::new();
    let sql = world.sql;
    let request = |id: u64, now| Request {
        id: RequestId::Unsigned(id),
        era: Era::Legacy,
        lane: sql,
        job: Job { tool: 0, arguments: Map::new() },
        progress: None,
        record: Record::open(&TOOL, std::iter::empty(), now),
        bytes: MAX_QUEUED_BYTES + 1,
    };
    for id in 0..2 {
        assert!(world.table.register(request(id, world.now), world.now).is_none());
    }
    assert!(world.table.register(request(2, world.now), world.now).is_some());
}

#[test]
fn an_answer_that_was_taken_keeps_the_table_busy_until_it_is_queued() {
    let mut world = World::new();
    world.request(0, false);
    world.begin();
    let taken = world.table.finish(world.workers[0].serial).expect("it runs");
    assert!(!world.table.is_idle(), "the end would not wait for this answer");
    drop(taken);
    assert!(world.table.is_idle());
}
