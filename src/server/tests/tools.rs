//! Tools for tests.

use std::borrow::Cow;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use serde_json::{Map, Value};

use super::LIMIT;
use crate::call::{Answer, Call, Failure};
use crate::problem::Problem;
use crate::protocol::tool::{ToolName, ToolSpec};
use crate::tools::{Lane, LaneId, Prepared, Tool, Toolbox};
use crate::wire::ascii::AsciiJson;

/// The work of a run.
type Acting = dyn Fn(&Call) -> Result<Answer, Failure> + Send + Sync;

/// A tool whose run is a function.
struct Act {
    spec: ToolSpec,
    act: Box<Acting>,
}

impl std::fmt::Debug for Act {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Act").field("name", &self.spec.name).finish_non_exhaustive()
    }
}

impl Tool for Act {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn prepare(&self, arguments: Map<String, Value>) -> Result<Prepared<'_>, Problem> {
        Ok(Prepared { arguments, max_body_bytes: 1 << 20, run: Box::new(|_permit, call| (self.act)(call)) })
    }
}

/// A lane with one worker.
pub(super) fn narrow_lane(toolbox: &mut Toolbox) -> LaneId {
    toolbox.add_lane(Lane { name: "sql", capacity: 1 })
}

pub(super) fn add(
    toolbox: &mut Toolbox,
    name: &'static str,
    lane: LaneId,
    act: impl Fn(&Call) -> Result<Answer, Failure> + Send + Sync + 'static,
) {
    let schema: Map<String, Value> = [("type".to_owned(), Value::from("object"))].into_iter().collect();
    let spec = ToolSpec {
        name: ToolName::new(name),
        title: Cow::Borrowed("A tool"),
        description: Cow::Borrowed("For tests."),
        input_schema: schema.clone(),
        output_schema: schema,
    };
    toolbox.add(lane, Box::new(Act { spec, act: Box::new(act) }));
}

/// Answers at once.
pub(super) fn quick(_call: &Call) -> Result<Answer, Failure> {
    Ok(AsciiJson::of(&Map::new()).into())
}

/// The test's side of a tool that waits at a gate.
pub(super) struct Gate {
    /// One message for each run that began.
    pub(super) began: Receiver<()>,
    /// Lets one run go.
    pub(super) open: Sender<()>,
}

/// Adds a tool that waits at a gate, deaf to interrupts.
pub(super) fn add_gate(toolbox: &mut Toolbox, name: &'static str, lane: LaneId) -> Gate {
    let (begin, began) = channel();
    let (open, opened) = channel::<()>();
    let opened = Mutex::new(opened);
    add(toolbox, name, lane, move |call| {
        begin.send(()).ok();
        opened.lock().unwrap().recv_timeout(LIMIT).ok();
        quick(call)
    });
    Gate { began, open }
}

/// Sleeps until it is interrupted.
pub(super) fn sleepy(call: &Call) -> Result<Answer, Failure> {
    call.interrupt().sleep(Duration::from_secs(600))?;
    quick(call)
}
