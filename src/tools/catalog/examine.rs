//! Each entry on a real database, for `check`: it is prepared, its columns are compared, its example is run.

use std::sync::Arc;
use std::time::{Duration, Instant};

use postgres::types::{ToSql, Type};
use serde_json::{Map, Value};

use super::bind;
use super::entry::Entry;
use super::output::ColumnKind;
use super::query::{Query, accept, quotes};
use crate::call::{Call, Failure, Interrupt};
use crate::governance::identity::Identity;
use crate::guard::position::Position;
use crate::postgres::Database;
use crate::postgres::login::within;
use crate::postgres::prepared::{Examined, QueryError};
use crate::postgres::sqlstate::{place, reported};
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
    /// A connection or a transaction failed.
    #[error(transparent)]
    Failed(#[from] Failure),
}

/// The reason why the database refuses an entry.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
pub struct Refusal {
    text: String,
    /// A value is the reason (SQLSTATE class 22), not the statement, its columns or a grant.
    is_of_data: bool,
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
        Err(Refusal { is_of_data: true, .. }) if example.is_none() => {
            Ok(Sound { cost: None, ran: None, types: None })
        }
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
    entry: &Entry,
    arguments: &Map<String, Value>,
    database: &Arc<Database>,
    mut work: impl FnMut(&mut Transaction) -> Result<T, QueryError>,
) -> Outcome<T> {
    let deadline = Instant::now() + database.config().call_timeout;
    let call = Call::new(deadline, Interrupt::default());
    let mut outcome = None;
    let ended = in_transaction(database, &call, |transaction| {
        outcome = Some(work(transaction));
        Ok((AsciiJson::of(&()), End::Idle))
    });
    match (outcome, ended) {
        (None | Some(Err(QueryError::Failure(_))), Err(failure)) => Err(failure.into()),
        (None, Ok(_)) => Err(Failure::Internal("the transaction did not run".to_owned()).into()),
        (Some(outcome), ended) => {
            if let Some(afterwards) = ended.ok().and_then(|answer| answer.afterwards) {
                afterwards();
            }
            Ok(outcome.map_err(|error| {
                let cause = if let QueryError::Database(cause) = &error { Some(cause) } else { None };
                let code = cause.and_then(|cause| cause.code());
                let is_of_data = code.is_some_and(|code| code.code().starts_with("22"));
                let text = cause.map_or_else(|| error.to_string(), |cause| told(entry, arguments, cause));
                Refusal { text, is_of_data }
            }))
        }
    }
}

/// Returns the database's reason for an operator: no value of a row or of an argument, but the place in the statement and the
/// parameter that stands there.
fn told(entry: &Entry, arguments: &Map<String, Value>, error: &postgres::Error) -> String {
    let mut text = reported(error, &|text: &str| arguments.values().any(|value| quotes(text, value)));
    let statement = &entry.fixed.statement;
    let Some(at) = place(error) else { return text };
    if let Some(Position { line, column }) = statement.position_of(at) {
        text += &format!(" (line {line}, column {column} of the statement)");
    }
    if let Some((name, kind)) = parameter_near(entry, at) {
        text += &format!(
            "; :{name} is bound as {kind}: where another type is meant, write a cast, such as :{name}::int"
        );
    }
    text
}

/// Finds the parameter that stands nearest to a place of the canonical text, within a few tokens, and the type that it is
/// bound with.
fn parameter_near(entry: &Entry, at: usize) -> Option<(&str, &str)> {
    /// Characters from an operator to its operand's placeholder.
    const NEAR: usize = 12;
    let text: Vec<char> = entry.fixed.statement.canonical().chars().collect();
    let number = |from: usize| -> Option<usize> {
        let digits = text.get(from.checked_add(1)?..)?.iter().take_while(|c| c.is_ascii_digit());
        digits.collect::<String>().parse().ok()
    };
    let distance = |index: &usize| (index + 1).abs_diff(at);
    let marks = (0..text.len()).filter(|index| text.get(*index) == Some(&'$') && number(*index).is_some());
    let nearest = marks.filter(|index| distance(index) <= NEAR).min_by_key(distance)?;
    let index = number(nearest)?.checked_sub(1)?;
    let param = entry.placeholders.get(index)?.param()?;
    Some((entry.params.get(param)?.name.as_str(), entry.fixed.types.get(index)?.name()))
}

fn described(entry: &Entry, database: &Arc<Database>, arguments: &Map<String, Value>) -> Outcome<Examined> {
    alone(entry, arguments, database, |transaction| {
        let values = bind::values(entry, arguments, &Identity::local()).unwrap_or_default();
        let values: Vec<&(dyn ToSql + Sync)> = values.iter().map(|value| value as _).collect();
        let guard = &database.config().guard;
        entry.fixed.examine(transaction, guard, |client, columns| accept(entry, client, columns), &values)
    })
}

fn run(query: &Query, database: &Arc<Database>, example: &Map<String, Value>) -> Outcome<Ran> {
    alone(&query.entry, example, database, |transaction| {
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
