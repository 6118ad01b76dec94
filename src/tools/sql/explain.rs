//! `explain_query`: PostgreSQL's plan of a judged statement.

use std::sync::Arc;

use postgres::fallible_iterator::FallibleIterator as _;
use postgres::types::Type;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::run::in_transaction;
use crate::arguments::schema_of;
use crate::call::{Call, Failure};
use crate::governance::Permit;
use crate::guard::statement::ReadOnlyStatement;
use crate::postgres::Database;
use crate::postgres::rows::Raw;
use crate::postgres::sqlstate::{self, Sent};
use crate::postgres::transaction::{End, Transaction};
use crate::problem::{Code, Problem};
use crate::protocol::tool::{Effect, ToolName, ToolSpec};
use crate::tools::{Bound, CheckedSpec, TypedTool, Work};
use crate::wire::ascii::AsciiJson;

/// What a caller says.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// The query, as `read_only_sql` would take it.
    #[schemars(length(min = 1, max = 65_536))]
    query: String,
    /// Whether to run the query, too, and tell how long each step took and how many rows it really had.
    #[serde(default)]
    analyze: bool,
}

/// What comes back.
#[derive(Serialize, JsonSchema)]
struct Output {
    /// PostgreSQL's own plan (`EXPLAIN (FORMAT JSON)`).
    plan: Plan,
    /// The planner's cost of the whole query, in its own units.
    total_cost: f64,
    /// The rows the planner expects.
    estimated_rows: f64,
    /// The time the query took, in milliseconds; null without `analyze`.
    execution_ms: Option<f64>,
    /// The rows the query had; null without `analyze`.
    actual_rows: Option<f64>,
}

/// PostgreSQL's plan.
#[derive(Serialize)]
#[serde(transparent)]
struct Plan(Value);

impl JsonSchema for Plan {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Plan".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object", "description": "PostgreSQL's own plan (EXPLAIN (FORMAT JSON))." })
    }
}

/// The tool.
#[derive(Debug)]
pub struct ExplainQuery {
    spec: CheckedSpec,
    database: Arc<Database>,
}

impl ExplainQuery {
    /// The tool on this database.
    pub fn new(database: Arc<Database>) -> Self {
        let spec = ToolSpec {
            name: ToolName::new("explain_query"),
            title: "Explain a query's plan".into(),
            description: "Shows how PostgreSQL would run a query that read_only_sql would accept: its plan, cost and \
                          expected rows. With analyze the query is run (its rows are thrown away) and the real times and \
                          row counts are shown. Use it to find out why a query is slow before running it again."
                .into(),
            input_schema: schema_of::<Arguments>(),
            output_schema: schema_of::<Output>(),
            effect: Effect::Read,
        };
        Self { spec: CheckedSpec::new(spec), database }
    }
}

impl TypedTool for ExplainQuery {
    type Arguments = Arguments;

    fn spec(&self) -> &CheckedSpec {
        &self.spec
    }

    fn bind(&self, request: Arguments) -> Result<Bound<impl Work>, Problem> {
        let config = self.database.config();
        let statement = ReadOnlyStatement::parse(&request.query, &config.guard)?;
        let run = move |_: Permit, call: &Call| {
            in_transaction(&self.database, call, |transaction| {
                let body = explain(transaction, &self.database, &statement, request.analyze)?;
                bounded(body, config.max_response_bytes)
            })
        };
        Ok(Bound { max_body_bytes: config.max_response_bytes, run })
    }
}

fn bounded(body: AsciiJson, limit: usize) -> Result<(AsciiJson, End), Failure> {
    if body.len() <= limit {
        return Ok((body, End::Idle));
    }
    Err(too_long(limit))
}

fn too_long(limit: usize) -> Failure {
    let detail = format!(
        "The plan is longer than the {limit} bytes that an answer may have. Explain a part of the query."
    );
    Problem::new(Code::Validation, detail).param("query").into()
}

/// Runs `EXPLAIN` of the statement in brackets, which takes nothing but a plain query.
fn explain(
    transaction: &mut Transaction,
    database: &Database,
    statement: &ReadOnlyStatement,
    analyze: bool,
) -> Result<AsciiJson, Failure> {
    let options = if analyze { "FORMAT JSON, ANALYZE" } else { "FORMAT JSON" };
    let prefix = format!("EXPLAIN ({options}) SELECT * FROM (\n");
    let sent = Sent { statement, prefix_chars: prefix.chars().count() };
    let failed = |error: postgres::Error| {
        if sqlstate::is_row_too_long(&error) {
            return too_long(database.config().max_response_bytes);
        }
        sqlstate::failure(&error, Some(sent))
    };
    let sql = format!("{prefix}{}\n) AS q", statement.canonical());
    let session = transaction.session()?;
    session.admit(statement, &database.config().guard)?;
    let client = session.client();
    let mut rows = client.query_typed_raw(&sql, std::iter::empty::<(&str, Type)>()).map_err(failed)?;
    let row = rows.next().map_err(failed)?;
    let text = row.as_ref().and_then(|row| row.try_get::<_, Raw<'_>>(0).ok()).map(|Raw(bytes)| bytes);
    let output = text.and_then(summary);
    rows.next().map_err(failed)?;
    output
        .map(|output| AsciiJson::of(&output))
        .ok_or_else(|| Failure::Internal("PostgreSQL's plan is not in the form it should be".to_owned()))
}

/// Reads `[{"Plan": {…}, "Execution Time": …}]`.
fn summary(text: &[u8]) -> Option<Output> {
    let mut explained: Value = serde_json::from_slice(text).ok()?;
    let explained = explained.get_mut(0)?;
    let execution_ms = explained.get("Execution Time").and_then(Value::as_f64);
    let plan = explained.get_mut("Plan")?.take();
    let number = |key: &str| plan.get(key).and_then(Value::as_f64);
    Some(Output {
        total_cost: number("Total Cost")?,
        estimated_rows: number("Plan Rows")?,
        execution_ms,
        actual_rows: number("Actual Rows"),
        plan: Plan(plan),
    })
}
