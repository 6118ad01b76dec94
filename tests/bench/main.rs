//! The cost of the server, measured on the real binary over real pipes, beside the least cost that is possible.
//!
//! Absolute times say more about the host than about the program, so each row is a contest: the server and its limit
//! take turns in one run, and what counts is the ratio. The limit is this binary once more, as a bare echo process with
//! the server's threads and answers of the server's length (see [`echo`]).

mod catalog;
mod child;
mod contest;
mod echo;
mod files;
mod listing;
mod metrics;
mod oracle;
mod refusals;
mod report;
mod sessions;
mod shipped;
mod sql;
mod start;
#[path = "../it/cluster.rs"]
#[expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, dead_code, reason = "made for tests")]
mod cluster;

use std::env;
use std::error::Error;

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

use self::files::DataDir;

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

fn main() -> Outcome {
    let mut arguments = env::args().skip(1);
    if arguments.next().as_deref() == Some(echo::COMMAND) {
        return Ok(echo::run(arguments)?);
    }
    let data = DataDir::new()?;
    start::measure()?;
    report::section("one client, every core")?;
    sessions::measure(&data)?;
    files::measure(&data)?;
    sql::measure()?;
    catalog::measure()?;
    refusals::measure()?;
    report::section("the client and both contestants on one core")?;
    on_one_core(|| sessions::measure(&data))?;
    on_one_core(|| files::measure_work(&data))?;
    oracle::measure()?;
    metrics::measure(&data)?;
    listing::measure()?;
    files::measure_memory(&data)?;
    shipped::measure()
}

/// Runs `measure` with this thread, and all that it starts, on a single core.
fn on_one_core<T>(measure: impl FnOnce() -> Outcome<T>) -> Outcome<T> {
    let this_thread = Pid::from_raw(0);
    let every_core = sched_getaffinity(this_thread)?;
    let last = (0..CpuSet::count()).rev().find(|core| every_core.is_set(*core) == Ok(true));
    let mut one_core = CpuSet::new();
    one_core.set(last.ok_or("no core to run on")?)?;
    sched_setaffinity(this_thread, &one_core)?;
    let measured = measure();
    sched_setaffinity(this_thread, &every_core)?;
    measured
}
