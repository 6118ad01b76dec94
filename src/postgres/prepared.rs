//! A statement that is known before any call and stays prepared on each connection: the query of a catalog's entry.
//!
//! Nothing of an answer is taken on trust: the caller judges the columns, and each cell comes with the kind of thing that it
//! is, so that it can be searched for secrets before it is written.

use std::sync::Arc;

use postgres::types::{ToSql, Type};
use postgres::{Client, Column};

use super::columns::{MAX_WIDTH, Plan};
use super::database::Database;
use super::result::Rows;
use super::session::Session;
use super::statement_cache::CachedStatement;
use super::transaction::Transaction;
pub(crate) use super::{columns::base, result::Cell, result::Cells, result::QueryError};
use crate::call::Failure;
use crate::guard::GuardConfig;
use crate::guard::statement::ReadOnlyStatement;

/// A statement and the types of its parameters.
#[derive(Clone, Debug)]
pub(crate) struct PreparedQuery {
    /// Its name, which no other statement has.
    pub(crate) name: String,
    pub(crate) statement: ReadOnlyStatement,
    pub(crate) types: Vec<Type>,
}

impl PreparedQuery {
    /// Runs it. `accept` judges the columns that the server describes, and may ask the server for more.
    pub(crate) fn run<'t>(
        &self,
        transaction: &'t mut Transaction,
        database: &Database,
        accept: impl FnOnce(&mut Client, &[Column]) -> Result<(), QueryError>,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Rows<'t>, QueryError> {
        let config = database.config();
        let session = transaction.session()?;
        session.retirement.note_values(self.statement.canonical(), values, &self.types);
        let open = session.admit(&self.statement, &config.guard).map_err(unexpected)?;
        let cached = match session.statements.get(&self.name) {
            Some(cached) => cached,
            None => self.prepare(session, database, accept)?,
        };
        session.confirm(open).map_err(unexpected)?;
        let rows = session.client.query_raw(&cached.wrapper, values.iter().copied())?;
        Ok(Rows { rows, cached })
    }

    fn prepare(
        &self,
        session: &mut Session,
        database: &Database,
        accept: impl FnOnce(&mut Client, &[Column]) -> Result<(), QueryError>,
    ) -> Result<Arc<CachedStatement>, QueryError> {
        let config = database.config();
        let canonical = self.statement.canonical();
        let described = session.client.prepare_typed(canonical, &self.types)?;
        accept(&mut session.client, described.columns())?;
        let most = usize::try_from(config.max_rows).unwrap_or(usize::MAX);
        let plan = Plan::new(canonical, described.columns(), config, &session.info, most);
        if plan.width > MAX_WIDTH {
            return Err(QueryError::Unexpected("its columns are too many".to_owned()));
        }
        let wrapper = session.client.prepare_typed(&plan.sql, &self.types)?;
        let has_cuts = plan.columns.iter().any(|column| column.cut_index.is_some());
        if wrapper.columns().len() != plan.columns.len() + usize::from(has_cuts) {
            return Err(QueryError::Unexpected(
                "the server describes other columns than it was asked for".to_owned(),
            ));
        }
        let cached = Arc::new(CachedStatement { wrapper, plan });
        if !session.note_columns(described.columns()) {
            session.statements.put(&self.name, Arc::clone(&cached));
        }
        Ok(cached)
    }

    /// Asks the server for its columns and the planner's cost with these values. `accept` as when it runs.
    pub(crate) fn examine(
        &self,
        transaction: &mut Transaction,
        guard: &GuardConfig,
        accept: impl FnOnce(&mut Client, &[Column]) -> Result<(), QueryError>,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Examined, QueryError> {
        let session = transaction.session()?;
        let open = session.admit(&self.statement, guard).map_err(unexpected)?;
        let described = session.client.prepare_typed(self.statement.canonical(), &self.types)?;
        session.note_columns(described.columns());
        session.confirm(open).map_err(unexpected)?;
        let client = &mut session.client;
        accept(client, described.columns())?;
        let explain = format!("EXPLAIN (FORMAT JSON) {}", self.statement.canonical());
        let typed: Vec<_> = values.iter().copied().zip(self.types.iter().cloned()).collect();
        let plan = client.query_typed(&explain, &typed)?;
        let plan = plan.first().and_then(|row| row.try_get::<_, serde_json::Value>(0).ok());
        let cost = plan.and_then(|plan| plan.pointer("/0/Plan/Total Cost")?.as_f64());
        let columns = described.columns().iter();
        Ok(Examined { columns: columns.map(|it| (it.name().to_owned(), it.type_().clone())).collect(), cost })
    }

    /// Forgets the statement that was prepared on this connection.
    pub(crate) fn forget(&self, transaction: &mut Transaction) {
        if let Ok(session) = transaction.session() {
            session.statements.take(&self.name);
        }
    }
}

fn unexpected(failure: Failure) -> QueryError {
    match failure {
        Failure::Problem(problem) => QueryError::Unexpected(problem.detail().to_owned()),
        other @ (Failure::Internal(_)
        | Failure::Unavailable(..)
        | Failure::Conflict(_)
        | Failure::Interrupted(_)) => other.into(),
    }
}

/// The server's description of a statement.
#[derive(Debug)]
pub(crate) struct Examined {
    pub(crate) columns: Vec<(String, Type)>,
    /// The planner's cost, in its own units.
    pub(crate) cost: Option<f64>,
}
