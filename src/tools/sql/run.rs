//! `read_only_sql`: a judged statement, run inside its wrapper in a read-only transaction.

use std::sync::Arc;

use postgres::fallible_iterator::FallibleIterator as _;
use postgres::types::Type;
use postgres::{Client, RowIter};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::call::{Answer, Call, Failure, Unavailable};
use crate::governance::Permit;
use crate::guard::statement::ReadOnlyStatement;
use crate::postgres::columns::{MAX_WIDTH, Plan};
use crate::postgres::rows::Body;
use crate::postgres::session::Session;
use crate::postgres::sqlstate::{self, Sent};
use crate::postgres::transaction::{End, Transaction, unless_stopped};
use crate::postgres::{Database, SqlConfig};
use crate::problem::{Code, Problem};
use crate::tools::{Bound, CheckedSpec, TypedTool};
use crate::wire::ascii::AsciiJson;

/// The arguments.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// One statement in PostgreSQL's SQL.
    #[schemars(length(min = 1, max = 65_536))]
    query: String,
    /// The most rows to return. Aggregate in SQL rather than raising it.
    #[schemars(range(min = 1))]
    #[serde(default = "default_max_rows")]
    max_rows: u32,
}

/// The rows that a model can read at a glance.
pub(super) fn default_max_rows() -> u32 {
    100
}

/// The answer.
#[derive(Serialize, JsonSchema)]
struct Output {
    /// Names need not be unique.
    columns: Vec<ColumnOutput>,
    #[schemars(schema_with = "rows_schema")]
    rows: Vec<Vec<Value>>,
    row_count: u64,
    /// True if there are more rows.
    has_more: bool,
    /// True if a cell was cut or rows were dropped to fit.
    truncated: bool,
}

/// A column.
#[derive(Serialize, JsonSchema)]
struct ColumnOutput {
    name: String,
    /// Such as int4, or int4[] for an array.
    r#type: String,
}

fn rows_schema(_: &mut SchemaGenerator) -> Schema {
    let cell = "Numbers that a double cannot hold, dates, times and bytes are strings.";
    json_schema!({ "type": "array", "items": { "type": "array", "items": { "description": cell } } })
}

/// The tool.
#[derive(Debug)]
pub struct ReadOnlySql {
    spec: CheckedSpec,
    database: Arc<Database>,
}

impl ReadOnlySql {
    /// The tool on this database.
    pub fn new(database: Arc<Database>) -> Self {
        let config = database.config();
        let description = format!(
            "Runs one read-only SQL query on PostgreSQL: SELECT, VALUES, TABLE or a set operation, with allowed functions \
                 only. At most {} rows and {} bytes come back; cells are cut at {} characters. It may run {} ms. It is \
                 evaluated in the session's own time zone; timestamptz values are shown in UTC (Z). Call describe_database \
                 first.",
            config.max_rows,
            config.max_response_bytes,
            config.max_cell_chars,
            config.statement_timeout.as_millis(),
        );
        let spec =
            CheckedSpec::of::<Arguments, Output>("read_only_sql", "Query PostgreSQL, read-only", description)
                .with_maximum("max_rows", config.max_rows.into());
        Self { spec, database }
    }
}

impl TypedTool for ReadOnlySql {
    type Arguments = Arguments;

    fn spec(&self) -> &CheckedSpec {
        &self.spec
    }

    fn bind(&self, request: Arguments) -> Result<Bound<'_>, Problem> {
        let statement = ReadOnlyStatement::parse(&request.query, &self.database.config().guard)?;
        let config = self.database.config();
        Ok(bound(&self.database, move |transaction| rows(transaction, config, &statement, request.max_rows)))
    }
}

/// Binds `work` to a read-only transaction of its call.
pub(super) fn bound<'t>(
    database: &'t Database,
    work: impl FnMut(&mut Transaction) -> Result<(AsciiJson, End), Failure> + Send + 't,
) -> Bound<'t> {
    let run = move |_: Permit, call: &Call| in_transaction(database, call, work);
    (database.config().max_response_bytes, Box::new(run))
}

