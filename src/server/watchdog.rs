//! The watchdog thread: answers calls that find no slot or do not end in time, and replaces workers that hang.

use std::sync::Arc;
use std::{io, thread};

use crate::server::shared::Shared;
use crate::server::table::{Due, Hung};
use crate::server::workers;

/// The watchdog owns nothing. It ends when the table closes.
pub(super) fn start(shared: Arc<Shared>) -> io::Result<()> {
    let watch = move || {
        // Progress is queued under the table's lock, so that none can come after the answer.
        let under_lock = |due| match due {
            Due::Progress(line) => {
                shared.outbox.push_if_read(line);
                None
            }
            other @ (Due::Answer(..) | Due::Hung(_)) => Some(other),
        };
        while let Some(all) = shared.in_flight.wait_due(under_lock) {
            for due in all {
                deal_with(&shared, due);
            }
        }
    };
    thread::Builder::new().name("watchdog".to_owned()).spawn(watch).map(drop)
}

fn deal_with(shared: &Arc<Shared>, due: Due) {
    match due {
        Due::Progress(_) => {}
        Due::Answer(taken, outcome) => shared.settle(taken, Some(&outcome)),
        Due::Hung(Hung { tool, replaced }) => {
            let tool =
                shared.toolbox.get(tool).map_or("?", |registered| registered.tool.spec().name.as_str());
            if replaced {
                log::warn!(target: "session", "a worker hangs in {tool}; another takes its place");
            } else {
                log::error!(target: "session", "a worker hangs in {tool}, and no more may be replaced: its slot is lost");
            }
            workers::wake(shared);
        }
    }
}
