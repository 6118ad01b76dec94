//! A file of a catalog, read key by key, before anything is proven.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};
use toml::Spanned;
use toml::de::DeValue;

use super::diagnoses::{self, Diagnosis};
use super::output::{Column, ColumnKind};
use super::params::Param;
use super::rule::Rule;
use super::{members, names};
use crate::document;
use crate::document::section::{Located, Report, Section, prose, wrong};
use crate::problem::echo;

/// A file's content.
#[derive(Debug, Default)]
pub(super) struct Document {
    /// All tables that the catalog may read.
    pub(super) tables: Vec<Located<String>>,
    pub(super) drafts: Vec<Draft>,
}

/// An entry as written.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) name: Located<String>,
    pub(super) title: Option<String>,
    pub(super) description: Option<String>,
    pub(super) tables: Vec<String>,
    pub(super) columns: Vec<Column>,
    /// The line is that of the statement's first line. Absent when it is missing, or when so much of the rest is
    /// wrong that a proof would only repeat it.
    pub(super) sql: Option<Located<String>>,
    /// Every parameter, whether it is right or not.
    pub(super) params: Vec<Param>,
    /// Absent: the entry is called without arguments.
    pub(super) example: Option<Located<Map<String, Value>>>,
    /// The waivers: names of secrets, or the rule on members, and the written reasons.
    pub(super) waived: BTreeMap<String, String>,
}

/// Reads a file. An entry without a name is reported and left out.
pub(super) fn read(report: &mut Report<'_, Rule>, max_rows: u32) -> Document {
    let content = document::parse::parse(report, "a catalog", |section, report| {
        let tables = section.texts("tables", report);
        check_names(&tables, names::is_table, TABLES, report);
        let mut drafts = Vec::new();
        for entry in section.tables("query", report) {
            drafts.extend(read_entry(entry, max_rows, report));
            report.entry = None;
        }
        Document { tables, drafts }
    });
    content.unwrap_or_default()
}

/// The faults of a list of tables: a name that is none, and one that stands twice.
const TABLES: [&Diagnosis; 2] = [&diagnoses::TABLE_NAME, &diagnoses::TABLE_TWICE];

/// Requires that every name is valid, and listed once.
fn check_names(
    names: &[Located<String>],
    is_valid: fn(&str) -> bool,
    [invalid, twice]: [&Diagnosis; 2],
    report: &mut Report<'_, Rule>,
) {
    for (index, Located { value: name, line }) in names.iter().enumerate() {
        if !is_valid(name) {
            invalid.report(report, *line, &[&echo(name)]);
        }
        if names.iter().take(index).any(|other| other.value == *name) {
            twice.report(report, *line, &[name]);
        }
    }
}

fn read_entry(value: &Spanned<DeValue<'_>>, max_rows: u32, report: &mut Report<'_, Rule>) -> Option<Draft> {
    let mut section = Section::of(value, "a query", "query", report)?;
    let name = section.required("name", report);
    report.entry = name.as_ref().map(|name| name.value.clone());
    let title = prose(section.required("title", report), "title", report);
    let description = prose(section.required("description", report), "description", report);
    let tables = section.texts("tables", report);
    check_names(&tables, names::is_table, TABLES, report);
    let mut is_provable = tables.iter().all(|table| names::is_table(&table.value));
    let sql = section.required("sql", report).map(|sql| first_line(sql, &mut section, report));
    let columns = read_columns(&mut section, report);
    let unlike = columns.iter().map(|column| &column.name).collect::<BTreeSet<_>>().len();
    is_provable &= !columns.is_empty() && unlike == columns.len();
    is_provable &= columns.iter().all(|column| names::is_identifier(&column.name));
    let mut params = Vec::new();
    for (name, value) in section.members("params", report) {
        is_provable &= names::check_param(&name, report);
        params.push(Param::read(&name, value, max_rows, report));
    }
    let example = read_example(&mut section, report);
    let waived = read_waivers(&mut section, sql.as_ref(), report);
    section.finish(report);
    let tables = tables.into_iter().map(|table| table.value).collect();
    let sql = sql.filter(|_| is_provable);
    Some(Draft { name: name?, title, description, tables, columns, sql, params, example, waived })
}

/// Corrects the line of the statement: a text of several lines begins on the line behind its quotes.
fn first_line(sql: Located<String>, section: &mut Section<'_>, report: &Report<'_, Rule>) -> Located<String> {
    let written = section.take("sql").and_then(|value| report.source.text.get(value.span()));
    let is_behind = written.is_some_and(|text| {
        ["\"\"\"", "'''"].iter().any(|quotes| {
            text.strip_prefix(quotes).is_some_and(|text| text.starts_with('\n') || text.starts_with("\r\n"))
        })
    });
    Located { line: sql.line + usize::from(is_behind), ..sql }
}

fn read_columns(section: &mut Section<'_>, report: &mut Report<'_, Rule>) -> Vec<Column> {
    let names = section.texts("columns", report);
    let kinds = section.pairs("types", report);
    if names.is_empty() {
        diagnoses::NO_COLUMNS.report(report, section.line, &[]);
    }
    let faults = [&diagnoses::COLUMN_NAME, &diagnoses::COLUMN_TWICE];
    check_names(&names, names::is_identifier, faults, report);
    let mut columns: Vec<Column> =
        names.into_iter().map(|name| Column { name: name.value, kind: None }).collect();
    for (name, kind) in kinds {
        match columns.iter_mut().find(|column| column.name == name) {
            Some(column) => column.kind = ColumnKind::read(&kind, report),
            None => diagnoses::TYPE_OF_NOTHING.report(report, kind.line, &[&echo(&name)]),
        }
    }
    columns
}

fn read_example(
    section: &mut Section<'_>,
    report: &mut Report<'_, Rule>,
) -> Option<Located<Map<String, Value>>> {
    let Located { value, line } = section.json("example", report)?;
    if let Value::Object(value) = value {
        return Some(Located { value, line });
    }
    wrong(report, line, "example", "a table of arguments");
    None
}

fn read_waivers(
    section: &mut Section<'_>,
    sql: Option<&Located<String>>,
    report: &mut Report<'_, Rule>,
) -> BTreeMap<String, String> {
    let waivers = section.pairs("waive", report);
    for (name, reason) in &waivers {
        if reason.value.trim().is_empty() {
            diagnoses::WAIVER_WITHOUT_REASON.report(report, reason.line, &[&echo(name)]);
        }
        // The waiver of the rule on members names no name.
        if name != members::WAIVER
            && sql.is_some_and(|sql| !sql.value.to_lowercase().contains(&name.to_lowercase()))
        {
            diagnoses::WAIVER_UNUSED.report(report, reason.line, &[&echo(name)]);
        }
    }
    waivers.into_iter().map(|(name, reason)| (name, reason.value)).collect()
}
