//! A table of a document, read strictly: each key is taken with its kind, and every other key is a fault.

use serde_json::Value;
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use super::finding::DocumentRule;
use super::value::integer;
// Readers of sections need these, too.
pub(crate) use super::{
    report::{Located, Report, wrong},
    value::json,
};
use crate::arguments::suggest;
use crate::diagnostics::escape;
use crate::problem::echo;

/// The longest title or description, in characters: every client reads all of them.
const MAX_TEXT_CHARS: usize = 4_096;

/// A table of a document. Its keys are taken one by one; those left at the end are unknown.
pub(crate) struct Section<'d> {
    table: &'d DeTable<'d>,
    /// Its name in a sentence, such as "a query".
    noun: &'static str,
    pub(crate) line: usize,
    known: Vec<&'static str>,
}

impl<'d> Section<'d> {
    pub(crate) fn new(table: &'d DeTable<'d>, noun: &'static str, line: usize) -> Self {
        Self { table, noun, line, known: Vec::new() }
    }

    /// Returns the table that `value` is, or reports a finding.
    pub(crate) fn of<R: DocumentRule>(
        value: &'d Spanned<DeValue<'d>>,
        noun: &'static str,
        key: &str,
        report: &mut Report<'_, R>,
    ) -> Option<Self> {
        let line = report.line(value);
        let table = value.get_ref().as_table();
        if table.is_none() {
            wrong(report, line, key, "a table");
        }
        table.map(|table| Self::new(table, noun, line))
    }

    /// Takes the value of a key; the key is known from then on.
    pub(crate) fn take(&mut self, key: &'static str) -> Option<&'d Spanned<DeValue<'d>>> {
        if !self.known.contains(&key) {
            self.known.push(key);
        }
        self.table.get(key)
    }

    pub(crate) fn text<R: DocumentRule>(
        &mut self,
        key: &'static str,
        report: &mut Report<'_, R>,
    ) -> Option<Located<String>> {
        let value = self.take(key)?;
        let line = report.line(value);
        let text = value.get_ref().as_str().map(str::to_owned);
        let text = text.filter(|text| !text.trim().is_empty());
        if text.is_none() {
            wrong(report, line, key, "a text that is not empty");
        }
        text.map(|value| Located { value, line })
    }

    /// Takes a text that must be there.
    pub(crate) fn required<R: DocumentRule>(
        &mut self,
        key: &'static str,
        report: &mut Report<'_, R>,
    ) -> Option<Located<String>> {
        if !self.table.contains_key(key) {
            report.add(
                R::INVALID_VALUE,
                self.line,
                format!("The key `{key}` of {} is missing.", self.noun),
                format!("Write {key} = \"…\"."),
            );
        }
        self.text(key, report)
    }

    pub(crate) fn flag<R: DocumentRule>(&mut self, key: &'static str, report: &mut Report<'_, R>) -> bool {
        let Some(value) = self.take(key) else { return false };
        if let DeValue::Boolean(flag) = value.get_ref() {
            return *flag;
        }
        wrong(report, report.line(value), key, "true or false");
        false
    }

    pub(crate) fn integer<R: DocumentRule>(
        &mut self,
        key: &'static str,
        report: &mut Report<'_, R>,
    ) -> Option<Located<i64>> {
        let value = self.take(key)?;
        let line = report.line(value);
        let number = value.get_ref().as_integer().and_then(integer);
        if number.is_none() {
            wrong(report, line, key, "a whole number of 64 bits");
        }
        number.map(|value| Located { value, line })
    }

    pub(crate) fn number<R: DocumentRule>(
        &mut self,
        key: &'static str,
        report: &mut Report<'_, R>,
    ) -> Option<Located<f64>> {
        let value = self.take(key)?;
        let line = report.line(value);
        let number = json(value.get_ref()).and_then(|value| value.as_f64());
        if number.is_none() {
            wrong(report, line, key, "a finite number");
        }
        number.map(|value| Located { value, line })
    }

    /// Takes a list of texts; empty when the key is absent.
    pub(crate) fn texts<R: DocumentRule>(
        &mut self,
        key: &'static str,
        report: &mut Report<'_, R>,
    ) -> Vec<Located<String>> {
        let Some(value) = self.take(key) else { return Vec::new() };
        let items = value.get_ref().as_array();
        let texts: Option<Vec<_>> =
            items.and_then(|items| items.iter().map(|item| located_text(item, report)).collect());
        texts.unwrap_or_else(|| {
            wrong(report, report.line(value), key, "a list of texts");
            Vec::new()
        })
    }

