//! Requests in a session that runs: one at a time, and as many as the pipe takes.

use super::child::{Child, call, request};
use super::contest::{Task, contest};
use super::echo::{self, Shape};
use super::files::{DataDir, SMALL};
use super::{Outcome, report};

const ROUNDS: usize = 15;
const ROUND_TRIPS: usize = 100;
const PIPELINED: usize = 1000;

/// A kind of request, with an id of its own.
type Make = fn(usize) -> Vec<u8>;

const PING: Make = |id| request(id, "ping");
const METRICS: Make = |id| call(id, "system_metrics", r#"{"sample_ms":0}"#);
const READ: Make = |id| call(id, "sandbox_fs_read", &format!(r#"{{"relative_path":"{SMALL}"}}"#));

pub(super) fn measure(data: &DataDir) -> Outcome {
    let kinds = [
        ("ping", PING, Shape::Direct),
        ("sandbox_fs_read, 100 bytes", READ, Shape::Worker),
        ("system_metrics", METRICS, Shape::Worker),
    ];
    for (what, make, shape) in kinds {
        let mut server = Child::server(&data.settings())?;
        let answer_bytes = server.ask(&make(1))?.len();
        let mut limit = Child::start(echo::command(shape, answer_bytes)?)?;
        let line = make(1);
        let one = Task::RoundTrips(&line, ROUND_TRIPS);
        report::row(&format!("{what}: round trip"), contest(ROUNDS, (&mut server, one), (&mut limit, one))?)?;
        let lines: Vec<u8> = (1..=PIPELINED).flat_map(make).collect();
        let all = Task::Pipeline(&lines, PIPELINED);
        report::row(
            &format!("{what}: {PIPELINED} at once, each"),
            contest(ROUNDS, (&mut server, all), (&mut limit, all))?,
        )?;
        server.end()?;
        limit.end()?;
    }
    Ok(())
}
