//! Each entry on a real database, for `check`: it is prepared, its columns are compared, its example is run.

use std::sync::Arc;
use std::time::{Duration, Instant};

use postgres::types::{ToSql, Type};
use serde_json::{Map, Value};

use super::bind;
use super::entry::Entry;
use super::output::ColumnKind;
use super::query::{Query, accept};
use crate::call::{Call, Failure, Interrupt, Serial};
use crate::governance::identity::Identity;
use crate::postgres::Database;
use crate::postgres::login::within;
use crate::postgres::prepared::{Examined, QueryError};
use crate::postgres::sqlstate::chain;
use crate::postgres::transaction::{End, Transaction};
use crate::tools::sql::run::in_transaction;
use crate::wire::ascii::AsciiJson;

/// The time beyond its two calls that an entry may take, for what ends them.
const MARGIN: Duration = Duration::from_secs(1);

/// The outcome of one entry.
#[derive(Debug)]
pub struct Examination {
    /// Its name.
    pub entry: String,
    /// Its waivers and their reasons.
    pub waived: Vec<(String, String)>,
    /// Or the reason why the database refuses it, for the operator.
    pub outcome: Result<Sound, Refusal>,
}

/// No entry can be run.
#[derive(Debug, thiserror::Error)]
pub enum ExamineError {
    /// A thread for the run could not be started.
    #[error("no thread could be started: {0}")]
    NoThread(#[from] std::io::Error),
    /// The server did not answer.
    #[error("no answer within {} ms: the server hangs or is frozen", .patience.as_millis())]
    Silent {
        /// The time that was waited.
        patience: Duration,
    },
    /// A transaction ended before it ran anything.
    #[error("the transaction did not run")]
    NotRun,
    /// A connection or a transaction failed.
    #[error(transparent)]
    Failed(#[from] Failure),
}

/// The database refuses an entry.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// Because of a value: SQLSTATE class 22.
    #[error("{0}")]
    Data(String),
    /// Because of the statement, its columns or a grant.
    #[error("{0}")]
    Statement(String),
}

/// An entry that the database takes.
#[derive(Debug)]
pub struct Sound {
    /// The planner's cost of the example, in its own units; none when it cannot plan without one.
    pub cost: Option<f64>,
    /// The example's run; none when there is no example and the entry needs arguments.
    pub ran: Option<Ran>,
    /// The `types` that the entry could declare, when it leaves some out.
    pub types: Option<String>,
}

/// The run of an example.
#[derive(Debug)]
pub struct Ran {
    /// Rows that came.
    pub rows: u64,
    /// There were more.
    pub has_more: bool,
    /// The time that it took.
    pub took: Duration,
}

/// Prepares an entry and runs its example, in read-only transactions.
pub(super) fn examine(
    entry: &Arc<Entry>,
    query: Query,
    database: &Arc<Database>,
) -> Result<Examination, ExamineError> {
    // Two transactions. Nothing else ends a wait for a server that falls silent behind a Unix socket.
    let patience = database.config().call_timeout.saturating_mul(2).saturating_add(MARGIN);
    let (entry, database) = (Arc::clone(entry), Arc::clone(database));
    within(patience, move || examine_entry(&entry, &query, &database))?
        .unwrap_or(Err(ExamineError::Silent { patience }))
}

fn examine_entry(
    entry: &Entry,
    query: &Query,
    database: &Arc<Database>,
) -> Result<Examination, ExamineError> {
    // Without an example: NULL for whatever has no default. The plan is the planner's, not the run.
    let example = entry.spec.checker().check(entry.example.clone()).ok();
    let outcome = match described(entry, database, &example.clone().unwrap_or_default())? {
        // An argument that must be there was planned as NULL, since no value of it is known.
        Err(Refusal::Data(_)) if example.is_none() => Ok(Sound { cost: None, ran: None, types: None }),
        Err(refusal) => Err(refusal),
        Ok(Examined { columns, cost }) => {
            let ran = example.map(|example| run(query, database, &example)).transpose()?.transpose();
            let types = types(entry, &columns);
            ran.map(|ran| Sound { cost, ran, types })
        }
    };
    Ok(Examination {
        entry: entry.spec.name.as_str().to_owned(),
        waived: entry.waived.iter().map(|(name, why)| (name.clone(), why.clone())).collect(),
        outcome,
    })
}

/// The reason why there is no result: of the entry (inner), or of the connection (outer).
type Outcome<T> = Result<Result<T, Refusal>, ExamineError>;

/// Works in a transaction of its own.
fn alone<T>(
    database: &Arc<Database>,
    work: impl FnOnce(&mut Transaction) -> Result<T, QueryError>,
) -> Outcome<T> {
    let deadline = Instant::now() + database.config().call_timeout;
    let call = Call::new(Serial(0), deadline, Interrupt::default());
    let mut outcome = None;
    let ended = in_transaction(database, &call, |transaction| {
        outcome = Some(work(transaction));
        Ok((AsciiJson::of(&()), End::Idle))
    });
    match (outcome, ended) {
        (None | Some(Err(QueryError::Failure(_))), Err(failure)) => Err(failure.into()),
        (None, Ok(_)) => Err(ExamineError::NotRun),
        (Some(outcome), ended) => {
            if let Some(afterwards) = ended.ok().and_then(|answer| answer.afterwards) {
                afterwards();
            }
            Ok(outcome.map_err(|error| match error {
                QueryError::Database(error) => {
                    let is_of_data = error.code().is_some_and(|code| code.code().starts_with("22"));
                    if is_of_data { Refusal::Data(chain(&error)) } else { Refusal::Statement(chain(&error)) }
                }
                QueryError::Failure(_) | QueryError::Unexpected(_) => Refusal::Statement(error.to_string()),
            }))
        }
    }
}

fn described(entry: &Entry, database: &Arc<Database>, arguments: &Map<String, Value>) -> Outcome<Examined> {
    alone(database, |transaction| {
        let values = bind::values(entry, arguments, &Identity::local()).unwrap_or_default();
        let values: Vec<&(dyn ToSql + Sync)> = values.iter().map(|value| value as _).collect();
        entry.fixed.examine(transaction, |client, columns| accept(entry, client, columns), &values)
    })
}

fn run(query: &Query, database: &Arc<Database>, example: &Map<String, Value>) -> Outcome<Ran> {
    alone(database, |transaction| {
        let begun = Instant::now();
        let (body, _) = query.answer(transaction, example, &Identity::local())?;
        let took = begun.elapsed();
        let body: Value = serde_json::from_slice(&body.to_vec()).unwrap_or_default();
        let rows = body.get("row_count").and_then(Value::as_u64).unwrap_or_default();
        let has_more = body.get("has_more").and_then(Value::as_bool).unwrap_or_default();
        Ok(Ran { rows, has_more, took })
    })
}

/// Returns the `types` that the entry could declare.
fn types(entry: &Entry, columns: &[(String, Type)]) -> Option<String> {
    if entry.columns.iter().all(|column| column.kind.is_some()) {
        return None;
    }
    let types: Vec<String> =
        columns.iter().map(|(name, kind)| format!("{name} = \"{}\"", ColumnKind::of(kind).word())).collect();
    Some(format!("types = {{ {} }}", types.join(", ")))
}
