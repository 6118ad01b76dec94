//! READ THIS FIRST: one call on its worker, from the queue to its answer.
//!
//! ```text
//! Picked ──prepare──▶ Prepared ──authorize──▶ Permit ──reserve──▶ memory ──start──▶ Call ──run──▶ Outcome ──▶ Reply
//!          arguments             may it run?           for the answer     deadline        the tool
//! ```
//!
//! Each step makes the value that the next one needs, so that none can be left out: a tool's work runs only with a
//! [`Permit`], and only the governor makes one. Every step may end the call:
//!
//! - *prepare*, *authorize*: refused, recorded as denied; nothing was touched.
//! - *reserve*: the client does not read its answers, or other large answers hold the 16 MiB; refused like a call that found
//!   no slot. A call that is cancelled while it waits ends here, too. Only calls of the general lane reserve bytes.
//! - *start*: another thread has answered or cancelled the call while it was picked; nothing is left to do.
//! - *run*: the watchdog answers at the deadline and interrupts the work. What the work returns later is dropped.
//!
//! The answer leaves in [`Shared::settle`], after the record of the call was written.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::refusal::no_slot;
use super::reservations::Reservation;
use super::shared::Shared;
use super::table::{Job, Picked, Taken};
use crate::call::{Answer, Failure, Outcome, Serial};
use crate::governance::Permit;
use crate::governance::audit::Decision;
use crate::problem::Problem;
use crate::tools::{LaneId, Prepared, Registered, Tool};

/// Runs one call. A panic anywhere on the way becomes one `-32603`, and the worker goes on.
pub(super) fn execute(shared: &Shared, picked: Picked) {
    let serial = picked.serial;
    // INVARIANT: nothing that the closure can leave half-done outlives it: the table's steps are whole, tools own
    // their state, and the call is answered below.
    if catch_unwind(AssertUnwindSafe(|| carry_out(shared, picked))).is_err() {
        answer(shared, serial, &Outcome::Internal);
    }
}

fn carry_out(shared: &Shared, picked: Picked) {
    let Picked { serial, job, interrupt, reserve_until } = picked;
    let Some(Registered { lane, tool }) = shared.toolbox.get(job.tool) else { return };
    let (prepared, permit) = match authorize(shared, tool.as_ref(), job) {
        Ok(permitted) => permitted,
        Err(problem) => {
            if let Some(taken) = shared.in_flight.with(|table| table.finish(serial)) {
                let denied = Taken { decision: Decision::Deny, ..taken };
                shared.settle(denied, Some(&Outcome::Problem(problem)));
            }
            return;
        }
    };
    let bytes = match *lane {
        LaneId::GENERAL => prepared.max_body_bytes,
        // Such work may wait for another server for long before it has an answer, so it reserves nothing and waits here
        // only for a client that does not read: the lane's capacity and the bound on each answer are bound enough.
        _ => 0,
    };
    match shared.outbox.reserve(serial, bytes, &interrupt, reserve_until) {
        Reservation::Granted => {}
        Reservation::Unwanted => return,
        Reservation::Late => return answer(shared, serial, &no_slot()),
    }
    let wait_guard = shared.wait_group.guard();
    let Some(mut call) = shared.in_flight.with_now(|table, now| table.start(serial, now)) else {
        return shared.outbox.release(serial);
    };
    call.wait_guard = wait_guard;
    let (outcome, afterwards) = match (prepared.run)(permit, &call) {
        Ok(Answer { body, afterwards }) => (Outcome::Answer(body), afterwards),
        Err(Failure::Problem(problem)) => (Outcome::Problem(problem), None),
        // Answered already: this outcome is dropped.
        Err(Failure::Interrupted(_)) => (Outcome::Internal, None),
        Err(Failure::Unavailable(what, cause)) => {
            log::error!(target: "call", "tool={} failed: {cause}", tool.spec().name.as_str());
            (Outcome::Unavailable(what), None)
        }
        Err(Failure::Internal(cause) | Failure::Conflict(cause)) => {
            log::error!(target: "call", "tool={} failed: {cause}", tool.spec().name.as_str());
            (Outcome::Internal, None)
        }
    };
    answer(shared, serial, &outcome);
    if let Some(afterwards) = afterwards {
        afterwards();
    }
}

/// Checks the arguments and gets the governor's permit for exactly those, defaults filled in.
fn authorize<'t>(shared: &Shared, tool: &'t dyn Tool, job: Job) -> Result<(Prepared<'t>, Permit), Problem> {
    let prepared = tool.prepare(job.arguments)?;
    let permit = shared.governor.authorize(&tool.spec().name, &prepared.arguments)?;
    Ok((prepared, permit))
}

/// Answers, unless another thread has: then the outcome is dropped.
fn answer(shared: &Shared, serial: Serial, outcome: &Outcome) {
    if let Some(taken) = shared.in_flight.with(|table| table.finish(serial)) {
        shared.settle(taken, Some(outcome));
    }
}
