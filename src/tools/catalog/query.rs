//! An entry as a tool: arguments judged, bound, run in a read-only transaction, and rows rebuilt from what was declared.

use std::sync::Arc;

use postgres::types::{ToSql, Type};
use postgres::{Client, Column as Described};
use serde_json::{Map, Value};

use super::bind;
use super::entry::Entry;
use super::members;
use super::output::{Column, ColumnKind};
use super::prove::Placeholder;
use super::rows::Body;
use crate::call::{Answer, Call, Failure, Unavailable};
use crate::governance::Permit;
use crate::governance::identity::Identity;
use crate::guard::SensitiveWords;
use crate::postgres::prepared::QueryError;
use crate::postgres::transaction::{End, Transaction};
use crate::postgres::{Database, sqlstate};
use crate::problem::{Code, Problem};
use crate::tools::sql::run::in_transaction;
use crate::tools::{Bound, CheckedSpec, TypedTool};
use crate::wire::ascii::AsciiJson;

/// An entry on a database.
#[derive(Debug)]
pub(super) struct Query {
    pub(super) entry: Arc<Entry>,
    pub(super) words: Arc<SensitiveWords>,
    pub(super) database: Arc<Database>,
}

impl TypedTool for Query {
    /// No struct stands behind an entry's schema.
    type Arguments = Map<String, Value>;

    fn spec(&self) -> &CheckedSpec {
        &self.entry.spec
    }

    fn bind(&self, arguments: Map<String, Value>) -> Result<Bound<'_>, Problem> {
        self.check_searches(&arguments)?;
        let run = move |permit: Permit, call: &Call| self.run(&arguments, permit.caller(), call);
        Ok((self.database.config().max_response_bytes, Box::new(run)))
    }
}

impl Query {
    /// Requires that a text that is searched for has its least length in characters that are seen.
    fn check_searches(&self, arguments: &Map<String, Value>) -> Result<(), Problem> {
        let searched = self.entry.params.iter().filter(|param| self.entry.searches.contains(&param.name));
        for param in searched {
            let Some(text) = arguments.get(&param.name).and_then(Value::as_str) else { continue };
            let least = param.kind.as_ref().and_then(|kind| kind.bound("minLength")).unwrap_or_default();
            let seen = text.chars().filter(|c| !c.is_whitespace()).count();
            if i64::try_from(seen).is_ok_and(|seen| seen < least) {
                let name = &param.name;
                let detail =
                    format!("`{name}` must hold at least {least} characters that are not white space.");
                return Err(Problem::new(Code::Validation, detail).param(name));
            }
        }
        Ok(())
    }

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
                    body.log_dropped();
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
        // The row beyond the wanted ones is the last. Behind it is only the end, which may still be an error.
        let end = if read > wanted && rows.next()?.is_none() { End::Idle } else { End::Busy };
        body.log_dropped();
        Ok((body.finish(true), end))
    }

    /// Returns the number of rows that the caller asks for, if the entry lets it ask.
    fn wanted(&self, arguments: &Map<String, Value>) -> Option<u64> {
        let mut placeholders = self.entry.placeholders.iter();
        let limit = placeholders.find(|placeholder| matches!(placeholder, Placeholder::Limit(_)))?.param()?;
        arguments.get(&self.entry.params.get(limit)?.name)?.as_u64()
    }

    /// Maps an error. PostgreSQL's text is about a statement that the caller does not see: it is for the log alone.
    fn failure(&self, error: QueryError, arguments: &Map<String, Value>) -> Failure {
        match error {
            QueryError::Database(error) => {
                let is_quoted = |text: &str| arguments.values().any(|value| quotes(text, value));
                sqlstate::failure_without_message(&error, self.entry.spec.name.as_str(), is_quoted)
            }
            QueryError::Failure(failure) => failure,
            QueryError::Unexpected(what) => Failure::Unavailable(Unavailable::Statement, what),
        }
    }
}

/// Returns whether a text holds an argument's value, in any case of its letters.
pub(super) fn quotes(text: &str, value: &Value) -> bool {
    let text = text.to_lowercase();
    match value {
        Value::String(value) => !value.trim().is_empty() && text.contains(&value.trim().to_lowercase()),
        Value::Array(values) => values.iter().any(|value| quotes(&text, value)),
        Value::Number(number) => text.contains(&number.to_string()),
        Value::Null | Value::Bool(_) | Value::Object(_) => false,
    }
}

/// Accepts the server's description of the entry's statement: its columns, and the columns that hold members.
pub(super) fn accept(entry: &Entry, client: &mut Client, described: &[Described]) -> Result<(), QueryError> {
    let columns: Vec<_> = described.iter().map(|column| (column.name(), column.type_())).collect();
    let mut mismatch = declared(&columns, &entry.columns);
    if mismatch.is_none() && !entry.waived.contains_key(members::WAIVER) {
        mismatch = entry.member_use.fault(client, &entry.tables)?.map(ToString::to_string);
    }
    mismatch.map_or(Ok(()), |mismatch| Err(QueryError::Unexpected(mismatch)))
}

/// Compares the server's columns with the declared ones: no more and no less, in order. The sentence is for the log alone.
fn declared(described: &[(&str, &Type)], declared: &[Column]) -> Option<String> {
    let server: Vec<&str> = described.iter().map(|(name, _)| *name).collect();
    let entry: Vec<&str> = declared.iter().map(|column| column.name.as_str()).collect();
    if server != entry {
        let (server, entry) = (server.join(", "), entry.join(", "));
        return Some(format!("column-mismatch: the server has {server}, the entry {entry}"));
    }
    described.iter().zip(declared).find_map(|((name, server), column)| {
        let kind = ColumnKind::of(server);
        let is_right = column.kind.is_none_or(|declared| declared.takes(kind));
        let (server, word) = (server.name(), kind.word());
        (!is_right).then(|| format!("column-mismatch: the column {name} is of type {server}, so a {word}"))
    })
}
