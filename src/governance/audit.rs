//! One log line for each call: tool, decision, outcome, duration, names of arguments. Never an argument's value.
//!
//! A log level can switch these lines off. They help an operator; they are not an audit trail.

use std::time::Instant;

use crate::call::Outcome;
use crate::protocol::tool::ToolName;

/// The decision before the call could run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It ended before it was judged: refused by the sanitizer, no slot, cancelled while it waited.
    Undecided,
    /// It ran.
    Allow,
    /// It was refused; nothing was touched.
    Deny,
}

/// The log line of one call, opened when the call is registered.
#[derive(Debug)]
pub struct Record {
    tool: ToolName,
    arguments: Vec<String>,
    opened: Instant,
}

impl Record {
    /// Opens the line. `arguments` are names that passed the sanitizer.
    pub fn open<'a>(tool: &ToolName, arguments: impl Iterator<Item = &'a String>, now: Instant) -> Self {
        Self { tool: tool.clone(), arguments: arguments.cloned().collect(), opened: now }
    }

    /// Writes the line, before the answer leaves. `outcome` is none for a cancelled call, which gets no answer.
    pub fn close(self, decision: Decision, outcome: Option<&Outcome>, now: Instant) {
        let decision = match decision {
            Decision::Undecided => "none",
            Decision::Allow => "allow",
            Decision::Deny => "deny",
        };
        let outcome = match outcome {
            None => "cancelled",
            Some(Outcome::Answer(_)) => "ok",
            Some(Outcome::Problem(problem)) => problem.code().row().code,
            Some(Outcome::Internal) => "internal error",
            Some(Outcome::Unavailable(what)) => what.message(),
            Some(Outcome::ShuttingDown) => "shutting down",
        };
        log::info!(
            target: "call",
            "tool={} decision={decision} outcome=\"{outcome}\" duration_us={} arguments=[{}]",
            self.tool.as_str(),
            now.saturating_duration_since(self.opened).as_micros(),
            self.arguments.join(","),
        );
    }
}
