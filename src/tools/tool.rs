//! The one interface of every tool, and the adapter that holds what all of them repeat.

use std::fmt;
use std::ops::Deref;
use std::sync::OnceLock;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::arguments::Checker;
use crate::call::{Answer, Call, Failure};
use crate::governance::Permit;
use crate::problem::Problem;
use crate::protocol::tool::ToolSpec;

/// A tool as the server sees it.
pub trait Tool: fmt::Debug + Send + Sync {
    /// Returns the entry of `tools/list`.
    fn spec(&self) -> &ToolSpec;

    /// Checks arguments (which passed the sanitizer) and fills in defaults. Pure: touches no resource, waits for nothing.
    fn prepare(&self, arguments: Map<String, Value>) -> Result<Prepared<'_>, Problem>;
}

/// The boxed work of one call.
pub type Run<'t> = Box<dyn FnOnce(Permit, &Call) -> Result<Answer, Failure> + Send + 't>;

/// A call with checked arguments: all it needs is a permit.
pub struct Prepared<'t> {
    /// The arguments with every default filled in: policies judge them, records name them.
    pub arguments: Map<String, Value>,
    /// The most bytes that the body and its making can take: they are reserved before the run.
    pub max_body_bytes: usize,
    /// The work.
    pub run: Run<'t>,
}

impl fmt::Debug for Prepared<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prepared").field("max_body_bytes", &self.max_body_bytes).finish_non_exhaustive()
    }
}

/// The entry of `tools/list`, with the checker of its arguments, which the first call compiles.
#[derive(Debug)]
pub(crate) struct CheckedSpec {
    spec: ToolSpec,
    checker: OnceLock<Checker>,
}

impl CheckedSpec {
    pub(crate) fn new(spec: ToolSpec) -> Self {
        Self { spec, checker: OnceLock::new() }
    }

    pub(crate) fn checker(&self) -> &Checker {
        self.checker.get_or_init(|| Checker::new(&self.spec.input_schema))
    }
}

impl Deref for CheckedSpec {
    type Target = ToolSpec;

    fn deref(&self) -> &ToolSpec {
        &self.spec
    }
}

/// A tool whose arguments are a Rust type. It implements this; [`Tool`] follows.
pub(crate) trait TypedTool: fmt::Debug + Send + Sync {
    /// The arguments. `spec().input_schema` is made from the same type, so that the two cannot drift.
    type Arguments: DeserializeOwned;

    /// Returns the entry of `tools/list`, with its checker.
    fn spec(&self) -> &CheckedSpec;

    /// Makes the work of one call. A check that the schema cannot express refuses here. Pure, like [`Tool::prepare`].
    fn bind(&self, arguments: Self::Arguments) -> Result<Bound<impl Work>, Problem>;
}

/// Any closure that runs one call.
pub(crate) trait Work: FnOnce(Permit, &Call) -> Result<Answer, Failure> + Send {}

impl<W: FnOnce(Permit, &Call) -> Result<Answer, Failure> + Send> Work for W {}

/// The work of one call, and the bound on its answer.
#[derive(Debug)]
pub(crate) struct Bound<W> {
    /// See [`Prepared::max_body_bytes`].
    pub max_body_bytes: usize,
    /// The work.
    pub run: W,
}

impl<T: TypedTool> Tool for T {
    fn spec(&self) -> &ToolSpec {
        TypedTool::spec(self)
    }

    fn prepare(&self, arguments: Map<String, Value>) -> Result<Prepared<'_>, Problem> {
        let (typed, arguments) = TypedTool::spec(self).checker().parse::<T::Arguments>(arguments)?;
        let Bound { max_body_bytes, run } = self.bind(typed)?;
        Ok(Prepared { arguments, max_body_bytes, run: Box::new(run) })
    }
}
