//! A statement that is known before anybody calls and stays prepared on each connection: what an entry of a catalog runs.
//!
//! Nothing of an answer is taken on trust: who asks says which columns there must be, and each cell comes with what kind
//! of thing it is, so that whoever writes it can look inside.

use std::{borrow::Cow, sync::Arc};

use postgres::{
    Client, Column, Row, RowIter, Statement,
    fallible_iterator::FallibleIterator as _,
    types::{Kind, ToSql, Type},
};

use super::{
    Database,
    cells::{self, Intervals, Undecodable},
    columns::{Form, MAX_WIDTH, Plan, Rendering},
    rows::{Raw, most_rows},
    session::Session,
    sqlstate,
    transaction::Transaction,
};
use crate::{call::Failure, guard::statement::ReadOnlyStatement, wire::ascii::AsciiWriter};

/// Statements kept on one connection; a server holds some 100 KB for each.
const MAX_KEPT: usize = 128;

/// A statement and the types of its parameters.
#[derive(Clone, Debug)]
pub(crate) struct Fixed {
    /// No other statement has it.
    pub(crate) name: String,
    pub(crate) statement: ReadOnlyStatement,
    pub(crate) types: Vec<Type>,
}

/// The statements of a connection and their names, the one that was used last at the end: few enough to be looked through.
#[derive(Default)]
pub(crate) struct Shelf(Vec<(String, Arc<Kept>)>);

impl Shelf {
    fn take(&mut self, name: &str) -> Option<Arc<Kept>> {
        let index = self.0.iter().position(|(kept, _)| kept == name)?;
        Some(self.0.remove(index).1)
    }

    /// When it is full, the one that was not used for longest makes room.
    fn put(&mut self, name: &str, kept: Arc<Kept>) {
        if self.0.len() >= MAX_KEPT {
            self.0.remove(0);
        }
        self.0.push((name.to_owned(), kept));
    }

    fn get(&mut self, name: &str) -> Option<Arc<Kept>> {
        let kept = self.take(name)?;
        self.put(name, Arc::clone(&kept));
        Some(kept)
    }
}

/// A statement in its wrapper, prepared.
struct Kept {
    wrapper: Statement,
    plan: Plan,
}

