//! The work itself. A tool knows its arguments and its resource; it knows no JSON-RPC and starts no thread of its own.

pub mod metrics;
pub mod files;
pub mod sql;
pub mod catalog;
#[cfg(test)]
pub(crate) mod testing;

use std::fmt;

use serde_json::{Map, Value};

use crate::{
    call::{Answer, Call, Failure},
    governance::Permit,
    problem::Problem,
    protocol::tool::ToolSpec,
};

/// The names of the tools that are not a catalog's.
pub const BUILT_IN: [&str; 6] = [
    "read_only_sql",
    "explain_query",
    "describe_database",
    "sandbox_fs_read",
    "sandbox_fs_list",
    "system_metrics",
];

/// Which queue a tool's calls wait in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    /// Every worker takes these.
    General,
    /// At most as many workers as there are connections take these, so that no worker waits for a connection.
    Sql,
}

/// One tool.
pub trait Tool: fmt::Debug + Send + Sync {
    /// What clients are told of it.
    fn spec(&self) -> &ToolSpec;

    /// Where its calls wait.
    fn lane(&self) -> Lane;

    /// Judges arguments (which passed the sanitizer) and fills in defaults. Pure: touches no resource, waits for nothing.
    fn prepare(&self, arguments: Map<String, Value>) -> Result<Prepared<'_>, Problem>;
}

/// What [`Prepared::run`] calls.
pub type Run<'t> = Box<dyn FnOnce(Permit, &Call) -> Result<Answer, Failure> + Send + 't>;

/// A call whose arguments were judged: all it needs is a permit.
pub struct Prepared<'t> {
    /// The arguments with every default filled in: what policies judge and records name.
    pub arguments: Map<String, Value>,
    /// The most bytes the answer's body can take, and what else is held to make it: room is claimed before the run.
    pub max_body_bytes: usize,
    /// The work.
    pub run: Run<'t>,
}

impl fmt::Debug for Prepared<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prepared").field("max_body_bytes", &self.max_body_bytes).finish_non_exhaustive()
    }
}

/// The one table of tools: fixed at start, in registration order.
#[derive(Debug, Default)]
pub struct Toolbox {
    tools: Vec<Box<dyn Tool>>,
}

impl Toolbox {
    /// Adds a tool. A name that is taken already is a bug of ours and keeps the first.
    pub fn add(&mut self, tool: Box<dyn Tool>) {
        if self.find(tool.spec().name.as_str()).is_none() {
            self.tools.push(tool);
        }
    }

    /// The tool of this name and its place.
    pub fn find(&self, name: &str) -> Option<(usize, &dyn Tool)> {
        self.iter().enumerate().find(|(_, tool)| tool.spec().name.as_str() == name)
    }

    /// The tool at this place.
    pub fn get(&self, index: usize) -> Option<&dyn Tool> {
        self.tools.get(index).map(AsRef::as_ref)
    }

    /// Every tool, in registration order.
    pub fn iter(&self) -> impl Iterator<Item = &dyn Tool> {
        self.tools.iter().map(AsRef::as_ref)
    }
}
