//! Each entry on a real database, for `check`: does it prepare, are its columns what it declares, what does its example
//! bring.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use postgres::types::{ToSql, Type};
use serde_json::{Map, Value};

use super::{
    Catalog, bind,
    entry::Entry,
    output::ColumnKind,
    query::{Query, accept},
};
use crate::{
    arguments,
    call::{Call, Failure, Interrupt, Serial},
    governance::identity::Identity,
    postgres::{
        Database,
        login::within,
        prepared::{Examined, QueryError},
        sqlstate::chain,
        transaction::{End, Transaction},
    },
    tools::sql::run::in_transaction,
    wire::ascii::AsciiJson,
};

/// How much longer than its calls an entry may take: for what ends them.
const MARGIN: Duration = Duration::from_secs(1);

/// What came of one entry.
#[derive(Debug)]
pub struct Examination {
    /// Its name.
    pub entry: String,
    /// Names that it may use though they say that they hold a secret, and why.
    pub waived: Vec<(String, String)>,
    /// Or why the database refuses it, for the operator.
    pub outcome: Result<Sound, String>,
}

/// An entry that the database takes.
#[derive(Debug)]
pub struct Sound {
    /// The planner's cost of the example, in its own units; none when it cannot plan without one.
    pub cost: Option<f64>,
    /// The example's run; none when there is no example and the entry needs arguments.
    pub ran: Option<Ran>,
    /// What could be written as `types`, when the entry leaves some out.
    pub types: Option<String>,
}

/// The run of an example.
#[derive(Debug)]
pub struct Ran {
    /// Rows that came.
    pub rows: u64,
    /// Whether there were more.
    pub has_more: bool,
    /// How long it took.
    pub took: Duration,
}

impl Catalog {
    /// Prepares every entry and runs its example, in read-only transactions.
    ///
    /// # Errors
    /// No statement can be run at all, with the reason.
    pub fn examine(&self, database: &Arc<Database>) -> Result<Vec<Examination>, String> {
        // Two transactions. Nothing else ends a wait for a server that falls silent behind a Unix socket.
        let patience = database.config().call_timeout.saturating_mul(2).saturating_add(MARGIN);
        let examine = |entry: &Arc<Entry>| {
            let query = Query::new(Arc::clone(entry), Arc::clone(&self.words), Arc::clone(database));
            let (entry, database) = (Arc::clone(entry), Arc::clone(database));
            within(patience, move || examine_entry(&entry, &query, &database))
                .map_err(|error| format!("no thread could be started: {error}"))?
                .unwrap_or_else(|| {
                    Err(format!(
                        "no answer within {} ms: the server hangs or is frozen",
                        patience.as_millis()
                    ))
                })
        };
        self.entries.iter().map(examine).collect()
    }
}

fn examine_entry(entry: &Entry, query: &Query, database: &Arc<Database>) -> Result<Examination, String> {
    // Without an example: NULL for whatever has no default. The plan is the planner's, not the run.
    let example = arguments::judged(entry.example.clone(), &entry.spec.input_schema).ok();
    let outcome = match described(entry, database, &example.clone().unwrap_or_default())? {
        // What a value would have to be nobody knows: an argument that must be there was planned as NULL.
        Err(Refused { is_of_data: true, why: _ }) if example.is_none() => {
            Ok(Sound { cost: None, ran: None, types: None })
        }
        Err(Refused { why, is_of_data: _ }) => Err(why),
        Ok(Examined { columns, cost }) => {
            let ran = example.map(|example| run(query, database, &example)).transpose()?.transpose();
            let types = types(entry, &columns);
            ran.map_err(|refused| refused.why).map(|ran| Sound { cost, ran, types })
        }
    };
    Ok(Examination {
        entry: entry.spec.name.as_str().to_owned(),
        waived: entry.waived.iter().map(|(name, why)| (name.clone(), why.clone())).collect(),
        outcome,
    })
}

/// Why there is nothing: of the entry (inner), or of the connection (outer).
type Outcome<T> = Result<Result<T, Refused>, String>;

/// Why the database refuses an entry.
struct Refused {
    why: String,
    /// Whether it is about a value: SQLSTATE class 22.
    is_of_data: bool,
}

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
        (None | Some(Err(QueryError::Failure(_))), Err(failure)) => Err(failure.to_string()),
        (None, Ok(_)) => Err("the transaction did not run".to_owned()),
        (Some(outcome), ended) => {
            if let Some(afterwards) = ended.ok().and_then(|answer| answer.afterwards) {
                afterwards();
            }
            Ok(outcome.map_err(|error| match error {
                QueryError::Database(error) => Refused {
                    is_of_data: error.code().is_some_and(|code| code.code().starts_with("22")),
                    why: chain(&error),
                },
                QueryError::Failure(Failure::Problem(problem)) => {
                    Refused { why: problem.detail().to_owned(), is_of_data: false }
                }
                other @ (QueryError::Failure(_) | QueryError::Unexpected(_)) => {
                    Refused { why: other.to_string(), is_of_data: false }
                }
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

/// The `types` that would tell a client more than the entry does.
fn types(entry: &Entry, columns: &[(String, Type)]) -> Option<String> {
    if entry.columns.iter().all(|column| column.kind.is_some()) {
        return None;
    }
    let types: Vec<String> =
        columns.iter().map(|(name, kind)| format!("{name} = \"{}\"", ColumnKind::of(kind).word())).collect();
    Some(format!("types = {{ {} }}", types.join(", ")))
}
