//! The outcome of a prepared query: an error, or rows whose cells can be searched before they are written.

use std::borrow::Cow;
use std::sync::Arc;

use postgres::RowIter;
use postgres::fallible_iterator::FallibleIterator as _;
use postgres::types::{Kind, Type};

use super::cells::{Intervals, Undecodable, Writer};
use super::columns::{Form, base, has_parts};
use super::rows::{PlannedRow, Value};
use super::sqlstate;
use super::statement_cache::CachedStatement;
use crate::call::Failure;
use crate::wire::ascii::AsciiWriter;

/// A query brought no result.
#[derive(Debug, thiserror::Error)]
pub(crate) enum QueryError {
    /// The server refused, or is gone.
    #[error(transparent)]
    Database(#[from] postgres::Error),
    /// The transaction or the connection failed.
    #[error(transparent)]
    Failure(#[from] Failure),
    /// The server's answer is not of the form that was agreed.
    #[error("{0}")]
    Unexpected(String),
}

impl From<Undecodable> for QueryError {
    fn from(error: Undecodable) -> Self {
        Self::Unexpected(error.to_string())
    }
}

impl QueryError {
    /// Returns whether the statement was prepared for tables that have changed since, or is gone: once more may help.
    pub(crate) fn is_stale(&self) -> bool {
        // feature_not_supported, "cached plan must not change result type"; invalid_sql_statement_name.
        matches!(self, Self::Database(error)
            if error.code().is_some_and(|code| matches!(code.code(), "0A000" | "26000")))
    }

    /// Returns whether it takes the place of a row that no answer could hold.
    pub(crate) fn is_row_too_long(&self) -> bool {
        matches!(self, Self::Database(error) if sqlstate::is_row_too_long(error))
    }
}

/// Rows as they come.
pub(crate) struct Rows<'t> {
    pub(super) rows: RowIter<'t>,
    pub(super) cached: Arc<CachedStatement>,
}

impl Rows<'_> {
    /// The next row; none at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Cells<'_>>, QueryError> {
        let row = self.rows.next()?.map(|row| PlannedRow::new(&self.cached.plan, row));
        Ok(row.transpose()?.map(Cells))
    }
}

/// A row's cells.
pub(crate) struct Cells<'k>(PlannedRow<'k>);

/// One cell.
pub(crate) enum Cell<'r> {
    Null,
    /// Too long: the number of characters that were cut, and the first ones.
    Cut {
        more: &'r str,
        start: &'r str,
        is_text: bool,
    },
    /// Text of any kind.
    Text(Cow<'r, str>),
    /// JSON text: that of `json` and `jsonb`, or the JSON that stands for arrays and composites.
    Json(Cow<'r, str>),
    /// A type that holds keys of its own and cannot be searched.
    Opaque,
    /// A number, a date and the like.
    Scalar(Scalar<'r>),
}

/// A value without members.
pub(crate) struct Scalar<'r> {
    kind: &'r Type,
    bytes: &'r [u8],
    intervals: Intervals,
}

impl Scalar<'_> {
    /// Writes it as JSON.
    pub(crate) fn write(&self, out: &mut AsciiWriter) -> Result<(), QueryError> {
        Ok(Writer { out, intervals: self.intervals }.write(self.kind, self.bytes)?)
    }
}

impl Cells<'_> {
    /// The cell of the column at `index`.
    pub(crate) fn cell(&self, index: usize) -> Result<Cell<'_>, QueryError> {
        let (column, value) = self.0.value(index)?;
        let bytes = match value {
            Value::Null => return Ok(Cell::Null),
            Value::Cut { more, start } => {
                return Ok(Cell::Cut { more, start, is_text: !column.form.is_compound() });
            }
            Value::Whole(bytes) => bytes,
        };
        let text = || String::from_utf8_lossy(bytes);
        Ok(match &column.form {
            Form::Json => Cell::Json(text()),
            Form::Text if OPAQUE.contains(&column.type_name.as_str()) => Cell::Opaque,
            Form::Text => Cell::Text(text()),
            Form::Binary(kind) => binary(kind, bytes, self.0.plan.intervals)?,
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
            Writer { out: &mut out, intervals }.write(base, bytes)?;
            Cell::Json(String::from_utf8_lossy(&out.finish().to_vec()).into_owned().into())
        }
        _ => Cell::Scalar(Scalar { kind: base, bytes, intervals }),
    })
}
