//! Decides whether a call may run, and keeps the record of it. Runs no tool.
//!
//! A worker asks [`Governor::authorize`] once for each call whose arguments passed, with those that the tool will see: every
//! default filled in. The answer is a [`Permit`], without which no tool runs in `serve`, or the [`Problem`] that the model reads.
//!
//! | file | holds |
//! |---|---|
//! | this | [`Governor`]: the decision on one page |
//! | [`identity`] | the caller; never read from arguments, `_meta` or `clientInfo` |
//! | [`audit`] | one log line for each call |
//!
//! Today's policy is built in: one local caller, who may use every tool that is configured. Every tool only reads, and the
//! operating system decides who may start the process.

pub mod audit;
pub mod identity;

use serde_json::{Map, Value};

use self::identity::Identity;
use crate::problem::Problem;
use crate::protocol::tool::ToolName;

/// The right to run one call, once. Only [`Governor::authorize`] makes one.
///
/// ```compile_fail,E0451
/// use mcp_server_suite::governance::{Permit, identity::Identity};
/// let forged = Permit { caller: Identity::local() };
/// ```
#[derive(Debug)]
#[must_use]
pub struct Permit {
    caller: Identity,
}

impl Permit {
    /// Returns the caller who may run the call.
    pub fn caller(&self) -> &Identity {
        &self.caller
    }
}

/// Decides about calls.
#[derive(Debug, Default)]
pub struct Governor;

impl Governor {
    /// Decides about a call of this tool with these arguments, defaults filled in.
    ///
    /// # Errors
    /// The call may not run; nothing was touched.
    pub fn authorize(&self, tool: &ToolName, arguments: &Map<String, Value>) -> Result<Permit, Problem> {
        // The built-in policy has one rule, and the toolbox holds nothing it does not cover.
        let (_, _) = (tool, arguments);
        Ok(Permit { caller: Identity::local() })
    }
}
