//! READ THIS FIRST: what a worker does with one call, from the queue to its answer.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::{
    call::{Answer, Failure, Outcome, Serial},
    governance::{Permit, Verdict, audit::Decision},
    problem::Problem,
    server::{
        Shared, no_slot,
        outbox::Room,
        table::{Job, Picked},
    },
    tools::{Lane, Prepared, Tool},
};

/// Runs one call. A panic anywhere on the way becomes one `-32603`, and the worker lives on.
pub(super) fn execute(shared: &Shared, picked: Picked) {
    let serial = picked.serial;
    // INVARIANT: nothing that the closure can leave half-done outlives it: the table's steps are whole, tools own
    // what they use, and the call is answered below.
    if catch_unwind(AssertUnwindSafe(|| carry_out(shared, picked))).is_err() {
        answer(shared, serial, &Outcome::Internal);
    }
}

fn carry_out(shared: &Shared, picked: Picked) {
    let Picked { serial, job, interrupt, room_until } = picked;
    let Some(tool) = shared.toolbox.get(job.tool) else { return };
    let (prepared, permit) = match authorize(shared, tool, job) {
        Ok(permitted) => permitted,
        Err(problem) => return refuse(shared, serial, problem),
    };
    let room = match tool.lane() {
        Lane::General => prepared.max_body_bytes,
        // A statement may keep the database busy for long before it has an answer: its lane and the bound on its answer
        // are bound enough.
        Lane::Sql => 0,
    };
    match shared.outbox.claim(serial, room, &interrupt, room_until) {
        Room::Granted => {}
        Room::Unwanted => return,
        Room::Late => return answer(shared, serial, &no_slot()),
    }
    let loose_end = shared.loose_ends.hold();
    let Some(call) = shared.in_flight.with_now(|table, now| table.start(serial, now)) else {
        return shared.outbox.release(serial);
    };
    let call = call.with_loose_end(loose_end);
    let (outcome, afterwards) = match (prepared.run)(permit, &call) {
        Ok(Answer { body, afterwards }) => (Outcome::Answer(body), afterwards),
        Err(Failure::Problem(problem)) => (Outcome::Problem(problem), None),
        Err(Failure::Interrupted(_)) => (Outcome::Internal, None),
        Err(Failure::Internal(cause)) => {
            log::error!(target: "call", "tool={} failed: {cause}", tool.spec().name.as_str());
            (Outcome::Internal, None)
        }
    };
    answer(shared, serial, &outcome);
    if let Some(afterwards) = afterwards {
        afterwards();
    }
}

/// The arguments judged and filled in, and the governor's permit for exactly those.
fn authorize<'t>(shared: &Shared, tool: &'t dyn Tool, job: Job) -> Result<(Prepared<'t>, Permit), Problem> {
    let prepared = tool.prepare(job.arguments)?;
    match shared.governor.authorize(&tool.spec().name, &prepared.arguments) {
        Verdict::Allow(permit) => Ok((prepared, permit)),
        Verdict::Deny(problem) => Err(problem),
    }
}

fn refuse(shared: &Shared, serial: Serial, problem: Problem) {
    if let Some(mut taken) = shared.in_flight.with(|table| table.finish(serial)) {
        taken.decision = Decision::Deny;
        shared.settle(taken, Some(&Outcome::Problem(problem)));
    }
}

/// Answers, unless somebody else has: then the result is dropped.
fn answer(shared: &Shared, serial: Serial, outcome: &Outcome) {
    if let Some(taken) = shared.in_flight.with(|table| table.finish(serial)) {
        shared.settle(taken, Some(outcome));
    }
}
