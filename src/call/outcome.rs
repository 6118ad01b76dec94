//! The result of a tool, and the outcome of a call.

use std::fmt;

use super::interrupt::Interrupted;
use crate::problem::Problem;
use crate::wire::ascii::AsciiJson;

/// A successful result: the JSON of `structuredContent`.
pub struct Answer {
    /// The body, an object.
    pub body: AsciiJson,
    /// The work left once the answer is on its way, such as a ROLLBACK. The worker's slot stays taken until then.
    pub afterwards: Option<Box<dyn FnOnce() + Send>>,
}

impl From<AsciiJson> for Answer {
    fn from(body: AsciiJson) -> Self {
        Self { body, afterwards: None }
    }
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answer").field("body", &self.body).finish_non_exhaustive()
    }
}

/// A failure in place of a result.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The model can do something about it.
    #[error("{}", .0.detail())]
    Problem(Problem),
    /// The model can do nothing about it: `-32603` with a generic message. The text is for the operator's log only.
    #[error("{0}")]
    Internal(String),
    /// The call was interrupted, so it was answered already.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

/// The outcome of a call, from which its answer and its record are made.
#[derive(Debug)]
pub enum Outcome {
    /// A result.
    Answer(AsciiJson),
    /// A refusal that the model can read.
    Problem(Problem),
    /// A failure that the caller cannot mend: a crash, a lost database. The cause is in the log.
    Internal,
    /// The process ended first.
    ShuttingDown,
}
