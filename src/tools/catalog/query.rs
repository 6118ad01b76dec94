//! An entry as a tool: arguments judged, bound, run in a read-only transaction, and rows rebuilt from what was declared.

use std::sync::Arc;

use postgres::{
    Client, Column as Described,
    types::{ToSql, Type},
};
use serde_json::{Map, Value};

use super::{
    bind, document::Column, entry::Entry, members, output::ColumnKind, prove::Placeholder, rows::Body,
};
use crate::{
    call::{Answer, Call, Failure},
    governance::{Permit, identity::Identity},
    guard::SensitiveWords,
    postgres::{
        Database,
        prepared::QueryError,
        sqlstate,
        transaction::{End, Transaction},
    },
    problem::Problem,
    protocol::tool::ToolSpec,
    tools::{Bound, TypedTool, Work, sql::run::in_transaction},
    wire::ascii::AsciiJson,
};

/// An entry on a database.
#[derive(Debug)]
pub(super) struct Query {
    entry: Arc<Entry>,
    words: Arc<SensitiveWords>,
    database: Arc<Database>,
}

impl Query {
    pub(super) fn new(entry: Arc<Entry>, words: Arc<SensitiveWords>, database: Arc<Database>) -> Self {
        Self { entry, words, database }
    }
}

impl TypedTool for Query {
    /// No struct stands behind an entry's schema.
    type Arguments = Map<String, Value>;

    fn spec(&self) -> &ToolSpec {
        &self.entry.spec
    }

    fn bind(&self, arguments: Map<String, Value>) -> Result<Bound<impl Work>, Problem> {
        let run = move |permit: Permit, call: &Call| self.run(&arguments, permit.caller(), call);
        Ok(Bound { max_body_bytes: self.database.config().max_response_bytes, run })
    }
}

impl Query {
    /// Once more when the tables have changed since the statement was prepared.
    fn run(&self, arguments: &Map<String, Value>, caller: &Identity, call: &Call) -> Result<Answer, Failure> {
        let mut is_stale = false;
        let outcome = self.attempt(arguments, caller, call, &mut is_stale);
        if outcome.is_err() && is_stale { self.attempt(arguments, caller, call, &mut false) } else { outcome }
    }

    fn attempt(
        &self,
        arguments: &Map<String, Value>,
        caller: &Identity,
        call: &Call,
        is_stale: &mut bool,
    ) -> Result<Answer, Failure> {
        in_transaction(&self.database, call, |transaction| {
            let outcome = self.answer(transaction, arguments, caller);
            outcome.map_err(|error| {
                *is_stale = error.is_stale();
                self.entry.fixed.forget(transaction);
                self.failure(error, arguments)
            })
        })
    }

    /// The rows, and how the connection is left.
    pub(super) fn answer(
        &self,
        transaction: &mut Transaction,
        arguments: &Map<String, Value>,
        caller: &Identity,
    ) -> Result<(AsciiJson, End), QueryError> {
        let config = self.database.config();
        let values = bind::values(&self.entry, arguments, caller)
            .ok_or_else(|| QueryError::Unexpected("an argument is not what its schema says".to_owned()))?;
        let values: Vec<&(dyn ToSql + Sync)> = values.iter().map(|value| value as _).collect();
        let accept = |client: &mut Client, described: &[Described]| accept(&self.entry, client, described);
        let mut rows = self.entry.fixed.run(transaction, &self.database, accept, &values)?;
        let mut body = Body::new(&self.entry, &self.words, config.max_cell_chars, config.max_response_bytes);
        let wanted = self.wanted(arguments).unwrap_or(config.max_rows.into());
        let mut read = 0;
        let mut has_more = false;
        while !has_more {
            let cells = match rows.next() {
                Ok(Some(cells)) => cells,
                Ok(None) => {
                    body.tell_dropped();
                    return Ok((body.finish(false), End::Idle));
                }
                // The one row more than wanted is not missed.
                Err(error) if error.is_row_too_long() && read >= wanted => break,
                Err(error) if error.is_row_too_long() => {
                    body.cut();
                    break;
                }
                Err(error) => return Err(error),
            };
            read += 1;
            has_more = read > wanted || !body.push(&cells)?;
        }
        // The row that tells of more is the last, and behind it is nothing but the end, which may still be an error.
        let end = if read > wanted && rows.next()?.is_none() { End::Idle } else { End::Busy };
        body.tell_dropped();
        Ok((body.finish(true), end))
    }

    /// How many rows the caller asks for; none when it has no say.
    fn wanted(&self, arguments: &Map<String, Value>) -> Option<u64> {
        let limit = self.entry.placeholders.iter().find_map(|placeholder| match placeholder {
            Placeholder::Limit(index) => self.entry.params.get(*index),
            Placeholder::Param(_) | Placeholder::Caller | Placeholder::Tenant => None,
        });
        arguments.get(&limit?.name)?.as_u64()
    }

    /// What PostgreSQL says is about a statement that the caller does not see: it is for the log alone.
    fn failure(&self, error: QueryError, arguments: &Map<String, Value>) -> Failure {
        match error {
            QueryError::Database(error) => {
                let is_quoted = |text: &str| arguments.values().any(|value| quotes(text, value));
                sqlstate::failure_without_message(&error, self.entry.spec.name.as_str(), is_quoted)
            }
            QueryError::Failure(failure) => failure,
            QueryError::Unexpected(what) => Failure::Internal(what),
        }
    }
}

/// Whether a text holds an argument's value, whatever its case.
fn quotes(text: &str, value: &Value) -> bool {
    let text = text.to_lowercase();
    match value {
        Value::String(value) => !value.trim().is_empty() && text.contains(&value.trim().to_lowercase()),
        Value::Array(values) => values.iter().any(|value| quotes(&text, value)),
        Value::Number(number) => text.contains(&number.to_string()),
        Value::Null | Value::Bool(_) | Value::Object(_) => false,
    }
}

/// Whether the server takes the entry's statement as the proof did: its columns, and the types of what it reads.
pub(super) fn accept(entry: &Entry, client: &mut Client, described: &[Described]) -> Result<(), QueryError> {
    let columns: Vec<_> = described.iter().map(|column| (column.name(), column.type_())).collect();
    declared(&columns, &entry.columns).map_err(QueryError::Unexpected)?;
    members::fault(client, &entry.tables, &entry.needs)?
        .map_or(Ok(()), |fault| Err(QueryError::Unexpected(fault)))
}

/// Whether the server's columns are the declared ones, no more and no less, in order.
fn declared(described: &[(&str, &Type)], declared: &[Column]) -> Result<(), String> {
    let names: Vec<&str> = described.iter().map(|(name, _)| *name).collect();
    let expected: Vec<&str> = declared.iter().map(|column| column.name.as_str()).collect();
    if names != expected {
        return Err(format!(
            "column-mismatch: the server has {}, the entry {}",
            names.join(", "),
            expected.join(", ")
        ));
    }
    let wrong = described.iter().zip(declared).find(|((_, actual), declared)| {
        declared.kind.is_some_and(|kind| !kind.takes(ColumnKind::of(actual)))
    });
    wrong.map_or(Ok(()), |((name, actual), _)| {
        let kind = ColumnKind::of(actual).word();
        Err(format!("column-mismatch: the column {name} is of type {}, so a {kind}", actual.name()))
    })
}
