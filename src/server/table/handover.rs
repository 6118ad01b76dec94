//! The values that the table takes and gives.

use std::sync::Arc;
use std::time::Instant;

use serde_json::{Map, Value};

use super::slots::Hung;
use crate::call::{Interrupt, Outcome, Serial, StopAction};
use crate::governance::audit::{Decision, Record};
use crate::protocol::reply::Reply;
use crate::protocol::request::ProgressToken;
use crate::protocol::revision::Era;
use crate::tools::LaneId;
use crate::wire::line::Line;
use crate::wire::request_id::RequestId;

/// A call as the reader understood it.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) id: RequestId,
    pub(crate) era: Era,
    pub(crate) lane: LaneId,
    pub(crate) job: Job,
    pub(crate) progress: Option<ProgressToken>,
    pub(crate) record: Record,
    /// The memory of the arguments in the queue.
    pub(crate) bytes: usize,
}

/// The work of a call.
#[derive(Debug, Default)]
pub(crate) struct Job {
    /// The tool's place in the toolbox.
    pub(crate) tool: usize,
    /// Sanitized arguments.
    pub(crate) arguments: Map<String, Value>,
}

/// A call that a worker has taken from the queue.
#[derive(Debug)]
pub(crate) struct Picked {
    pub(crate) serial: Serial,
    pub(crate) job: Job,
    pub(crate) interrupt: Interrupt,
    /// The end of its wait for the memory of its answer.
    pub(crate) reserve_until: Instant,
}

/// A call that was removed: the holder of this owes the answer.
#[must_use]
pub(crate) struct Taken {
    /// `None` for a call that was refused before it had one.
    pub(crate) serial: Option<Serial>,
    pub(crate) reply: Reply,
    pub(crate) record: Record,
    pub(crate) decision: Decision,
    pub(crate) stop: Option<StopAction>,
    /// Held until the answer is queued: `Table::is_idle` waits for it.
    pub(crate) debt: Arc<()>,
}

impl Taken {
    /// Makes the answer of a call that was never registered.
    pub(crate) fn refused(reply: Reply, record: Record, decision: Decision) -> Self {
        Self { serial: None, reply, record, decision, stop: None, debt: Arc::default() }
    }
}

/// A task of the watchdog.
pub(crate) enum Due {
    /// The call found no slot in time, or its deadline passed.
    Answer(Taken, Outcome),
    /// The client is to learn that its call still runs. Must be queued before the table's lock is released, else it
    /// could come after the answer.
    Progress(Line),
    /// A worker hangs.
    Hung(Hung),
}
