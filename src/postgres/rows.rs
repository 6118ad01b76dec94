//! Rows to JSON under a budget of bytes: rows that do not fit are dropped from the end, and the answer is marked.

use postgres::Row;
use postgres::types::{FromSql, Type};

use super::cells::{self, Undecodable, Writer};
use super::columns::{ColumnPlan, Form, Plan};
use crate::wire::ascii::{AsciiJson, AsciiWriter};

/// The bytes of everything behind the last row.
const TAIL_BYTES: usize = r#"],"row_count":18446744073709551615,"has_more":false,"truncated":false}"#.len();

/// A row, and the plan by which it is read.
pub(super) struct PlannedRow<'p> {
    pub(super) plan: &'p Plan,
    row: Row,
    /// The array of cut values, which stands behind the columns if there is one; it is NULL when none was cut.
    cuts: Option<Vec<Option<String>>>,
}

/// A value as it came.
pub(super) enum Value<'r> {
    Null,
    /// Too long: the number of characters that were cut, and the first ones.
    Cut {
        more: &'r str,
        start: &'r str,
    },
    /// The bytes of its column's form.
    Whole(&'r [u8]),
}

impl<'p> PlannedRow<'p> {
    pub(super) fn new(plan: &'p Plan, row: Row) -> Result<Self, Undecodable> {
        let width = plan.columns.len();
        let cuts: Option<Vec<Option<Raw<'_>>>> =
            if row.len() > width { row.try_get(width).map_err(|_| Undecodable)? } else { None };
        let text = |Raw(cut): Raw<'_>| String::from_utf8_lossy(cut).into_owned();
        let cuts = cuts.map(|cuts| cuts.into_iter().map(|cut| cut.map(text)).collect());
        Ok(Self { plan, row, cuts })
    }

    /// The column at `index`, and its value.
    pub(super) fn value(&self, index: usize) -> Result<(&'p ColumnPlan, Value<'_>), Undecodable> {
        let column = self.plan.columns.get(index).ok_or(Undecodable)?;
        let cut = self.cuts.as_ref().zip(column.cut_index);
        if let Some(cut) = cut.and_then(|(cuts, index)| cuts.get(index)?.as_deref()) {
            let (more, start) = cut.split_once(':').ok_or(Undecodable)?;
            return Ok((column, Value::Cut { more, start }));
        }
        let bytes = self.row.try_get::<_, Option<Raw<'_>>>(index).map_err(|_| Undecodable)?;
        Ok((column, bytes.map_or(Value::Null, |Raw(bytes)| Value::Whole(bytes))))
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

    /// Takes one more row; `false` when it does not fit: it and all that follow are dropped.
    pub(crate) fn push(&mut self, row: Row) -> Result<bool, Undecodable> {
        let mark = self.out.len();
        let row = PlannedRow::new(self.plan, row)?;
        self.write(&row)?;
        if self.out.len() + TAIL_BYTES > self.budget {
            self.out.rewind(mark);
            self.truncated = true;
            return Ok(false);
        }
        self.rows += 1;
        self.truncated |= row.cuts.is_some();
        Ok(true)
    }

    /// Notes that the next row is dropped, unseen.
    pub(crate) fn cut(&mut self) {
        self.truncated = true;
    }

    fn write(&mut self, row: &PlannedRow<'_>) -> Result<(), Undecodable> {
        let Self { out, plan, .. } = self;
        out.raw(if self.rows == 0 { "[" } else { ",[" });
        for index in 0..plan.columns.len() {
            out.raw(if index == 0 { "" } else { "," });
            match row.value(index)? {
                (_, Value::Null) => drop(out.raw("null")),
                (_, Value::Cut { more, start }) => {
                    out.string(&format!("{start}…[truncated {more} chars]"));
                }
                (column, Value::Whole(bytes)) => match &column.form {
                    Form::Binary(kind) => Writer { out, intervals: plan.intervals }.write(kind, bytes)?,
                    Form::Json => drop(cells::write_record(out, &String::from_utf8_lossy(bytes))),
                    Form::Text => drop(cells::write_text(out, bytes)),
                },
            }
        }
        out.raw("]");
        Ok(())
    }

    /// Ends the answer.
    pub(crate) fn finish(mut self, has_more: bool) -> AsciiJson {
        self.out.raw(r#"],"row_count":"#).value(&self.rows);
        self.out.raw(r#","has_more":"#).value(&has_more);
        self.out.raw(r#","truncated":"#).value(&self.truncated).raw("}");
        self.out.finish()
    }
}

/// A value's bytes as they came, of any type.
#[derive(Clone, Copy)]
struct Raw<'a>(&'a [u8]);

impl<'a> FromSql<'a> for Raw<'a> {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn std::error::Error + Sync + Send>> {
        Ok(Self(raw))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}
