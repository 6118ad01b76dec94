//! May this call run, and the record that it did. Runs nothing itself.

pub mod audit;
pub mod identity;

use serde_json::{Map, Value};

use self::identity::Identity;
use crate::{problem::Problem, protocol::tool::ToolName};

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
    /// Who may run the call.
    pub fn caller(&self) -> &Identity {
        &self.caller
    }
}

/// What the governor says to a call.
#[derive(Debug)]
#[must_use]
pub enum Verdict {
    /// It may run, once.
    Allow(Permit),
    /// It may not; nothing was touched.
    Deny(Problem),
}

/// Decides. Today's policy is built in: one local caller, who may use every tool that is configured. Since only read
/// tools exist, whoever may start the process may call them; callers, roles and approvals come with `MCP_POLICY`.
#[derive(Debug, Default)]
pub struct Governor;

impl Governor {
    /// May this tool run with these arguments, defaults filled in?
    pub fn authorize(&self, tool: &ToolName, arguments: &Map<String, Value>) -> Verdict {
        // The built-in policy has one rule, and the toolbox holds nothing it does not cover.
        let (_, _) = (tool, arguments);
        Verdict::Allow(Permit { caller: Identity::local() })
    }
}