    /// Takes a table of texts, in order; empty when the key is absent.
    pub(crate) fn pairs<R: DocumentRule>(
        &mut self,
        key: &'static str,
        report: &mut Report<'_, R>,
    ) -> Vec<(String, Located<String>)> {
        let Some(value) = self.take(key) else { return Vec::new() };
        let pairs: Option<Vec<_>> = value.get_ref().as_table().and_then(|table| {
            let pair = |(key, value): (&Spanned<DeString<'_>>, _)| {
                Some((key.get_ref().as_ref().to_owned(), located_text(value, report)?))
            };
            table.iter().map(pair).collect()
        });
        pairs.unwrap_or_else(|| {
            wrong(report, report.line(value), key, "a table of texts");
            Vec::new()
        })
    }

    /// Takes a table: its keys and values, in order.
    pub(crate) fn members<R: DocumentRule>(
        &mut self,
        key: &'static str,
        report: &mut Report<'_, R>,
    ) -> Vec<(Located<String>, &'d Spanned<DeValue<'d>>)> {
        let Some(value) = self.take(key) else { return Vec::new() };
        let DeValue::Table(table) = value.get_ref() else {
            wrong(report, report.line(value), key, "a table");
            return Vec::new();
        };
        let located = |key: &Spanned<_>| Located {
            value: AsRef::<str>::as_ref(key.get_ref()).to_owned(),
            line: report.line(key),
        };
        table.iter().map(|(key, value): (&Spanned<DeString<'_>>, _)| (located(key), value)).collect()
    }

    /// Takes an array of tables, `[[key]]`; empty when the key is absent.
    pub(crate) fn tables<R: DocumentRule>(
        &mut self,
        key: &'static str,
        report: &mut Report<'_, R>,
    ) -> Vec<&'d Spanned<DeValue<'d>>> {
        let Some(value) = self.take(key) else { return Vec::new() };
        let items = value.get_ref().as_array();
        if items.is_none() {
            wrong(report, report.line(value), key, &format!("written [[{key}]]"));
        }
        items.into_iter().flat_map(|items| items.iter()).collect()
    }

    /// Takes any value, as JSON.
    pub(crate) fn json<R: DocumentRule>(
        &mut self,
        key: &'static str,
        report: &mut Report<'_, R>,
    ) -> Option<Located<Value>> {
        let value = self.take(key)?;
        let line = report.line(value);
        let json = json(value.get_ref());
        if json.is_none() {
            wrong(report, line, key, "a value that JSON has");
        }
        json.map(|value| Located { value, line })
    }

    /// Reports every key that was not taken.
    pub(crate) fn finish<R: DocumentRule>(self, report: &mut Report<'_, R>) {
        let Self { table, noun, line: _, known } = self;
        for key in table.keys().filter(|key| !known.contains(&key.get_ref().as_ref())) {
            let (name, line) = (key.get_ref().as_ref(), report.line(key));
            let cure = match suggested(name, &known) {
                Some(key) => format!("Did you mean {key}?"),
                None => format!("It has {}.", known.join(", ")),
            };
            report.add(R::UNKNOWN_KEY, line, format!("{} is no key of {noun}.", echo(name)), cure);
        }
    }
}

/// Suggests a known key. A name that differs in more than two of five characters is another name.
fn suggested<'k>(name: &str, known: &[&'k str]) -> Option<&'k str> {
    /// Longer than every key.
    const MAX_NAME_BYTES: usize = 64;
    if name.len() > MAX_NAME_BYTES {
        return None;
    }
    let (distance, suggestion) = suggest::closest(name, known.iter().copied())?;
    (distance * 5 <= suggestion.len() * 2).then_some(suggestion)
}

/// Checks a text that clients and models read: it is short and has no invisible characters.
pub(crate) fn prose<R: DocumentRule>(
    text: Option<Located<String>>,
    key: &str,
    report: &mut Report<'_, R>,
) -> Option<String> {
    let Located { value, line } = text?;
    let plain = value.replace(['\n', '\t'], " ");
    if value.chars().count() > MAX_TEXT_CHARS || escape(&plain) != plain {
        wrong(report, line, key, &format!("at most {MAX_TEXT_CHARS} characters, none of which is invisible"));
    }
    Some(value.trim().to_owned())
}

fn located_text<R: DocumentRule>(
    value: &Spanned<DeValue<'_>>,
    report: &Report<'_, R>,
) -> Option<Located<String>> {
    let text = value.get_ref().as_str()?;
    Some(Located { value: text.to_owned(), line: report.line(value) })
}
