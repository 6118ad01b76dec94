//! The rows of a prepared query, whose cells can be searched before they are written.

use std::borrow::Cow;
use std::sync::Arc;

use postgres::fallible_iterator::FallibleIterator as _;
use postgres::types::{Kind, Type};
use postgres::{Row, RowIter};

use super::cells::{self, Intervals, Undecodable};
use super::columns::{Form, Plan, base, has_parts};
use super::query_error::QueryError;
use super::rows::Raw;
use super::statement_cache::CachedStatement;
use crate::wire::ascii::AsciiWriter;

/// Rows as they come.
pub(crate) struct Rows<'t> {
    rows: RowIter<'t>,
    cached: Arc<CachedStatement>,
}

impl<'t> Rows<'t> {
    pub(super) fn new(rows: RowIter<'t>, cached: Arc<CachedStatement>) -> Self {
        Self { rows, cached }
    }

    /// The next row; none at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Cells<'_>>, QueryError> {
        let Some(row) = self.rows.next()? else { return Ok(None) };
        let plan = &self.cached.plan;
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
        Ok(cells::write(out, self.kind, self.bytes, self.intervals)?)
    }
}

impl Cells<'_> {
    /// The cell of the column at `index`.
    pub(crate) fn cell(&self, index: usize) -> Result<Cell<'_>, QueryError> {
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