/// Why there is no result.
#[derive(Debug, thiserror::Error)]
pub(crate) enum KeptError {
    /// The server refused, or is gone.
    #[error(transparent)]
    Database(#[from] postgres::Error),
    /// A fault of somebody else.
    #[error(transparent)]
    Failure(#[from] Failure),
    /// What the server sends is not what it should be.
    #[error("{0}")]
    Unexpected(String),
}

impl From<Undecodable> for KeptError {
    fn from(error: Undecodable) -> Self {
        Self::Unexpected(error.to_string())
    }
}

impl KeptError {
    /// Whether the statement was prepared for tables that have changed since, or is gone: once more may help.
    pub(crate) fn is_stale(&self) -> bool {
        match self {
            // feature_not_supported, "cached plan must not change result type"; invalid_sql_statement_name.
            Self::Database(error) => {
                error.code().is_some_and(|code| matches!(code.code(), "0A000" | "26000"))
            }
            Self::Failure(_) | Self::Unexpected(_) => false,
        }
    }

    /// Whether it takes the place of a row that no answer could hold.
    pub(crate) fn is_row_too_long(&self) -> bool {
        match self {
            Self::Database(error) => sqlstate::is_row_too_long(error),
            Self::Failure(_) | Self::Unexpected(_) => false,
        }
    }
}

impl Fixed {
    /// Runs it. `accept` says what is wrong with the columns that the server describes, and may ask it for more.
    pub(crate) fn run<'t>(
        &self,
        transaction: &'t mut Transaction,
        database: &Database,
        accept: impl FnOnce(&mut Client, &[Column]) -> Result<(), KeptError>,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Rows<'t>, KeptError> {
        let config = database.config();
        let session = transaction.session()?;
        let strangers = session.facts().strangers.check(&self.statement, &config.guard);
        strangers.map_err(|problem| KeptError::Unexpected(problem.detail().to_owned()))?;
        let kept = match session.shelf().get(&self.name) {
            Some(kept) => kept,
            None => self.prepare(session, database, accept)?,
        };
        let rows = session.client().query_raw(&kept.wrapper, values.iter().copied())?;
        Ok(Rows { rows, kept })
    }

    fn prepare(
        &self,
        session: &mut Session,
        database: &Database,
        accept: impl FnOnce(&mut Client, &[Column]) -> Result<(), KeptError>,
    ) -> Result<Arc<Kept>, KeptError> {
        let config = database.config();
        let canonical = self.statement.canonical();
        let described = session.client().prepare_typed(canonical, &self.types)?;
        accept(session.client(), described.columns())?;
        let most = usize::try_from(config.max_rows).unwrap_or(usize::MAX);
        let limit =
            most.min(most_rows(described.columns().len(), config.max_response_bytes)).saturating_add(1);
        let rendering = Rendering::new(config, session.facts());
        let plan = Plan::new(canonical, described.columns(), rendering, limit);
        if plan.width > MAX_WIDTH {
            return Err(KeptError::Unexpected("its columns are too many".to_owned()));
        }
        let wrapper = session.client().prepare_typed(&plan.sql, &self.types)?;
        let has_cuts = plan.columns.iter().any(|column| column.cut_index.is_some());
        if wrapper.columns().len() != plan.columns.len() + usize::from(has_cuts) {
            return Err(KeptError::Unexpected(
                "the server describes other columns than it was asked for".to_owned(),
            ));
        }
        let kept = Arc::new(Kept { wrapper, plan });
        if described.columns().iter().any(|column| cells::has_fields(column.type_())) {
            // The driver remembers types. Fields can be renamed, added and dropped before the next call.
            session.client().clear_type_cache();
            return Ok(kept);
        }
        session.shelf().put(&self.name, Arc::clone(&kept));
        Ok(kept)
    }

    /// What the server says of it: its columns, and the planner's cost with these values. `accept` as when it runs.
    pub(crate) fn examine(
        &self,
        transaction: &mut Transaction,
        accept: impl FnOnce(&mut Client, &[Column]) -> Result<(), KeptError>,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Examined, KeptError> {
        let client = transaction.session()?.client();
        let described = client.prepare_typed(self.statement.canonical(), &self.types)?;
        accept(client, described.columns())?;
        let explain = format!("EXPLAIN (FORMAT JSON) {}", self.statement.canonical());
        let typed: Vec<_> = values.iter().copied().zip(self.types.iter().cloned()).collect();
        let plan = client.query_typed(&explain, &typed)?;
        let plan = plan.first().and_then(|row| row.try_get::<_, serde_json::Value>(0).ok());
        let cost = plan.and_then(|plan| plan.pointer("/0/Plan/Total Cost")?.as_f64());
        let columns = described.columns().iter();
        Ok(Examined { columns: columns.map(|it| (it.name().to_owned(), it.type_().clone())).collect(), cost })
    }

    /// Forgets what was prepared on this connection.
    pub(crate) fn forget(&self, transaction: &mut Transaction) {
        if let Ok(session) = transaction.session() {
            session.shelf().take(&self.name);
        }
    }
}

/// What a server says of a statement.
#[derive(Debug)]
pub(crate) struct Examined {
    pub(crate) columns: Vec<(String, Type)>,
    /// The planner's, in its own units.
    pub(crate) cost: Option<f64>,
}

/// Rows as they come.
pub(crate) struct Rows<'t> {
    rows: RowIter<'t>,
    kept: Arc<Kept>,
}

impl Rows<'_> {
    /// The next row; none at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Cells<'_>>, KeptError> {
        let Some(row) = self.rows.next()? else { return Ok(None) };
        let plan = &self.kept.plan;
        let width = plan.columns.len();
        let has_cuts = row.len() > width;
        // NULL when nothing was cut.
        let cuts = if has_cuts { row.try_get::<_, Option<Vec<Option<String>>>>(width)? } else { None };
        Ok(Some(Cells { plan, row, cuts }))
    }
}

