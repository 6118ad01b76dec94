//! How a call ends.

use std::fmt;

use crate::{call::Interrupted, problem::Problem, wire::ascii::AsciiJson};

/// A successful result: the JSON of `structuredContent`.
pub struct Answer {
    /// The body, an object.
    pub body: AsciiJson,
    /// What is left to do once the answer is on its way, such as a ROLLBACK. The worker's slot stays taken until then.
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

/// Why there is no result.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The model can do something about it.
    #[error("{}", .0.detail())]
    Problem(Problem),
    /// It cannot: `-32603` with a generic message. The text is for the operator's log only.
    #[error("{0}")]
    Internal(String),
    /// Somebody else has answered already.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

/// How a call ended, for whoever owes its answer.
#[derive(Debug)]
pub enum Outcome {
    /// With a result.
    Answer(AsciiJson),
    /// With a refusal the model can read.
    Problem(Problem),
    /// In a way the caller cannot mend: a crash, a lost database. The cause is in the log.
    Internal,
    /// By the end of the process.
    ShuttingDown,
}
