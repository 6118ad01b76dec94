//! An entry's rows to JSON: the declared columns and nothing else, every cell a scalar that redaction has seen, under a budget
//! of bytes.

use std::borrow::Cow;

use super::entry::Entry;
use super::redact::{Unreadable, is_secret, may_be_json, names_secret, redact};
use crate::guard::SensitiveWords;
use crate::postgres::prepared::{Cell, Cells, QueryError};
use crate::wire::ascii::{AsciiJson, AsciiWriter};

/// The bytes behind the last row.
const TAIL_BYTES: usize = r#"],"row_count":18446744073709551615,"has_more":false,"truncated":false}"#.len();

/// The most dropped keys of one answer that the log names.
const MAX_LOGGED: usize = 16;

/// Stands in place of a value that could not be searched, or of a text that names a secret.
const REDACTED: &str = "[withheld: it holds a secret, or is too long or too deep to be checked for one; an operator can \
                        raise MCP_SQL_MAX_CELL_CHARS, or the query can select less of it]";

/// A result as it grows.
pub(super) struct Body<'e> {
    out: AsciiWriter,
    entry: &'e Entry,
    words: &'e SensitiveWords,
    max_chars: usize,
    budget: usize,
    rows: u64,
    truncated: bool,
    /// Keys of members that were dropped.
    dropped: Vec<String>,
}

impl<'e> Body<'e> {
    pub(super) fn new(entry: &'e Entry, words: &'e SensitiveWords, max_chars: u32, budget: usize) -> Self {
        let mut out = AsciiWriter::default();
        out.raw(r#"{"rows":["#);
        let max_chars = usize::try_from(max_chars).unwrap_or(usize::MAX);
        Self { out, entry, words, max_chars, budget, rows: 0, truncated: false, dropped: Vec::new() }
    }

    /// Takes one more row; `false` when it does not fit: it and all that follow are dropped.
    pub(super) fn push(&mut self, cells: &Cells<'_>) -> Result<bool, QueryError> {
        let (mark, dropped) = (self.out.len(), self.dropped.len());
        self.out.raw(if self.rows == 0 { "{" } else { ",{" });
        for (index, column) in self.entry.columns.iter().enumerate() {
            self.out.raw(if index == 0 { "" } else { "," });
            self.out.string(&column.name).raw(":");
            self.write(cells.cell(index)?)?;
        }
        self.out.raw("}");
        if self.out.len() + TAIL_BYTES > self.budget {
            self.out.rewind(mark);
            self.dropped.truncate(dropped);
            self.truncated = true;
            return Ok(false);
        }
        self.rows += 1;
        Ok(true)
    }

    /// Rows are missing that were asked for.
    pub(super) fn cut(&mut self) {
        self.truncated = true;
    }

    fn write(&mut self, cell: Cell<'_>) -> Result<(), QueryError> {
        match cell {
            Cell::Null => drop(self.out.raw("null")),
            Cell::Scalar(scalar) => scalar.write(&mut self.out)?,
            Cell::Opaque => self.redact_cell(),
            Cell::Json(text) => match self.without_secrets(&text) {
                Ok(text) if text.chars().count() <= self.max_chars => drop(self.out.string(&text)),
                Ok(_) | Err(_) => self.redact_cell(),
            },
            Cell::Text(text) => self.write_text(&text),
            Cell::Cut { start, more, is_text: true } if !self.is_json_so_far(start) => {
                self.write_cut(start, more);
            }
            Cell::Cut { .. } => self.redact_cell(),
        }
        Ok(())
    }

    /// Text that is JSON is looked through like any JSON.
    fn write_text(&mut self, text: &str) {
        let (start, more) = first_chars(text, self.max_chars);
        if more > 0 {
            // The database was asked to cut it, and did not.
            return if self.is_json_so_far(start) {
                self.redact_cell()
            } else {
                self.write_cut(start, &more.to_string())
            };
        }
        let before = self.dropped.len();
        let redacted = if may_be_json(text) { self.without_secrets(text) } else { Err(Unreadable::NotJson) };
        match redacted {
            Ok(redacted) if self.dropped.len() > before => drop(self.out.string(&redacted)),
            Ok(_) => drop(self.out.string(text)),
            Err(Unreadable::NotJson) if !self.names_secret(text) => drop(self.out.string(text)),
            Err(Unreadable::NotJson | Unreadable::Unfinished) => self.redact_cell(),
        }
    }

    fn write_cut(&mut self, start: &str, more: &str) {
        self.truncated = true;
        let (start, _) = first_chars(start, self.max_chars);
        self.out.string(&format!("{start}…[truncated {more} chars]"));
    }

    fn redact_cell(&mut self) {
        self.truncated = true;
        self.out.string(REDACTED);
    }

    fn is_json_so_far(&self, start: &str) -> bool {
        let mut dropped = Vec::new();
        let is_json =
            may_be_json(start) && redact(start, &|_| false, &mut dropped) != Err(Unreadable::NotJson);
        is_json || self.names_secret(start)
    }

    fn names_secret(&self, text: &str) -> bool {
        names_secret(text, &is_secret(self.words, &self.entry.waived))
    }

    fn without_secrets(&mut self, text: &str) -> Result<String, Unreadable> {
        redact(text, &is_secret(self.words, &self.entry.waived), &mut self.dropped)
    }

    /// Logs the names of the members that were dropped.
    pub(super) fn log_dropped(&self) {
        if self.dropped.is_empty() {
            return;
        }
        let names: Vec<Cow<'_, str>> =
            self.dropped.iter().take(MAX_LOGGED).map(|name| first_chars(name, 64).0.into()).collect();
        log::warn!(
            target: "call",
            "tool={} dropped_members={} names=[{}]",
            self.entry.spec.name.as_str(),
            self.dropped.len(),
            names.join(","),
        );
    }

    /// Ends the answer.
    pub(super) fn finish(mut self, has_more: bool) -> AsciiJson {
        self.out.raw(r#"],"row_count":"#).value(&self.rows);
        self.out.raw(r#","has_more":"#).value(&has_more);
        self.out.raw(r#","truncated":"#).value(&self.truncated).raw("}");
        self.out.finish()
    }
}

/// The first characters of a text, and how many there are behind them.
fn first_chars(text: &str, count: usize) -> (&str, usize) {
    match text.char_indices().nth(count).and_then(|(end, _)| text.split_at_checked(end)) {
        Some((start, rest)) => (start, rest.chars().count()),
        None => (text, 0),
    }
}
