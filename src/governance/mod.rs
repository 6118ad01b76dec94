//! May this call run, and the record that it did. Runs nothing itself.

use std::marker::PhantomData;

use crate::{problem::Problem, protocol::tool::ToolName};

/// The right to run one call, once. Only [`Governor::authorize`] makes one.
///
/// ```compile_fail
/// let forged = mcp_server_suite::governance::Permit { seal: () };
/// ```
#[derive(Debug)]
#[must_use]
pub struct Permit {
    seal: PhantomData<()>,
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

/// Decides. Today's policy: one local caller, who may use every configured read tool.
#[derive(Debug, Default)]
pub struct Governor;

impl Governor {
    /// May this tool run?
    pub fn authorize(&self, tool: &ToolName) -> Verdict {
        let _ = tool;
        Verdict::Allow(Permit { seal: PhantomData })
    }

    /// A permit for the tests of tools.
    #[cfg(test)]
    pub(crate) fn permit_for_tests() -> Permit {
        Permit { seal: PhantomData }
    }
}
