//! Tools for tests.

use std::{
    borrow::Cow,
    sync::{
        Mutex,
        mpsc::{Receiver, Sender, channel},
    },
    time::Duration,
};

use serde_json::{Map, Value};

use super::LIMIT;
use crate::{
    call::{Answer, Call, Failure},
    problem::Problem,
    protocol::tool::{Effect, ToolName, ToolSpec},
    tools::{Lane, Prepared, Tool, Toolbox},
    wire::ascii::AsciiJson,
};

/// What a run does.
type Acting = dyn Fn(&Call) -> Result<Answer, Failure> + Send + Sync;

/// A tool whose run is a function.
struct Act {
    spec: ToolSpec,
    lane: Lane,
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

    fn lane(&self) -> Lane {
        self.lane
    }

    fn prepare(&self, arguments: Map<String, Value>) -> Result<Prepared<'_>, Problem> {
        Ok(Prepared { arguments, max_body_bytes: 1 << 20, run: Box::new(|_permit, call| (self.act)(call)) })
    }
}

pub(super) fn add(
    toolbox: &mut Toolbox,
    name: &'static str,
    lane: Lane,
    act: impl Fn(&Call) -> Result<Answer, Failure> + Send + Sync + 'static,
) {
    let schema: Map<String, Value> = [("type".to_owned(), Value::from("object"))].into_iter().collect();
    let spec = ToolSpec {
        name: ToolName::new(name),
        title: Cow::Borrowed("A tool"),
        description: Cow::Borrowed("For tests."),
        input_schema: schema.clone(),
        output_schema: schema,
        effect: Effect::Read,
    };
    toolbox.add(Box::new(Act { spec, lane, act: Box::new(act) }));
}

/// Answers at once.
pub(super) fn quick(_call: &Call) -> Result<Answer, Failure> {
    Ok(AsciiJson::of(&Map::new()).into())
}

/// What the test sees of a tool that waits to be told.
pub(super) struct Gate {
    /// One message for each run that began.
    pub(super) began: Receiver<()>,
    /// Lets one run go.
    pub(super) open: Sender<()>,
}

/// Adds a tool that waits at a gate, deaf to interrupts.
pub(super) fn add_gate(toolbox: &mut Toolbox, name: &'static str, lane: Lane) -> Gate {
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

/// Sleeps until it is told to stop.
pub(super) fn sleepy(call: &Call) -> Result<Answer, Failure> {
    call.interrupt().sleep(Duration::from_secs(600))?;
    quick(call)
}