/// A row's cells.
pub(crate) struct Cells<'k> {
    plan: &'k Plan,
    row: Row,
    cuts: Option<Vec<Option<String>>>,
}

/// One cell.
pub(crate) enum Cell<'r> {
    Null,
    /// Too long: how many characters were cut, and the first ones.
    Cut {
        more: &'r str,
        start: &'r str,
        is_text: bool,
    },
    /// Text, in which anything may stand.
    Text(Cow<'r, str>),
    /// JSON text: of `json` and `jsonb` their own, of arrays and composites what stands for them.
    Json(Cow<'r, str>),
    /// A type that holds keys of its own and cannot be looked into.
    Opaque,
    /// A number, a date and the like.
    Scalar(Scalar<'r>),
}

/// A value that holds nothing but itself.
pub(crate) struct Scalar<'r> {
    kind: &'r Type,
    bytes: &'r [u8],
    intervals: Intervals,
}

impl Scalar<'_> {
    /// Writes it as JSON.
    pub(crate) fn write(&self, out: &mut AsciiWriter) -> Result<(), KeptError> {
        Ok(cells::write(out, self.kind, self.bytes, self.intervals)?)
    }
}

impl Cells<'_> {
    /// The cell of the column at `index`.
    pub(crate) fn cell(&self, index: usize) -> Result<Cell<'_>, KeptError> {
        let column = self.plan.columns.get(index).ok_or(Undecodable)?;
        let cut = self.cuts.as_ref().zip(column.cut_index);
        if let Some(cut) = cut.and_then(|(cuts, index)| cuts.get(index)?.as_deref()) {
            let (more, start) = cut.split_once(':').ok_or(Undecodable)?;
            return Ok(Cell::Cut { more, start, is_text: !column.form.is_compound() });
        }
        let Some(Raw(bytes)) = self.row.try_get::<_, Option<Raw<'_>>>(index)? else { return Ok(Cell::Null) };
        let text = || String::from_utf8_lossy(bytes);
        Ok(match &column.form {
            Form::Json => Cell::Json(text()),
            Form::Text if OPAQUE.contains(&column.type_name.as_str()) => Cell::Opaque,
            Form::Text => Cell::Text(text()),
            Form::Binary(kind) => binary(kind, bytes, self.plan.intervals)?,
        })
    }
}

/// Types whose text has keys or markup of its own.
const OPAQUE: [&str; 2] = ["hstore", "xml"];

fn binary<'r>(kind: &'r Type, bytes: &'r [u8], intervals: Intervals) -> Result<Cell<'r>, Undecodable> {
    let base = base(kind);
    let text = |bytes| Cell::Text(String::from_utf8_lossy(bytes));
    Ok(match *base {
        Type::JSON => Cell::Json(String::from_utf8_lossy(bytes)),
        Type::JSONB => match bytes.split_first() {
            Some((1, text)) => Cell::Json(String::from_utf8_lossy(text)),
            _ => return Err(Undecodable),
        },
        Type::TEXT | Type::VARCHAR | Type::BPCHAR | Type::NAME => text(bytes),
        _ if matches!(base.kind(), Kind::Enum(_)) => text(bytes),
        _ if has_parts(base) => {
            let mut out = AsciiWriter::default();
            cells::write(&mut out, base, bytes, intervals)?;
            Cell::Json(String::from_utf8_lossy(&out.finish().to_vec()).into_owned().into())
        }
        _ => Cell::Scalar(Scalar { kind: base, bytes, intervals }),
    })
}

/// What a domain is of.
pub(crate) fn base(kind: &Type) -> &Type {
    if let Kind::Domain(inner) = kind.kind() { base(inner) } else { kind }
}

impl Form {
    /// Whether a value has parts with names.
    fn is_compound(&self) -> bool {
        match self {
            Self::Json => true,
            Self::Text => false,
            Self::Binary(kind) => {
                let base = base(kind);
                *base == Type::JSON || *base == Type::JSONB || has_parts(base)
            }
        }
    }
}

fn has_parts(kind: &Type) -> bool {
    matches!(kind.kind(), Kind::Array(_) | Kind::Composite(_))
}
