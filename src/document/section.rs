//! A table of a document, read strictly: each key is taken with its kind, and every other key is a fault.

use serde_json::{Number, Value};
use toml::Spanned;
use toml::de::{DeInteger, DeString, DeTable, DeValue};

use super::finding::DocumentRule;
// Readers of sections need these, too.
pub(crate) use super::report::{Located, Report, wrong};
use crate::arguments::suggest;
use crate::diagnostics::escape;
use crate::problem::echo;

/// The longest title or description, in characters: every client reads all of them.
const MAX_TEXT_CHARS: usize = 4_096;

type Key = &'static str;
type Taken<T> = Option<Located<T>>;

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
        let Some(table) = value.get_ref().as_table() else {
            wrong(report, line, key, "a table");
            return None;
        };
        Some(Self::new(table, noun, line))
    }

    /// Takes the value of a key; the key is known from then on.
    pub(crate) fn take(&mut self, key: Key) -> Option<&'d Spanned<DeValue<'d>>> {
        if !self.known.contains(&key) {
            self.known.push(key);
        }
        self.table.get(key)
    }

    /// Takes the value of a key and converts it; a value that cannot be converted is not of this kind.
    fn read<R: DocumentRule, T>(
        &mut self,
        key: Key,
        kind: &str,
        report: &mut Report<'_, R>,
        convert: impl FnOnce(&'d DeValue<'d>, &Report<'_, R>) -> Option<T>,
    ) -> Option<Located<T>> {
        let value = self.take(key)?;
        let line = report.line(value);
        let converted = convert(value.get_ref(), report);
        if converted.is_none() {
            wrong(report, line, key, kind);
        }
        converted.map(|value| Located { value, line })
    }

    pub(crate) fn text<R: DocumentRule>(&mut self, key: Key, report: &mut Report<'_, R>) -> Taken<String> {
        self.read(key, "a text that is not empty", report, |value, _| {
            value.as_str().filter(|text| !text.trim().is_empty()).map(str::to_owned)
        })
    }

    /// Takes a text that must be there.
    pub(crate) fn required<R: DocumentRule>(
        &mut self,
        key: Key,
        report: &mut Report<'_, R>,
    ) -> Taken<String> {
        if !self.table.contains_key(key) {
            let text = format!("The key `{key}` of {} is missing.", self.noun);
            report.add(R::INVALID_VALUE, self.line, text, format!("Write {key} = \"…\"."));
        }
        self.text(key, report)
    }

    pub(crate) fn flag<R: DocumentRule>(&mut self, key: Key, report: &mut Report<'_, R>) -> bool {
        self.read(key, "true or false", report, |value, _| value.as_bool()).is_some_and(|flag| flag.value)
    }

    pub(crate) fn integer<R: DocumentRule>(&mut self, key: Key, report: &mut Report<'_, R>) -> Taken<i64> {
        self.read(key, "a whole number of 64 bits", report, |value, _| value.as_integer().and_then(integer))
    }

    pub(crate) fn number<R: DocumentRule>(&mut self, key: Key, report: &mut Report<'_, R>) -> Taken<f64> {
        self.read(key, "a finite number", report, |value, _| json(value)?.as_f64())
    }

    /// Takes a list of texts; empty when the key is absent.
    pub(crate) fn texts<R: DocumentRule>(
        &mut self,
        key: Key,
        report: &mut Report<'_, R>,
    ) -> Vec<Located<String>> {
        let texts = self.read(key, "a list of texts", report, |value, report| {
            value.as_array()?.iter().map(|item| located_text(item, report)).collect()
        });
        texts.map_or_else(Vec::new, |texts| texts.value)
    }

    /// Takes a table of texts, in order; empty when the key is absent.
    pub(crate) fn pairs<R: DocumentRule>(
        &mut self,
        key: Key,
        report: &mut Report<'_, R>,
    ) -> Vec<(String, Located<String>)> {
        let pairs = self.read(key, "a table of texts", report, |value, report| {
            let pairs = value.as_table()?.iter();
            pairs.map(|(key, value)| Some((name(key), located_text(value, report)?))).collect()
        });
        pairs.map_or_else(Vec::new, |pairs| pairs.value)
    }

    /// Takes a table: its keys and values, in order.
    pub(crate) fn members<R: DocumentRule>(
        &mut self,
        key: Key,
        report: &mut Report<'_, R>,
    ) -> Vec<(Located<String>, &'d Spanned<DeValue<'d>>)> {
        let members = self.read(key, "a table", report, |value, report| {
            let located = |key| Located { value: name(key), line: report.line(key) };
            Some(value.as_table()?.iter().map(|(key, value)| (located(key), value)).collect())
        });
        members.map_or_else(Vec::new, |members| members.value)
    }

    /// Takes an array of tables, `[[key]]`; empty when the key is absent.
    pub(crate) fn tables<R: DocumentRule>(
        &mut self,
        key: Key,
        report: &mut Report<'_, R>,
    ) -> Vec<&'d Spanned<DeValue<'d>>> {
        let kind = format!("written [[{key}]]");
        let tables = self.read(key, &kind, report, |value, _| Some(value.as_array()?.iter().collect()));
        tables.map_or_else(Vec::new, |tables| tables.value)
    }

    /// Takes any value, as JSON.
    pub(crate) fn json<R: DocumentRule>(&mut self, key: Key, report: &mut Report<'_, R>) -> Taken<Value> {
        self.read(key, "a value that JSON has", report, |value, _| json(value))
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

fn located_text<R: DocumentRule>(value: &Spanned<DeValue<'_>>, report: &Report<'_, R>) -> Taken<String> {
    let text = value.get_ref().as_str()?;
    Some(Located { value: text.to_owned(), line: report.line(value) })
}

fn name(key: &Spanned<DeString<'_>>) -> String {
    key.get_ref().as_ref().to_owned()
}

fn integer(number: &DeInteger<'_>) -> Option<i64> {
    i64::from_str_radix(number.as_str(), number.radix()).ok()
}

/// Converts a value of TOML to JSON; a date or a time becomes its text.
pub(crate) fn json(value: &DeValue<'_>) -> Option<Value> {
    Some(match value {
        DeValue::String(text) => text.as_ref().into(),
        DeValue::Integer(number) => integer(number)?.into(),
        // Infinities and NaN have no number.
        DeValue::Float(number) => Number::from_f64(number.as_str().parse().ok()?)?.into(),
        DeValue::Boolean(flag) => (*flag).into(),
        DeValue::Datetime(time) => time.to_string().into(),
        DeValue::Array(items) => items.iter().map(|item| json(item.get_ref())).collect::<Option<_>>()?,
        DeValue::Table(table) => {
            let members = table.iter().map(|(key, value)| Some((name(key), json(value.get_ref())?)));
            Value::Object(members.collect::<Option<_>>()?)
        }
    })
}
