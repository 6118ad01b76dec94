//! Rows to JSON under a budget of bytes: rows that do not fit are dropped from the end, and the answer is marked.

use postgres::Row;
use postgres::types::{FromSql, Type};

use super::cells::{self, Intervals, Undecodable};
use super::columns::{ColumnPlan, Form, Plan};
use crate::wire::ascii::{AsciiJson, AsciiWriter};

/// The bytes of everything behind the last row.
const TAIL_BYTES: usize = r#"],"row_count":18446744073709551615,"has_more":false,"truncated":false}"#.len();

/// The most rows that can fit: a row of `columns` cells takes two brackets, and a cell at least a digit and a comma.
pub(crate) fn most_rows(columns: usize, budget: usize) -> usize {
    budget / (2 * columns).max(3)
}

/// A row was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotTaken {
    /// It does not fit: it and all that follow are dropped.
    Full,
    /// The server sent a value that is not in the form it announced.
    Undecodable,
}

impl From<Undecodable> for NotTaken {
    fn from(Undecodable: Undecodable) -> Self {
        Self::Undecodable
    }
}

/// A result as it grows.
pub(crate) struct Body<'p> {
    out: AsciiWriter,
    plan: &'p Plan,
    budget: usize,
    rows: u64,
    truncated: bool,
}

impl<'p> Body<'p> {
    /// Begins with the columns. `None`: they alone do not fit.
    pub(crate) fn new(plan: &'p Plan, budget: usize) -> Option<Self> {
        let mut out = AsciiWriter::default();
        out.raw(r#"{"columns":["#);
        for (index, column) in plan.columns.iter().enumerate() {
            out.raw(if index == 0 { r#"{"name":"# } else { r#",{"name":"# });
            out.string(&column.name).raw(r#","type":"#).string(&column.type_name).raw("}");
        }
        out.raw(r#"],"rows":["#);
        let fits = out.len() + TAIL_BYTES <= budget;
        fits.then_some(Self { out, plan, budget, rows: 0, truncated: false })
    }

    /// Takes one more row.
    pub(crate) fn push(&mut self, row: &Row) -> Result<(), NotTaken> {
        let mark = self.out.len();
        let cut = self.write_row(row)?;
        if self.out.len() + TAIL_BYTES > self.budget {
            self.out.rewind(mark);
            self.truncated = true;
            return Err(NotTaken::Full);
        }
        self.rows += 1;
        self.truncated |= cut;
        Ok(())
    }

    /// Notes that the next row is dropped, unseen.
    pub(crate) fn cut(&mut self) {
        self.truncated = true;
    }

    /// Writes a row; returns whether a cell was cut.
    fn write_row(&mut self, row: &Row) -> Result<bool, Undecodable> {
        let columns = &self.plan.columns;
        // The array of cut values stands behind the columns, if there is one; it is NULL when none was cut.
        let cuts: Option<Vec<Option<Raw<'_>>>> = if row.len() > columns.len() {
            row.try_get(columns.len()).map_err(|_| Undecodable)?
        } else {
            None
        };
        self.out.raw(if self.rows == 0 { "[" } else { ",[" });
        for (index, column) in columns.iter().enumerate() {
            if index > 0 {
                self.out.raw(",");
            }
            let cut =
                cuts.as_ref().zip(column.cut_index).and_then(|(cuts, index)| cuts.get(index).copied()?);
            match cut {
                Some(Raw(cut)) => write_cut(&mut self.out, &String::from_utf8_lossy(cut))?,
                None => write_cell(&mut self.out, column, row, index, self.plan.intervals)?,
            }
        }
        self.out.raw("]");
        Ok(cuts.is_some())
    }

    /// Ends the answer.
    pub(crate) fn finish(mut self, has_more: bool) -> AsciiJson {
        self.out.raw(r#"],"row_count":"#).value(&self.rows);
        self.out.raw(r#","has_more":"#).value(&has_more);
        self.out.raw(r#","truncated":"#).value(&self.truncated).raw("}");
        self.out.finish()
    }
}

/// Writes `'<characters cut>:<first characters>'` for the model.
fn write_cut(out: &mut AsciiWriter, cut: &str) -> Result<(), Undecodable> {
    let (count, start) = cut.split_once(':').ok_or(Undecodable)?;
    out.string(&format!("{start}…[truncated {count} chars]"));
    Ok(())
}

fn write_cell(
    out: &mut AsciiWriter,
    column: &ColumnPlan,
    row: &Row,
    index: usize,
    intervals: Intervals,
) -> Result<(), Undecodable> {
    let Some(Raw(bytes)) = row.try_get::<_, Option<Raw<'_>>>(index).map_err(|_| Undecodable)? else {
        out.raw("null");
        return Ok(());
    };
    match &column.form {
        Form::Binary(kind) => return cells::write(out, kind, bytes, intervals),
        Form::Json => cells::write_record(out, &String::from_utf8_lossy(bytes)),
        Form::Text => cells::write_text(out, bytes),
    };
    Ok(())
}

/// A value's bytes as they came, of any type.
#[derive(Clone, Copy)]
pub(crate) struct Raw<'a>(pub(crate) &'a [u8]);

impl<'a> FromSql<'a> for Raw<'a> {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn std::error::Error + Sync + Send>> {
        Ok(Self(raw))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}
