//! The refusals of the server itself.

use std::time::Duration;

use crate::call::Outcome;
use crate::problem::{Code, Problem};

/// The wait that a call without a slot is advised to make.
const RETRY_AFTER: Duration = Duration::from_secs(1);

pub(super) fn no_slot() -> Outcome {
    let detail = "All slots are taken. Wait for running calls to end, or cancel one, and call again.";
    Outcome::Problem(Problem::new(Code::ConcurrencyLimit, detail).retry_after(RETRY_AFTER))
}

pub(super) fn timed_out() -> Outcome {
    let detail = "The call ran into its deadline and was stopped. Ask for less: a narrower query, fewer rows, a smaller part of the file.";
    Outcome::Problem(Problem::new(Code::ExecutionTimeout, detail))
}
