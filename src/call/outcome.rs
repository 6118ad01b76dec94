//! The result of a tool, and the outcome of a call.

use std::time::Duration;

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
    /// Something that the work needs is not there: `-32603` that says what. The text is for the operator's log only.
    #[error("{1}")]
    Unavailable(Unavailable, String),
    /// The server let another go first: the work may be done once more. The text is for the operator's log only.
    #[error("{0}")]
    Conflict(String),
    /// The call was interrupted, so it was answered already.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
}

/// The thing that is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unavailable {
    /// The database cannot be reached, is starting, is full, or refuses the login.
    Database {
        /// The time after which another attempt may succeed, where waiting can cure it.
        retry_after: Option<Duration>,
    },
    /// A table or a column that a reviewed statement was written for.
    Statement,
}

impl Unavailable {
    /// Returns the message for the client.
    pub const fn message(self) -> &'static str {
        match self {
            Self::Database { retry_after: _ } => "The database cannot be reached",
            Self::Statement => "This tool does not fit the database any more",
        }
    }

    /// Returns the time after which another attempt may succeed.
    pub const fn retry_after(self) -> Option<Duration> {
        match self {
            Self::Database { retry_after } => retry_after,
            Self::Statement => None,
        }
    }
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
    /// A failure that the caller cannot mend: a crash. The cause is in the log.
    Internal,
    /// Something that the work needs is not there. The cause is in the log.
    Unavailable(Unavailable),
    /// The process ended first.
    ShuttingDown,
}
