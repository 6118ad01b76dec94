//! The one interface of every tool, and the adapter that holds what all of them repeat.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;
use std::sync::OnceLock;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::arguments::{Checker, schema_of, with_maximum};
use crate::call::{Answer, Call, Failure};
use crate::governance::Permit;
use crate::problem::Problem;
use crate::protocol::tool::{ToolName, ToolSpec};

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

    /// Makes the entry of a tool whose arguments and answer are these types.
    pub(crate) fn of<A: JsonSchema, O: JsonSchema>(
        name: &'static str,
        title: &'static str,
        description: impl Into<Cow<'static, str>>,
    ) -> Self {
        let (name, title, description) = (ToolName::new(name), title.into(), description.into());
        let (input_schema, output_schema) = (schema_of::<A>(), schema_of::<O>());
        Self::new(ToolSpec { name, title, description, input_schema, output_schema })
    }

    /// Bounds a number among the arguments: see [`with_maximum`].
    pub(crate) fn with_maximum(mut self, parameter: &str, maximum: u64) -> Self {
        let schema = std::mem::take(&mut self.spec.input_schema);
        self.spec.input_schema = with_maximum(schema, parameter, maximum);
        self
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
    fn bind(&self, arguments: Self::Arguments) -> Result<Bound<'_>, Problem>;
}

/// The work of one call, and the bound on its answer: see [`Prepared::max_body_bytes`].
pub(crate) type Bound<'t> = (usize, Run<'t>);

impl<T: TypedTool> Tool for T {
    fn spec(&self) -> &ToolSpec {
        TypedTool::spec(self)
    }

    fn prepare(&self, arguments: Map<String, Value>) -> Result<Prepared<'_>, Problem> {
        let (typed, arguments) = TypedTool::spec(self).checker().parse::<T::Arguments>(arguments)?;
        let (max_body_bytes, run) = self.bind(typed)?;
        Ok(Prepared { arguments, max_body_bytes, run })
    }
}