/// Runs `work` in a read-only transaction that ends once the answer is on its way. Where another transaction went first, a
/// deadlock or a conflict with recovery, it is run once more: nothing of it was answered yet.
pub(crate) fn in_transaction(
    database: &Database,
    call: &Call,
    mut work: impl FnMut(&mut Transaction) -> Result<(AsciiJson, End), Failure>,
) -> Result<Answer, Failure> {
    match attempt(database, call, &mut work) {
        Err(Failure::Conflict(cause)) => log::info!("a statement is run once more: {cause}"),
        outcome => return outcome,
    }
    match attempt(database, call, &mut work) {
        Err(Failure::Conflict(cause)) => {
            log::warn!("a statement gave way to others twice: {cause}");
            let detail = "The database stopped the query twice in favour of other work. Try again later.";
            Err(Problem::new(Code::ConcurrencyLimit, detail).retry_after(sqlstate::RETRY_AFTER).into())
        }
        outcome => outcome,
    }
}

fn attempt(
    database: &Database,
    call: &Call,
    work: &mut impl FnMut(&mut Transaction) -> Result<(AsciiJson, End), Failure>,
) -> Result<Answer, Failure> {
    let mut transaction = Transaction::begin(database, call)?;
    match work(&mut transaction) {
        Ok((body, end)) => Ok(Answer { body, afterwards: Some(transaction.end(end)) }),
        Err(failure) => {
            match &failure {
                // PostgreSQL refused, the connection is well.
                Failure::Problem(_) | Failure::Conflict(_) => transaction.end(End::Idle)(),
                Failure::Unavailable(Unavailable::Statement, _) => transaction.end(End::Idle)(),
                Failure::Unavailable(Unavailable::Database { .. }, _)
                | Failure::Internal(_)
                | Failure::Interrupted(_) => drop(transaction),
            }
            Err(unless_stopped(call, failure))
        }
    }
}

/// Has the statement described for its columns, then runs it.
fn rows(
    transaction: &mut Transaction,
    config: &SqlConfig,
    statement: &ReadOnlyStatement,
    max_rows: u32,
) -> Result<(AsciiJson, End), Failure> {
    let session = transaction.session()?;
    let described = session.describe(statement, &config.guard)?;
    let Session { client, info, statement_limit: limit, .. } = session;
    let wanted = usize::try_from(max_rows).unwrap_or(usize::MAX);
    let plan = Plan::new(statement.canonical(), described.columns(), config, info, wanted);
    let sent = Sent { statement, prefix_chars: plan.prefix_chars, limit: *limit };
    wrapped(client, sent, &plan, config, wanted)
}

/// Runs the statement in its wrapper and reads as many rows as are wanted and fit.
fn wrapped(
    client: &mut Client,
    sent: Sent<'_>,
    plan: &Plan,
    config: &SqlConfig,
    wanted: usize,
) -> Result<(AsciiJson, End), Failure> {
    let refused = |detail| Problem::new(Code::Validation, detail).param("query");
    if plan.width > MAX_WIDTH {
        return Err(refused(format!(
            "The {} columns of this query are too many to cut their long values: with those that can be long counted twice \
             they may be {MAX_WIDTH}. Select fewer columns.",
            plan.columns.len()
        ))
        .into());
    }
    let body = Body::new(plan, config.max_response_bytes).ok_or_else(|| {
        refused(format!(
            "The names of the columns alone exceed the {} bytes that an answer may have. Select fewer columns.",
            config.max_response_bytes
        ))
    })?;
    let failed = |error: postgres::Error| sqlstate::failure(&error, Some(sent));
    let no_parameters = std::iter::empty::<(&str, Type)>();
    let mut rows = client.query_typed_raw(&plan.sql, no_parameters).map_err(failed)?;
    read(&mut rows, body, wanted, plan.limit, failed)
}

/// Reads as many rows as are wanted and fit, of those that are fetched: one more than is wanted, if there are more.
fn read(
    rows: &mut RowIter<'_>,
    mut body: Body<'_>,
    wanted: usize,
    fetched: usize,
    failed: impl Fn(postgres::Error) -> Failure,
) -> Result<(AsciiJson, End), Failure> {
    let mut read = 0;
    let mut has_more = false;
    while !has_more {
        let row = match rows.next() {
            Ok(Some(row)) => row,
            Ok(None) => return Ok((body.finish(false), End::Idle)),
            Err(error) if sqlstate::is_row_too_long(&error) => {
                // The one row more than wanted is not missed.
                if read < wanted {
                    body.cut();
                }
                return Ok((body.finish(true), End::Busy));
            }
            Err(error) => return Err(failed(error)),
        };
        read += 1;
        has_more = read > wanted || !body.push(row).map_err(|error| Failure::Internal(error.to_string()))?;
    }
    // The last row that was asked for leaves nothing but the end, which may still be an error.
    let end = if read >= fetched { rows.next().map(|_| End::Idle).map_err(failed)? } else { End::Busy };
    Ok((body.finish(true), end))
}
