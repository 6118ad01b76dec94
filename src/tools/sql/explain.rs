//! `explain_query`: PostgreSQL's plan of a judged statement.

use std::sync::Arc;

use postgres::fallible_iterator::FallibleIterator as _;
use postgres::types::Type;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::run::{bound, default_max_rows};
use crate::call::Failure;
use crate::guard::statement::ReadOnlyStatement;
use crate::postgres::columns::Plan;
use crate::postgres::session::Session;
use crate::postgres::sqlstate::{self, Sent};
use crate::postgres::transaction::{End, Transaction};
use crate::postgres::{Database, SqlConfig};
use crate::problem::{Code, Problem};
use crate::tools::{Bound, CheckedSpec, TypedTool};
use crate::wire::ascii::AsciiJson;

/// The arguments.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// As for read_only_sql.
    #[schemars(length(min = 1, max = 65_536))]
    query: String,
    /// As for read_only_sql: the limit is part of the plan.
    #[schemars(range(min = 1))]
    #[serde(default = "default_max_rows")]
    max_rows: u32,
    /// Run the query, too.
    #[serde(default)]
    analyze: bool,
}

/// The answer.
#[derive(Serialize, JsonSchema)]
struct Output {
    /// PostgreSQL's own plan (`EXPLAIN (FORMAT JSON)`).
    #[schemars(schema_with = "plan_schema")]
    plan: Value,
    total_cost: f64,
    estimated_rows: f64,
    /// Null without analyze.
    execution_ms: Option<f64>,
    /// Null without analyze.
    actual_rows: Option<f64>,
}

fn plan_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "object" })
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
        let description = "Shows PostgreSQL's plan, cost and expected rows of a query as read_only_sql would run it. With \
                          analyze the query runs too, and real times and row counts are shown.";
        let spec =
            CheckedSpec::of::<Arguments, Output>("explain_query", "Explain a query's plan", description)
                .with_maximum("max_rows", database.config().max_rows.into());
        Self { spec, database }
    }
}

impl TypedTool for ExplainQuery {
    type Arguments = Arguments;

    fn spec(&self) -> &CheckedSpec {
        &self.spec
    }

    fn bind(&self, request: Arguments) -> Result<Bound<'_>, Problem> {
        let config = self.database.config();
        let statement = ReadOnlyStatement::parse(&request.query, &config.guard)?;
        Ok(bound(&self.database, move |transaction| explain(transaction, config, &statement, &request)))
    }
}

/// Runs `EXPLAIN` of the text that would run, with its LIMIT.
fn explain(
    transaction: &mut Transaction,
    config: &SqlConfig,
    statement: &ReadOnlyStatement,
    request: &Arguments,
) -> Result<(AsciiJson, End), Failure> {
    let too_long = || {
        let detail = format!(
            "The plan is longer than the {} bytes that an answer may have. Explain a part of the query.",
            config.max_response_bytes
        );
        Failure::from(Problem::new(Code::Validation, detail).param("query"))
    };
    let session = transaction.session()?;
    let described = session.describe(statement, &config.guard)?;
    let Session { client, info, statement_limit: limit, .. } = session;
    let wanted = usize::try_from(request.max_rows).unwrap_or(usize::MAX);
    let plan = Plan::new(statement.canonical(), described.columns(), config, info, wanted);
    let prefix = if request.analyze { "EXPLAIN (FORMAT JSON, ANALYZE) " } else { "EXPLAIN (FORMAT JSON) " };
    let sent = Sent { statement, prefix_chars: prefix.chars().count() + plan.prefix_chars, limit: *limit };
    let failed = |error: postgres::Error| {
        if sqlstate::is_row_too_long(&error) { too_long() } else { sqlstate::failure(&error, Some(sent)) }
    };
    let sql = format!("{prefix}{}", plan.sql);
    let mut rows = client.query_typed_raw(&sql, std::iter::empty::<(&str, Type)>()).map_err(failed)?;
    let row = rows.next().map_err(failed)?;
    let output = row.and_then(|row| summary(row.try_get(0).ok()?));
    rows.next().map_err(failed)?;
    let Some(output) = output else {
        return Err(Failure::Internal("PostgreSQL's plan is not in the form it should be".to_owned()));
    };
    let body = AsciiJson::of(&output);
    if body.len() <= config.max_response_bytes { Ok((body, End::Idle)) } else { Err(too_long()) }
}

/// Reads `[{"Plan": {…}, "Execution Time": …}]`.
fn summary(mut explained: Value) -> Option<Output> {
    let explained = explained.get_mut(0)?;
    let execution_ms = explained.get("Execution Time").and_then(Value::as_f64);
    let plan = explained.get_mut("Plan")?.take();
    let number = |key: &str| plan.get(key).and_then(Value::as_f64);
    Some(Output {
        total_cost: number("Total Cost")?,
        estimated_rows: number("Plan Rows")?,
        execution_ms,
        actual_rows: number("Actual Rows"),
        plan,
    })
}
